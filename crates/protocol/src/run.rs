//! What a run folder holds: the effective configuration, the journal, the summary.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Spent;

/// What was asked for, after defaults: written first, read by `--resume`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// Version of this file's form.
    pub version: u32,
    /// What made the run.
    pub software: String,
    /// The run's id, from which the ids of cards and plays are derived.
    pub run_id: String,
    /// A built-in agent's name; absent if a command is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The command of an agent in a process of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_cmd: Option<String>,
    /// The agent's seed in the first repeat; the second has the next one, and so on.
    pub seed: u64,
    /// The environments' seed.
    pub env_seed: u64,
    /// Environments with their versions.
    pub games: Vec<String>,
    /// How many cards.
    pub repeat: u32,
    /// `5x`, `none`, or a number of actions a play.
    pub budget: String,
    /// The scoring method's name.
    pub method: String,
    /// How many milliseconds an agent may take for one action.
    pub step_timeout_ms: u64,
    /// The generator behind seeds.
    pub generator: String,
    /// The server that the environments are played on; absent if they run here. Its key is never written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Whether the server's cards are opened in competition mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub competition: bool,
    /// The folders of games from outside, as absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub games_dirs: Vec<String>,
    /// The model that plays, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRun>,
}

/// How a model plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRun {
    /// Its table in the file of models; no key is in it.
    pub config: Value,
    /// The system prompt.
    pub system_prompt: String,
    /// Whether the provider's reasoning is sent back with the conversation.
    pub keep_reasoning: bool,
    /// How long a conversation may be, in tokens.
    pub context_tokens: u64,
    /// What may be spent, in US dollars; not limited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

/// What a run did on a server: `server.json` in its folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// The server's address.
    pub server: String,
    /// Its cards, those of interrupted processes first.
    pub cards: Vec<CardRecord>,
}

/// A card on a server and how its counts compare with ours.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardRecord {
    /// Which of the run's cards it belongs to, from 1.
    pub repeat: u32,
    /// Its id on the server.
    pub card_id: String,
    /// Whether it was closed; if not, the server's clock does it.
    pub closed: bool,
    /// The score that the server gave, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The server's ids of the plays on it.
    pub plays: Vec<PlayRecord>,
    /// Where the server's counts differ from ours.
    pub differences: Vec<String>,
}

/// A play on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayRecord {
    /// The environment with its version.
    pub game_id: String,
    /// The server's id of the play.
    pub guid: String,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum JournalLine {
    /// The run began or went on.
    Started {
        /// Milliseconds since 1970.
        at_ms: u64,
        /// Whether an earlier process had begun it.
        resumed: bool,
    },
    /// A play ended and its recording is complete on disk.
    Play {
        /// Milliseconds since 1970.
        at_ms: u64,
        /// The result.
        result: PlayResult,
    },
    /// All plays are done and the results are written.
    Finished {
        /// Milliseconds since 1970.
        at_ms: u64,
    },
}

/// The counts of one play: all that scoring needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayResult {
    /// Which card, from 1.
    pub repeat: u32,
    /// The environment with its version.
    pub game_id: String,
    /// The play's id.
    pub guid: String,
    /// The recording, relative to the run folder.
    pub recording: String,
    /// Its runs: a full reset begins another.
    pub runs: Vec<PlayOutcome>,
}

/// One run through an environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayOutcome {
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
    /// Level by level as far as it got.
    pub levels: Vec<LevelOutcome>,
    /// Level resets.
    pub resets: u64,
    /// Why it ended: `won`, `budget`, `stopped` or `failed`; `reset` if a full reset began another run; `interrupted` if the
    /// whole run was (such plays are never journalled).
    pub ending: String,
    /// What went wrong, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What the player said that it consumed, level by level; empty if nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<Spent>,
}

/// What one level took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelOutcome {
    /// Actions, level resets included.
    pub actions: u32,
    /// Those of them that changed the state.
    pub effective: u32,
    /// Whether it was completed.
    pub completed: bool,
}

/// The headline of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// What made it.
    pub software: String,
    /// The run's id.
    pub run_id: String,
    /// The player.
    pub agent: String,
    /// The agent's first seed.
    pub seed: u64,
    /// The scoring method's name.
    pub method: String,
    /// The budget of each play.
    pub budget: String,
    /// Mean of the cards' scores in percent.
    pub score: f64,
    /// Half the width of the mean's 95 % interval in percentage points; absent for a single card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_half_width: Option<f64>,
    /// Every card's score in percent.
    pub card_scores: Vec<f64>,
    /// Whether all plays ended; false after an interruption.
    pub finished: bool,
    /// Plays that ended because the agent failed.
    pub failed_plays: u32,
    /// Whether a baseline is provisional, that is, not yet from people.
    pub provisional_baselines: bool,
    /// Environment by environment.
    pub environments: Vec<SummaryEnvironment>,
    /// The run folder.
    pub folder: String,
    /// The report's path.
    pub report: String,
    /// How long the run took, the parts before an interruption not included.
    pub seconds: f64,
    /// What models consumed, over all cards; absent if no player said that it consumed anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

/// One environment in a run's summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryEnvironment {
    /// The environment with its version.
    pub game_id: String,
    /// Mean score over the cards in percent.
    pub score: f64,
    /// Mean number of levels completed.
    pub levels_completed: f64,
    /// How many levels it has.
    pub levels: u32,
    /// Mean number of actions.
    pub actions: f64,
    /// Baselines, level by level.
    pub baseline_actions: Vec<u32>,
    /// Where they come from.
    pub baseline_source: Vec<String>,
    /// How the plays ended, card by card.
    pub endings: Vec<String>,
    /// What models consumed, over all cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}
