//! Samples of tests, each described by a manifest.
//!
//! The sampling rule is that of Nejumi: a sample contains only tasks of limited size, and the
//! proportion of solved tasks is the same as in a reference run. The original implementation draws
//! with the shuffle function of a library. This module instead orders the candidates by the SHA-256
//! hash of seed, purpose, task and test (named [`ORDER`]), which needs no state and does not depend
//! on the order of files.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::TasksError;
use crate::score::{Score, TestOutcome};
use crate::set::{Selection, TaskSet};
use crate::task::TaskId;

/// The value of the field `format` of a manifest.
pub const MANIFEST_FORMAT: &str = "rhae-arc-sample";

const VERSION: u32 = 1;

/// The name of the order in which candidates are drawn.
const ORDER: &str = "sha256-v1";

/// The parameters of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NejumiRule {
    /// The number of tasks, each with one test.
    pub samples: usize,
    /// The seed of the order in which candidates are drawn.
    pub seed: u64,
    /// The maximum number of cells in the training inputs and outputs of a task.
    #[serde(rename = "most_cells")]
    pub max_cells: usize,
}

impl Default for NejumiRule {
    fn default() -> Self {
        Self {
            samples: 50,
            seed: 42,
            max_cells: 2000,
        }
    }
}

/// The description of a sample, as it is stored in a file.
///
/// It records the tests, the revision of the data they come from, and how they were drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always [`MANIFEST_FORMAT`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// The name of the data set.
    pub set: String,
    /// The revision of the data set.
    pub revision: String,
    /// The name of the order in which candidates were drawn.
    pub order: String,
    pub rule: NejumiRule,
    /// The number of tasks that do not exceed the size limit.
    pub candidates: usize,
    /// The reference run; `None` if the sample was spread evenly over the sizes of the tasks
    /// instead.
    pub reference: Option<Reference>,
    /// The sampled tests, ordered by task.
    pub chosen: Vec<SampledTest>,
}

/// The run that determines the proportion of solved tasks in a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    pub name: String,
    /// The mean task score of the run on the candidates.
    pub score: f64,
}

/// A test in a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledTest {
    pub task: TaskId,
    /// The index of the test, from 0.
    pub test: usize,
    /// Whether the reference run solved the task at least in part; `None` without a reference.
    pub reference_correct: Option<bool>,
}

/// Draws a sample of one test from each of `rule.samples` tasks.
///
/// `reference` is the name and the score of a run. With a reference, the proportion of tasks in the
/// sample that the reference solved is its mean task score, rounded to a whole number of tasks.
/// Without one, the sample is spread evenly over the sizes of the tasks. The same arguments always
/// give the same sample.
///
/// # Errors
///
/// Returns [`TasksError::Sample`] if there are too few suitable tasks, and
/// [`TasksError::Revision`] if the reference was scored on another revision of the data.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{NejumiRule, SourceFile, load, sample};
///
/// let pair = r#"{"input": [[1]], "output": [[2]]}"#;
/// let task = format!(r#"{{"train": [{pair}], "test": [{pair}, {pair}]}}"#);
/// let file = SourceFile {
///     name: "demo.json".to_owned(),
///     text: format!(r#"{{"aa": {task}, "bb": {task}, "cc": {task}}}"#),
/// };
/// let set = load(&[file])?.sets.remove(0);
///
/// let rule = NejumiRule { samples: 2, ..NejumiRule::default() };
/// let manifest = sample(&set, rule, None)?;
/// assert_eq!((manifest.candidates, manifest.chosen.len()), (3, 2));
/// let selection = manifest.selection(&set)?;
/// assert_eq!(set.select(&selection)?.counts().1, 2); // one test of each task
/// # Ok::<(), rhae_tasks::TasksError>(())
/// ```
pub fn sample(
    set: &TaskSet,
    rule: NejumiRule,
    reference: Option<(&str, &Score)>,
) -> Result<Manifest, TasksError> {
    let small: Vec<&TaskId> = set
        .tasks
        .iter()
        .filter(|(_, task)| task.training_cells() <= rule.max_cells)
        .map(|(id, _)| id)
        .collect();
    let (mut chosen, reference) = match reference {
        Some((name, score)) => {
            if score.revision != set.revision() {
                return Err(TasksError::Revision {
                    what: "reference",
                    found: score.revision.clone(),
                    expected: set.revision(),
                });
            }
            let (chosen, total) = in_proportion(&small, rule, score)?;
            (
                chosen,
                Some(Reference {
                    name: name.to_owned(),
                    score: total,
                }),
            )
        }
        None => (by_size(set, &small, rule)?, None),
    };
    chosen.sort_by(|a, b| a.task.cmp(&b.task));
    Ok(Manifest {
        format: MANIFEST_FORMAT.to_owned(),
        version: VERSION,
        set: set.name.clone(),
        revision: set.revision(),
        order: ORDER.to_owned(),
        rule,
        candidates: small.len(),
        reference,
        chosen,
    })
}

/// Draws tasks that the reference solved and tasks that it did not, in the proportion of its mean
/// score. Of each task it draws one test: a solved one if the reference solved any test of the
/// task.
fn in_proportion(
    small: &[&TaskId],
    rule: NejumiRule,
    score: &Score,
) -> Result<(Vec<SampledTest>, f64), TasksError> {
    let answered = |outcome: &TestOutcome| !matches!(outcome, TestOutcome::MissingTask);
    let rows: Vec<_> = score
        .results
        .iter()
        .filter(|result| {
            small.contains(&&result.task) && result.tests.iter().any(|test| answered(&test.outcome))
        })
        .collect();
    if rows.is_empty() {
        return Err(TasksError::Sample(
            "the reference answers none of the tasks that are small enough".to_owned(),
        ));
    }
    let total = rows.iter().map(|result| result.score).sum::<f64>() / rows.len() as f64;
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for result in rows {
        let tests = |solved: bool| {
            result
                .tests
                .iter()
                .filter(move |test| test.outcome.is_solved() == solved)
                .map(|test| test.test)
        };
        let correct = result.score > 0.0;
        if let Some(test) =
            tests(correct).min_by_key(|test| key(rule.seed, "test", &result.task, *test))
        {
            let pool = if correct { &mut right } else { &mut wrong };
            pool.push(SampledTest {
                task: result.task.clone(),
                test,
                reference_correct: Some(correct),
            });
        }
    }
    // Ties round to even, as in the original implementation of the rule.
    let solved = (rule.samples as f64 * total).round_ties_even() as usize;
    let mut chosen = Vec::new();
    for (pool, count, what) in [
        (&mut right, solved, "solved"),
        (&mut wrong, rule.samples - solved, "did not solve"),
    ] {
        if pool.len() < count {
            let reason = format!(
                "the sample needs {count} tasks that the reference {what}, but there are only {}",
                pool.len()
            );
            return Err(TasksError::Sample(reason));
        }
        pool.sort_by_cached_key(|one| key(rule.seed, "task", &one.task, one.test));
        chosen.extend(pool.drain(..count));
    }
    Ok((chosen, total))
}

/// Orders the tasks by size, divides them into as many parts of about the same length as there are
/// samples, and draws one task from each part.
fn by_size(
    set: &TaskSet,
    small: &[&TaskId],
    rule: NejumiRule,
) -> Result<Vec<SampledTest>, TasksError> {
    if small.len() < rule.samples {
        return Err(TasksError::Sample(format!(
            "the sample needs {} tasks, but only {} are small enough",
            rule.samples,
            small.len()
        )));
    }
    let mut ordered = small.to_vec();
    ordered.sort_by_key(|id| (set.tasks[*id].training_cells(), *id));
    let part = |index: usize| {
        &ordered[index * ordered.len() / rule.samples..(index + 1) * ordered.len() / rule.samples]
    };
    let chosen = (0..rule.samples).filter_map(|index| {
        let task = part(index)
            .iter()
            .min_by_key(|id| key(rule.seed, "task", id, 0))?;
        let test = (0..set.tasks[*task].test.len())
            .min_by_key(|test| key(rule.seed, "test", task, *test))?;
        Some(SampledTest {
            task: (*task).clone(),
            test,
            reference_correct: None,
        })
    });
    Ok(chosen.collect())
}

fn key(seed: u64, purpose: &str, task: &TaskId, test: usize) -> [u8; 32] {
    Sha256::digest(format!("{ORDER}\n{seed}\n{purpose}\n{task}\n{test}")).into()
}

impl Manifest {
    /// Parses a manifest; `file` is its name for error messages.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::File`] if the text is not a manifest of a supported version.
    pub fn parse(file: &str, text: &str) -> Result<Self, TasksError> {
        let manifest: Self = serde_json::from_str(text).map_err(|error| {
            TasksError::at(
                file,
                format!("line {}, column {}", error.line(), error.column()),
                error.to_string(),
            )
        })?;
        if manifest.format != MANIFEST_FORMAT || manifest.version != VERSION {
            let found = format!(
                "`{}` version {}",
                crate::grid::short(&manifest.format),
                manifest.version
            );
            return Err(TasksError::at(
                file,
                "format",
                format!("expected `{MANIFEST_FORMAT}` version {VERSION}, found {found}"),
            ));
        }
        Ok(manifest)
    }

    /// Returns the tests of the sample as a selection from `set`.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::Revision`] if the sample was drawn from another revision of the data,
    /// and [`TasksError::NoSuchTask`] if it names a task or test that does not exist.
    pub fn selection(&self, set: &TaskSet) -> Result<Selection, TasksError> {
        if self.revision != set.revision() {
            return Err(TasksError::Revision {
                what: "sample",
                found: self.revision.clone(),
                expected: set.revision(),
            });
        }
        let mut selection = Selection::new();
        for chosen in &self.chosen {
            selection
                .entry(chosen.task.clone())
                .or_default()
                .push(chosen.test);
        }
        for tests in selection.values_mut() {
            tests.sort_unstable();
            tests.dedup();
        }
        set.select(&selection).map(|_| selection)
    }
}

#[cfg(test)]
mod tests;
