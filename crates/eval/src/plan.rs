//! The plan of a run: the selected tests, divided into requests.
//!
//! **Invariant:** the tasks that solvers receive do not contain solutions.

use std::collections::BTreeMap;

use rhae_protocol::{EvalSet, EvalTarget};
use rhae_tasks::{Selection, Task, TaskId, TaskSet};

use crate::EvalError;
use crate::ledger::Ledger;
use crate::solver::{Question, Solver, Unit};

/// A task set and the tests selected from it.
#[derive(Clone, Debug)]
pub struct PlannedSet {
    /// The set, including known solutions.
    pub set: TaskSet,
    pub selection: Selection,
}

impl PlannedSet {
    /// Returns the entry of this set in a configuration.
    pub fn record(&self) -> EvalSet {
        EvalSet {
            name: self.set.name.clone(),
            revision: self.set.revision(),
            tests: self
                .selection
                .iter()
                .map(|(id, tests)| (id.to_string(), tests.clone()))
                .collect(),
        }
    }

    /// Finds the set of a configuration among the loaded sets.
    ///
    /// # Errors
    ///
    /// Returns an error if the set is missing, or [`EvalError::OtherData`] if its revision differs.
    pub fn from_record(record: &EvalSet, sets: &[TaskSet]) -> Result<Self, EvalError> {
        let set = sets
            .iter()
            .find(|set| set.name == record.name)
            .ok_or_else(|| {
                EvalError::Config(format!("the data do not contain the set `{}`", record.name))
            })?;
        let found = set.revision();
        if found != record.revision {
            return Err(EvalError::OtherData {
                set: record.name.clone(),
                expected: record.revision.clone(),
                found,
            });
        }
        let mut selection = Selection::new();
        for (id, tests) in &record.tests {
            selection.insert(id.parse()?, tests.clone());
        }
        set.select(&selection)?;
        Ok(Self {
            set: set.clone(),
            selection,
        })
    }

    /// Permutes the colours of the tasks if a seed is given, see [`TaskSet::permute_colors`].
    #[must_use]
    pub fn permute_colors(self, seed: Option<u64>) -> Self {
        match seed {
            Some(seed) => Self {
                set: self.set.permute_colors(seed),
                ..self
            },
            None => self,
        }
    }

    /// Returns the number of selected tests.
    pub fn tests(&self) -> usize {
        self.selection.values().map(Vec::len).sum()
    }

    /// Returns whether the task set contains the solutions of all selected tests.
    pub fn is_solved(&self) -> bool {
        self.selection.iter().all(|(id, tests)| {
            let known = |&test: &usize| {
                self.set
                    .tasks
                    .get(id)
                    .and_then(|task| task.test.get(test)?.output.as_ref())
                    .is_some()
            };
            tests.iter().all(known)
        })
    }
}

/// Keeps one shard of the tasks of all sets: every `parts`-th task, starting with task number
/// `part`, where the tasks of all sets are counted together from 1.
///
/// # Errors
///
/// Returns an error if `part` is not from 1 to `parts`.
pub fn shard(sets: &mut [PlannedSet], part: usize, parts: usize) -> Result<(), EvalError> {
    if part == 0 || part > parts {
        return Err(EvalError::Config(format!(
            "there is no part {part} of {parts}: expected 1 to {parts}"
        )));
    }
    let mut number = 0;
    for planned in sets {
        planned.selection.retain(|_, _| {
            number += 1;
            (number - 1) % parts == part - 1
        });
    }
    Ok(())
}

/// The requests of a run.
///
/// # Examples
///
/// See the [crate documentation](crate#examples).
#[derive(Debug)]
pub struct Plan {
    /// The sets, with solutions.
    pub sets: Vec<PlannedSet>,
    /// The tasks as solvers see them, without solutions, in the order of `sets`.
    blind: Vec<BTreeMap<TaskId, Task>>,
    /// All requests, task by task.
    pub(crate) jobs: Vec<Job>,
    /// The number of attempts at each test.
    pub attempts: usize,
}

/// A planned request.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The index of the set in [`Plan::sets`].
    pub(crate) set: usize,
    pub(crate) id: TaskId,
    /// The tests and attempts as the journal names them.
    pub(crate) target: EvalTarget,
}

impl Plan {
    /// Divides the selected tests into requests of the solver's [`Unit`].
    pub fn new(sets: Vec<PlannedSet>, attempts: usize, unit: Unit) -> Self {
        let mut jobs = Vec::new();
        let mut blind = Vec::new();
        for (index, planned) in sets.iter().enumerate() {
            let mut tasks = BTreeMap::new();
            for (id, tests) in &planned.selection {
                let Some(task) = planned.set.tasks.get(id) else {
                    continue;
                };
                let mut task = task.clone();
                task.test.iter_mut().for_each(|test| test.output = None);
                tasks.insert(id.clone(), task);
                let mut job = |tests: Vec<usize>, attempts: Vec<usize>| {
                    let target = EvalTarget {
                        set: planned.set.name.clone(),
                        task: id.to_string(),
                        tests,
                        attempts,
                    };
                    jobs.push(Job {
                        set: index,
                        id: id.clone(),
                        target,
                    });
                };
                match unit {
                    Unit::Attempt => {
                        for attempt in 1..=attempts {
                            tests
                                .iter()
                                .for_each(|&test| job(vec![test], vec![attempt]));
                        }
                    }
                    Unit::Test => tests
                        .iter()
                        .for_each(|&test| job(vec![test], (1..=attempts).collect())),
                    Unit::Task => {
                        (1..=attempts).for_each(|attempt| job(tests.clone(), vec![attempt]));
                    }
                }
            }
            blind.push(tasks);
        }
        Self {
            sets,
            blind,
            jobs,
            attempts,
        }
    }

    /// Returns the task of a request, without solutions.
    pub(crate) fn task(&self, job: &Job) -> &Task {
        &self.blind[job.set][&job.id]
    }

    /// Iterates, task by task, over the prompts that a solver would send for the first attempts.
    pub fn prompts<'a>(
        &'a self,
        solver: &'a dyn Solver,
    ) -> impl Iterator<Item = (&'a EvalTarget, String)> {
        let first = self
            .jobs
            .iter()
            .filter(|job| job.target.attempts.first() == Some(&1));
        first.filter_map(|job| {
            let target = &job.target;
            let question = Question {
                set: &target.set,
                id: &job.id,
                task: self.task(job),
                tests: &target.tests,
                attempts: &target.attempts,
            };
            Some((target, solver.prompt(&question)?))
        })
    }

    /// Returns the number of requests.
    pub fn requests(&self) -> usize {
        self.jobs.len()
    }

    /// Returns the requests that have an open attempt according to the journal.
    pub(crate) fn open(&self, ledger: &Ledger, retry_failed: bool) -> Vec<Job> {
        let open = |job: &&Job| {
            let attempts = job.target.tests.iter().flat_map(|&test| {
                job.target
                    .attempts
                    .iter()
                    .map(move |&attempt| (test, attempt))
            });
            attempts
                .into_iter()
                .any(|(test, attempt)| !ledger.is_done(&job.target, test, attempt, retry_failed))
        };
        self.jobs.iter().filter(open).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use rhae_tasks::{Grid, Pair, Test};

    use super::*;

    fn planned(tests: &[usize]) -> PlannedSet {
        let grid = Grid::new(&[vec![1]]).unwrap();
        let task = |tests: usize| Task {
            train: vec![Pair {
                input: grid.clone(),
                output: grid.clone(),
            }],
            test: vec![
                Test {
                    input: grid.clone(),
                    output: Some(grid.clone())
                };
                tests
            ],
        };
        let tasks = tests
            .iter()
            .enumerate()
            .map(|(index, &tests)| (format!("t{index}").parse().unwrap(), task(tests)))
            .collect();
        let set = TaskSet {
            name: "s".to_owned(),
            tasks,
        };
        PlannedSet {
            selection: set.all_tests(),
            set,
        }
    }

    #[test]
    fn requests_match_the_unit_and_contain_no_solution() {
        for (unit, requests) in [(Unit::Attempt, 8), (Unit::Test, 4), (Unit::Task, 4)] {
            let plan = Plan::new(vec![planned(&[1, 3])], 2, unit);
            assert_eq!(plan.requests(), requests, "{unit:?}");
            let mut slots: Vec<(String, usize, usize)> = Vec::new();
            for job in &plan.jobs {
                assert!(plan.task(job).test.iter().all(|test| test.output.is_none()));
                for &test in &job.target.tests {
                    slots.extend(
                        job.target
                            .attempts
                            .iter()
                            .map(|&attempt| (job.target.task.clone(), test, attempt)),
                    );
                }
            }
            slots.sort();
            slots.dedup();
            assert_eq!(slots.len(), 8);
        }
    }

    #[test]
    fn shards_are_disjoint_and_complete() {
        let mut seen = Vec::new();
        for part in 1..=3 {
            let mut sets = vec![planned(&[1; 5]), planned(&[1; 2])];
            shard(&mut sets, part, 3).unwrap();
            for (index, set) in sets.iter().enumerate() {
                seen.extend(set.selection.keys().map(|id| (index, id.clone())));
            }
        }
        seen.sort();
        assert_eq!(seen.len(), 7);
        seen.dedup();
        assert_eq!(seen.len(), 7);
        assert!(shard(&mut [], 4, 3).is_err() && shard(&mut [], 0, 3).is_err());
    }
}
