//! `rhae score run` and `rhae score recording`: compute scores from recorded plays.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_engine::Catalog;
use rhae_harness::{assemble, load_plays};
use rhae_protocol::{Format, RunConfig};
use rhae_report::card_table;
use rhae_runs::load_config;
use rhae_scoring::Method;
use rhae_session::{CardMetadata, EnvironmentRuns, replay, scorecard};

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
    let config: RunConfig = load_config(&args.folder)?;
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
    let games = args.hosted.games()?;
    let mut environments: Vec<EnvironmentRuns> = Vec::new();
    for file in &args.files {
        let name = file.display();
        let recording = read_recording(file)?;
        let replayed =
            replay(&games, &recording).with_context(|| format!("cannot replay `{name}`"))?;
        if let Some(mismatch) = replayed.mismatch {
            bail!(
                "cannot score `{name}`: entry {}: {}",
                mismatch.entry + 1,
                mismatch.reason
            );
        }
        if recording.format == Format::Rhae && recording.ending.is_none() {
            eprintln!(
                "note: `{name}` is incomplete (it has no closing line); only its recorded actions are scored"
            );
        }
        let info = games.find(recording.header.game_id.as_str())?;
        let guid = recording.header.guid.clone().unwrap_or_default();
        let runs = replayed
            .play
            .tally()
            .runs()
            .iter()
            .map(|run| (guid.clone(), run.clone()));
        match environments
            .iter_mut()
            .find(|environment| environment.info.id == info.id)
        {
            Some(environment) => environment.runs.extend(runs),
            None => environments.push(EnvironmentRuns {
                info,
                runs: runs.collect(),
            }),
        }
    }
    let card = scorecard(
        CardMetadata {
            card_id: "recordings".to_owned(),
            ..CardMetadata::default()
        },
        args.method,
        &environments,
    );
    if args.json {
        return output::print_json(&card);
    }
    output::print(&format!("method {}, replayed and verified\n", card.method))?;
    for environment in &card.environments {
        for run in &environment.runs {
            output::print(&format!(
                "{}  score {:.2} %  levels {}/{}  actions {} ({} without effect)  {}",
                environment.id,
                run.score,
                run.levels_completed,
                run.number_of_levels,
                run.actions,
                run.unchanged_actions,
                run.state
            ))?;
            for (index, score) in run.level_scores.iter().enumerate() {
                let (actions, baseline) =
                    (run.level_actions[index], run.level_baseline_actions[index]);
                let source = environment
                    .baseline_source
                    .get(index)
                    .map_or("", String::as_str);
                output::print(&format!(
                    "  level {:>2}  {actions:>5} actions  baseline {baseline:>5} ({source})  {score:>6.2} %",
                    index + 1
                ))?;
            }
        }
    }
    output::print(&format!("\nscore {:.2} %", card.score))
}
