//! `rhae arc eval`: a solver on static tasks, to a score that can be defended.

mod limits;
mod order;
mod prompts;
mod show;
mod solvers;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_eval::{
    EvalFolder, EvalResults, Ledger, Order, Plan, PlannedSet, assemble, csv, estimate, load_lines,
    markdown, report,
};
use rhae_protocol::EvalConfig;
use rhae_tasks::Parser;

use self::limits::LimitArgs;
use super::data::SelectArgs;
use super::protocol::{Failures, Protocol};
use crate::interrupt::interrupt_flag;
use crate::models::ModelsArgs;

/// Let a solver answer tasks; gives a folder with journal, scores, costs and a report.
///
/// Every request is written down before it is sent and when its answer is there, so that a run can be killed at any moment and
/// goes on at the attempt with `--resume`.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc eval --solver search --data data/arc --set arc-agi-1-evaluation
  rhae arc eval --solver search --data data/arc --set arc-agi-2-evaluation --shard 1/4 --out runs/part1
  rhae arc eval --solver model:my-model --data data/arc --set arc-agi-2-evaluation --concurrency 32 --spend-limit 50
  rhae arc eval --solver replay:submission.json --data data/arc --set arc-agi-1-evaluation --parser official
  rhae arc eval --resume runs/part1")]
pub(super) struct EvalArgs {
    /// Who answers: search, random, model:NAME, or replay:FILE with a submission or the folder of another run; several are separated by commas
    #[arg(long, required_unless_present = "resume", conflicts_with = "resume")]
    solver: Option<String>,
    /// The tasks: a task file, a file with many tasks, or a folder of either; NAME=PATH gives a set a name. May be repeated
    #[arg(long, value_name = "[NAME=]PATH", required_unless_present = "resume")]
    data: Vec<String>,
    /// Which sets, where the data have several
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    set: Vec<String>,
    #[command(flatten)]
    select: SelectArgs,
    /// Only every N-th task, beginning with number I
    #[arg(long, value_name = "I/N", conflicts_with = "resume")]
    shard: Option<String>,
    /// Whose rules: they set the parser, the attempts and the headline
    #[arg(long, value_enum, default_value_t = Protocol::Standard, conflicts_with = "resume")]
    protocol: Protocol,
    /// How many attempts at a test, in place of the protocol's number
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with = "resume")]
    attempts: Option<u32>,
    /// How answers are read, in place of the protocol's parser: lenient, official, nejumi or plan
    #[arg(long, conflicts_with = "resume")]
    parser: Option<Parser>,
    /// What a failed request or an answer without a grid means: `soft` counts it as not solved, `hard` ends the run
    #[arg(long, value_enum, default_value_t = Failures::Soft, conflicts_with = "resume")]
    failures: Failures,
    /// For `search`: how much to do for each test, in millions of cells looked at
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000), conflicts_with = "resume")]
    work: Option<u64>,
    /// For `random`: the seed
    #[arg(long, conflicts_with = "resume")]
    seed: Option<u64>,
    /// For models: official, text-grid, nejumi-ja, whole-task, or a template file [default: the protocol's]
    #[arg(long, value_name = "NAME|FILE", conflicts_with = "resume")]
    prompt: Option<String>,
    #[command(flatten)]
    models: ModelsArgs,
    /// Write what a model would be asked into a folder, or with `-` to standard output, and ask nothing
    #[arg(long, value_name = "FOLDER", conflicts_with = "resume")]
    dump_prompts: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    /// The folder of the run, which must not exist or be empty [default: runs/TIME-arc-SOLVER]
    #[arg(long, conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Go on with a run; all but the limits comes from its folder
    #[arg(long, value_name = "FOLDER")]
    resume: Option<PathBuf>,
    /// With --resume: make the attempts again that failed for good
    #[arg(long, requires = "resume")]
    retry_failed: bool,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &EvalArgs) -> Result<ExitCode> {
    if let Some(folder) = &args.dump_prompts {
        return prompts::dump(args, folder);
    }
    let prepared = order::prepare(args)?;
    let order::Prepared {
        folder,
        config,
        sets,
        solver,
        limits,
    } = &prepared;
    let parser: Parser = config
        .parser
        .parse()
        .context("the folder's configuration names a parser")?;
    let plan = Plan::new(sets.clone(), config.attempts, solver.unit());
    let before = if args.resume.is_some() {
        load_lines(folder.path()).unwrap_or_default()
    } else {
        Vec::new()
    };
    let ledger = Ledger::of_lines(&before);
    show::announce(
        &plan,
        &ledger,
        &estimate(&plan, solver.as_ref(), &ledger, args.retry_failed),
        folder,
    );
    let order = Order {
        folder,
        plan: &plan,
        solver: solver.as_ref(),
        parser,
        limits: *limits,
        stop_at_failure: config.stop_at_failure,
        retry_failed: args.retry_failed,
        resumed: args.resume.is_some(),
    };
    let interrupt = interrupt_flag()?;
    let bar = show::Bar::new(args.json);
    let ledger = rhae_eval::run(&order, &interrupt, &mut |progress| bar.show(progress))?;
    bar.finish();
    let results = assemble(config, &plan.sets, &ledger, parser)?;
    write(folder, config, &plan.sets, &results)?;
    show::results(config, &results, folder, args.json)
}

/// Writes everything that is made from the journal.
fn write(
    folder: &EvalFolder,
    config: &EvalConfig,
    sets: &[PlannedSet],
    results: &EvalResults,
) -> Result<()> {
    folder.write_json("results.json", &show::value(config, results)?)?;
    folder.write("results.csv", csv(results).as_bytes())?;
    folder.write("results.md", markdown(results).as_bytes())?;
    folder.write("report.html", report(config, sets, results)?.as_bytes())?;
    for set in &results.sets {
        let name = if results.sets.len() == 1 {
            "submission.json".to_owned()
        } else {
            format!("submission-{}.json", set.set.replace('/', "-"))
        };
        folder.write(&name, set.submission.to_string().as_bytes())?;
    }
    Ok(())
}
