//! Samples of tests, with a manifest that says exactly which.
//!
//! The rule is Nejumi's: tasks of limited size, as many that a reference run solved, in proportion, as it solved of all. Its draw
//! depends on a library's shuffle, so ours is another and has a name: candidates are ordered by the SHA-256 of seed, purpose, task
//! and test ([`ORDER`]), which needs no state and does not depend on the order of files.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::TasksError;
use crate::score::{Outcome, Score};
use crate::set::{Selection, TaskSet};
use crate::task::TaskId;

/// What stands in a manifest's `format`.
pub const MANIFEST_FORMAT: &str = "rhae-arc-sample";

const VERSION: u32 = 1;

/// The name of the order that candidates are drawn in.
const ORDER: &str = "sha256-v1";

/// How a sample is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NejumiRule {
    /// How many tasks, each with one test.
    pub samples: usize,
    /// The seed of the order.
    pub seed: u64,
    /// The most cells that a task's training pairs may have, inputs and outputs together.
    pub most_cells: usize,
}

impl Default for NejumiRule {
    fn default() -> Self {
        Self {
            samples: 50,
            seed: 42,
            most_cells: 2000,
        }
    }
}

/// A sample, as its file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_FORMAT`].
    pub format: String,
    /// The format's version.
    pub version: u32,
    /// The data set it was drawn from.
    pub set: String,
    /// That set's revision.
    pub revision: String,
    /// The order that candidates were drawn in.
    pub order: String,
    /// How it was drawn.
    pub rule: NejumiRule,
    /// Tasks that are small enough.
    pub candidates: usize,
    /// The reference run; without one, the sample is spread evenly over the tasks' sizes.
    pub reference: Option<Reference>,
    /// The tests.
    pub chosen: Vec<Chosen>,
}

/// The run that a sample's proportions come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Its name.
    pub name: String,
    /// Its mean score on the candidates.
    pub score: f64,
}

/// A test of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chosen {
    /// The task.
    pub task: TaskId,
    /// Its test, from 0.
    pub test: usize,
    /// Whether the reference run solved it.
    pub reference_correct: Option<bool>,
}

/// Draws a sample, in proportion to a reference run if there is one.
pub fn sample(
    set: &TaskSet,
    rule: NejumiRule,
    reference: Option<(&str, &Score)>,
) -> Result<Manifest, TasksError> {
    let small: Vec<&TaskId> = set
        .tasks
        .iter()
        .filter(|(_, task)| task.training_cells() <= rule.most_cells)
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

/// Of each task one test: a solved one where the reference solved any. As many of the solved tasks as its mean score says.
fn in_proportion(
    small: &[&TaskId],
    rule: NejumiRule,
    score: &Score,
) -> Result<(Vec<Chosen>, f64), TasksError> {
    let answered = |outcome: &Outcome| !matches!(outcome, Outcome::MissingTask);
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
            pool.push(Chosen {
                task: result.task.clone(),
                test,
                reference_correct: Some(correct),
            });
        }
    }
    // Halves go to the even number, as in the rule's original.
    let solved = (rule.samples as f64 * total).round_ties_even() as usize;
    let mut chosen = Vec::new();
    for (pool, count, what) in [
        (&mut right, solved, "solved"),
        (&mut wrong, rule.samples - solved, "did not solve"),
    ] {
        if pool.len() < count {
            let reason = format!(
                "{count} tasks are needed that the reference {what}, and there are {}",
                pool.len()
            );
            return Err(TasksError::Sample(reason));
        }
        pool.sort_by_cached_key(|one| key(rule.seed, "task", &one.task, one.test));
        chosen.extend(pool.drain(..count));
    }
    Ok((chosen, total))
}

/// Tasks ordered by size and cut into as many parts of equal length as there are samples: one of each.
fn by_size(set: &TaskSet, small: &[&TaskId], rule: NejumiRule) -> Result<Vec<Chosen>, TasksError> {
    if small.len() < rule.samples {
        return Err(TasksError::Sample(format!(
            "{} tasks are wanted, and {} are small enough",
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
        Some(Chosen {
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
    /// Reads a manifest.
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

    /// The tests, if they are of this set.
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
