//! The judgement of a submitted program: it is executed in a new interpreter, which knows nothing of
//! the agent that wrote it.

use std::sync::Arc;

use rhae_agents::AgentError;
use serde_json::{Value, json};

use super::PRELUDE;
use crate::code::{CodeRuntime, HostFunctions, Interpreter};
use crate::engine::Engine;

/// The characters of a program.
const MAX_CODE_CHARS: usize = 100_000;

/// A program and what it did.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) code: String,
    /// The output for each test, if the program returns a grid.
    pub(super) grids: Vec<Option<Vec<Vec<u8>>>>,
    pub(super) train_solved: usize,
    /// The sum over the training pairs of the share of right cells.
    share: f64,
    problems: Vec<String>,
}

impl Judged {
    /// Returns why the program is not accepted, or `None` if it is.
    pub(super) fn rejection(&self) -> Option<String> {
        (!self.problems.is_empty()).then(|| self.problems.join("\n"))
    }

    /// Returns whether the outputs of this program are the better answer. Of equal programs, the
    /// later one is better.
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        let key = |judged: &Self| {
            let answered = judged.grids.iter().flatten().count();
            (judged.train_solved, answered)
        };
        (key(self), self.share) >= (key(other), other.share)
    }
}

/// Executes a program on the pairs and tests of a task. The inner error is a mistake for the model.
pub(super) fn judge(
    code: &str,
    task: &Value,
    runtime: &Arc<CodeRuntime>,
    engine: &mut Engine<'_>,
) -> Result<Result<Judged, String>, AgentError> {
    if code.chars().count() > MAX_CODE_CHARS {
        return Ok(Err(format!(
            "the program is longer than {MAX_CODE_CHARS} characters"
        )));
    }
    let mut interpreter = Interpreter::new(runtime, PRELUDE);
    let mut captured = Captured(None);
    let call = format!("judge({})", json!(code));
    let output = interpreter.run(&call, &json!({"task": task}), &mut captured, engine)?;
    let Some(result) = captured.0 else {
        return Ok(Err(format!(
            "the program ended the interpreter: {}",
            output.text
        )));
    };
    if let Some(problem) = result["problem"].as_str() {
        return Ok(Err(problem.to_owned()));
    }
    Ok(Ok(judgement(code, task, &result)))
}

/// Converts the result of the prelude, which the program may have changed.
fn judgement(code: &str, task: &Value, result: &Value) -> Judged {
    let count = |field: &str| task[field].as_array().map_or(0, Vec::len);
    let mut judged = Judged {
        code: code.to_owned(),
        grids: Vec::new(),
        train_solved: 0,
        share: 0.0,
        problems: Vec::new(),
    };
    for index in 0..count("train") {
        let pair = &result["train"][index];
        if pair["exact"] == true {
            judged.train_solved += 1;
            judged.share += 1.0;
            continue;
        }
        judged.share += pair["share"].as_f64().unwrap_or(0.0);
        let problem = pair["problem"].as_str().unwrap_or("no output");
        let line = format!("training pair {}: {problem}", index + 1);
        judged.problems.push(line);
    }
    for index in 0..count("test") {
        let test = &result["test"][index];
        let grid: Option<Vec<Vec<u8>>> = serde_json::from_value(test["grid"].clone()).ok();
        if grid.is_none() {
            let problem = test["problem"].as_str().unwrap_or("no output");
            let line = format!("test input {}: {problem}", index + 1);
            judged.problems.push(line);
        }
        judged.grids.push(grid);
    }
    judged
}

/// The function `judged`, with which the prelude returns the result. Only the first call counts.
struct Captured(Option<Value>);

impl HostFunctions for Captured {
    fn call(
        &mut self,
        name: &str,
        arguments: &[Value],
        _engine: &mut Engine<'_>,
    ) -> Result<Result<Value, String>, AgentError> {
        if name != "judged" || self.0.is_some() {
            return Ok(Err(format!("there is no function `{name}`")));
        }
        self.0 = arguments.first().cloned();
        Ok(Ok(Value::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_ranked_by_training_pairs() {
        let task = json!({"train": [{}, {}], "test": [[[1]], [[2]]]});
        let result = |exact: bool, share: f64, grid: Value| {
            json!({
                "train": [{"exact": true}, {"exact": exact, "share": share, "problem": "1 wrong cell"}],
                "test": [{"grid": [[3]]}, {"grid": grid, "problem": "ValueError: x"}],
            })
        };
        let judge = |result: &Value| judgement("code", &task, result);
        let right = judge(&result(true, 1.0, json!([[4]])));
        assert_eq!((right.rejection(), right.train_solved), (None, 2));
        assert_eq!(right.grids, [Some(vec![vec![3]]), Some(vec![vec![4]])]);
        let failing = judge(&result(true, 1.0, Value::Null));
        assert_eq!(failing.rejection().unwrap(), "test input 2: ValueError: x");
        let close = judge(&result(false, 0.9, json!([[4]])));
        assert_eq!(close.rejection().unwrap(), "training pair 2: 1 wrong cell");
        let far = judge(&result(false, 0.1, json!([[4]])));
        assert!(right.is_better_than(&failing) && failing.is_better_than(&close));
        assert!(close.is_better_than(&far) && !far.is_better_than(&close));
        // What a program forges is not trusted to have the right form.
        let forged = judge(&json!({"train": "all", "test": [{"grid": [[300]]}]}));
        assert_eq!((forged.train_solved, forged.grids), (0, vec![None, None]));
    }
}
