//! The files of a run folder: the effective configuration, the journal and the summary.

use std::collections::BTreeMap;

use rhae_engine::PlayState;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Ending, HumanBaselines, ModelUsage, RunIdentity, RunTiers, TierSummary};

/// The version of the configuration of a run.
pub const RUN_VERSION: u32 = 1;

/// The effective configuration of a run: the values of all flags, with defaults filled in.
///
/// It is the first file that a run writes, and `--resume` reads it.
///
/// # Examples
///
/// ```
/// use rhae_protocol::RunConfig;
///
/// let json = r#"{
///     "version": 1, "software": "rhae 0.1.0", "run_id": "20261115-100000-random",
///     "agent": "random", "seed": 7, "env_seed": 0, "games": ["ab12-v1"], "repeat": 3,
///     "budget": "5x", "method": "docs-2026-04", "step_timeout_ms": 10000, "generator": "pcg32-v1"
/// }"#;
/// let config: RunConfig = serde_json::from_str(json)?;
/// assert_eq!(config.agent.as_deref(), Some("random"));
/// assert_eq!(config.server, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunConfig {
    /// The version of this form, see [`RUN_VERSION`].
    pub version: u32,
    /// The name and version of the software that made the run.
    pub software: String,
    /// The id of the run, from which the ids of cards and plays are derived.
    pub run_id: String,
    /// The agent as given on the command line, such as `random` or `model:NAME`; absent for an
    /// external agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The command that starts an external agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_cmd: Option<String>,
    /// The seed of the agent in the first repeat. Each further repeat uses the next seed.
    pub seed: u64,
    /// The seed of the environments.
    pub env_seed: u64,
    /// The ids of the environments with their versions.
    pub games: Vec<String>,
    /// The number of repeats, each of which produces one card.
    pub repeat: u32,
    /// The budget of a play: `5x` (multiples of the baseline), `none`, or a number of actions.
    pub budget: String,
    /// The name of the scoring method.
    pub method: String,
    /// The time limit of the agent for one action.
    pub step_timeout_ms: u64,
    /// The time limit of one play, from its start; unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_timeout_ms: Option<u64>,
    /// The time limit of the run, including the time before an interruption; unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_timeout_ms: Option<u64>,
    /// The name of the random number generator that uses the seeds.
    pub generator: String,
    /// The URL of the server that runs the environments; absent if they run in this process. The
    /// API key is never written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Whether the cards on the server are opened in competition mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub competition: bool,
    /// The folders of hosted games, as absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub games_dirs: Vec<String>,
    /// The baselines of a human study, if they replace those of the environments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baselines: Option<HumanBaselines>,
    /// The tiers of the run, if it plays further environments only after progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiers: Option<RunTiers>,
    /// The settings of the model agent, if the agent is a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRun>,
    #[serde(flatten)]
    pub identity: RunIdentity,
}

impl RunConfig {
    /// Returns the seed of the agent in a repeat, which counts from 1.
    pub fn agent_seed(&self, repeat: u32) -> u64 {
        self.seed.wrapping_add(u64::from(repeat).saturating_sub(1))
    }
}

/// The settings of a language model that plays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelRun {
    /// The model's table from the models file. It contains no API key.
    pub config: Value,
    pub system_prompt: String,
    /// Whether the model's earlier reasoning is sent back with the conversation.
    pub keep_reasoning: bool,
    /// The maximum length of a conversation in tokens.
    pub context_tokens: u64,
    /// The spend limit in US dollars; unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// The rate of requests, such as `5/s`; as configured for the model if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<String>,
    /// The time limit of one request in seconds, retries included; unlimited if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_timeout_s: Option<f64>,
    /// The SHA-256 hash of the prompts of an agent with tools, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts_sha256: Option<String>,
    /// The folder whose prompts replace those of the agent, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts_dir: Option<String>,
    /// The requests of one turn of an agent with tools; as the agent defines it if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// The depth of nested conversations of an agent with tools; as the agent defines it if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_depth: Option<u32>,
    /// The tables of the models that answer in some roles of an agent with several, by role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<String, Value>,
}

/// The cards that a run opened on a server: `server.json` in the run folder.
///
/// # Examples
///
/// ```
/// use rhae_protocol::ServerRecord;
///
/// let json = r#"{
///     "server": "http://127.0.0.1:8001",
///     "cards": [{
///         "repeat": 1, "card_id": "c1", "closed": true, "score": 12.5,
///         "plays": [{"game_id": "ab12-v1", "guid": "9f0c"}], "differences": []
///     }]
/// }"#;
/// let record: ServerRecord = serde_json::from_str(json)?;
/// assert_eq!(record.cards[0].plays[0].guid, "9f0c");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerRecord {
    /// The URL of the server.
    pub server: String,
    /// The cards in the order in which they were opened, including those that an interrupted
    /// process opened.
    pub cards: Vec<CardRecord>,
}

/// A card on a server, and how the server's counts compare with the local ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardRecord {
    /// The repeat of the run to which the card belongs, from 1.
    pub repeat: u32,
    /// The id of the card on the server.
    pub card_id: String,
    /// Whether the run closed the card. Otherwise the server closes it after its idle timeout.
    pub closed: bool,
    /// The score that the server computed, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    pub plays: Vec<PlayRecord>,
    /// One sentence for each difference between the server's counts and the local ones.
    pub differences: Vec<String>,
}

/// A play on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayRecord {
    /// The id of the environment with its version.
    pub game_id: String,
    /// The id of the play on the server.
    pub guid: String,
}

/// One line of the journal of a run.
///
/// The journal is append-only. A play that has a [`Play`](Self::Play) line is not played again when
/// the run is resumed.
///
/// # Examples
///
/// ```
/// use rhae_protocol::JournalLine;
///
/// let line = r#"{"event":"started","at_ms":1794736800123,"resumed":false}"#;
/// let parsed: JournalLine = serde_json::from_str(line)?;
/// assert_eq!(parsed, JournalLine::Started { at_ms: 1_794_736_800_123, resumed: false });
/// assert_eq!(serde_json::to_string(&parsed)?, line);
///
/// let line = r#"{"event":"play","at_ms":1794736805000,"result":{"repeat":1,"game_id":"ab12-v1",
///     "guid":"9f0c","recording":"recordings/1-ab12-v1.jsonl","runs":[{"state":"NOT_FINISHED",
///     "levels":[{"actions":23,"effective":20,"completed":true}],"resets":0,
///     "ending":"budget"}]}}"#;
/// let JournalLine::Play { result, .. } = serde_json::from_str(line)? else {
///     unreachable!("the event is `play`")
/// };
/// assert_eq!(result.runs[0].levels[0].actions, 23);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum JournalLine {
    /// A process started or resumed the run.
    Started {
        /// Unix time in milliseconds.
        at_ms: u64,
        /// Whether an earlier process started the run.
        resumed: bool,
    },
    /// A play ended, and its recording is complete on disk.
    Play {
        /// Unix time in milliseconds.
        at_ms: u64,
        result: PlayResult,
    },
    /// All plays ended, and the results are written.
    Finished {
        /// Unix time in milliseconds.
        at_ms: u64,
    },
}

/// The counts of one play. Together with the baselines they determine its score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayResult {
    /// The repeat to which the play belongs, from 1.
    pub repeat: u32,
    /// The id of the environment with its version.
    pub game_id: String,
    /// The id of the play.
    pub guid: String,
    /// The path of the recording, relative to the run folder.
    pub recording: String,
    /// The number of levels that the environment stated, if it has no baselines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u8>,
    /// The runs of the play. A full reset starts another run.
    pub runs: Vec<RunOutcome>,
}

/// The counts of one run of a play: the commands from one full reset to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// The state of the play at the end of the run, serialised as `NOT_FINISHED`, `WIN` or
    /// `GAME_OVER`.
    #[serde(with = "crate::play_state")]
    pub state: PlayState,
    /// The levels that the run reached, from level 1.
    pub levels: Vec<LevelOutcome>,
    /// The number of level resets.
    pub resets: u64,
    /// Why the run ended; `None`, serialised as the empty string, while it is in progress.
    #[serde(with = "crate::ending::or_empty")]
    pub ending: Option<Ending>,
    /// The error of the agent or of the environment, if the play failed, or the limit that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The model usage on each level; empty if the agent reported none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<ModelUsage>,
}

/// The counts of one level in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelOutcome {
    /// Actions, including level resets.
    pub actions: u32,
    /// The actions that changed the state.
    pub effective: u32,
    pub completed: bool,
}

/// The summary of a run: the headline score and the means over its cards.
///
/// # Examples
///
/// ```
/// use rhae_protocol::{Ending, RunSummary};
///
/// let json = r#"{
///     "software": "rhae 0.1.0", "run_id": "20261115-100000-random", "agent": "random", "seed": 7,
///     "method": "docs-2026-04", "budget": "5x", "score": 6.25, "card_scores": [6.25],
///     "finished": true, "failed_plays": 0, "provisional_baselines": true,
///     "environments": [{
///         "game_id": "ab12-v1", "score": 6.25, "levels_completed": 1.0, "levels": 2,
///         "actions": 47.0, "baseline_actions": [10, 12], "baseline_source": ["solver", "solver"],
///         "endings": ["budget"]
///     }],
///     "folder": "runs/x", "report": "runs/x/report.html", "seconds": 0.8
/// }"#;
/// let summary: RunSummary = serde_json::from_str(json)?;
/// assert_eq!(summary.environments[0].endings, [Ending::Budget]);
/// assert_eq!(summary.score_half_width, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// The name and version of the software that made the run.
    pub software: String,
    pub run_id: String,
    /// The name of the agent.
    pub agent: String,
    /// The seed of the agent in the first repeat.
    pub seed: u64,
    /// The name of the scoring method.
    pub method: String,
    /// The budget of each play, as in [`RunConfig`].
    pub budget: String,
    /// The SHA-256 hash of the prompts of an agent with tools, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts_sha256: Option<String>,
    /// The headline: the mean of the card scores in percent. It includes every environment; a missing
    /// result counts as 0.
    pub score: f64,
    /// Half the width of the 95 % interval of the mean in percentage points; absent for one card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_half_width: Option<f64>,
    /// The ends of the 95 % interval of the mean in percent, which lie between 0 and 100; absent for
    /// one card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_interval: Option<[f64; 2]>,
    /// The total over the valid results. Summaries of earlier versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_results: Option<ValidResults>,
    /// The score of each card in percent.
    pub card_scores: Vec<f64>,
    /// Whether all plays ended. False after an interruption.
    pub finished: bool,
    /// The number of plays that ended as `failed`, because the agent failed.
    pub failed_plays: u32,
    /// The number of plays that ended as `environment failed`.
    #[serde(default)]
    pub failed_environments: u32,
    /// Whether any baseline is provisional, that is, computed by a solver instead of derived from
    /// plays by people.
    pub provisional_baselines: bool,
    pub environments: Vec<SummaryEnvironment>,
    /// What the tiers showed, if the run has tiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tiers: Option<TierSummary>,
    /// The path of the run folder.
    pub folder: String,
    /// The path of the HTML report.
    pub report: String,
    /// The working time of all processes of the run in seconds. The time between an interruption and
    /// the resumption does not count.
    pub seconds: f64,
    /// The model usage over all cards; absent if the agent reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ModelUsage>,
    /// The provider of the model that played, if one did. The costs of [`MOCK_PROVIDER`] are not
    /// real.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The start of the first process and the end of the last one, as Unix times in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    #[serde(flatten)]
    pub identity: RunIdentity,
}

/// The mark of results that repeat a recording. A recorded solution proves nothing about an agent.
pub const REPLAY_MARK: &str = "replay";

/// Returns whether the name of an agent in a result is that of a repeated recording,
/// `replay:FILE`.
pub fn is_replay(agent: &str) -> bool {
    agent
        .strip_prefix(REPLAY_MARK)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// The name of the provider whose replies are configured. They cost nothing.
pub const MOCK_PROVIDER: &str = "mock";

/// The total over the valid results of a run, next to the headline, in which a missing result counts
/// as 0.
///
/// A result is the play of one environment on one card. It is valid if the play ended, the
/// environment did not fail, and the environment has the baselines that its score needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ValidResults {
    /// The mean score of the valid results in percent; `None` without valid results.
    pub score: Option<f64>,
    /// The number of valid results.
    pub n: u32,
    /// The number of all results: environments times cards.
    pub of: u32,
}

/// One environment in the summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SummaryEnvironment {
    /// The id of the environment with its version.
    pub game_id: String,
    /// The mean score over the cards in percent.
    pub score: f64,
    /// The mean number of completed levels.
    pub levels_completed: f64,
    /// The number of levels of the environment.
    pub levels: u32,
    /// The mean number of actions.
    pub actions: f64,
    /// The baseline of each level.
    pub baseline_actions: Vec<u32>,
    /// The source of each baseline.
    pub baseline_source: Vec<String>,
    /// How the play of each card ended.
    pub endings: Vec<Ending>,
    /// The model usage over all cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ModelUsage>,
}
