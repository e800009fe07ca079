//! Verifies the runs of a board: plays of environments by a replay, and answers to static tasks by
//! scoring them again.

use rhae_engine::Catalog;
use rhae_protocol::{BoardDefinition, BoardRun};
use rhae_tasks::TaskSet;

use crate::BoardError;
use crate::answer_check::verify_answers;
use crate::run_check::{RunError, verify_run};
use crate::run_files::RunFiles;
use crate::task_set::read_tasks;

/// What the runs of a board are verified with.
pub(crate) struct Verifier<'a> {
    definition: &'a BoardDefinition,
    catalog: &'a dyn Catalog,
    tasks: Option<TaskSet>,
}

impl<'a> Verifier<'a> {
    /// Creates the verifier of a board. `text` is the file with its static tasks.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Tasks`] if the board has static tasks and the file is missing or of
    /// another revision.
    pub(crate) fn new(
        definition: &'a BoardDefinition,
        catalog: &'a dyn Catalog,
        text: Option<&str>,
    ) -> Result<Self, BoardError> {
        let set = &definition.set;
        let tasks = match (&set.tasks, text) {
            (None, _) => None,
            (Some(tasks), Some(text)) => Some(read_tasks(set, tasks, text)?),
            (Some(_), None) => return Err(BoardError::Tasks("the file is missing".to_owned())),
        };
        Ok(Self {
            definition,
            catalog,
            tasks,
        })
    }

    /// Verifies a run.
    ///
    /// # Errors
    ///
    /// Returns the first reason why the run is not accepted.
    pub(crate) fn verify(&self, files: &RunFiles) -> Result<BoardRun, RunError> {
        match (&self.definition.set.tasks, &self.tasks) {
            (Some(tasks), Some(set)) => verify_answers(self.definition, tasks, set, files),
            _ => verify_run(self.definition, files, self.catalog),
        }
    }
}
