//! `rhae run`: runs an agent on environments, locally or on a server, and writes scorecards and a
//! report.

#[cfg(feature = "server")]
mod distributed;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

#[cfg(feature = "server")]
use anyhow::ensure;
use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rhae_agents::AGENTS;
use rhae_harness::{
    Budget, CONTEXT_TOKENS_RANGE, Consent, HarnessError, LocatedRun, LocationRequest, ModelOptions,
    Progress, REPEAT_RANGE, Results, ResumeOptions, RunEstimate, RunRequest, ShardResults,
    models_for_agent, open_run, read_baselines,
};
use rhae_protocol::{Ending, Scorecard, Shard, TierFile};
use rhae_report::{card_table, tier_summary_text};
use rhae_scoring::Method;

use crate::hosted_games::HostedGamesArgs;
use crate::interrupt::{INTERRUPTED, interrupt_flag};
use crate::listed;
use crate::models::ModelsArgs;
#[cfg(feature = "server")]
use crate::on::Engine;
use crate::output;
use crate::run_args::{IdentityArgs, LimitArgs};

pub(crate) use rhae_harness::read_recording;

/// The exit code of a run in which an environment failed, so that results are missing. `rhae
/// validate` has the same code for an incomplete validation.
pub(crate) const INCOMPLETE: u8 = 3;

/// Run an agent on environments and write a scorecard, recordings and a report.
///
/// Without flags the built-in explorer plays the set `demo`, every built-in environment.
///
/// A run is a first encounter: RESET restarts the level and counts as an action. Where the official
/// engine would restart the whole game, nothing happens and nothing is counted.
#[derive(Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "Examples:
  rhae run
  rhae run --agent random --games kq19,ny40 --seed 7 --repeat 5
  rhae run --games-dir environment_files
  rhae run --games-dir environment_files --games ls20,kq19
  rhae run --agent-cmd \"python my_agent.py\" --out runs/mine
  rhae run --resume runs/mine
  rhae run --agent random --repeat 5 --on local:2
  rhae run --agent explorer --repeat 20 --on slurm:short --workers 8
  rhae run --agent random --repeat 5 --shard 0/2 --out shards/0
  rhae run --agent model:big --games kq19 --max-cost 20
  rhae run --agent rgb:big --games kq19 --max-cost 20
  rhae run --agent orchestrator:big,theorist=small --games kq19 --estimate
  ARC_API_KEY=… rhae run --server https://three.arcprize.org --games ls20 --budget 200"
)]
pub(crate) struct RunArgs {
    /// Agent, see docs/agents.md and, for language models, docs/models.md
    #[arg(long, default_value = AGENTS[0].name, value_parser = listed::agent(), conflicts_with = "agent_cmd")]
    agent: String,
    /// Shell command of an agent that exchanges JSON lines, see docs/agents.md
    #[arg(long)]
    agent_cmd: Option<String>,
    /// Environments or named sets, separated by commas, or `all` [default: the games of --games-dir,
    /// otherwise the set `demo`]
    #[arg(long)]
    games: Option<String>,
    /// Seed of the agent; each further repeat uses the next number
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Seed of the environments; baselines are valid for 0
    #[arg(long, default_value_t = 0)]
    env_seed: u64,
    /// Number of scorecards; the headline is their mean
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(REPEAT_RANGE))]
    repeat: u32,
    /// Action limit: `5x` (five times the baseline on each level), a number for the whole play, or
    /// `none`
    #[arg(long, default_value = "5x")]
    budget: Budget,
    /// Scoring method
    #[arg(long, default_value = Method::DEFAULT.name(), value_parser = listed::method())]
    method: Method,
    /// Published baselines of a human study, which replace those of the environments (docs/study.md)
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    baselines: Option<PathBuf>,
    /// Play the easiest environments first, and further ones only after progress that luck does not
    /// explain. The file comes from `rhae board tiers`
    #[arg(long, value_name = "FILE", conflicts_with = "env_seed")]
    tiers: Option<PathBuf>,
    /// Play every tier, whatever the earlier ones showed
    #[arg(long, requires = "tiers")]
    all: bool,
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
    /// Resume an interrupted run; only limits, --key and --models may be given again. If other users
    /// can change the folder, --agent-cmd and --server must be repeated
    #[arg(long, conflicts_with_all = ["agent", "games", "seed", "env_seed", "repeat", "budget", "method", "baselines", "tiers", "step_timeout", "out", "competition", "keep_reasoning", "context_tokens", "max_iterations", "max_depth"])]
    resume: Option<PathBuf>,
    /// Play one of N parts of the run, I/N with I from 0, in the folder of --out. The same command
    /// continues an interrupted shard; `rhae merge` joins the shards (docs/clusters.md)
    #[arg(long, value_name = "I/N", requires = "out", conflicts_with_all = ["server", "resume", "tiers", "estimate", "dry_run"])]
    shard: Option<Shard>,
    /// Play elsewhere: `local:N` starts N worker processes on this machine, `slurm[:PARTITION]`
    /// submits an array of shards and waits for it, `ray[:ADDRESS]` starts workers on a Ray cluster,
    /// `join[:IP:PORT]` waits for `rhae work --join` (docs/clusters.md)
    #[cfg(feature = "server")]
    #[arg(long, value_name = "ENGINE", conflicts_with_all = ["server", "shard", "tiers", "estimate", "dry_run"])]
    on: Option<Engine>,
    /// Maximum number of shards of a Slurm array, or number of workers on a Ray cluster [default: 16
    /// shards; the number of CPUs of the Ray cluster]
    #[cfg(feature = "server")]
    #[arg(long, value_name = "N", requires = "on", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    workers: Option<u32>,
    /// Print the requests, tokens and cost that a model will need in each environment, and stop
    /// before anything is sent
    #[arg(long, conflicts_with = "resume")]
    estimate: bool,
    /// Check everything that can be checked before a run starts, print its configuration and the
    /// estimate, and stop. Nothing is sent to a model or written
    #[arg(long, conflicts_with_all = ["resume", "estimate"])]
    dry_run: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    hosted: HostedGamesArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    identity: IdentityArgs,
}

#[derive(Args)]
#[command(next_help_heading = "Agents with a model (--agent model:NAME, rgb:NAME, …)")]
struct ModelArgs {
    #[command(flatten)]
    models: ModelsArgs,
    /// Send the provider's reasoning back with the conversation, if the provider supports it; off in
    /// the official setting
    #[arg(long)]
    keep_reasoning: bool,
    /// Drop the oldest turns of a conversation beyond this many tokens, as counted by the provider
    /// [default: as configured for the model, or 175,000]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(CONTEXT_TOKENS_RANGE))]
    context_tokens: Option<u64>,
    /// Folder with files AGENT/NAME.md that replace the prompts of an agent with tools
    /// (docs/agents.md)
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,
    /// Number of requests in which an agent with tools must act or answer [default: 25 for `rlm`,
    /// otherwise 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_iterations: Option<u32>,
    /// Depth of the calls with which `rlm` calls itself; the deepest ones have no code [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    max_depth: Option<u32>,
}

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    args.limits.check()?;
    if args.estimate || args.dry_run {
        return preview(args);
    }
    #[cfg(feature = "server")]
    if let Some(Engine::Slurm(partition)) = &args.on {
        return run_on_slurm(args, partition.as_deref());
    }
    let run = match &args.resume {
        Some(folder) => resumed(args, folder)?,
        None => started(args)?,
    };
    for note in &run.notes {
        eprintln!("note: {}", output::plain(note));
    }
    let interrupt = interrupt_flag()?;
    let bar = bar(args.json);
    let results = execute(args, &run, &interrupt, &mut |progress| show(&bar, progress))?;
    bar.finish_and_clear();
    report(&results, args.json)
}

/// Executes a run in this process, or with the workers that the flags describe.
fn execute(
    args: &RunArgs,
    run: &LocatedRun,
    interrupt: &AtomicBool,
    progress: &mut dyn FnMut(Progress),
) -> Result<Results> {
    #[cfg(feature = "server")]
    if let Some(engine) = &args.on {
        ensure!(
            args.limits.jobs().is_none(),
            "a worker plays one play at a time, so --on has no use for --jobs; change the number of workers"
        );
        let (workers, hosted) = (args.workers, &args.hosted);
        let models = &args.model.models.models;
        return distributed::execute(run, engine, workers, models, hosted, interrupt, progress);
    }
    let notify = |message: &str| eprintln!("{}", output::plain(message));
    #[cfg(not(feature = "server"))]
    let _ = args;
    Ok(run.execute(interrupt, progress, &notify)?)
}

/// Executes a new run as a Slurm array.
#[cfg(feature = "server")]
fn run_on_slurm(args: &RunArgs, partition: Option<&str>) -> Result<ExitCode> {
    ensure!(
        args.resume.is_none(),
        "a run on Slurm is continued by the same command; remove --resume"
    );
    let load = |folders: &[PathBuf]| args.hosted.games_in(folders);
    let preview = location(args).preview(request(args)?, load)?;
    for note in &preview.notes {
        eprintln!("note: {}", output::plain(note));
    }
    let interrupt = interrupt_flag()?;
    let bar = bar(args.json);
    let results = distributed::execute_on_slurm(
        partition,
        args.workers,
        &preview,
        &args.hosted,
        &interrupt,
        &mut |progress| show(&bar, progress),
    )?;
    bar.finish_and_clear();
    match results {
        Some(results) => report(&results, args.json),
        None => Ok(INTERRUPTED.into()),
    }
}

/// Prints what a run would do.
fn preview(args: &RunArgs) -> Result<ExitCode> {
    let load = |folders: &[PathBuf]| args.hosted.games_in(folders);
    let preview = location(args).preview(request(args)?, load)?;
    for note in &preview.notes {
        eprintln!("note: {}", output::plain(note));
    }
    match (args.json, args.dry_run) {
        (true, true) => output::print_json(&preview)?,
        (true, false) => output::print_json(&preview.estimate)?,
        (false, is_dry_run) => {
            if is_dry_run {
                output::print(&format!("the run would be written to {}", preview.folder))?;
                output::print_json(&preview.config)?;
            }
            let estimate = preview.estimate.as_ref().map(RunEstimate::text);
            let text =
                estimate.unwrap_or_else(|| "the agent sends no requests to a model".to_owned());
            output::print(text.trim_end())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Prepares a new run.
fn started(args: &RunArgs) -> Result<LocatedRun> {
    let load = |folders: &[PathBuf]| args.hosted.games_in(folders);
    match args.shard {
        Some(shard) => location(args).prepare_shard(request(args)?, shard, load),
        None => location(args).prepare(request(args)?, load),
    }
}

/// Returns the new run that the flags describe.
fn request(args: &RunArgs) -> Result<RunRequest> {
    let agent = args.agent_cmd.is_none().then_some(args.agent.as_str());
    Ok(RunRequest {
        agent: args.agent.clone(),
        agent_cmd: args.agent_cmd.clone(),
        games: args.games.clone(),
        seed: args.seed,
        env_seed: args.env_seed,
        repeat: args.repeat,
        budget: args.budget,
        method: args.method,
        step_timeout_s: args.step_timeout,
        task_timeout_s: args.limits.task_timeout,
        run_timeout_s: args.limits.run_timeout,
        jobs: args.limits.jobs(),
        out: args.out.clone(),
        competition: args.competition,
        baselines: args.baselines.as_deref().map(read_baselines).transpose()?,
        tiers: args.tiers.as_deref().map(read_tiers).transpose()?,
        all_tiers: args.all,
        model: model_options(args, agent)?,
        identity: args.identity.resolve(),
        ..RunRequest::default()
    })
}

/// Reads the order of the environments by ease.
fn read_tiers(file: &Path) -> Result<TierFile> {
    let name = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{name}`"))?;
    serde_json::from_str(&text).with_context(|| format!("`{name}` is not a file of tiers"))
}

/// Prepares a run that an earlier process started.
fn resumed(args: &RunArgs, folder: &Path) -> Result<LocatedRun> {
    let (folder, config) = open_run(folder)?;
    let mut options = ResumeOptions {
        jobs: args.limits.jobs(),
        task_timeout_s: args.limits.task_timeout,
        run_timeout_s: args.limits.run_timeout,
        model: model_options(args, config.agent.as_deref())?,
        agent_cmd: args.agent_cmd.clone(),
        server: args.server.clone(),
    };
    loop {
        let prepared =
            location(args).prepare_resumed(folder.clone(), config.clone(), &options, |folders| {
                args.hosted.games_in(folders)
            });
        let error = match prepared {
            Ok(run) => return Ok(run),
            Err(error) => error,
        };
        match error.downcast_ref::<HarnessError>() {
            Some(HarnessError::NeedsConsent {
                consent, reason, ..
            }) if is_allowed(consent, reason)? => consent.grant(&mut options),
            _ => return Err(error),
        }
    }
}

/// Asks on the terminal whether the run may do what its folder asks for. Without a terminal, it may
/// not.
fn is_allowed(consent: &Consent, reason: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    eprintln!(
        "Resuming this run would {}, but {}.",
        output::plain(&consent.to_string()),
        output::plain(reason)
    );
    output::confirm("Is this what you started, and may it continue?")
}

fn location(args: &RunArgs) -> LocationRequest {
    LocationRequest {
        server: args.server.clone(),
        key: args.key.clone(),
        games_dirs: args.hosted.games_dir.clone(),
    }
}

/// Returns the options of a model. The configuration of the models is read only if a model plays.
fn model_options(args: &RunArgs, agent: Option<&str>) -> Result<ModelOptions> {
    Ok(ModelOptions {
        models: models_for_agent(agent, &args.model.models.models)?,
        keep_reasoning: args.model.keep_reasoning,
        max_cost_usd: args.limits.max_cost,
        context_tokens: args.model.context_tokens,
        rate_limit: args.limits.rate_limit()?,
        request_timeout_s: args.limits.timeout,
        prompts: args.model.prompts.clone(),
        max_iterations: args.model.max_iterations,
        max_depth: args.model.max_depth,
        python: args.hosted.python_tool()?,
    })
}

/// Prints the results of a run and returns the exit code.
pub(crate) fn report(results: &Results, json: bool) -> Result<ExitCode> {
    if json {
        output::print_json(&results.summary)?;
    } else {
        output::print(&card_table(
            &results.cards,
            &results.summary,
            output::width(),
        ))?;
        if let Some(tiers) = &results.summary.tiers {
            output::print(&tier_summary_text(tiers))?;
        }
        output::print(&format!("report: {}", results.summary.report))?;
    }
    for ending in [
        Ending::Failed,
        Ending::EnvironmentFailed,
        Ending::Timeout,
        Ending::Interrupted,
    ] {
        for reason in reasons(&results.cards, &ending) {
            eprintln!("{ending}: {}", output::plain(&reason));
        }
    }
    if let Some(shard) = &results.shard {
        return Ok(report_shard(results, shard));
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
    } else if results.summary.failed_environments > 0 {
        INCOMPLETE.into()
    } else {
        ExitCode::SUCCESS
    })
}

/// Says how a shard can be joined with the others or continued, and returns the exit code.
fn report_shard(results: &Results, outcome: &ShardResults) -> ExitCode {
    let ShardResults {
        shard,
        plays,
        of,
        finished,
    } = outcome;
    let folder = &results.summary.folder;
    if !finished {
        eprintln!(
            "interrupted: shard {shard} is not complete; continue with the same command or `rhae run --resume {folder}`"
        );
        return INTERRUPTED.into();
    }
    eprintln!(
        "shard {shard} is complete: {plays} of {of} plays; the others count as missing until `rhae merge` joins the shards"
    );
    if *plays > 0 && results.summary.failed_plays as usize == *plays {
        ExitCode::FAILURE
    } else if results.summary.failed_environments > 0 {
        INCOMPLETE.into()
    } else {
        ExitCode::SUCCESS
    }
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
            .or(ending.is_failure().then_some("no reason was given"))
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
