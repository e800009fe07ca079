//! The kinds of work that a coordinator distributes, and what workers get and return for each.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{EvalConfig, EvalEnd, EvalLimits, ExploredLevel, PlayResult, RuleVerdict, RunConfig};

/// What workers are to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "settings", rename_all = "kebab-case")]
pub enum WorkKind {
    /// The plays of a run.
    Play(Box<RunConfig>),
    /// The tasks of an evaluation.
    Evaluation(Box<EvaluationWork>),
    /// The environments of a validation.
    Validation(Box<ValidationWork>),
    /// The levels of an environment.
    Exploration(Box<ExplorationWork>),
}

/// One play of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayTask {
    /// The repeat of the play, from 1.
    pub repeat: u32,
    /// The environment with its version.
    pub game_id: String,
    /// The lines of the model log of earlier leases and processes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model_log: String,
}

/// The result of a play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayReport {
    pub result: PlayResult,
    /// The recording, as text; absent if the play ended before its environment was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<String>,
    /// The other files of the play in base64, by their path in the run folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// An evaluation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationWork {
    pub config: EvalConfig,
    /// The limits of the coordinator's process.
    pub limits: EvalLimits,
    /// Whether attempts that failed in earlier processes are repeated.
    pub retry_failed: bool,
}

/// A task of an evaluation, with all attempts at its tests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationTask {
    /// The name of the set.
    pub set: String,
    /// The id of the task.
    pub task: String,
    /// The lines of the journal about this task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal: Vec<String>,
}

/// The result of a task. Its answers are in the lines that the worker has sent before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Why the worker ended the task.
    pub ended: EvalEnd,
}

/// The options of a validation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationWork {
    pub seed: u64,
    pub env_seed: u64,
    pub steps: Option<u64>,
    pub strict: bool,
    pub nodes: Option<usize>,
    /// Whether states of hosted games are identified by their complete Python state.
    pub deep: bool,
    /// The names of the rules.
    pub rules: Vec<String>,
    /// The number of checks that a worker runs in parallel.
    pub jobs: usize,
    /// The absolute paths of folders with recordings.
    pub recordings: Vec<String>,
    /// The absolute paths of the folders of hosted games.
    pub games_dirs: Vec<String>,
}

/// An environment that is validated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationTask {
    pub game_id: String,
}

/// The result of an environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValidationUnitReport {
    pub hosted: bool,
    pub rules: Vec<WorkRule>,
    /// The number of checks.
    pub checks: usize,
    /// The time spent, summed over all threads.
    pub seconds: f64,
}

/// The findings about one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRule {
    /// The name of the rule.
    pub rule: String,
    pub summary: String,
    pub findings: Vec<WorkFinding>,
}

/// One finding, with all that a report needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkFinding {
    /// The level, counted from 0.
    pub level: Option<u8>,
    pub verdict: RuleVerdict,
    pub text: String,
    pub evidence: Vec<WorkEvidence>,
    pub incomplete: bool,
}

/// A play that demonstrates a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkEvidence {
    pub caption: String,
    /// The actions, separated by spaces.
    pub actions: String,
}

/// The options of an exploration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplorationWork {
    pub game_id: String,
    pub seed: u64,
    pub nodes: usize,
    pub edges: usize,
    pub depth: usize,
    pub bytes: usize,
    pub all_clicks: bool,
    /// The number of threads of a worker.
    pub threads: usize,
    pub within: Option<u32>,
    pub time_limit_s: f64,
    pub checks: Option<u32>,
    /// Whether states of hosted games are identified by their complete Python state.
    pub deep: bool,
    pub step_by_step: bool,
    /// The format of the exported graph: `json`, `graphml` or `dot`.
    pub graph: Option<String>,
    pub picture: bool,
    pub recording: bool,
    /// The absolute paths of the folders of hosted games.
    pub games_dirs: Vec<String>,
}

/// A level that is explored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplorationTask {
    /// The level, counted from 1.
    pub level: u8,
}

/// The result of a level, or the reason why it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplorationUnitReport {
    pub level: Result<WorkLevel, String>,
}

/// The result of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkLevel {
    pub report: ExploredLevel,
    pub picture: Option<String>,
    /// The graph, or the reason why it cannot be exported.
    pub graph: Option<Result<String, String>>,
    /// The recording of the shortest win, or the reason why it is missing.
    pub recording: Option<Result<String, String>>,
}
