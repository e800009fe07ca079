//! Data sets: named collections of tasks with a revision that identifies their exact content.
//!
//! Invariant: the revision depends only on ids and grids. The same tasks have the same revision
//! whether they came from a folder of files, from Kaggle's pair of files or from a combined file. A
//! change of a single cell changes the revision.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::error::TasksError;
use crate::task::{Task, TaskId};

/// The tests that are evaluated: for each task, the indices of its selected tests, counted from 0,
/// in ascending order.
pub type Selection = BTreeMap<TaskId, Vec<usize>>;

/// A named collection of tasks, ordered by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSet {
    /// The name in lower case, with words joined by `-`.
    pub name: String,
    pub tasks: BTreeMap<TaskId, Task>,
}

impl TaskSet {
    /// Returns the SHA-256 hash of the content as 64 hexadecimal digits.
    ///
    /// The hash covers the tasks in the order of their ids. Each task contributes its id, a line
    /// feed, the compact JSON of `train` and `test` with the keys `input` and `output` in this
    /// order, and a line feed.
    pub fn revision(&self) -> String {
        let mut hash = Sha256::new();
        for (id, task) in &self.tasks {
            hash.update(format!("{id}\n{}\n", task.to_json()));
        }
        hex::encode(hash.finalize())
    }

    /// Returns the number of training pairs and the number of tests.
    pub fn counts(&self) -> (usize, usize) {
        self.tasks.values().fold((0, 0), |(pairs, tests), task| {
            (pairs + task.train.len(), tests + task.test.len())
        })
    }

    /// Returns the task with this id.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::NoSuchTask`] if the set does not contain the task.
    pub fn task(&self, id: &TaskId) -> Result<&Task, TasksError> {
        self.tasks.get(id).ok_or_else(|| TasksError::NoSuchTask {
            task: id.to_string(),
            set: self.name.clone(),
        })
    }

    /// Selects all tests of all tasks.
    pub fn all_tests(&self) -> Selection {
        self.tasks
            .iter()
            .map(|(id, task)| (id.clone(), (0..task.test.len()).collect()))
            .collect()
    }

    /// Selects all tests of the tasks with these ids, or of all tasks if `ids` is empty.
    ///
    /// If `limit` is given, only the first `limit` tasks, in the order of their ids, are selected.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::NoSuchTask`] if the set does not contain one of the tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_tasks::{SourceFile, TaskId, load};
    ///
    /// let pair = r#"{"input": [[1]], "output": [[2]]}"#;
    /// let task = format!(r#"{{"train": [{pair}], "test": [{pair}, {pair}]}}"#);
    /// let file = SourceFile {
    ///     name: "demo.json".to_owned(),
    ///     text: format!(r#"{{"aa": {task}, "bb": {task}, "cc": {task}}}"#),
    /// };
    /// let set = load(&[file])?.sets.remove(0);
    ///
    /// let first = set.selection(&[], Some(2))?;
    /// assert_eq!(first.keys().map(TaskId::as_str).collect::<Vec<_>>(), ["aa", "bb"]);
    ///
    /// let cc: TaskId = "cc".parse()?;
    /// let one = set.selection(&[cc.clone()], None)?;
    /// assert_eq!(one[&cc], [0, 1]); // both tests of the task
    /// # Ok::<(), rhae_tasks::TasksError>(())
    /// ```
    pub fn selection(&self, ids: &[TaskId], limit: Option<usize>) -> Result<Selection, TasksError> {
        for id in ids {
            self.task(id)?;
        }
        let named: BTreeSet<&TaskId> = ids.iter().collect();
        let all = self
            .all_tests()
            .into_iter()
            .filter(|(id, _)| named.is_empty() || named.contains(id));
        Ok(all.take(limit.unwrap_or(usize::MAX)).collect())
    }

    /// Returns a set of the same name that contains only the selected tests.
    ///
    /// # Errors
    ///
    /// Returns [`TasksError::NoSuchTask`] if a selected task or test does not exist.
    pub fn select(&self, selection: &Selection) -> Result<Self, TasksError> {
        let mut tasks = BTreeMap::new();
        for (id, tests) in selection {
            let task = self.task(id)?;
            let missing = |test: usize| TasksError::NoSuchTask {
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
