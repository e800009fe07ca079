//! Shares and success probabilities.
//!
//! * A count of independent successes is binomial, so the exact interval of Clopper and Pearson is
//!   used (Biometrika 26, 1934). Its ends are quantiles of beta distributions.
//! * A mean of values between 0 and 1 has a variance of at most m(1 − m) (Bhatia and Davis, 2000).
//!   Wilson's interval (JASA 22, 1927) is therefore wide enough. This holds even if all values are
//!   0 or all are 1, in which case an estimate of the variance would be 0.
//! * Trials of one group may depend on each other. Kish's effective sample size (Survey Sampling,
//!   1965) assumes full dependence within a group: n = (Σ sizes)² / Σ sizes².

use statrs::distribution::{Binomial, DiscreteCDF};
use statrs::function::beta::beta_reg;

/// The 97.5 % quantile of the standard normal distribution.
pub(crate) const NORMAL_975: f64 = 1.959_963_984_540_054;

/// A confidence interval of a share or probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// Returns the two-sided 95 % Clopper-Pearson interval for `successes` out of `trials`. The interval
/// is accurate to nine digits for up to 100,000 trials.
///
/// # Examples
///
/// ```
/// use rhae_stats::clopper_pearson_95;
///
/// let interval = clopper_pearson_95(5, 20);
/// assert!((interval.low - 0.0866).abs() < 5e-5);
/// assert!((interval.high - 0.4910).abs() < 5e-5);
/// assert_eq!(clopper_pearson_95(0, 10).low, 0.0);
/// assert_eq!(clopper_pearson_95(10, 10).high, 1.0);
/// ```
pub fn clopper_pearson_95(successes: u64, trials: u64) -> Interval {
    Interval {
        low: lower_bound(successes, trials, 0.025),
        high: upper_bound(successes, trials, 0.025),
    }
}

/// Returns the largest probability for which at most `successes` still have a probability of at
/// least `tail`.
fn upper_bound(successes: u64, trials: u64, tail: f64) -> f64 {
    if successes >= trials {
        return 1.0;
    }
    beta_quantile(successes + 1, trials - successes, 1.0 - tail)
}

/// Returns the smallest probability for which at least `successes` have a probability of at least
/// `tail`. More successes than trials count as `trials`.
fn lower_bound(successes: u64, trials: u64, tail: f64) -> f64 {
    let successes = successes.min(trials);
    if successes == 0 {
        return 0.0;
    }
    beta_quantile(successes, trials - successes + 1, tail)
}

/// Returns the point below which a beta distribution has the probability `share`.
///
/// Bisection is used because `statrs::function::beta::inv_beta_reg` does not terminate for some
/// arguments, for example 1 and 10⁷.
fn beta_quantile(a: u64, b: u64, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if beta_reg(a as f64, b as f64, middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// Returns Wilson's 95 % interval for a mean of `count` independent values between 0 and 1. `count`
/// need not be an integer: see [`effective_sample_size`].
///
/// # Examples
///
/// 81 of 263, from table I of Newcombe (1998):
///
/// ```
/// use rhae_stats::wilson_95;
///
/// let interval = wilson_95(81.0 / 263.0, 263.0);
/// assert!((interval.low - 0.2553).abs() < 5e-5);
/// assert!((interval.high - 0.3662).abs() < 5e-5);
/// ```
pub fn wilson_95(mean: f64, count: f64) -> Interval {
    let square = NORMAL_975 * NORMAL_975 / count;
    let middle = mean + square / 2.0;
    let spread = NORMAL_975 * (mean * (1.0 - mean) / count + square / (4.0 * count)).sqrt();
    let end = |value: f64| (value / (1.0 + square)).clamp(0.0, 1.0);
    Interval {
        low: end(middle - spread),
        high: end(middle + spread),
    }
}

/// Returns Kish's effective sample size of trials in groups of the given sizes. The trials of a
/// group are assumed to be fully dependent.
///
/// # Examples
///
/// ```
/// use rhae_stats::effective_sample_size;
///
/// assert_eq!(effective_sample_size([1, 1, 1, 1]), 4.0);
/// assert_eq!(effective_sample_size([2, 2]), 2.0);
/// // (3 + 1)² / (9 + 1)
/// assert_eq!(effective_sample_size([3, 1]), 1.6);
/// ```
pub fn effective_sample_size(sizes: impl IntoIterator<Item = usize>) -> f64 {
    let (sum, squares) = sizes.into_iter().fold((0.0, 0.0), |(sum, squares), size| {
        (sum + size as f64, squares + (size * size) as f64)
    });
    sum * sum / squares
}

/// Returns the two-sided p-value of McNemar's exact test: the probability, if both solvers were
/// equally good, that the tasks which exactly one of them solves are divided at least as unevenly.
///
/// # Examples
///
/// ```
/// use rhae_stats::mcnemar_p;
///
/// // 2 · (1 + 10) / 2¹⁰
/// assert!((mcnemar_p(1, 9) - 22.0 / 1024.0).abs() < 1e-12);
/// assert_eq!(mcnemar_p(0, 0), 1.0);
/// ```
pub fn mcnemar_p(only_first: u64, only_second: u64) -> f64 {
    // The tail then contains at least half of the distribution; its sum in floats may round below.
    if only_first.abs_diff(only_second) <= 1 {
        return 1.0;
    }
    let tail = Binomial::new(0.5, only_first + only_second)
        .expect("0.5 is a probability")
        .cdf(only_first.min(only_second));
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn assert_near(interval: Interval, low: f64, high: f64) {
        assert!(
            (interval.low - low).abs() < 5e-5 && (interval.high - high).abs() < 5e-5,
            "{interval:?}"
        );
    }

    #[test]
    fn exact_intervals_are_the_published_ones() {
        assert_near(clopper_pearson_95(5, 20), 0.0866, 0.4910);
        assert_near(clopper_pearson_95(0, 10), 0.0, 0.3085);
        assert_near(clopper_pearson_95(10, 10), 0.6915, 1.0);
    }

    #[test]
    fn wilsons_interval_is_the_published_one() {
        // Newcombe (1998), table I: 81 of 263 and 15 of 148.
        assert_near(wilson_95(81.0 / 263.0, 263.0), 0.2553, 0.3662);
        assert_near(wilson_95(15.0 / 148.0, 148.0), 0.0624, 0.1605);
        // Solve rates of ten people.
        assert_near(wilson_95(0.2, 10.0), 0.0567, 0.5098);
        assert_near(wilson_95(0.5, 10.0), 0.2366, 0.7634);
        assert_near(wilson_95(0.6, 10.0), 0.3127, 0.8318);
        let none = wilson_95(0.0, 120.0);
        assert!(none.low == 0.0 && none.high > 0.03);
    }

    #[test]
    fn mcnemar_p_values_are_exact() {
        assert_eq!(mcnemar_p(0, 0), 1.0);
        assert_eq!(mcnemar_p(3, 3), 1.0);
        assert_eq!(mcnemar_p(2, 1), 1.0);
        assert!((mcnemar_p(6, 0) - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(mcnemar_p(1, 9), mcnemar_p(9, 1));
    }

    /// Returns the probability of at most `successes` out of `trials`, summed term by term.
    fn at_most(successes: u64, trials: u64, p: f64) -> f64 {
        let odds = p.ln() - (-p).ln_1p();
        let mut term = trials as f64 * (-p).ln_1p();
        let mut sum = term.exp();
        for count in 0..successes {
            term += ((trials - count) as f64).ln() - ((count + 1) as f64).ln() + odds;
            sum += term.exp();
        }
        sum
    }

    proptest! {
        /// At the ends of the interval, the observed count is in a tail of exactly 2.5 %.
        #[test]
        fn ends_of_exact_intervals_have_the_tail_probability(
            trials in 1_u64..2_000,
            share in 0.0..1.0,
        ) {
            let successes = (share * trials as f64) as u64;
            let interval = clopper_pearson_95(successes, trials);
            if successes > 0 {
                let tail = 1.0 - at_most(successes - 1, trials, interval.low);
                prop_assert!((tail - 0.025).abs() < 1e-9, "{}", tail);
            }
            let tail = at_most(successes, trials, interval.high);
            prop_assert!((tail - 0.025).abs() < 1e-9, "{}", tail);
        }
    }
}
