//! The event log of a leaderboard, and the replayed runs that its events contain.
//!
//! All numbers are integers, so that hashes do not depend on the formatting of floats: scores are
//! units of 1e-9 points, money is millionths of a US dollar.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::{
    BoardDefinition, BoardFlag, BoardId, BoardSystem, CostBasis, EntryId, RegistrationId,
    RetractionReason,
};
use crate::study::{Digest, EnvironmentVersion};

/// One record of the log. Each contains the hash of the record before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardRecord {
    /// The number of the record, from 1 without gaps.
    pub seq: u64,
    pub at_ms: u64,
    /// Who caused the event: `organiser`, an API key, or the hash of a name.
    pub actor: String,
    pub event: BoardEvent,
    pub previous: Digest,
    /// The SHA-256 hash of the canonical JSON of all other fields except `names`.
    pub hash: Digest,
    /// The names, links and affiliations of people, in whose places the record has salted hashes. They
    /// can be erased, because no hash covers them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<SealedName>,
}

/// A text about a person, with the salt of its hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SealedName {
    pub salt: String,
    pub text: String,
}

/// What happened on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BoardEvent {
    Created {
        board: BoardId,
        definition: Box<BoardDefinition>,
        /// The hash of the set of environments.
        set: Digest,
    },
    /// Runs were announced before their first action.
    Registered {
        registration: RegistrationId,
        system: Box<BoardSystem>,
        repeats: u32,
        /// The seeds of the agent, one for each repeat.
        seeds: Vec<u64>,
    },
    /// Registered runs were not finished in time.
    Abandoned {
        registration: RegistrationId,
    },
    Submitted {
        entry: EntryId,
        system: Box<BoardSystem>,
        registration: Option<RegistrationId>,
        claim: BoardClaim,
    },
    /// The recordings of runs were replayed without a difference.
    Replayed {
        entry: EntryId,
        runs: Vec<BoardRun>,
    },
    /// A run was not accepted; the row keeps its state.
    ReplayFailed {
        entry: EntryId,
        reason: String,
    },
    /// The plays of a row were found on the organiser's server.
    Witnessed {
        entry: EntryId,
        cards: Vec<String>,
    },
    /// The organiser ran the code of a row again.
    Reproduced {
        entry: EntryId,
        runs: Vec<BoardRun>,
        /// Whether the score of the row agrees with these runs.
        agrees: bool,
    },
    /// The organiser confirms that it ran the model itself.
    Certified {
        entry: EntryId,
        statement: String,
    },
    Flagged {
        entry: EntryId,
        flag: BoardFlag,
        evidence: String,
    },
    Unflagged {
        entry: EntryId,
        flag: BoardFlag,
        reason: String,
    },
    Retracted {
        entry: EntryId,
        reason: RetractionReason,
        note: String,
    },
    Contested {
        entry: EntryId,
        text: String,
    },
    Answered {
        entry: EntryId,
        text: String,
    },
    /// The stored runs of a row were verified again, because this program had scored them wrongly.
    Rescored {
        entry: EntryId,
        /// The runs of the row, and those of the organiser, as they are verified now.
        runs: Vec<BoardRun>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reruns: Vec<BoardRun>,
        /// Whether the score still agrees with the organiser's runs, if there are any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agrees: Option<bool>,
        /// Why a run is not accepted any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
        /// The score before and after in units of 1e-9 points.
        old_nano: u64,
        new_nano: u64,
        /// What was wrong.
        note: String,
        /// The release that contains all rows that were rescored for this reason.
        release: String,
    },
    Released {
        /// The name of the release, such as `main-2026.11.1`.
        release: String,
        /// The hash of the rows before this record.
        rows: Digest,
    },
    /// The names of the people of a row were erased.
    Erased {
        entry: EntryId,
    },
    Closed {
        reason: String,
    },
}

impl BoardEvent {
    /// Returns the row that the event is about.
    pub const fn entry(&self) -> Option<&EntryId> {
        match self {
            Self::Submitted { entry, .. }
            | Self::Replayed { entry, .. }
            | Self::ReplayFailed { entry, .. }
            | Self::Witnessed { entry, .. }
            | Self::Reproduced { entry, .. }
            | Self::Certified { entry, .. }
            | Self::Flagged { entry, .. }
            | Self::Unflagged { entry, .. }
            | Self::Retracted { entry, .. }
            | Self::Contested { entry, .. }
            | Self::Answered { entry, .. }
            | Self::Erased { entry }
            | Self::Rescored { entry, .. } => Some(entry),
            Self::Created { .. }
            | Self::Registered { .. }
            | Self::Abandoned { .. }
            | Self::Released { .. }
            | Self::Closed { .. } => None,
        }
    }
}

/// What a submission says about itself. It is never ranked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardClaim {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_nano: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd_micro: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scorecard_url: Option<String>,
    /// The date that the submission states, as `2026-11-18`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// A run whose recordings were replayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardRun {
    /// The hash of the names and hashes of the files of the run.
    pub digest: Digest,
    pub run_id: String,
    pub software: String,
    /// The agent, such as `model:NAME`, or `command` for an external program.
    pub agent: String,
    /// The hash of everything that determines the agent, except its seed.
    pub settings: Digest,
    /// The hash of the system prompt of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_sha256: Option<Digest>,
    /// Whether earlier reasoning was sent back to the model.
    #[serde(default)]
    pub keeps_reasoning: bool,
    pub budget: String,
    /// The seed of the environments.
    pub env_seed: u64,
    /// When the run started, by the clock of the machine that played.
    pub started_ms: u64,
    /// The server on which the run played, and whether it used cards in competition mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(default)]
    pub competition: bool,
    pub cost: BoardCost,
    /// Whether the run played the environments in tiers and could stop after each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tiered: bool,
    pub plays: Vec<BoardPlay>,
    /// The answers to static tasks; a run has plays or answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<BoardAnswers>,
}

/// The cost of all transmissions of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardCost {
    pub basis: CostBasis,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd_micro: Option<u64>,
    /// The hash of the price table, if tokens were priced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Digest>,
}

/// A replayed play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardPlay {
    pub environment: EnvironmentVersion,
    pub seed: u64,
    /// The counts of each run of the play; a full reset starts another one.
    pub runs: Vec<Vec<BoardCount>>,
    /// The actions on each level until it was first completed.
    pub logs: Vec<LevelLog>,
    /// The hash of the recording.
    pub recording: Digest,
}

/// The answers of a run to one static task, as the board has scored them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardAnswers {
    pub task: String,
    /// For each test of the board, the first attempt that solved it, from 1; 0 if none did.
    pub solved: Vec<u32>,
    /// The hash of the grids of all attempts; absent if no answer contains a grid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grids: Option<Digest>,
}

/// The counts of one level of a run, as the replay gave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardCount {
    pub actions: u32,
    /// The actions that changed the state.
    pub effective: u32,
    pub completed: bool,
}

/// The actions of a play on one level, by their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelLog {
    /// The number of the level, from 1.
    pub level: u32,
    pub actions: u32,
    pub completed: bool,
    pub digest: Digest,
}
