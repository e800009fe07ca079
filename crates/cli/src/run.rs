//! `rhae run`: runs an agent on environments, locally or on a server, and writes scorecards and a
//! report.

mod model;
mod remote;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rhae_agents::{AGENTS, AgentSpec};
use rhae_engine::{Catalog, Rng};
use rhae_harness::{
    Arena, Budget, Progress, Results, RunFolder, RunSpec, new_run_id, run as run_all,
};
use rhae_protocol::{Ending, RUN_VERSION, Recording, RunConfig, SOFTWARE, Scorecard, compact_utc};
use rhae_pyhost::Games;
use rhae_report::card_table;
use rhae_runs::{now_ms, unused_folder};
use rhae_scoring::Method;

use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::listed;
use crate::output;
use crate::run::remote::RemoteArena;

/// Run an agent on environments and write a scorecard, recordings and a report.
///
/// Without flags the built-in explorer plays every environment.
///
/// A run is a first encounter: RESET restarts the level and counts as an action. Where the official
/// engine would restart the whole game, nothing happens and nothing is counted.
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
    /// Agent, see docs/agents.md and, for language models, docs/models.md
    #[arg(long, default_value = AGENTS[0].name, value_parser = listed::agent(), conflicts_with = "agent_cmd")]
    agent: String,
    /// Shell command of an agent that exchanges JSON lines, see docs/agents.md
    #[arg(long)]
    agent_cmd: Option<String>,
    /// Environments, separated by commas, or `all`
    #[arg(long, default_value = "all")]
    games: String,
    /// Seed of the agent; each further repeat uses the next number
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seed of the environments; baselines are valid for 0
    #[arg(long, default_value_t = 0)]
    env_seed: u64,
    /// Number of scorecards; the headline is their mean
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Action limit: `5x` (five times the baseline on each level), a number for the whole play, or
    /// `none`
    #[arg(long, default_value = "5x")]
    budget: Budget,
    /// Number of concurrent plays [default: the number of cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Scoring method
    #[arg(long, default_value = Method::DEFAULT.name(), value_parser = listed::method())]
    method: Method,
    /// Time limit of the agent for one action, in seconds [default: 60; for a model as configured]
    #[arg(long)]
    step_timeout: Option<f64>,
    /// Run folder, which must be empty or not exist [default: runs/TIME-AGENT]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Run on a server of the ARC-AGI-3 API, such as http://127.0.0.1:8001, instead of locally
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// API key of the server; prefer the environment variable ARC_API_KEY, because process lists
    /// show flags
    #[arg(long)]
    key: Option<String>,
    /// Open the server's scorecards in competition mode
    #[arg(long, requires = "server")]
    competition: bool,
    /// Resume an interrupted run; only --jobs, --key, --models and --max-cost may be given again
    #[arg(long, conflicts_with_all = ["agent", "agent_cmd", "games", "seed", "env_seed", "repeat", "budget", "method", "step_timeout", "out", "server", "competition", "keep_reasoning", "context_tokens"])]
    resume: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
    #[command(flatten)]
    model: model::ModelArgs,
}

/// The maximum of `--step-timeout`.
const MAX_STEP_TIMEOUT_S: f64 = 1e6;

/// Where a run takes place.
enum Location {
    /// In this process and in the processes of hosted games.
    Local(Games),
    /// On a server.
    Remote(RemoteArena),
}

impl Location {
    fn environments(&self) -> &dyn Catalog {
        match self {
            Self::Local(games) => games,
            Self::Remote(remote) => remote.environments(),
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
    let connect = |url: &str, competition| {
        ensure!(
            args.hosted.games_dir.is_empty(),
            "--games-dir names local environments, but this run uses the server at {}; remove one of the two flags",
            output::plain(url)
        );
        RemoteArena::connect(url, key.as_deref(), competition).map(Location::Remote)
    };
    let (spec, location) = match &args.resume {
        Some(folder) => {
            let (folder, config) = rhae_runs::resume::<RunConfig>(folder)?;
            let location = match &config.server {
                Some(url) => connect(url, config.competition)?,
                None => Location::Local(args.hosted.games_of_run(&config.games_dirs)?),
            };
            let (agent, config) = if config.model.is_some() {
                args.model.resume(config, &folder)?
            } else {
                (agent_of(&config)?, config)
            };
            (
                RunSpec {
                    agent,
                    config,
                    folder,
                    jobs,
                    resumed: true,
                },
                location,
            )
        }
        None => {
            ensure!(
                key.is_none() || args.key.is_none() || args.server.is_some(),
                "--key is the key of a server; add --server URL"
            );
            let location = match &args.server {
                Some(url) => connect(url, args.competition)?,
                None => Location::Local(args.hosted.games()?),
            };
            (new_run(args, jobs, &location)?, location)
        }
    };
    let interrupt = interrupt_flag()?;
    let bar = bar(json);
    let play = |arena: &dyn Arena| {
        run_all(&spec, arena, &interrupt, &mut |progress| {
            show(&bar, progress);
        })
    };
    let results = match &location {
        Location::Remote(remote) => remote.run(&spec, play)?,
        Location::Local(games) => play(games)?,
    };
    bar.finish_and_clear();
    report(&results, json)
}

/// Prints the results of a run and returns the exit code.
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
    for reason in reasons(&results.cards, &Ending::Failed) {
        eprintln!("failed: {}", output::plain(&reason));
    }
    for reason in reasons(&results.cards, &Ending::Interrupted) {
        eprintln!("interrupted: {}", output::plain(&reason));
    }
    if !results.summary.finished {
        eprintln!(
            "interrupted: partial results are written; continue with `rhae run --resume {}`",
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

/// Returns the distinct reasons of all plays with this ending, each with the number of plays.
fn reasons(cards: &[Scorecard], ending: &Ending) -> Vec<String> {
    let mut reasons: BTreeMap<&str, u32> = BTreeMap::new();
    let runs = cards
        .iter()
        .flat_map(|card| &card.environments)
        .flat_map(|environment| &environment.runs);
    for run in runs.filter(|run| run.ending.as_ref() == Some(ending)) {
        // A play that the user interrupted has no message and needs none.
        if let Some(reason) = run
            .message
            .as_deref()
            .or((*ending == Ending::Failed).then_some("no reason was given"))
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

/// Resolves the flags into a run. The run folder is created after all flags are validated.
fn new_run(mut args: RunArgs, jobs: usize, location: &Location) -> Result<RunSpec> {
    let catalog = location.environments();
    let remote = if let Location::Remote(remote) = location {
        Some(remote)
    } else {
        None
    };
    if let Some(file) = args.agent.strip_prefix("replay:") {
        (args.agent, args.games, args.env_seed) =
            replayed_play(catalog, Path::new(file), &args.games, args.env_seed)?;
    }
    let plays_model = args.agent_cmd.is_none() && args.agent.starts_with("model:");
    // A model has its own timeouts, which may be hours long, so the step timeout must not end a
    // request before them.
    let step_timeout = args.step_timeout.unwrap_or(if plays_model {
        MAX_STEP_TIMEOUT_S
    } else {
        60.0
    });
    ensure!(
        step_timeout > 0.0 && step_timeout <= MAX_STEP_TIMEOUT_S,
        "--step-timeout must be more than 0 and at most 1,000,000 seconds"
    );
    let player = match args.agent.strip_prefix("model:") {
        Some(name) if plays_model => Some(args.model.open(name)?),
        _ => args.model.check_unused().map(|()| None)?,
    };
    let config = RunConfig {
        version: RUN_VERSION,
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        agent: args.agent_cmd.is_none().then_some(args.agent),
        agent_cmd: args.agent_cmd,
        seed: args.seed,
        env_seed: args.env_seed,
        games: selected_games(catalog, &args.games)?,
        repeat: args.repeat,
        budget: args.budget.to_string(),
        method: args.method.name().to_owned(),
        step_timeout_ms: (step_timeout * 1000.0).ceil() as u64,
        generator: Rng::NAME.to_owned(),
        server: remote.map(|remote| remote.address().to_owned()),
        competition: args.competition,
        games_dirs: args.hosted.absolute_folders()?,
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
            "note: the budget is {actions} actions per play; use `{actions}x` for {actions} times the baseline on each level"
        );
    }
    let path = args.out.unwrap_or_else(|| default_folder(&agent));
    let folder = RunFolder::create(&path, &config)?;
    Ok(RunSpec {
        config,
        agent,
        folder,
        jobs,
        resumed: false,
    })
}

/// Returns the agent, the environment and the environment seed for `--agent replay:FILE`.
/// Environment and seed are those of the recording; flags that select others are rejected.
fn replayed_play(
    catalog: &dyn Catalog,
    file: &Path,
    games: &str,
    env_seed: u64,
) -> Result<(String, String, u64)> {
    let recording = read_recording(file)?;
    let id = recording.header.game_id.to_string();
    let selected = if games == "all" {
        vec![catalog.find(&id)?.id.to_string()]
    } else {
        selected_games(catalog, games)?
    };
    ensure!(
        selected == [id.clone()],
        "the recording is of `{id}`; it cannot be replayed on `{games}`"
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
        "the recording restarts the whole game, which a run does not allow; use `rhae score recording`"
    );
    let path = file
        .canonicalize()
        .with_context(|| format!("cannot find `{}`", file.display()))?;
    Ok((format!("replay:{}", path.display()), id, seed))
}

/// Resolves the names of `--games` to ids. A duplicate is an error.
pub(crate) fn selected_games(catalog: &dyn Catalog, names: &str) -> Result<Vec<String>> {
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

/// Reads a recording in any supported format.
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
    let player = if matches!(agent, AgentSpec::Command(_)) {
        "command".to_owned()
    } else {
        agent.name().replace([':', '/'], "-")
    };
    let name = format!("{}-{player}", compact_utc(now_ms()));
    unused_folder(Path::new("runs"), &name)
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
    // An estimate needs at least one finished play.
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
