//! Comparison of two scores on the same tests, task by task, with an exact significance test.

use rhae_stats::mcnemar_p;
use serde::Serialize;

use crate::error::TasksError;
use crate::score::Score;
use crate::task::TaskId;

/// The result of [`compare()`].
///
/// A task counts as solved if all its tests are solved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Tasks that both submissions solve.
    pub both: usize,
    /// Tasks that only the first submission solves.
    pub only_first: usize,
    /// Tasks that only the second submission solves.
    pub only_second: usize,
    /// Tasks that neither submission solves.
    pub neither: usize,
    /// The mean task score of the second submission minus that of the first.
    pub difference: f64,
    /// The significance of the difference in solved tasks.
    pub mcnemar: McNemar,
    /// The tasks whose scores differ, in the order of their ids.
    pub tasks: Vec<Difference>,
}

/// The exact form of McNemar's test (Psychometrika 12, 1947).
///
/// The null hypothesis is that both solvers are equally strong: a task that exactly one of them
/// solves is then equally likely to be solved by either.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// The number of tasks that exactly one submission solves.
    pub discordant: usize,
    /// The two-sided p-value: the probability, under the null hypothesis, that the discordant tasks
    /// are split at least as unevenly as observed.
    pub p: f64,
}

/// A task on which the two submissions have different scores.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    pub task: TaskId,
    /// The task score of the first submission.
    pub first: f64,
    /// The task score of the second submission.
    pub second: f64,
}

/// Compares two scores of the same tests.
///
/// # Errors
///
/// Returns [`TasksError::Revision`] if the scores belong to different revisions of the data, and
/// [`TasksError::DifferentSelections`] if they cover different tests.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{Rules, SourceFile, Submission, compare, load, score};
///
/// let file = |text: &str| SourceFile { name: "demo.json".to_owned(), text: text.to_owned() };
/// let pair = r#"{"input": [[1]], "output": [[2]]}"#;
/// let data = format!(r#"{{"demo": {{"train": [{pair}], "test": [{pair}]}}}}"#);
/// let set = load(&[file(&data)])?.sets.remove(0);
/// let scored = |answer: &str| {
///     let text = format!(r#"{{"demo": [{{"attempt_1": {answer}}}]}}"#);
///     let submission = Submission::read(&[file(&text)])?;
///     score(&set, &set.all_tests(), &submission, Rules::default())
/// };
///
/// let comparison = compare(&scored("[[1]]")?, &scored("[[2]]")?)?;
/// assert_eq!((comparison.only_first, comparison.only_second), (0, 1));
/// assert_eq!(comparison.difference, 1.0);
/// assert_eq!(comparison.mcnemar.p, 1.0); // one task is no evidence
/// # Ok::<(), rhae_tasks::TasksError>(())
/// ```
pub fn compare(first: &Score, second: &Score) -> Result<Comparison, TasksError> {
    if first.revision != second.revision {
        return Err(TasksError::Revision {
            what: "second score",
            found: second.revision.clone(),
            expected: first.revision.clone(),
        });
    }
    let same = first.results.len() == second.results.len()
        && first
            .results
            .iter()
            .zip(&second.results)
            .all(|(a, b)| a.task == b.task && a.tests.len() == b.tests.len());
    if !same {
        return Err(TasksError::DifferentSelections);
    }
    let pairs = || first.results.iter().zip(&second.results);
    let count = |a: bool, b: bool| {
        pairs()
            .filter(|(first, second)| first.solved == a && second.solved == b)
            .count()
    };
    let (only_first, only_second) = (count(true, false), count(false, true));
    let differing = pairs().filter(|(first, second)| first.score != second.score);
    Ok(Comparison {
        both: count(true, true),
        only_first,
        only_second,
        neither: count(false, false),
        difference: second.mean_task_score.value - first.mean_task_score.value,
        mcnemar: mcnemar(only_first, only_second),
        tasks: differing
            .map(|(first, second)| Difference {
                task: first.task.clone(),
                first: first.score,
                second: second.score,
            })
            .collect(),
    })
}

fn mcnemar(only_first: usize, only_second: usize) -> McNemar {
    let discordant = only_first + only_second;
    let p = mcnemar_p(only_first as u64, only_second as u64);
    McNemar { discordant, p }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcnemar_p_values_are_exact() {
        assert_eq!(mcnemar(0, 0).p, 1.0);
        assert_eq!(mcnemar(3, 3).p, 1.0);
        // 2 · (1 + 10) / 2^10.
        assert!((mcnemar(1, 9).p - 22.0 / 1024.0).abs() < 1e-12);
        assert!((mcnemar(6, 0).p - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(mcnemar(1, 9), mcnemar(9, 1));
    }
}
