//! What authors and the organiser send and get through the REST API of leaderboards.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::{
    BoardDefinition, BoardFlag, BoardId, BoardKind, BoardSystem, CostBasis, EntryId,
    RegistrationId, RetractionReason, SetVisibility,
};
use crate::board_view::{BoardRow, BoardView};
use crate::study::{Digest, EnvironmentVersion};

/// A board in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BoardListing {
    pub board: BoardId,
    pub title: String,
    pub kind: BoardKind,
    pub set: String,
    pub visibility: SetVisibility,
    pub environments: usize,
    /// The number of static tasks, on a board that has them instead of environments.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tasks: usize,
    pub method: String,
    pub budget: String,
    pub rows: usize,
    pub closed: bool,
}

/// Some of the rows of a board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoardPage {
    /// The rows before those of this page.
    pub offset: usize,
    /// The rows of the whole board.
    pub row_count: usize,
    #[serde(flatten)]
    pub view: BoardView,
}

/// A row of a board with everything that happened to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct EntryView {
    pub board: BoardId,
    pub title: String,
    pub visibility: SetVisibility,
    /// Whether the board has static tasks instead of environments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_tasks: bool,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper_url: Option<String>,
    pub row: BoardRow,
    /// The events of the row in the order of the log. Of a hidden set, the public sees no reasons
    /// that name environments.
    pub history: Vec<EntryEvent>,
    /// The replayed runs; only for public sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<EntryRun>,
}

/// An event of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntryEvent {
    /// The number of the record in the log.
    pub seq: u64,
    pub date: String,
    pub actor: String,
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A replayed run of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntryRun {
    pub run_id: String,
    /// The hash of the files of the run, which is the name of their folder in an export.
    pub digest: Digest,
    pub agent: String,
    pub software: String,
    /// The day on which the run started, by the clock of the machine that played.
    pub date: String,
    pub cost_basis: CostBasis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd_micro: Option<u64>,
    pub plays: Vec<EntryPlay>,
    /// The static tasks that the run answered, and their tests that it solved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answered_tasks: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub solved_tests: usize,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A replayed play of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EntryPlay {
    pub environment: EnvironmentVersion,
    /// The seed of the agent.
    pub seed: u64,
    pub actions: u32,
    pub levels_completed: usize,
    /// The hash of the recording.
    pub recording: Digest,
}

/// A new board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardCreation {
    pub board: BoardId,
    pub definition: BoardDefinition,
    /// The tasks with their solutions as the text of a task file; only for a board of static tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<String>,
}

/// An announcement of runs before their first action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegistrationBody {
    pub registration: RegistrationId,
    pub system: BoardSystem,
    /// The seeds of the agent, one for each repeat.
    pub seeds: Vec<u64>,
}

/// A system with its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmissionBody {
    pub entry: EntryId,
    pub system: BoardSystem,
    #[serde(default)]
    pub registration: Option<RegistrationId>,
    /// The files of each run by their paths in the run folder: `config.json`, `journal.jsonl` and
    /// the recordings.
    pub runs: Vec<BTreeMap<String, String>>,
}

/// A change of a board. `contest` and a retraction for the reason `author` are for authors, the
/// others for the organiser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum BoardRequest {
    Retract {
        entry: EntryId,
        reason: RetractionReason,
        /// What happened, which everybody can read.
        note: String,
    },
    Contest {
        entry: EntryId,
        text: String,
    },
    Answer {
        entry: EntryId,
        text: String,
    },
    Flag {
        entry: EntryId,
        flag: BoardFlag,
        evidence: String,
    },
    Unflag {
        entry: EntryId,
        flag: BoardFlag,
        reason: String,
    },
    /// Finds the plays of a row on cards of this server.
    Witness {
        entry: EntryId,
        /// The closed cards in competition mode, one for each run.
        cards: Vec<String>,
    },
    Certify {
        entry: EntryId,
        /// When and how the organiser ran the model.
        statement: String,
    },
    Release,
    /// Verifies all stored runs again with this version of the program, and releases the rows whose
    /// scores change.
    Rescore {
        /// What was wrong. The text is public.
        note: String,
    },
    /// Erases the names of the people of a row from the log. The key that submitted the row may do this
    /// too.
    Erase {
        entry: EntryId,
    },
    Close {
        reason: String,
    },
}

impl BoardRequest {
    /// Returns the row that the change concerns.
    pub const fn entry(&self) -> Option<&EntryId> {
        match self {
            Self::Retract { entry, .. }
            | Self::Contest { entry, .. }
            | Self::Answer { entry, .. }
            | Self::Flag { entry, .. }
            | Self::Unflag { entry, .. }
            | Self::Witness { entry, .. }
            | Self::Erase { entry }
            | Self::Certify { entry, .. } => Some(entry),
            Self::Release | Self::Rescore { .. } | Self::Close { .. } => None,
        }
    }
}
