//! `rhae compare`: compares runs pair by pair.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_analysis::{
    CompareOptions, compare, comparison_csv, games_dirs, load_runs, published_for, replays,
};
use rhae_report::{compare_page, comparison_text};
use rhae_runs::find_run;

use crate::hosted_games::HostedGamesArgs;
use crate::output;

/// Compare runs of `rhae run` or `rhae arc eval`: paired differences with exact tests.
///
/// Runs must have the same scoring method, budget, environment versions and baselines. A run without
/// a result for an environment counts as 0 there.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae compare runs/explorer runs/random
  rhae compare explorer random --html comparison.html
  rhae compare runs/harness runs/plain --seen kq19,ny40 --unseen hk26,pz19
  rhae compare runs/seed-1 runs/seed-2 runs/seed-3 --json")]
pub(crate) struct CompareArgs {
    /// Run folders, or names of folders in `runs`; the first is A, the second B
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<String>,
    /// Compare runs that differ in method, budget, environment versions or baselines, and label the
    /// output
    #[arg(long)]
    force: bool,
    /// Environments that the authors of the agents have seen, separated by commas: report the
    /// generalisation gap [default: all that are not in --unseen]
    #[arg(long, value_delimiter = ',', value_name = "SET")]
    seen: Option<Vec<String>>,
    /// Environments that they have not seen [default: all that are not in --seen]
    #[arg(long, value_delimiter = ',', value_name = "SET")]
    unseen: Option<Vec<String>>,
    /// Write a page with tables, plots and replays next to each other
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the comparison as CSV, one line for each environment and level
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(crate) fn run(args: &CompareArgs) -> Result<ExitCode> {
    if let Some(path) = &args.html {
        output::ensure_writable(path)?;
    }
    let folders: Vec<PathBuf> = args
        .runs
        .iter()
        .map(|name| find_run("runs".as_ref(), name))
        .collect();
    let games = args.hosted.games_of_run(&games_dirs(&folders))?;
    let options = CompareOptions {
        force: args.force,
        seen: args.seen.clone(),
        unseen: args.unseen.clone(),
    };
    let comparison = compare(load_runs(&folders, &games)?, &options)?;
    if let Some(path) = &args.html {
        let (films, notes) = replays(&comparison.runs, &games);
        for note in notes {
            eprintln!("note: {}", output::plain(&note));
        }
        let page = compare_page(&comparison, &films, &published_for(&comparison.runs));
        std::fs::write(path, page).with_context(|| format!("cannot write `{}`", path.display()))?;
        eprintln!("wrote {}", path.display());
    }
    if args.json {
        output::print_json(&comparison)?;
    } else if args.csv {
        output::print(&comparison_csv(&comparison))?;
    } else {
        output::print(&output::plain(&comparison_text(
            &comparison,
            output::width(),
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
