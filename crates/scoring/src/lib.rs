//! Relative Human Action Efficiency (RHAE, say "ray") in its published versions.
//!
//! Plain counts go in, scores come out: how many actions an agent took to complete each level, against how many people took.
//! The method has been published three times with different formulas. Each is a frozen [`Method`] with a name, so that
//! a published number can always be computed again.
//!
//! Scores are fractions here: 1.0 is the human baseline. Percentages are a matter of the outer layers.
//!
//! What this crate deliberately does not know: environments, recordings, files, cards' JSON.

mod baseline;
mod card;
mod game;
mod interval;
mod method;

pub use baseline::{BaselineRule, TooFewPlayers, human_baseline};
pub use card::{best_run, card_score};
pub use game::{GameScore, LevelCount, LevelResult, Unscored, level_score, score_game};
pub use interval::{Interval, mean_interval};
pub use method::{Method, UnknownMethod};
