//! Two submissions on the same tasks.

use serde::Serialize;

use crate::error::TasksError;
use crate::interval::at_most;
use crate::score::Score;
use crate::task::TaskId;

/// Two scores task by task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Tasks that both solve.
    pub both: usize,
    /// Tasks that only the first solves.
    pub only_first: usize,
    /// Tasks that only the second solves.
    pub only_second: usize,
    /// Tasks that neither solves.
    pub neither: usize,
    /// How much more the second's mean task score is.
    pub difference: f64,
    /// Whether the difference in tasks solved is more than chance.
    pub mcnemar: McNemar,
    /// The tasks whose scores differ.
    pub tasks: Vec<Difference>,
}

/// McNemar's test (Psychometrika 12, 1947) in its exact form: under equal strength, each task that one alone solves is as likely
/// the first's as the second's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct McNemar {
    /// Tasks that one alone solves.
    pub discordant: usize,
    /// The two-sided probability of a split at least as uneven.
    pub p: f64,
}

/// A task whose scores differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The task.
    pub task: TaskId,
    /// The first submission's score.
    pub first: f64,
    /// The second submission's score.
    pub second: f64,
}

/// Compares two scores of the same tests.
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
        return Err(TasksError::Sample(
            "the two scores are of different selections of tests".to_owned(),
        ));
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
    let p = (2.0 * at_most(only_first.min(only_second), discordant, 0.5)).min(1.0);
    McNemar { discordant, p }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_is_exact() {
        assert_eq!(mcnemar(0, 0).p, 1.0);
        assert_eq!(mcnemar(3, 3).p, 1.0);
        // 2 · (1 + 10) / 2^10.
        assert!((mcnemar(1, 9).p - 22.0 / 1024.0).abs() < 1e-12);
        assert!((mcnemar(6, 0).p - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(mcnemar(1, 9), mcnemar(9, 1));
    }
}
