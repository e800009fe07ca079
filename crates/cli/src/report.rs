//! `rhae report`: reports many runs in one table.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rhae_analysis::{games_dirs, load_runs, report, report_csv, report_latex, report_markdown};
use rhae_report::runs_plot;
use rhae_runs::find_run;

use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Report runs in one table, as for a paper, next to published results.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae report runs/explorer runs/random
  rhae report runs/* --format latex --out table.tex
  rhae report runs/* --format svg --out scores.svg")]
pub(crate) struct ReportArgs {
    /// Run folders, or names of folders in `runs`
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<String>,
    /// Output format; `svg` is a figure of scores with intervals
    #[arg(long, value_enum, default_value_t = ReportFormat::Markdown)]
    format: ReportFormat,
    /// Output file, which is replaced if it exists [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long, conflicts_with_all = ["format", "out"])]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum ReportFormat {
    Markdown,
    Latex,
    Csv,
    Svg,
}

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    if let Some(path) = &args.out {
        output::ensure_writable(path)?;
    }
    let folders: Vec<PathBuf> = args
        .runs
        .iter()
        .map(|name| find_run("runs".as_ref(), name))
        .collect();
    let games = args.hosted.games_of_run(&games_dirs(&folders))?;
    let report = report(load_runs(&folders, &games)?);
    if args.json {
        output::print_json(&report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match args.format {
        ReportFormat::Markdown => report_markdown(&report),
        ReportFormat::Latex => report_latex(&report),
        ReportFormat::Csv => report_csv(&report),
        ReportFormat::Svg => runs_plot(&report),
    };
    match &args.out {
        Some(path) => {
            std::fs::write(path, text)
                .with_context(|| format!("cannot write `{}`", path.display()))?;
            eprintln!("wrote {}", path.display());
        }
        None => output::print(&output::plain(&text))?,
    }
    Ok(ExitCode::SUCCESS)
}
