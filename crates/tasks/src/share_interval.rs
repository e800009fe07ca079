//! The 95 % confidence interval of a share, labelled with its method.
//!
//! All intervals describe the population that the tasks are drawn from, not repeated runs on the
//! same tasks. The number of solved tasks is binomial, so it gets an exact interval. Means of task
//! scores get Wilson's interval. The tests of one task are not independent, so a share of tests gets
//! Wilson's interval with an effective sample size. `rhae-stats` computes the numbers.

use rhae_stats::{clopper_pearson_95, effective_sample_size, wilson_95};
use serde::Serialize;

/// A 95 % confidence interval of a share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How it was computed.
    pub kind: IntervalKind,
}

/// How an interval was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// Exact, for a count of independent successes.
    ClopperPearson,
    /// For a mean of independent values between 0 and 1.
    Wilson,
    /// For successes in groups whose members are not independent, such as the tests of one task.
    WilsonClustered,
}

impl Interval {
    /// Returns the exact interval for `solved` out of `tasks` independent tasks.
    pub(crate) fn of_count(solved: usize, tasks: usize) -> Self {
        let ends = clopper_pearson_95(solved as u64, tasks as u64);
        Self::new(ends, IntervalKind::ClopperPearson)
    }

    /// Returns the interval for a mean of `tasks` independent values between 0 and 1.
    pub(crate) fn of_mean(mean: f64, tasks: usize) -> Self {
        Self::new(wilson_95(mean, tasks as f64), IntervalKind::Wilson)
    }

    /// Returns the interval for a share of tests. `tests` contains the number of tests of each task.
    pub(crate) fn of_tests(share: f64, tests: impl IntoIterator<Item = usize>) -> Self {
        let ends = wilson_95(share, effective_sample_size(tests));
        Self::new(ends, IntervalKind::WilsonClustered)
    }

    const fn new(ends: rhae_stats::Interval, kind: IntervalKind) -> Self {
        Self {
            low: ends.low,
            high: ends.high,
            kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_tests_per_task_widen_an_interval() {
        let (alone, grouped) = (
            Interval::of_tests(0.5, [1; 100]),
            Interval::of_tests(0.5, [2; 50]),
        );
        assert!((alone.high - Interval::of_mean(0.5, 100).high).abs() < 1e-12);
        assert!((grouped.high - Interval::of_mean(0.5, 50).high).abs() < 1e-12);
    }
}
