//! `rhae arc eval`: evaluates a solver on static tasks.
//!
//! The crate `eval` runs the solver and journals its answers. This module resolves the flags and
//! writes the results, which are all computed from the journal.

#[cfg(feature = "server")]
pub(crate) mod distributed;
mod limits;
mod prompts;
mod show;
mod spec;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_eval::{
    EvalResults, EvalSpec, PreparedEval, assemble, estimate, parser_of, write_results,
};
use rhae_tasks::{Parser, Protocol};

use self::limits::EvalLimitArgs;
pub(super) use self::spec::host;
use super::data::SelectArgs;
use super::protocol::{Failures, protocol_parser};
use crate::interrupt::interrupt_flag;
use crate::models::ModelsArgs;
use crate::run_args::IdentityArgs;

/// Evaluate a solver on tasks; writes a folder with a journal, scores, costs and a report.
///
/// The journal records every request before it is sent, and every answer when it arrives. A run can
/// therefore be killed at any moment: `--resume` continues with the attempts that have no answer.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc eval --solver search --data data/arc --set arc-agi-1-evaluation
  rhae arc eval --solver search --data data/arc --set arc-agi-2-evaluation --shard 1/4 --out runs/part1
  rhae arc eval --solver model:my-model --data data/arc --set arc-agi-2-evaluation --jobs 32 --max-cost 50
  rhae arc eval --solver rlm:my-model --data data/arc --set arc-agi-2-evaluation --max-cost 50
  rhae arc eval --solver orchestrator:my-model --data data/arc --set arc-agi-2-evaluation --max-cost 50
  rhae arc eval --solver replay:submission.json --data data/arc --set arc-agi-1-evaluation --parser official
  rhae arc eval --solver search --data data/arc --set arc-agi-1-evaluation --on local:4
  rhae arc eval --resume runs/part1")]
pub(super) struct EvalArgs {
    /// Solver: search, random, model:NAME, rlm:NAME (docs/agents/rlm.md), orchestrator:NAME
    /// (docs/agents/orchestrator.md), or replay:FILE, where FILE is a submission or the folder of
    /// another run; several files are separated by commas
    #[arg(long, required_unless_present = "resume", conflicts_with = "resume")]
    solver: Option<String>,
    /// Task data: a task file, a file with many tasks, or a folder of either; NAME=PATH names the
    /// set. Can be repeated
    #[arg(long, value_name = "[NAME=]PATH", required_unless_present = "resume")]
    data: Vec<String>,
    /// Set to use, if the data contain several. Can be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    set: Vec<String>,
    #[command(flatten)]
    select: SelectArgs,
    /// Use only every N-th task, starting with task I, counted from 1
    #[arg(long, value_name = "I/N", conflicts_with = "resume")]
    shard: Option<String>,
    /// Rules to score by: they set the parser, the number of attempts and the headline measure
    /// [default: plan for `rlm`, otherwise standard]
    #[arg(long, value_parser = protocol_parser(), conflicts_with = "resume")]
    protocol: Option<Protocol>,
    /// Number of attempts at each test, instead of the protocol's
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    attempts: Option<u32>,
    /// Parser that finds grids in answers, instead of the protocol's: lenient, official, nejumi or
    /// plan
    #[arg(long, conflicts_with = "resume")]
    parser: Option<Parser>,
    /// Effect of a failed request or an answer without a grid: `soft` counts it as not solved,
    /// `hard` ends the run
    #[arg(long, value_enum, default_value_t = Failures::Soft, conflicts_with = "resume")]
    failures: Failures,
    /// For `search`: budget for each test, in millions of examined cells
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), conflicts_with = "resume")]
    work: Option<u64>,
    /// For `random`: seed of the generator
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// For models: prompt template, one of official, text-grid, nejumi-ja and whole-task, or a
    /// template file [default: the protocol's]
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "resume")]
    prompt: Option<String>,
    #[command(flatten)]
    models: ModelsArgs,
    /// For `rlm` and `orchestrator`: number of replies in which a model must return an answer
    /// [default: 25]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    max_iterations: Option<u32>,
    /// For `rlm`: depth of the calls with which a model calls itself; the deepest ones have no code.
    /// For `orchestrator`: depth of the agents that agents start [default: 2 for `rlm`, otherwise 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10), conflicts_with = "resume")]
    max_depth: Option<u32>,
    /// For `rlm` and `orchestrator`: folder with files rlm/NAME.md or orchestrator-task/NAME.md that
    /// replace the prompts
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    prompts: Option<PathBuf>,
    /// For `orchestrator`: Python interpreter for the code of the model [default: one that is found]
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// For `rlm` and `orchestrator`: execute the code of the model even if the system cannot fully
    /// isolate it
    #[arg(long)]
    unsafe_host: bool,
    /// Write the prompts for a model to a folder, or to standard output with `-`, and send no
    /// request
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    dump_prompts: Option<PathBuf>,
    /// Folder of the run; it must be missing or empty [default: runs/TIME-arc-SOLVER]
    #[arg(long, conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Resume the run in this folder with its configuration; only limits and --data can be given
    /// again
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// With --resume: repeat the attempts that failed permanently
    #[arg(long, requires = "resume")]
    retry_failed: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    #[cfg(feature = "server")]
    #[command(flatten)]
    on: crate::on::OnArgs,
    // Groups with a heading come last, because the heading applies to all arguments after it.
    #[command(flatten)]
    limits: EvalLimitArgs,
    #[command(flatten)]
    identity: IdentityArgs,
}

pub(super) fn run(args: &EvalArgs) -> Result<ExitCode> {
    if let Some(folder) = &args.dump_prompts {
        return prompts::dump(args, folder);
    }
    let prepared = spec::prepare(args)?;
    #[cfg(feature = "server")]
    if let Some(engine) = &args.on.on {
        return distributed::run(args, engine, prepared);
    }
    let results = execute(
        &prepared,
        args.retry_failed,
        args.resume.is_some(),
        args.json,
    )?;
    show::print_results(&prepared.config, &results, &prepared.folder, args.json)
}

/// Runs a prepared evaluation and writes its results.
pub(super) fn execute(
    prepared: &PreparedEval,
    retry_failed: bool,
    resumed: bool,
    json: bool,
) -> Result<EvalResults> {
    let PreparedEval {
        folder,
        config,
        plan,
        ledger,
        solver,
        limits,
        note,
    } = prepared;
    let parser = parser_of(config.parser);
    let cost = estimate(plan, solver.as_ref(), ledger, retry_failed);
    show::print_plan(plan, ledger, &cost, folder);
    if let Some(note) = note {
        eprintln!("note: {}", crate::output::plain(note));
    }
    let spec = EvalSpec {
        folder,
        plan,
        solver: solver.as_ref(),
        parser,
        limits: *limits,
        stop_at_failure: config.stop_at_failure,
        retry_failed,
        resumed,
    };
    let interrupt = interrupt_flag()?;
    let bar = show::RunProgress::new(json);
    let ledger = rhae_eval::run(&spec, &interrupt, &mut |progress| bar.show(progress))?;
    bar.finish();
    let results = assemble(config, &plan.sets, &ledger, parser)?;
    write_results(folder, config, &plan.sets, &results)?;
    Ok(results)
}
