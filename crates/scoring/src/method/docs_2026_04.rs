//! The benchmark's documentation since April 2026: squared, a level capped at 1.15, each level
//! weighted by its number, the game capped by the completed levels' share of the weights.
//!
//! The document's examples: 10, 20 and 100 actions against a baseline of 10 score 100 %, 25 %
//! and 1 %. A game of which four of five levels were completed scores at most 66.7 %, however
//! few actions they took.
//!
//! ```
//! use rhae_scoring::{LevelCount, LevelResult, Method, level_score, score_game};
//!
//! let score = |a| level_score(Method::Docs202604, 10, LevelCount::all_effective(a));
//! assert_eq!(score(10), 1.0);
//! assert_eq!(score(20), 0.25);
//! assert!((score(100) - 0.01).abs() < 1e-12);
//! assert_eq!(score(1), 1.15);
//!
//! let fast = LevelResult::Completed(LevelCount::all_effective(1));
//! let game = score_game(Method::Docs202604, &[10; 5], &[fast; 4])?;
//! assert_eq!(game.score, 10.0 / 15.0);
//! assert_eq!(game.score, game.cap);
//! # Ok::<(), rhae_scoring::ScoreError>(())
//! ```

use super::Definition;
use crate::BaselineRule;

pub(super) const DEFINITION: Definition = Definition {
    name: "docs-2026-04",
    source: "the benchmark's documentation since April 2026",
    baseline_rule: BaselineRule::UpperMedian,
    ignores_unchanged: false,
    level_cap: 1.15,
    level_score: |efficiency| efficiency * efficiency,
    weight: |number| number as f64,
};
