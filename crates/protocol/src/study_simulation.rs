//! The result of a study with simulated people, for `--json`.

use serde::{Deserialize, Serialize};

use crate::study_summary::StudySummary;

/// The result of `rhae study simulate`. Two simulations with the same size and seed differ only in
/// `wall_seconds`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudySimulation {
    /// The model of the people, with its version.
    pub model: String,
    pub seed: u64,
    pub servers: u32,
    /// How often a server was killed and started again.
    pub kills: u32,
    /// The number of people who were invited.
    pub invited: u32,
    /// The number of environments in the pool.
    pub pool: u32,
    /// The numbers of the study under its own attempt rule, with exclusions.
    #[serde(flatten)]
    pub summary: StudySummary,
    /// The actions that the server acknowledged, without those of people who had their data deleted.
    pub actions: u64,
    /// The median number of these actions per play, including plays that people left at once.
    pub median_actions: Option<f64>,
    /// The acknowledged actions that are not in the logs.
    pub lost_actions: u64,
    /// The actions in the logs that were not acknowledged.
    pub doubled_actions: u64,
    /// The responses that differ from what the rules of the environments say.
    pub wrong_responses: u64,
    /// The environments with more people than the target allows.
    pub over_quota: usize,
    pub double_clicks: u64,
    /// The connections that were lost after an action was sent.
    pub lost_responses: u64,
    pub reloads: u64,
    pub crashes: u64,
    pub pauses: u64,
    /// The people who withdrew and had their data deleted.
    pub erased: usize,
    /// What the verification of the study found; empty if everything agrees.
    pub findings: Vec<String>,
    /// How long the simulation took.
    pub wall_seconds: f64,
}

impl StudySimulation {
    /// Returns whether nothing was lost, doubled or answered wrongly, every target was respected, and
    /// the books and the verification agree.
    pub const fn is_sound(&self) -> bool {
        self.lost_actions == 0
            && self.doubled_actions == 0
            && self.wrong_responses == 0
            && self.over_quota == 0
            && self.findings.is_empty()
            && self.summary.books_balance
    }
}
