//! Flags shared by the `rhae arc` commands.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Args;
pub(super) use rhae_datasets::load_submission;
use rhae_datasets::{absolute_paths, choose_sets, load_data, load_manifests};
use rhae_tasks::{Loaded, Parser, Rules, Selection, TaskId, TaskSet};

#[derive(Args)]
pub(crate) struct DataArgs {
    /// Task data: a task file, a file with many tasks, or a folder of either; NAME=PATH names the
    /// set. Can be repeated
    #[arg(long, required = true, value_name = "[NAME=]PATH")]
    data: Vec<String>,
    /// Set to use, if the data contain several
    #[arg(long, value_name = "NAME")]
    set: Vec<String>,
}

#[derive(Args)]
pub(crate) struct SelectArgs {
    /// Use only the tasks with these ids, separated by commas, with or without the prefix `arc-`
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    selected_problems: Vec<String>,
    /// Use only the first N tasks in order of their ids
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_tasks: Option<u32>,
    /// Use only the tests listed in a manifest of `rhae arc sample`; give one for each set
    #[arg(long, value_name = "FILE", conflicts_with_all = ["selected_problems", "max_tasks"])]
    manifest: Vec<PathBuf>,
}

#[derive(Args)]
pub(super) struct RuleArgs {
    /// Number of attempts at a test that count
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    attempts: u32,
    /// Parser that finds grids in answers: lenient, official, nejumi or plan
    #[arg(long, default_value = Parser::Lenient.name())]
    parser: Parser,
}

impl RuleArgs {
    pub(super) fn rules(&self) -> Rules {
        Rules {
            attempts: self.attempts as usize,
            parser: self.parser,
        }
    }
}

impl DataArgs {
    /// Creates the arguments for commands that declare `--data` and `--set` themselves, because
    /// they do not always require data.
    pub(crate) fn new(data: Vec<String>, set: Vec<String>) -> Self {
        Self { data, set }
    }

    /// Returns the `--data` values with absolute paths, so that a run can be resumed from another
    /// working directory.
    pub(super) fn absolute(&self) -> Result<Vec<String>> {
        Ok(absolute_paths(&self.data)?)
    }

    /// Loads all sets of all `--data` paths.
    pub(super) fn load(&self) -> Result<Loaded> {
        Ok(load_data(&self.data)?)
    }

    /// Returns the sets named by `--set`, in the order of the flags. Without `--set`, the data must
    /// contain exactly one set, which is returned.
    pub(super) fn sets(&self) -> Result<Vec<TaskSet>> {
        Ok(choose_sets(self.load()?.sets, &self.set)?)
    }

    /// Like [`DataArgs::sets`], for commands that work with one set: it is an error to select
    /// several.
    pub(crate) fn one_set(&self) -> Result<TaskSet> {
        let mut sets = self.sets()?;
        ensure!(
            sets.len() == 1,
            "expected one `--set`, but {} were given",
            sets.len()
        );
        Ok(sets.remove(0))
    }
}

impl SelectArgs {
    /// Returns whether all tasks are selected.
    #[cfg(feature = "server")]
    pub(crate) fn is_all(&self) -> bool {
        self.selected_problems.is_empty() && self.max_tasks.is_none() && self.manifest.is_empty()
    }

    /// Returns the tests of `set` that the flags select.
    pub(crate) fn selection(&self, set: &TaskSet) -> Result<Selection> {
        if !self.manifest.is_empty() {
            return Ok(load_manifests(&self.manifest, set)?);
        }
        let named: Vec<TaskId> = self
            .selected_problems
            .iter()
            .map(|id| TaskId::from_problem_id(id.trim()))
            .collect::<Result<_, _>>()?;
        Ok(set.selection(&named, self.max_tasks.map(|max| max as usize))?)
    }
}
