//! A data set: tasks under a name, with the revision that says exactly which ones.
//!
//! Invariant: the revision depends on ids and grids alone. The same tasks have the same revision whether they came from a folder
//! of files, from Kaggle's pair of files or from a combined one, and any other cell gives another.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::error::TasksError;
use crate::task::{Task, TaskId};

/// Which tests of which tasks count; ids in order, tests from 0 and in order.
pub type Selection = BTreeMap<TaskId, Vec<usize>>;

/// Tasks under a name, ordered by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSet {
    /// The name: words joined by `-`.
    pub name: String,
    /// The tasks.
    pub tasks: BTreeMap<TaskId, Task>,
}

impl TaskSet {
    /// SHA-256, in hexadecimal digits, over the tasks in order of their ids: each as its id, a line end, the compact JSON of
    /// `train` and `test` with the keys `input` and `output` in this order, and a line end.
    pub fn revision(&self) -> String {
        let mut hash = Sha256::new();
        for (id, task) in &self.tasks {
            hash.update(format!("{id}\n{}\n", task.to_json()));
        }
        hex(&hash.finalize())
    }

    /// How many training pairs and how many tests there are.
    pub fn counts(&self) -> (usize, usize) {
        self.tasks.values().fold((0, 0), |(pairs, tests), task| {
            (pairs + task.train.len(), tests + task.test.len())
        })
    }

    /// A task by its id.
    pub fn task(&self, id: &TaskId) -> Result<&Task, TasksError> {
        self.tasks.get(id).ok_or_else(|| TasksError::NoTask {
            task: id.to_string(),
            set: self.name.clone(),
        })
    }

    /// All tests of all tasks.
    pub fn everything(&self) -> Selection {
        self.tasks
            .iter()
            .map(|(id, task)| (id.clone(), (0..task.test.len()).collect()))
            .collect()
    }

    /// The tasks of the harness plan's flags: those named, or all; of these the first few in order of their ids.
    pub fn problems(&self, named: &[TaskId], most: Option<usize>) -> Result<Selection, TasksError> {
        for id in named {
            self.task(id)?;
        }
        let named: BTreeSet<&TaskId> = named.iter().collect();
        let all = self
            .everything()
            .into_iter()
            .filter(|(id, _)| named.is_empty() || named.contains(id));
        Ok(all.take(most.unwrap_or(usize::MAX)).collect())
    }

    /// The set that has the selected tests only.
    pub fn select(&self, selection: &Selection) -> Result<Self, TasksError> {
        let mut tasks = BTreeMap::new();
        for (id, tests) in selection {
            let task = self.task(id)?;
            let missing = |test: usize| TasksError::NoTask {
                task: format!("{id} test {}", test + 1),
                set: self.name.clone(),
            };
            let test = tests
                .iter()
                .map(|&index| task.test.get(index).cloned().ok_or_else(|| missing(index)))
                .collect::<Result<Vec<_>, _>>()?;
            tasks.insert(
                id.clone(),
                Task {
                    train: task.train.clone(),
                    test,
                },
            );
        }
        Ok(Self {
            name: self.name.clone(),
            tasks,
        })
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
