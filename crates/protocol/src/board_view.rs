//! The documents by which commands show a leaderboard.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::analysis::PublishedResult;
use crate::board::{
    BoardAuthor, BoardFlag, BoardId, BoardKind, BoardTasks, CostBasis, EntryId, Exposure,
    PeopleScore, RegistrationId, RetractionReason, SetVisibility, VerificationState,
};
use crate::eval::{EvalParser, EvalProtocol};
use crate::study::{Digest, EnvironmentVersion};

/// A board with its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoardView {
    pub board: BoardId,
    pub title: String,
    pub kind: BoardKind,
    pub set: String,
    /// The hash of the set of environments.
    pub set_sha256: Digest,
    pub visibility: SetVisibility,
    pub environments: usize,
    /// What a board of static tasks fixes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TaskFacts>,
    pub method: String,
    pub budget: String,
    pub provisional_baselines: bool,
    pub closed: bool,
    /// The number of the last record and its hash.
    pub records: u64,
    pub head: Digest,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<PeopleScore>,
    /// Ranked rows first, then the others in the order of their submission.
    pub rows: Vec<BoardRow>,
    pub registrations: Vec<RegistrationRow>,
    pub releases: Vec<ReleaseRow>,
    /// Published results on other sets, for orientation and never ranked.
    pub references: Vec<PublishedResult>,
}

impl BoardView {
    /// Returns what a state proves, and what it does not prove, about the rows of this board.
    pub const fn proofs(&self, state: VerificationState) -> (&'static str, &'static str) {
        match self.tasks {
            Some(_) => (state.proves_of_answers(), state.does_not_prove_of_answers()),
            None => (state.proves(), state.does_not_prove()),
        }
    }

    /// Returns what the set consists of: `environments` or `tasks`.
    pub const fn items(&self) -> &'static str {
        match self.tasks {
            Some(_) => "tasks",
            None => "environments",
        }
    }

    /// Returns the number of environments or of tasks.
    pub fn item_count(&self) -> usize {
        self.tasks
            .as_ref()
            .map_or(self.environments, |tasks| tasks.tasks)
    }
}

/// The facts of a set of static tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskFacts {
    pub tasks: usize,
    pub tests: usize,
    pub revision: String,
    pub protocol: EvalProtocol,
    pub attempts: u32,
    pub parser: EvalParser,
}

impl From<&BoardTasks> for TaskFacts {
    fn from(tasks: &BoardTasks) -> Self {
        Self {
            tasks: tasks.tests.len(),
            tests: tasks.test_count(),
            revision: tasks.revision.clone(),
            protocol: tasks.protocol,
            attempts: tasks.attempts,
            parser: tasks.parser,
        }
    }
}

/// A row of a board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoardRow {
    pub entry: EntryId,
    /// Absent for a row that is not ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<RowRank>,
    pub name: String,
    pub version: String,
    pub authors: Vec<BoardAuthor>,
    pub models: Vec<String>,
    pub code_url: String,
    pub state: VerificationState,
    pub proves: String,
    pub does_not_prove: String,
    /// Absent for a claim, because nothing supports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<RowScore>,
    pub cost: RowCost,
    pub flags: Vec<RowFlag>,
    pub exposure: Exposure,
    pub registered: bool,
    /// The day of the submission.
    pub date: String,
    /// Why the last run was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction: Option<Tombstone>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contest: Option<Contest>,
    /// The last correction of the score after an error of this program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescored: Option<Rescoring>,
    /// Per environment or task, for public sets only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<RowEnvironment>,
}

/// The place of a row among the ranked rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowRank {
    pub rank: usize,
    /// The best and the worst rank that the data support at 5 %. Absent on a board with so many
    /// ranked rows that comparing all pairs would take too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<usize>,
    /// The probability of rank 1 if the environments are resampled; absent like the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance_of_first: Option<f64>,
}

/// The score of a row in percent. A missing play counts as 0. On a board of static tasks, the levels
/// are tests, and the environments are tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowScore {
    pub mean: f64,
    pub interval: [f64; 2],
    pub levels_completed: f64,
    pub levels: u32,
    /// The environments that were played at least once.
    pub played: usize,
    pub environments: usize,
    pub repeats: usize,
}

/// The cost of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowCost {
    pub basis: CostBasis,
    /// US dollars for one repeat of the whole set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_per_environment: Option<f64>,
    /// Whether no ranked row costs at most as much and scores at least as much, one of the two
    /// strictly better.
    pub on_frontier: bool,
}

/// A flag with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RowFlag {
    pub flag: BoardFlag,
    pub evidence: String,
}

/// What remains visible of a retracted row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Tombstone {
    pub date: String,
    pub by: String,
    pub reason: RetractionReason,
    pub note: String,
}

/// A correction of a score after an error of this program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rescoring {
    pub date: String,
    /// The release that contains all corrections of this error.
    pub release: String,
    /// What was wrong.
    pub note: String,
    /// The scores before and after in percent.
    pub old: f64,
    pub new: f64,
}

/// An objection to a row with the organiser's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Contest {
    pub by: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

/// The scores of a row on one environment or task, one for each repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowEnvironment {
    /// The environment with its version, or the id of the task.
    pub id: EnvironmentVersion,
    pub scores: Vec<f64>,
    pub levels_completed: f64,
    pub levels: u32,
}

/// An announcement of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RegistrationRow {
    pub registration: RegistrationId,
    pub name: String,
    pub version: String,
    pub date: String,
    pub repeats: u32,
    pub seeds: Vec<u64>,
    /// The plays that are part of a row, and those that were announced.
    pub plays: usize,
    pub announced: usize,
    pub abandoned: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
}

/// A release of a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReleaseRow {
    pub release: String,
    pub date: String,
    /// The number of the record that contains the release.
    pub seq: u64,
    pub rows: Digest,
}

/// What a command changed on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BoardChange {
    pub board: BoardId,
    /// The kinds of the new events.
    pub events: Vec<String>,
    pub records: u64,
    /// The row that the command created or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<VerificationState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<RowFlag>,
    /// Why a run was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The comparison of two rows on the environments that both played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RowComparison {
    pub a: EntryId,
    pub b: EntryId,
    pub environments: usize,
    pub mean_a: f64,
    pub mean_b: f64,
    pub difference: f64,
    /// The 95 % bootstrap interval of the difference.
    pub interval: [f64; 2],
    /// The two-sided p-value of the sign-flip test, which decides.
    pub p: f64,
    pub differing: usize,
}

/// The list of files of an exported board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardManifest {
    pub board: BoardId,
    /// Whether the export has all records. Otherwise it has aggregates only and cannot be checked.
    pub complete: bool,
    pub files: Vec<ManifestFile>,
}

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestFile {
    pub path: String,
    pub sha256: Digest,
}

/// What a check of an exported board found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BoardCheck {
    pub board: BoardId,
    pub records: usize,
    pub rows: usize,
    /// The recordings that were replayed again, or the answers to static tasks that were scored again.
    pub replayed: usize,
    pub releases: usize,
    /// Differences; empty if everything could be rebuilt.
    pub findings: Vec<String>,
}
