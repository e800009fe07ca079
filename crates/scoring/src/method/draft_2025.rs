//! The scoring draft of 2025: linear, capped at the baseline, unweighted mean over the levels.
//! Actions that changed nothing are not counted.
//!
//! The document's examples: 1,000 actions against a baseline of 10 score 1 %. An exploit that
//! solves a 20-action level in 2 actions scores 100 %, not more.
//!
//! ```
//! use rhae_scoring::{LevelCount, Method, level_score};
//!
//! let score = |h, a| level_score(Method::Draft2025, h, LevelCount::all_effective(a));
//! assert_eq!(score(10, 1000), 0.01);
//! assert_eq!(score(20, 2), 1.0);
//!
//! // Of 40 actions, 20 had no effect and are not counted.
//! let count = LevelCount { actions: 40, effective: 20 };
//! assert_eq!(level_score(Method::Draft2025, 10, count), 0.5);
//! ```

use super::Definition;
use crate::BaselineRule;

pub(super) const DEFINITION: Definition = Definition {
    name: "draft-2025",
    source: "the scoring draft of 2025",
    baseline_rule: BaselineRule::SecondBest,
    ignores_unchanged: true,
    level_cap: 1.0,
    level_score: |efficiency| efficiency,
    weight: |_| 1.0,
};
