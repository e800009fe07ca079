//! The ARC-AGI-3 paper of March 2026, section 4.1: squared, capped at the baseline, each level
//! weighted by its number.
//!
//! The document's examples: 100 actions against a baseline of 10 score 1 %. With five levels
//! the weights are 1/15 to 5/15, so completing only the fifth level at the baseline scores a
//! third.
//!
//! ```
//! use rhae_scoring::{LevelCount, LevelResult, Method, level_score, score_game};
//!
//! let level = level_score(Method::Paper202603, 10, LevelCount::all_effective(100));
//! assert!((level - 0.01).abs() < 1e-12);
//!
//! let mut results = [LevelResult::NotCompleted; 5];
//! results[4] = LevelResult::Completed(LevelCount::all_effective(10));
//! let game = score_game(Method::Paper202603, &[10; 5], &results)?;
//! assert_eq!(game.score, 5.0 / 15.0);
//! # Ok::<(), rhae_scoring::ScoreError>(())
//! ```

use super::Definition;
use crate::BaselineRule;

pub(super) const DEFINITION: Definition = Definition {
    name: "paper-2026-03",
    source: "the ARC-AGI-3 paper, section 4.1",
    baseline_rule: BaselineRule::SecondBest,
    ignores_unchanged: false,
    level_cap: 1.0,
    level_score: |efficiency| efficiency * efficiency,
    weight: |number| number as f64,
};
