//! The scores of a row on static tasks.
//!
//! *Invariant:* a test without a right answer counts as not solved, and the denominators come from the
//! board and from the registration.

use std::collections::BTreeMap;

use rhae_protocol::{BoardAnswers, BoardTasks, EvalProtocol, RowEnvironment};

use crate::scores::EntryScores;
use crate::state::Entry;

/// Scores a row. The repeats are those that were registered, or the most runs that answered a task.
pub(crate) fn task_scores(
    tasks: &BoardTasks,
    entry: &Entry,
    registered: Option<usize>,
) -> EntryScores {
    let mut answers: BTreeMap<&str, Vec<&BoardAnswers>> = BTreeMap::new();
    for answer in entry.runs.iter().flat_map(|run| &run.answers) {
        answers.entry(&answer.task).or_default().push(answer);
    }
    let most = answers.values().map(Vec::len).max().unwrap_or(0);
    let repeats = registered.unwrap_or(most);
    let of = |task: &String| answers.get(task.as_str()).map_or(&[][..], Vec::as_slice);
    let scored = tasks.tests.iter().map(|(task, tests)| {
        let answers = of(task);
        let solved = |answer: &BoardAnswers| answer.solved.iter().filter(|one| **one > 0).count();
        let mut scores: Vec<f64> = answers
            .iter()
            .map(|answer| task_score(tasks.protocol, solved(answer), tests.len()))
            .collect();
        scores.resize(repeats.max(scores.len()), 0.0);
        let total: usize = answers.iter().map(|answer| solved(answer)).sum();
        RowEnvironment {
            id: task.as_str().into(),
            scores,
            levels_completed: total as f64 / repeats.max(1) as f64,
            levels: u32::try_from(tests.len()).unwrap_or(u32::MAX),
        }
    });
    EntryScores {
        environments: scored.collect(),
        is_played: tasks
            .tests
            .keys()
            .map(|task| !of(task).is_empty())
            .collect(),
        repeats,
    }
}

/// Returns the score of a task in percent: the share of its tests that are solved, or under the protocol
/// `plan`, whether all of them are.
fn task_score(protocol: EvalProtocol, solved: usize, tests: usize) -> f64 {
    match protocol {
        EvalProtocol::Plan if solved < tests => 0.0,
        EvalProtocol::Plan
        | EvalProtocol::Standard
        | EvalProtocol::Official
        | EvalProtocol::Nejumi => 100.0 * solved as f64 / tests.max(1) as f64,
    }
}
