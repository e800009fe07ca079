//! `--dump-prompts`: writes the prompts of an evaluation without sending a request.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use rhae_eval::Plan;

use super::EvalArgs;
use super::spec::resolve;
use crate::output;

pub(super) fn dump(args: &EvalArgs, folder: &Path) -> Result<ExitCode> {
    let (solver, sets) = resolve(args)?;
    let plan = Plan::new(sets, 1, solver.unit());
    let mut written = 0;
    let to_stdout = folder == Path::new("-");
    if !to_stdout {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
    }
    for (request, text) in plan.prompts(solver.as_ref()) {
        let tests: Vec<String> = request
            .tests
            .iter()
            .map(|test| (test + 1).to_string())
            .collect();
        let tests = tests.join("-");
        written += 1;
        if to_stdout {
            output::print(&format!("===== {} test {tests}", request.task))?;
            output::print(&output::plain(&text))?;
        } else {
            let path = folder.join(format!("{}_{tests}.txt", request.task));
            fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
    }
    ensure!(
        written > 0,
        "this solver uses no prompts; `--dump-prompts` requires `--solver model:NAME`"
    );
    if !to_stdout {
        output::print(&output::plain(&format!(
            "wrote {written} prompts to `{}`",
            folder.display()
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
