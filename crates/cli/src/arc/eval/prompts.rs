//! `--dump-prompts`: what a model would be asked.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use rhae_eval::Plan;

use super::EvalArgs;
use super::order::choose;
use crate::output;

pub(super) fn dump(args: &EvalArgs, folder: &Path) -> Result<ExitCode> {
    let chosen = choose(args)?;
    let plan = Plan::new(chosen.sets, 1, chosen.solver.unit());
    let mut written = 0;
    let aloud = folder == Path::new("-");
    if !aloud {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot make `{}`", folder.display()))?;
    }
    for (asked, text) in plan.prompts(chosen.solver.as_ref()) {
        let tests: Vec<String> = asked
            .tests
            .iter()
            .map(|test| (test + 1).to_string())
            .collect();
        let tests = tests.join("-");
        written += 1;
        if aloud {
            output::print(&format!("===== {} test {tests}", asked.task))?;
            output::print(&output::plain(&text))?;
        } else {
            let path = folder.join(format!("{}_{tests}.txt", asked.task));
            fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
    }
    ensure!(
        written > 0,
        "this solver reads no prompts; `--dump-prompts` is for `--solver model:NAME`"
    );
    if !aloud {
        output::print(&output::plain(&format!(
            "{written} prompts in `{}`",
            folder.display()
        )))?;
    }
    Ok(ExitCode::SUCCESS)
}
