//! 95 % confidence intervals for shares.
//!
//! All intervals describe the population that the tasks are drawn from, not repeated runs on the
//! same tasks.
//!
//! * The number of solved tasks is binomial, so Clopper and Pearson's exact interval is used
//!   (Biometrika 26, 1934).
//! * A mean of task scores lies between 0 and 1 and has a variance of at most m(1 − m) (Bhatia and
//!   Davis, 2000). Wilson's interval (JASA 22, 1927), computed with the number of tasks, is
//!   therefore wide enough. This holds even if all tasks or no tasks are solved, in which case an
//!   estimate of the variance would be 0.
//! * The tests of one task are not independent. For shares of tests, Wilson's interval is used with
//!   Kish's effective sample size (Survey Sampling, 1965), which assumes full dependence within a
//!   task: n = (Σ tests)² / Σ tests².

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

/// Returns the two-sided Clopper-Pearson interval for `successes` out of `of` trials.
pub fn clopper_pearson_95(successes: usize, of: usize) -> Interval {
    let low = if successes == 0 {
        0.0
    } else {
        bisect(|p| 1.0 - at_most(successes - 1, of, p) < 0.025)
    };
    let high = if successes >= of {
        1.0
    } else {
        bisect(|p| at_most(successes, of, p) > 0.025)
    };
    Interval {
        low,
        high,
        kind: IntervalKind::ClopperPearson,
    }
}

/// Returns Wilson's interval for a mean of `number` values between 0 and 1.
pub fn wilson_95(mean: f64, number: f64) -> Interval {
    const Z: f64 = 1.959_963_984_540_054;
    let square = Z * Z / number;
    let middle = mean + square / 2.0;
    let spread = Z * (mean * (1.0 - mean) / number + square / (4.0 * number)).sqrt();
    let end = |value: f64| (value / (1.0 + square)).clamp(0.0, 1.0);
    Interval {
        low: end(middle - spread),
        high: end(middle + spread),
        kind: IntervalKind::Wilson,
    }
}

/// Returns Wilson's interval for a share of successes in groups of the given sizes. The members of
/// a group are assumed to be fully dependent.
pub(crate) fn wilson_clustered_95(mean: f64, groups: impl Iterator<Item = usize>) -> Interval {
    let (sum, squares) = groups.fold((0.0, 0.0), |(sum, squares), size| {
        (sum + size as f64, squares + (size * size) as f64)
    });
    Interval {
        kind: IntervalKind::WilsonClustered,
        ..wilson_95(mean, sum * sum / squares)
    }
}

/// Returns the probability of at most `successes` successes in `of` trials with success probability
/// `p`. The terms are computed as logarithms to avoid underflow.
pub(crate) fn at_most(successes: usize, of: usize, p: f64) -> f64 {
    if p <= 0.0 || successes >= of {
        return 1.0;
    }
    if p >= 1.0 {
        return 0.0;
    }
    let odds = p.ln() - (-p).ln_1p();
    let mut term = of as f64 * (-p).ln_1p();
    let mut sum = term.exp();
    for count in 0..successes {
        term += ((of - count) as f64).ln() - ((count + 1) as f64).ln() + odds;
        sum += term.exp();
    }
    sum.min(1.0)
}

/// Returns the point between 0 and 1 below which `holds` is true and above which it is false.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(interval: Interval, low: f64, high: f64) {
        assert!(
            (interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5,
            "{interval:?}"
        );
    }

    #[test]
    fn exact_intervals_are_the_published_ones() {
        near(clopper_pearson_95(5, 20), 0.0866, 0.4910);
        near(clopper_pearson_95(0, 10), 0.0, 0.3085);
        near(clopper_pearson_95(10, 10), 0.6915, 1.0);
    }

    #[test]
    fn wilsons_interval_is_the_published_one() {
        // Newcombe (1998), table I: 81 of 263 and 15 of 148.
        near(wilson_95(81.0 / 263.0, 263.0), 0.2553, 0.3662);
        near(wilson_95(15.0 / 148.0, 148.0), 0.0624, 0.1605);
        let none = wilson_95(0.0, 120.0);
        assert!(none.low == 0.0 && none.high > 0.03);
    }

    #[test]
    fn groups_widen_an_interval() {
        let (alone, grouped) = (
            wilson_clustered_95(0.5, [1; 100].into_iter()),
            wilson_clustered_95(0.5, [2; 50].into_iter()),
        );
        assert!((alone.high - wilson_95(0.5, 100.0).high).abs() < 1e-12);
        assert!((grouped.high - wilson_95(0.5, 50.0).high).abs() < 1e-12);
    }
}
