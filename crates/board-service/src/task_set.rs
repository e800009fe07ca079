//! The static tasks of a board: what a board fixes, and the file with the solutions.

use rhae_protocol::{BoardSet, BoardTasks, EvalParser, EvalProtocol, SetVisibility};
use rhae_tasks::{Parser, Protocol, Rules, Selection, SourceFile, TaskSet, load};
use serde_json::{Map, Value};

use crate::BoardError;
use crate::answer_check::selection;

/// The name of the file with the tasks and their solutions, in the database and in an export.
pub(crate) const TASKS: &str = "tasks.json";

/// Returns the set of a board of static tasks.
///
/// # Errors
///
/// Returns [`BoardError::Tasks`] if a selected test does not exist or has no solution.
pub fn task_set(
    visibility: SetVisibility,
    set: &TaskSet,
    selected: &Selection,
    protocol: Protocol,
    rules: Rules,
) -> Result<BoardSet, BoardError> {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let tests = selected.iter().map(|(id, tests)| {
        let tests = tests.iter().map(|&test| number(test)).collect();
        (id.to_string(), tests)
    });
    let tasks = BoardTasks {
        revision: set.revision(),
        protocol: match protocol {
            Protocol::Standard => EvalProtocol::Standard,
            Protocol::Official => EvalProtocol::Official,
            Protocol::Nejumi => EvalProtocol::Nejumi,
            Protocol::Plan => EvalProtocol::Plan,
        },
        attempts: number(rules.attempts),
        parser: match rules.parser {
            Parser::Lenient => EvalParser::Lenient,
            Parser::Official => EvalParser::Official,
            Parser::Nejumi => EvalParser::Nejumi,
            Parser::Plan => EvalParser::Plan,
        },
        tests: tests.collect(),
    };
    check_solutions(&tasks, set)?;
    Ok(BoardSet {
        name: set.name.clone(),
        visibility,
        environments: Vec::new(),
        tasks: Some(tasks),
    })
}

/// Returns the file that a board stores: all tasks with their solutions in the order of their ids.
pub fn tasks_text(set: &TaskSet) -> String {
    let tasks = set.tasks.iter();
    let tasks: Map<String, Value> = tasks
        .map(|(id, task)| (id.to_string(), task.to_json()))
        .collect();
    format!("{}\n", Value::Object(tasks))
}

/// Reads the file of a board, and checks that it has what the board fixes.
///
/// # Errors
///
/// Returns [`BoardError::Tasks`] if it is of another revision, or if a selected test has no solution.
pub(crate) fn read_tasks(
    set: &BoardSet,
    tasks: &BoardTasks,
    text: &str,
) -> Result<TaskSet, BoardError> {
    let source = SourceFile {
        name: TASKS.to_owned(),
        text: text.to_owned(),
    };
    let mut loaded = load(&[source]).map_err(invalid)?.sets;
    let (Some(found), true) = (loaded.pop(), loaded.is_empty()) else {
        return Err(invalid("expected one set of tasks"));
    };
    let found = TaskSet {
        name: set.name.clone(),
        ..found
    };
    let revision = found.revision();
    if revision != tasks.revision {
        let expected = &tasks.revision;
        let reason = format!("they have the revision `{revision}`: the board has `{expected}`");
        return Err(BoardError::Tasks(reason));
    }
    check_solutions(tasks, &found)?;
    Ok(found)
}

fn check_solutions(tasks: &BoardTasks, set: &TaskSet) -> Result<(), BoardError> {
    let selected = selection(tasks).map_err(invalid)?;
    let part = set.select(&selected).map_err(invalid)?;
    let mut tests = part.tasks.iter();
    let unsolved = tests.find(|(_, task)| task.test.iter().any(|test| test.output.is_none()));
    match unsolved {
        Some((id, _)) => Err(BoardError::Tasks(format!(
            "the task `{id}` has no solution"
        ))),
        None => Ok(()),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass errors on")]
fn invalid(reason: impl ToString) -> BoardError {
    BoardError::Tasks(reason.to_string())
}
