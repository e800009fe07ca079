//! `rhae run`: an agent on environments, here or on a server, to a scorecard and a report.

mod model;
mod remote;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rhae_agents::AgentSpec;
use rhae_engine::Rng;
use rhae_harness::{
    Arena, Budget, CONFIG_VERSION, Progress, Results, RunFolder, RunOrder, new_run_id,
    run as run_all,
};
use rhae_protocol::{Recording, RunConfig, SOFTWARE, Scorecard, compact_utc};
use rhae_pyhost::Games;
use rhae_report::card_table;
use rhae_scoring::Method;
use rhae_session::Catalog;

use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;
use crate::outside::OutsideArgs;
use crate::run::remote::RemoteArena;

/// Let an agent play environments; gives a scorecard, recordings and a report.
///
/// Without flags the built-in explorer plays every environment.
///
/// A run is one first encounter: RESET restarts the level and counts as an action; where the official engine would restart
/// the whole game, nothing happens and nothing is counted.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  rhae run
  rhae run --agent random --games kq19,ny40 --seed 7 --repeat 5
  rhae run --games-dir environment_files --games ls20
  rhae run --agent-cmd \"python my_agent.py\" --out runs/mine
  rhae run --resume runs/mine
  rhae run --agent model:big --games kq19 --max-cost 20
  ARC_API_KEY=… rhae run --server https://three.arcprize.org --games ls20 --budget 200"
)]
pub(crate) struct RunArgs {
    /// A built-in agent: explorer, random, model:NAME (a language model of docs/models.md), or replay:FILE
    #[arg(long, default_value = "explorer", conflicts_with = "agent_cmd")]
    agent: String,
    /// A shell command that speaks JSON lines (see docs/agents.md)
    #[arg(long)]
    agent_cmd: Option<String>,
    /// Environments, separated by commas, or `all`
    #[arg(long, default_value = "all")]
    games: String,
    /// The agent's seed; a second repeat has the next one
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The environments' seed; scores and baselines are for 0
    #[arg(long, default_value_t = 0)]
    env_seed: u64,
    /// How many scorecards to make; the headline is their mean
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Actions allowed: `5x` the baseline on each level, a number for a whole play, or `none`
    #[arg(long, default_value = "5x")]
    budget: Budget,
    /// How many plays run at once [default: the number of cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Scoring method: draft-2025, paper-2026-03 or docs-2026-04
    #[arg(long, default_value = Method::DEFAULT.name())]
    method: Method,
    /// Seconds an agent may take for one action [default: 60; for a model what its table says]
    #[arg(long)]
    step_timeout: Option<f64>,
    /// The run folder, which must not exist or be empty [default: runs/TIME-AGENT]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Play on a server of the ARC-AGI-3 API instead of here, such as http://127.0.0.1:8001
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The server's key; better given by the environment variable ARC_API_KEY, which no list of processes shows
    #[arg(long)]
    key: Option<String>,
    /// Open the server's scorecards in competition mode
    #[arg(long, requires = "server")]
    competition: bool,
    /// Go on with an interrupted run; everything but --jobs, --key, --models and --max-cost comes from its folder
    #[arg(long, conflicts_with_all = ["agent", "agent_cmd", "games", "seed", "env_seed", "repeat", "budget", "method", "step_timeout", "out", "server", "competition", "keep_reasoning", "context_tokens"])]
    resume: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    outside: OutsideArgs,
    #[command(flatten)]
    model: model::ModelArgs,
}

/// The longest time for one action.
const LONGEST_STEP_S: f64 = 1e6;

/// Where a run takes place.
enum Place {
    /// In this process, and in those of games from outside.
    Here(Games),
    /// On a server.
    There(RemoteArena),
}

impl Place {
    fn environments(&self) -> &dyn Catalog {
        match self {
            Self::Here(games) => games,
            Self::There(remote) => remote.environments(),
        }
    }
}

pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    let jobs = args.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let json = args.json;
    let key = args
        .key
        .clone()
        .or_else(|| std::env::var("ARC_API_KEY").ok())
        .filter(|key| !key.is_empty());
    let reach = |url: &str, competition| {
        ensure!(
            args.outside.games_dir.is_empty(),
            "--games-dir names environments for this machine, and this run is played on the server at {}: give one or the other",
            output::plain(url)
        );
        RemoteArena::reach(url, key.as_deref(), competition).map(Place::There)
    };
    let (order, place) = match &args.resume {
        Some(folder) => {
            let (folder, config) = RunFolder::resume(folder)?;
            let place = match &config.server {
                Some(url) => reach(url, config.competition)?,
                None => Place::Here(args.outside.games_of_run(&config.games_dirs)?),
            };
            let (agent, config) = if config.model.is_some() {
                args.model.resume(config, &folder)?
            } else {
                (agent_of(&config)?, config)
            };
            (
                RunOrder {
                    agent,
                    config,
                    folder,
                    jobs,
                    resumed: true,
                },
                place,
            )
        }
        None => {
            ensure!(
                key.is_none() || args.key.is_none() || args.server.is_some(),
                "--key is the key of a server: give --server, too"
            );
            let place = match &args.server {
                Some(url) => reach(url, args.competition)?,
                None => Place::Here(args.outside.games()?),
            };
            (new_order(args, jobs, &place)?, place)
        }
    };
    let interrupt = interrupt_flag()?;
    let bar = bar(json);
    let play = |arena: &dyn Arena| {
        run_all(&order, arena, &interrupt, &mut |progress| {
            show(&bar, progress)
        })
    };
    let results = match &place {
        Place::There(remote) => remote.run(&order, play)?,
        Place::Here(games) => play(games)?,
    };
    bar.finish_and_clear();
    report(&results, json)
}

/// Shows what came of a run.
fn report(results: &Results, json: bool) -> Result<ExitCode> {
    if json {
        output::print_json(&results.summary)?;
    } else {
        output::print(&card_table(
            &results.cards,
            &results.summary,
            output::width(),
        ))?;
        output::print(&format!("report: {}", results.summary.report))?;
    }
    for reason in reasons(&results.cards, "failed") {
        eprintln!("failed: {}", output::plain(&reason));
    }
    for reason in reasons(&results.cards, "interrupted") {
        eprintln!("left: {}", output::plain(&reason));
    }
    if !results.summary.finished {
        eprintln!(
            "interrupted: what there is has been written; go on with `rhae run --resume {}`",
            results.summary.folder
        );
        return Ok(INTERRUPTED.into());
    }
    let plays = results.cards.len() * results.summary.environments.len();
    let all_failed = results.summary.failed_plays as usize == plays;
    Ok(if all_failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Why plays ended so, each reason once with how many plays it concerns.
fn reasons(cards: &[Scorecard], ending: &str) -> Vec<String> {
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    let runs = cards
        .iter()
        .flat_map(|card| &card.environments)
        .flat_map(|environment| &environment.runs);
    for run in runs.filter(|run| run.ending.as_deref() == Some(ending)) {
        // Who interrupts a run knows why.
        if let Some(reason) = run
            .message
            .as_deref()
            .or((ending == "failed").then_some("no reason was given"))
        {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    let line = |(reason, count)| {
        format!(
            "{reason} ({count} {})",
            if count == 1 { "play" } else { "plays" }
        )
    };
    reasons.into_iter().map(line).collect()
}

/// Resolves the flags into a run. Nothing is written before everything is known to be right.
fn new_order(mut args: RunArgs, jobs: usize, place: &Place) -> Result<RunOrder> {
    let catalog = place.environments();
    let remote = if let Place::There(remote) = place {
        Some(remote)
    } else {
        None
    };
    if let Some(file) = args.agent.strip_prefix("replay:") {
        (args.agent, args.games, args.env_seed) =
            replayed_play(catalog, Path::new(file), &args.games, args.env_seed)?;
    }
    let plays_model = args.agent_cmd.is_none() && args.agent.starts_with("model:");
    // A model has time-outs of its own, which may be hours.
    let step_timeout = args
        .step_timeout
        .unwrap_or(if plays_model { LONGEST_STEP_S } else { 60.0 });
    ensure!(
        step_timeout > 0.0 && step_timeout <= LONGEST_STEP_S,
        "--step-timeout must be more than 0 and at most 1,000,000 seconds"
    );
    let player = match args.agent.strip_prefix("model:") {
        Some(name) if plays_model => Some(args.model.open(name)?),
        _ => args.model.check_unused().map(|()| None)?,
    };
    let config = RunConfig {
        version: CONFIG_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        agent: args.agent_cmd.is_none().then_some(args.agent),
        agent_cmd: args.agent_cmd,
        seed: args.seed,
        env_seed: args.env_seed,
        games: chosen_games(catalog, &args.games)?,
        repeat: args.repeat,
        budget: args.budget.to_string(),
        method: args.method.name().to_owned(),
        step_timeout_ms: (step_timeout * 1000.0).ceil() as u64,
        generator: Rng::NAME.to_owned(),
        server: remote.map(|remote| remote.address().to_owned()),
        competition: args.competition,
        games_dirs: args.outside.recorded()?,
        model: player.as_ref().map(|(_, run)| run.clone()),
    };
    if let Some(remote) = remote {
        remote.check(&config)?;
    }
    let agent = match player {
        Some((player, _)) => AgentSpec::Model(Arc::new(player)),
        None => agent_of(&config)?,
    };
    if let Budget::PerPlay(actions) = args.budget
        && actions < 10
    {
        eprintln!(
            "note: the budget is {actions} actions a play; `{actions}x` is that many times the baseline on each level"
        );
    }
    let path = args.out.unwrap_or_else(|| default_folder(&agent));
    let folder = RunFolder::create(&path, &config)?;
    Ok(RunOrder {
        config,
        agent,
        folder,
        jobs,
        resumed: false,
    })
}

/// What the replay agent plays: the recorded environment under the recorded seed, and nothing else.
fn replayed_play(
    catalog: &dyn Catalog,
    file: &Path,
    games: &str,
    env_seed: u64,
) -> Result<(String, String, u64)> {
    let recording = read_recording(file)?;
    let id = recording.header.game_id.to_string();
    let chosen = if games == "all" {
        vec![catalog.find(&id)?.id.to_string()]
    } else {
        chosen_games(catalog, games)?
    };
    ensure!(
        chosen == [id.clone()],
        "the recording is of `{id}`, so that is all that can be replayed, not `{games}`"
    );
    let seed = recording.header.seed;
    ensure!(
        env_seed == 0 || env_seed == seed,
        "the recording was made under the environment seed {seed}, not {env_seed}"
    );
    let restarts = recording
        .entries
        .iter()
        .skip(1)
        .any(|entry| entry.full_reset);
    ensure!(
        !restarts,
        "the recording restarts the whole game, which a run does not allow; `rhae score recording` scores it"
    );
    let path = file
        .canonicalize()
        .with_context(|| format!("cannot find `{}`", file.display()))?;
    Ok((format!("replay:{}", path.display()), id, seed))
}

/// The environments of a catalogue that a flag names, each once.
pub(crate) fn chosen_games(catalog: &dyn Catalog, names: &str) -> Result<Vec<String>> {
    if names == "all" {
        return Ok(catalog
            .list()
            .iter()
            .map(|info| info.id.to_string())
            .collect());
    }
    let mut ids: Vec<String> = Vec::new();
    for name in names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        let id = catalog.find(name)?.id.to_string();
        ensure!(!ids.contains(&id), "`{id}` is named twice in --games");
        ids.push(id);
    }
    ensure!(
        !ids.is_empty(),
        "--games names no environment; `rhae games list` shows all"
    );
    Ok(ids)
}

fn agent_of(config: &RunConfig) -> Result<AgentSpec> {
    match (&config.agent, &config.agent_cmd) {
        (_, Some(command)) => Ok(AgentSpec::Command(command.clone())),
        (Some(name), None) => match name.strip_prefix("replay:") {
            Some(file) => Ok(AgentSpec::Replay(Arc::new(read_recording(Path::new(
                file,
            ))?))),
            None => Ok(AgentSpec::built_in(name)?),
        },
        (None, None) => anyhow::bail!("the run's configuration names no agent"),
    }
}

/// Reads a recording in whichever format it is.
pub(crate) fn read_recording(path: &Path) -> Result<Recording> {
    ensure!(
        !path.is_dir(),
        "`{0}` is a folder; name the recordings in it, such as {0}/recordings/*.jsonl",
        path.display()
    );
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        anyhow::anyhow!(
            "`{}` is not a recording: it is not UTF-8 text",
            path.display()
        )
    })?;
    Recording::parse(&text)
        .with_context(|| format!("cannot read `{}` as a recording", path.display()))
}

fn default_folder(agent: &AgentSpec) -> PathBuf {
    let now_ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as u64);
    let player = if matches!(agent, AgentSpec::Command(_)) {
        "command".to_owned()
    } else {
        agent.name().replace(':', "-")
    };
    let name = format!("{}-{player}", compact_utc(now_ms));
    let numbered = |number: u32| {
        if number == 1 {
            PathBuf::from(format!("runs/{name}"))
        } else {
            PathBuf::from(format!("runs/{name}-{number}"))
        }
    };
    (1..)
        .map(numbered)
        .find(|path| !path.exists())
        .expect("some number is free")
}

fn bar(json: bool) -> ProgressBar {
    if json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:20} {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    // Before the first play has ended there is nothing to estimate from.
    let left = if progress.done > 0 {
        format!(", about {} s left", bar.eta().as_secs())
    } else {
        String::new()
    };
    let Progress {
        done,
        total,
        levels,
        actions,
    } = progress;
    bar.set_message(format!(
        "{done}/{total} plays, {levels} levels, {actions} actions, {} s{left}",
        bar.elapsed().as_secs()
    ));
}
