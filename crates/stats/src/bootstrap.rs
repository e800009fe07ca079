//! Exact bootstrap intervals: the distribution of a resampled mean by convolution, without random
//! numbers.
//!
//! The bootstrap draws environments with replacement and, if they were played several times, the
//! repeats of each drawn environment with replacement. The interval is that of the percentile
//! method: from the 2.5 % to the 97.5 % quantile. A quantile is the least value whose cumulated
//! probability is at least the share.
//!
//! The mean of 11 arbitrary values, or of any number of values that repeat, is computed exactly.
//! Beyond that, the values are rounded to a grid of a million cells, and [`BootstrapInterval::error`]
//! bounds the effect.
//!
//! With few environments a bootstrap interval is too narrow: it describes the sample, and
//! [`sign_flip_test`](crate::sign_flip_test) decides. The interval never leaves the range of the
//! values.

use crate::distribution::Distribution;
use crate::units::{to_score, to_units};

const TAIL: f64 = 0.025;

/// A 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BootstrapInterval {
    pub low: f64,
    pub high: f64,
    /// The maximum distance of an end from the exact one; 0 if the interval is exact.
    pub error: f64,
}

impl BootstrapInterval {
    /// Returns the name of the method for results: `exact-bootstrap` or `grid-bootstrap`.
    pub const fn method(&self) -> &'static str {
        if self.error > 0.0 {
            "grid-bootstrap"
        } else {
            "exact-bootstrap"
        }
    }
}

/// Returns the interval of the mean of values, one for each environment; `None` without values.
///
/// # Panics
///
/// The functions of this module panic if a value is not finite or exceeds one million.
///
/// # Examples
///
/// ```
/// use rhae_stats::bootstrap_95;
///
/// let interval = bootstrap_95(&[12.0, 4.0, 30.0, 5.0, 0.0, 44.0, 7.0, 0.0]).unwrap();
/// assert_eq!((interval.low, interval.high), (3.625, 24.0));
/// // Three values: always from the least to the greatest.
/// let interval = bootstrap_95(&[0.0, 6.0, 30.0]).unwrap();
/// assert_eq!((interval.low, interval.high), (0.0, 30.0));
/// ```
pub fn bootstrap_95(values: &[f64]) -> Option<BootstrapInterval> {
    let units: Vec<i64> = values.iter().map(|&value| to_units(value)).collect();
    (!units.is_empty()).then(|| interval(&Distribution::uniform(&units), units.len()))
}

/// Returns the interval of the mean over environments of the mean over their repeats; `None` without
/// environments or if one has no repeats.
///
/// # Examples
///
/// ```
/// use rhae_stats::bootstrap_repeats_95;
///
/// let interval = bootstrap_repeats_95(&[vec![0.0, 2.0], vec![10.0, 14.0]]).unwrap();
/// assert_eq!((interval.low, interval.high), (0.5, 13.0));
/// ```
pub fn bootstrap_repeats_95(environments: &[Vec<f64>]) -> Option<BootstrapInterval> {
    let means = environments
        .iter()
        .map(|repeats| resampled_mean(repeats))
        .collect::<Option<Vec<_>>>()?;
    (!means.is_empty()).then(|| interval(&Distribution::mixture(&means), means.len()))
}

/// Returns the interval of the mean difference of two systems on the same environments. An element
/// contains the repeats of the first and of the second system, which are drawn independently; `None`
/// without environments or if one has no repeats.
///
/// # Examples
///
/// ```
/// use rhae_stats::bootstrap_difference_95;
///
/// let once = |a: f64, b: f64| (vec![a], vec![b]);
/// let interval = bootstrap_difference_95(&[once(6.0, 6.0), once(9.0, 3.0)]).unwrap();
/// assert_eq!((interval.low, interval.high), (0.0, 6.0));
/// ```
pub fn bootstrap_difference_95(environments: &[(Vec<f64>, Vec<f64>)]) -> Option<BootstrapInterval> {
    let differences = environments
        .iter()
        .map(|(first, second)| Some(resampled_mean(first)?.minus(&resampled_mean(second)?)))
        .collect::<Option<Vec<_>>>()?;
    (!differences.is_empty())
        .then(|| interval(&Distribution::mixture(&differences), differences.len()))
}

/// Returns the distribution of the mean of resampled repeats; `None` without repeats.
fn resampled_mean(repeats: &[f64]) -> Option<Distribution> {
    let units: Vec<i64> = repeats.iter().map(|&value| to_units(value)).collect();
    (!units.is_empty()).then(|| Distribution::uniform(&units).mean_of(units.len()))
}

/// Returns the interval of the mean of `count` draws.
fn interval(one: &Distribution, count: usize) -> BootstrapInterval {
    let sum = one.sum_of(count);
    let values = one.points().iter().map(|point| point.0 as f64);
    let (least, greatest) = values.fold((f64::MAX, f64::MIN), |(least, greatest), value| {
        (least.min(value), greatest.max(value))
    });
    // Rounding to a grid must not leave the range of the values.
    let end = |share| to_score((sum.quantile(share) / count as f64).clamp(least, greatest));
    BootstrapInterval {
        low: end(TAIL),
        high: end(1.0 - TAIL),
        error: to_score(sum.error() / count as f64),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::worked_example::{A, B, C, D};

    fn ends(interval: Option<BootstrapInterval>) -> (f64, f64) {
        let interval = interval.unwrap();
        assert_eq!(interval.method(), "exact-bootstrap");
        (interval.low, interval.high)
    }

    #[test]
    fn worked_intervals_are_exact() {
        assert_eq!(ends(bootstrap_95(&A)), (3.625, 24.0));
        assert_eq!(ends(bootstrap_95(&B)), (2.0, 13.375));
        assert_eq!(ends(bootstrap_95(&C)), (2.0, 13.625));
        assert_eq!(ends(bootstrap_95(&D)), (0.125, 1.0));
        assert_eq!(ends(bootstrap_95(&[0.0, 6.0, 30.0])), (0.0, 30.0));
    }

    #[test]
    fn worked_difference_is_exact() {
        let pairs: Vec<_> = A.iter().zip(B).map(|(&a, b)| (vec![a], vec![b])).collect();
        assert_eq!(ends(bootstrap_difference_95(&pairs)), (0.75, 11.5));
    }

    #[test]
    fn worked_interval_with_repeats_is_exact() {
        let environments = [vec![0.0, 2.0], vec![10.0, 14.0]];
        assert_eq!(ends(bootstrap_repeats_95(&environments)), (0.5, 13.0));
        let means: Vec<_> = environments
            .iter()
            .map(|repeats| resampled_mean(repeats).unwrap())
            .collect();
        let crate::distribution::SumOfDraws::Exact(sum) = Distribution::mixture(&means).sum_of(2)
        else {
            panic!("two draws of six values are exact")
        };
        assert_eq!(sum.points()[0], (0, 1.0 / 64.0));
    }

    #[test]
    fn students_interval_of_the_example_leaves_the_range_of_scores() {
        let student = crate::mean_interval_95(&A).unwrap();
        let half = student.half_width.unwrap();
        assert_eq!(format!("{:.2}", student.mean - half), "-0.54");
        assert_eq!(format!("{:.2}", student.mean + half), "26.04");
    }

    #[test]
    fn many_environments_use_a_grid_with_a_small_error() {
        let values: Vec<f64> = (0..55).map(|at| f64::from(at).sqrt() * 13.0).collect();
        let interval = bootstrap_95(&values).unwrap();
        assert_eq!(interval.method(), "grid-bootstrap");
        assert!(interval.error < 0.005, "{interval:?}");
        let mean = values.iter().sum::<f64>() / 55.0;
        assert!(interval.low < mean && mean < interval.high);
        let all = [0.0, 100.0];
        let tasks: Vec<f64> = (0..400).map(|at| all[at % 2]).collect();
        let (low, high) = ends(bootstrap_95(&tasks));
        // A binomial count of 400 trials at one half: 180 to 220.
        assert_eq!((low, high), (45.0, 55.0));
    }

    #[test]
    fn missing_values_have_no_interval() {
        assert_eq!(bootstrap_95(&[]), None);
        assert_eq!(bootstrap_repeats_95(&[vec![1.0], Vec::new()]), None);
        assert_eq!(bootstrap_difference_95(&[(vec![1.0], Vec::new())]), None);
    }

    proptest! {
        /// Compares with the enumeration of all resamples.
        #[test]
        fn interval_is_that_of_all_resamples(values in prop::collection::vec(0_u32..400, 1..6)) {
            let count = values.len();
            let mut sums: Vec<u32> = (0..count.pow(count as u32))
                .map(|mut code| {
                    (0..count).map(|_| { let value = values[code % count]; code /= count; value }).sum()
                })
                .collect();
            sums.sort_unstable();
            let quantile = |share: f64| {
                let rank = (share * sums.len() as f64 - 1e-9).ceil().max(1.0) as usize;
                f64::from(sums[rank - 1]) / count as f64 / 4.0
            };
            let floats: Vec<f64> = values.iter().map(|&value| f64::from(value) / 4.0).collect();
            let interval = bootstrap_95(&floats).unwrap();
            prop_assert!((interval.low - quantile(0.025)).abs() < 1e-9);
            prop_assert!((interval.high - quantile(0.975)).abs() < 1e-9);
            let repeats: Vec<Vec<f64>> = floats.iter().map(|&value| vec![value]).collect();
            prop_assert_eq!(bootstrap_repeats_95(&repeats).unwrap(), interval);
        }

        #[test]
        fn interval_stays_within_the_values(values in prop::collection::vec(0.0..100.0_f64, 1..8)) {
            let interval = bootstrap_95(&values).unwrap();
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            let greatest = values.iter().copied().fold(f64::MIN, f64::max);
            prop_assert!(least - 1e-9 <= interval.low && interval.low <= interval.high);
            prop_assert!(interval.high <= greatest + 1e-9);
        }
    }
}
