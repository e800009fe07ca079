//! The results of `rhae games novelty`.

use serde::{Deserialize, Serialize};

/// The similarity of environments, pair by pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoveltyReport {
    /// The similarity of rules above which a pair is reported.
    pub limit: f64,
    /// All pairs, those with the most similar rules first.
    pub pairs: Vec<NoveltyPair>,
}

/// The similarity of two environments. Each value ranges from 0 (nothing in common) to 1
/// (identical), and is `None` if one of the environments lacks the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoveltyPair {
    pub one: String,
    pub other: String,
    /// The share of the shorter rule source that is redundant given the other.
    pub rules: Option<f64>,
    /// The similarity of the small patterns in the first frames.
    pub frames: Option<f64>,
    /// The similarity of the shapes of the state graphs.
    pub graphs: Option<f64>,
    /// Whether the rules are too similar.
    pub warning: bool,
}
