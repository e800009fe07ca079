//! `rhae score run` and `rhae score recording`: compute scores from recorded plays.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_harness::{assemble, calibrated, load_plays, read_baselines};
use rhae_protocol::{Format, RunConfig};
use rhae_report::{card_table, runs_table};
use rhae_runs::load_config;
use rhae_scoring::Method;
use rhae_session::ReplayedPlays;

use crate::hosted_games::HostedGamesArgs;
use crate::listed;
use crate::output;
use crate::run::read_recording;

/// Score a run again, under its own or another method.
#[derive(Args)]
pub(crate) struct RunArgs {
    /// Run folder
    folder: PathBuf,
    /// Scoring method [default: the run's method]
    #[arg(long, value_parser = listed::method())]
    method: Option<Method>,
    /// Published baselines of a human study [default: the run's]
    #[arg(long, value_name = "FILE")]
    baselines: Option<PathBuf>,
    /// Print the summary and the scorecards as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

/// Replay recordings and score the replayed plays on one scorecard.
#[derive(Args)]
pub(crate) struct RecordingArgs {
    /// Recordings, in any format that `rhae replay` reads
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Scoring method
    #[arg(long, default_value = Method::DEFAULT.name(), value_parser = listed::method())]
    method: Method,
    /// Published baselines of a human study, which replace those of the environments
    #[arg(long, value_name = "FILE")]
    baselines: Option<PathBuf>,
    /// Print the scorecard as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
}

pub(super) fn run(args: &RunArgs) -> Result<()> {
    ensure!(
        !args.folder.is_file(),
        "`{}` is a file, not a run folder; use `rhae score recording` for a recording",
        args.folder.display()
    );
    let mut config: RunConfig = load_config(&args.folder)?;
    if let Some(file) = &args.baselines {
        config.baselines = Some(read_baselines(file)?);
    }
    let method = match args.method {
        Some(method) => method,
        None => config.method.parse()?,
    };
    let plays = load_plays(&args.folder)?;
    let mut results = assemble(
        &config,
        method,
        &args.hosted.games_of_run(&config.games_dirs)?,
        &plays,
    )?;
    results.summary.folder = args.folder.display().to_string();
    if args.json {
        return output::print_json(
            &serde_json::json!({ "summary": results.summary, "cards": results.cards }),
        );
    }
    output::print(&format!("method {}\n", results.summary.method))?;
    output::print(&card_table(
        &results.cards,
        &results.summary,
        output::width(),
    ))
}

pub(super) fn recordings(args: &RecordingArgs) -> Result<()> {
    let baselines = args.baselines.as_deref().map(read_baselines).transpose()?;
    let games = calibrated(args.hosted.games()?, baselines.as_ref(), args.method);
    let mut plays = ReplayedPlays::default();
    for file in &args.files {
        let name = file.display();
        let recording = read_recording(file)?;
        plays
            .add(&games, &recording)
            .with_context(|| format!("cannot score `{name}`"))?;
        if recording.format == Format::Rhae && recording.ending.is_none() {
            eprintln!(
                "note: `{name}` is incomplete (it has no closing line); only its recorded actions are scored"
            );
        }
    }
    let card = plays.scorecard(args.method);
    if args.json {
        return output::print_json(&card);
    }
    output::print(&runs_table(&card))
}
