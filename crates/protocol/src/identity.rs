//! What identifies a run for its user: name, tags, note, and the sources that it used; and its entry
//! in a list of runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The identity of a run, as part of its configuration and of its results. Every field is optional,
/// so folders of earlier versions can be read.
///
/// # Examples
///
/// ```
/// use rhae_protocol::RunIdentity;
///
/// let identity: RunIdentity = serde_json::from_str(r#"{"name": "baseline", "tags": ["random"]}"#)?;
/// assert_eq!(identity.name.as_deref(), Some("baseline"));
/// assert_eq!(serde_json::to_string(&RunIdentity::default())?, "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The name that the user gave to the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The commit of the git repository in which the run was started; absent outside a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<String>,
    /// The digests of the sources of hosted games, by id. The id of a built-in environment contains
    /// its version and needs no digest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub source_digests: BTreeMap<String, String>,
}

/// A run in a list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunListing {
    /// The path of the run folder.
    pub folder: String,
    pub kind: RunKind,
    pub run_id: String,
    /// The agent or the solver.
    pub agent: String,
    /// The name and version of the software that started the run.
    pub software: String,
    pub status: RunStatus,
    /// The first and the last line of the journal, as Unix times in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// The headline score in percent; absent if the run has no results yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The known cost in US dollars; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    #[serde(flatten)]
    pub identity: RunIdentity,
}

/// The kinds of runs that have a run folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// Plays of an agent: `rhae run`.
    #[default]
    Plays,
    /// Answers of a solver to static tasks: `rhae arc eval`.
    Evaluation,
}

impl RunKind {
    /// Returns the name in lists of runs and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plays => "plays",
            Self::Evaluation => "evaluation",
        }
    }

    /// Returns the noun phrase for the folder of such a run in error messages.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Plays => "a run folder",
            Self::Evaluation => "the folder of an evaluation",
        }
    }
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// A process is working on the run.
    Running,
    Finished,
    /// No process is working on the run, and it can be resumed.
    Interrupted,
}

impl RunStatus {
    /// Returns the name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
        }
    }
}
