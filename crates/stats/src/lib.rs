//! Confidence intervals and exact tests for results of evaluations. Functions take and return plain
//! numbers.
//!
//! | question | function |
//! | --- | --- |
//! | mean of independent values | [`mean_interval_95`] |
//! | probability behind a count of independent successes | [`clopper_pearson_95`] |
//! | mean of independent values between 0 and 1 | [`wilson_95`] |
//! | share of successes in groups of dependent trials | [`wilson_95`] with [`effective_sample_size`] |
//! | difference of two solvers on the same tasks | [`mcnemar_p`] |
//! | mean over environments, possibly with repeats | [`bootstrap_95`], [`bootstrap_repeats_95`] |
//! | difference of two systems on the same environments | [`sign_flip_test`] decides, [`bootstrap_difference_95`] shows |
//! | several differences at once | [`holm`] |
//! | difference of two groups of environments | [`permutation_test`] |
//! | guesses that are right by chance | [`random_matches_p`], [`binomial_tail_p`] |
//! | order of several systems | [`rank()`] |
//! | score against cost | [`pareto_frontier`] |
//! | a score of part of a set | [`partial_score`], [`tier_ends`], [`tier_promotes`] |
//! | feedback on a hidden set | [`ladder()`], [`ladder_leak_bits`] |
//! | a claimed score and reruns | [`predict_95`] |
//! | median of few counts | [`median_interval_95`] |
//! | second-best or upper-median count of the people tested | [`resampled_second_best`], [`resampled_upper_median`], [`leave_one_out`] |
//! | share of people who complete each level | [`kaplan_meier`] |
//! | which of several events happens first | [`aalen_johansen`] |
//! | difficulty of items and ability of people | [`rasch()`] |
//! | size of a study | [`pass_probability`], [`people_for_power`], [`sittings_needed`] |
//! | release of personal attributes | [`k_anonymous`], [`suppress_small`] |
//!
//! Scores are rounded to 1e-9 and summed as integers. Tests and bootstraps are exact where that is
//! affordable, which their results say. Otherwise tests sample with a generator of a fixed seed, and
//! bootstraps use a grid with a known error.
//!
//! Quantiles and distribution functions come from `statrs`. Its tests, and the published values in
//! the tests of this crate, verify them.
//!
//! **Boundary:** this crate knows no plays, tasks or files, and its results depend only on its
//! arguments.

mod anonymity;
mod binomial;
mod bootstrap;
mod competing_risks;
mod distribution;
mod frontier;
mod generator;
mod ladder;
mod lattice;
mod matches;
mod mean;
mod middle;
mod multiplicity;
mod order_bootstrap;
mod order_interval;
mod permutation;
mod planning;
mod ranks;
mod rasch;
mod reproduction;
mod sign_flip;
mod sums;
mod survival;
mod tiers;
mod units;
#[cfg(test)]
mod worked_example;

pub use anonymity::{GeneralisedRow, k_anonymous, suppress_small};
pub use binomial::{Interval, clopper_pearson_95, effective_sample_size, mcnemar_p, wilson_95};
pub use bootstrap::{
    BootstrapInterval, bootstrap_95, bootstrap_difference_95, bootstrap_repeats_95,
};
pub use competing_risks::{IncidencePoint, TimedEvent, aalen_johansen};
pub use frontier::{CostedScore, pareto_frontier};
pub use generator::GENERATOR;
pub use ladder::{answers_leak_bits, ladder, ladder_leak_bits};
pub use matches::{binomial_tail_p, random_matches_p};
pub use mean::{MeanInterval, mean_interval_95};
pub use middle::median;
pub use multiplicity::holm;
pub use order_bootstrap::{
    ResampledCount, leave_one_out, resampled_second_best, resampled_upper_median,
};
pub use order_interval::{MedianInterval, median_interval_95};
pub use permutation::{Permutation, permutation_test};
pub use planning::{StudySize, pass_probability, people_for_power, sittings_needed};
pub use ranks::{Rank, Ranking, rank, rank_by_mean};
pub use rasch::{RaschEstimate, Response, rasch};
pub use reproduction::{MIN_RERUNS, Prediction, predict_95};
pub use sign_flip::{SAMPLED_FLIPS, SignFlip, sign_flip_test};
pub use survival::{Progress, RiskSet, SurvivalPoint, kaplan_meier, risk_sets};
pub use tiers::{PartialScore, luck_tail_p, partial_score, tier_ends, tier_promotes};
