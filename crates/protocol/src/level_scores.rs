//! Scores that are computed from action counts alone.

use serde::{Deserialize, Serialize};

/// The scores of the levels of one game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelScores {
    /// The name of the scoring method.
    pub method: String,
    pub levels: Vec<LevelScore>,
    /// The score in percent.
    pub score: f64,
    /// The maximum score of the completed levels, in percent.
    pub cap: f64,
}

/// The score of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelScore {
    /// The number of the level, from 1.
    pub level: usize,
    pub baseline: u32,
    /// The action count; `None` if the level was not completed.
    pub actions: Option<u32>,
    /// The score in percent.
    pub score: f64,
}
