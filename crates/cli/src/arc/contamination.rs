//! `rhae arc contamination`: looks for knowledge that the prompt did not give.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_analysis::{color_probe, contamination, load_run};
use rhae_eval::prepare_permuted;
use rhae_games::Builtin;
use rhae_protocol::{EvalConfig, EvalEnd};
use rhae_report::contamination_text;
use rhae_runs::{find_run, load_config};

use super::data::DataArgs;
use super::eval::{execute, host};
use crate::models::ModelsArgs;
use crate::output;

/// Scan the transcripts of a run for knowledge that the prompt did not give.
///
/// Reports colour names attached to the right integers, compared with shuffled mappings, and names of
/// data sets and tasks. Accepts runs of `rhae arc eval` and of `rhae run`.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc contamination runs/model
  rhae arc contamination runs/model --probe --out runs/model-permuted")]
pub(super) struct ContaminationArgs {
    /// Run folder, or the name of a folder in `runs`
    run: String,
    /// Also run the same tasks with permuted colours, under the limits of the run, and report the
    /// difference
    #[arg(long)]
    probe: bool,
    /// With --probe: seed of the permutations
    #[arg(long, requires = "probe", default_value_t = 1)]
    seed: u64,
    /// With --probe: folder of the run with permuted colours [default: runs/TIME-arc-SOLVER]
    #[arg(long, requires = "probe")]
    out: Option<PathBuf>,
    /// With --probe: task data, if they have moved since the run. Can be repeated
    #[arg(long, value_name = "[NAME=]PATH", requires = "probe")]
    data: Vec<String>,
    #[command(flatten)]
    models: ModelsArgs,
    /// With --probe: Python interpreter for the code of `orchestrator` [default: one that is found]
    #[arg(long, value_name = "PROGRAM", requires = "probe")]
    python: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ContaminationArgs) -> Result<ExitCode> {
    let folder = find_run("runs".as_ref(), &args.run);
    let mut report = contamination(&folder)?;
    if args.probe {
        let permuted = run_permuted(args, &folder)?;
        let load = |folder: &Path| load_run(folder, &Builtin);
        report.probe = Some(color_probe(load(&folder)?, load(&permuted)?, args.seed)?);
    }
    if args.json {
        output::print_json(&report)?;
    } else {
        output::print(&output::plain(&contamination_text(&report)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the tasks of a run with permuted colours and returns the folder of the new run.
fn run_permuted(args: &ContaminationArgs, folder: &Path) -> Result<PathBuf> {
    let config: EvalConfig = load_config(folder).context(
        "--probe permutes the colours of static tasks; it needs a run of `rhae arc eval`",
    )?;
    let data = if args.data.is_empty() {
        config.data.clone()
    } else {
        args.data.clone()
    };
    let sets = DataArgs::new(data, Vec::new()).load()?.sets;
    let prepared = prepare_permuted(
        folder,
        &config,
        &sets,
        args.seed,
        args.out.clone(),
        &host(&args.models, false, args.python.as_deref())?,
    )?;
    let results = execute(&prepared, false, false, args.json)?;
    let folder = prepared.folder.path();
    ensure!(
        results.ended == Some(EvalEnd::Finished),
        "the run with permuted colours is not complete; continue it with `rhae arc eval --resume {}`",
        folder.display()
    );
    Ok(folder.to_owned())
}
