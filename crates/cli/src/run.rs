//! `rhae run`: an agent on environments, to a scorecard and a report.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use rhae_agents::AgentSpec;
use rhae_engine::Rng;
use rhae_harness::{Budget, Progress, RunFolder, RunOrder, new_run_id, run as run_all};
use rhae_protocol::{Recording, RunConfig, SOFTWARE, compact_utc};
use rhae_report::card_table;
use rhae_scoring::Method;
use rhae_session::{Builtin, Catalog};

use crate::output;

/// Let an agent play environments; gives a scorecard, recordings and a report.
///
/// Without flags the built-in explorer plays every built-in environment.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae run
  rhae run --agent random --games kq19,ny40 --seed 7 --repeat 5
  rhae run --agent-cmd \"python my_agent.py\" --out runs/mine
  rhae run --resume runs/mine")]
pub(crate) struct RunArgs {
    /// A built-in agent: explorer, random, or replay:FILE
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
    /// Seconds an agent may take for one action
    #[arg(long, default_value_t = 60.0)]
    step_timeout: f64,
    /// The run folder, which must not exist or be empty [default: runs/TIME-AGENT]
    #[arg(long)]
    out: Option<PathBuf>,
    /// Go on with an interrupted run; everything but --jobs comes from its folder
    #[arg(long, conflicts_with_all = ["agent", "agent_cmd", "games", "seed", "env_seed", "repeat", "budget", "method", "step_timeout", "out"])]
    resume: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: RunArgs) -> Result<ExitCode> {
    let jobs = args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let json = args.json;
    let order = match &args.resume {
        Some(folder) => {
            let (folder, config) = RunFolder::resume(folder)?;
            RunOrder { agent: agent_of(&config)?, config, folder, jobs, resumed: true }
        }
        None => new_order(args, jobs)?,
    };
    let interrupt = interrupt_flag()?;
    let bar = bar(json);
    let results = run_all(&order, &Builtin, &interrupt, &mut |progress| show(&bar, progress))?;
    bar.finish_and_clear();
    if json {
        output::print_json(&results.summary)?;
    } else {
        output::print(&card_table(&results.cards, &results.summary, output::width()))?;
        output::print(&format!("report: {}", results.summary.report))?;
    }
    if results.summary.finished {
        Ok(ExitCode::SUCCESS)
    } else {
        eprintln!("interrupted: what there is has been written; go on with `rhae run --resume {}`", results.summary.folder);
        Ok(ExitCode::from(130))
    }
}

/// Resolves the flags into a run. Nothing is written before everything is known to be right.
fn new_order(args: RunArgs, jobs: usize) -> Result<RunOrder> {
    ensure!(
        args.step_timeout > 0.0 && args.step_timeout <= 1e6,
        "--step-timeout must be more than 0 and at most 1,000,000 seconds"
    );
    let config = RunConfig {
        version: 1,
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        agent: args.agent_cmd.is_none().then_some(args.agent),
        agent_cmd: args.agent_cmd,
        seed: args.seed,
        env_seed: args.env_seed,
        games: chosen_games(&args.games)?,
        repeat: args.repeat,
        budget: args.budget.to_string(),
        method: args.method.name().to_owned(),
        step_timeout_ms: (args.step_timeout * 1000.0) as u64,
        generator: Rng::NAME.to_owned(),
    };
    let agent = agent_of(&config)?;
    let path = args.out.unwrap_or_else(|| default_folder(&agent));
    let folder = RunFolder::create(&path, &config)?;
    Ok(RunOrder { config, agent, folder, jobs, resumed: false })
}

fn chosen_games(names: &str) -> Result<Vec<String>> {
    if names == "all" {
        return Ok(Builtin.list().iter().map(|info| info.id.to_string()).collect());
    }
    let mut ids: Vec<String> = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let id = Builtin.find(name)?.id.to_string();
        ensure!(!ids.contains(&id), "`{id}` is named twice in --games");
        ids.push(id);
    }
    ensure!(!ids.is_empty(), "--games names no environment; `rhae games list` shows all");
    Ok(ids)
}

fn agent_of(config: &RunConfig) -> Result<AgentSpec> {
    match (&config.agent, &config.agent_cmd) {
        (_, Some(command)) => Ok(AgentSpec::Command(command.clone())),
        (Some(name), None) => match name.strip_prefix("replay:") {
            Some(file) => Ok(AgentSpec::Replay(Arc::new(read_recording(Path::new(file))?))),
            None => Ok(AgentSpec::built_in(name)?),
        },
        (None, None) => anyhow::bail!("the run's configuration names no agent"),
    }
}

/// Reads a recording in whichever format it is.
pub(crate) fn read_recording(path: &Path) -> Result<Recording> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let text =
        String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("`{}` is not a recording: it is not UTF-8 text", path.display()))?;
    Recording::parse(&text).with_context(|| format!("cannot read `{}` as a recording", path.display()))
}

fn default_folder(agent: &AgentSpec) -> PathBuf {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
    let player = if matches!(agent, AgentSpec::Command(_)) { "command".to_owned() } else { agent.name() };
    let name = format!("{}-{player}", compact_utc(now_ms));
    let numbered = |number: u32| {
        if number == 1 { PathBuf::from(format!("runs/{name}")) } else { PathBuf::from(format!("runs/{name}-{number}")) }
    };
    (1..).map(numbered).find(|path| !path.exists()).expect("some number is free")
}

/// A flag that Ctrl-C raises; a second Ctrl-C ends the process at once.
fn interrupt_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}

fn bar(json: bool) -> ProgressBar {
    if json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} plays  {msg}  {elapsed} (about {eta} left)")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

fn show(bar: &ProgressBar, progress: Progress) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    bar.set_message(format!("{} actions, {} levels completed", progress.actions, progress.levels));
}
