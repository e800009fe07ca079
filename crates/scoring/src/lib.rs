//! Relative Human Action Efficiency (RHAE, pronounced "ray") in its published versions.
//!
//! RHAE compares the number of actions that an agent took to complete each level with the number
//! that people took. This crate takes plain counts and returns scores.
//!
//! The method was published three times with different formulas. Each version is a frozen
//! [`Method`] with a name, so that a published score can always be computed again.
//!
//! # From counts to a card
//!
//! 1. [`human_baseline`] derives the baseline of a level from the action counts of people.
//! 2. [`level_score`] scores one completed level against its baseline.
//! 3. [`score_game`] combines the levels of one run into the score of the run.
//! 4. [`best_run`] returns the score of an environment: that of its best run.
//! 5. [`card_score`] averages the environments of a scorecard.
//!
//! `mean_interval_95` of `rhae-stats` averages repeated cards and estimates the uncertainty.
//!
//! # Examples
//!
//! An environment has five levels with a baseline of 10 actions each. In its first run an agent
//! completes two levels with 10 and 20 actions and then runs out of budget. In its second run it
//! completes only the first level, with 40 actions.
//!
//! ```
//! use rhae_scoring::{LevelCount, LevelResult, Method, best_run, card_score, score_game};
//!
//! let completed = |actions| LevelResult::Completed(LevelCount::all_effective(actions));
//! let baselines = [10, 10, 10, 10, 10];
//!
//! let first = score_game(Method::Docs202604, &baselines, &[completed(10), completed(20)])?;
//! assert_eq!(first.levels, [1.0, 0.25, 0.0, 0.0, 0.0]);
//! // Level n has weight n: (1 × 1.0 + 2 × 0.25) / (1 + 2 + 3 + 4 + 5).
//! assert_eq!(first.score, 1.5 / 15.0);
//!
//! let second = score_game(Method::Docs202604, &baselines, &[completed(40)])?;
//! let environment = best_run([first.score, second.score]);
//! assert_eq!(environment, first.score);
//!
//! // The card has a second environment, which was not played.
//! assert_eq!(card_score([environment, 0.0]), 0.05);
//! # Ok::<(), rhae_scoring::ScoreError>(())
//! ```
//!
//! # Invariants
//!
//! * Scores are fractions: 1.0 corresponds to the human baseline. Callers convert to percentages.
//! * A variant of [`Method`] never changes. A new publication becomes a new variant.
//! * The functions are pure: the same counts always produce bit-identical scores.
//!
//! This crate knows nothing about environments, recordings, files or the JSON form of scorecards.

mod baseline;
mod card;
mod game;
mod interpretation;
mod method;

pub use baseline::{BaselineRule, TooFewPlayers, human_baseline};
pub use card::{best_run, card_score};
pub use game::{GameScore, LevelCount, LevelResult, ScoreError, level_score, score_game};
pub use method::{Method, UnknownMethod};
