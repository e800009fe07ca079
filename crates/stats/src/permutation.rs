//! The exact permutation test for the means of two groups (Pitman, 1937).
//!
//! If the division into groups had no influence, every division of the values into groups of the same
//! sizes would be equally likely. The p-value is the share of divisions whose difference of means is
//! at least as far from 0 as the observed one.

use crate::generator::Generator;
use crate::sign_flip::SAMPLED_FLIPS;
use crate::sums::{MAX_SUMS, Sums};
use crate::units::to_units;

/// The result of [`permutation_test`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Permutation {
    /// The mean of the first group minus that of the second.
    pub difference: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// Whether all divisions were considered. Otherwise `p` is (hits + 1) / (N + 1) for
    /// [`SAMPLED_FLIPS`] divisions of the generator [`GENERATOR`](crate::GENERATOR).
    pub is_exact: bool,
}

/// Tests whether two groups of values have the same mean; `None` if a group is empty. Values are
/// rounded to 1e-9.
///
/// # Panics
///
/// Panics if a value is not finite or exceeds one million.
///
/// # Examples
///
/// ```
/// use rhae_stats::permutation_test;
///
/// // Only 1 of the 10 divisions of 5 values into 2 and 3 is as extreme.
/// let test = permutation_test(&[97.0, 90.0], &[0.0, 0.0, 3.0]).unwrap();
/// assert_eq!(test.p, 0.1);
/// assert_eq!(test.difference, 92.5);
/// assert_eq!(permutation_test(&[1.0], &[]), None);
/// ```
pub fn permutation_test(first: &[f64], second: &[f64]) -> Option<Permutation> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let units = |values: &[f64]| -> Vec<i64> { values.iter().map(|&one| to_units(one)).collect() };
    let (first, second) = (units(first), units(second));
    let sum: i64 = first.iter().sum();
    let mut all = [first.as_slice(), second.as_slice()].concat();
    all.sort_unstable();
    let division = Division {
        size: first.len(),
        count: all.len(),
        total: all.iter().map(|&one| i128::from(one)).sum(),
        observed: 0,
    };
    let division = Division {
        observed: division.statistic(i128::from(sum)).abs(),
        ..division
    };
    let (p, is_exact) = match division.exact_p(&all) {
        Some(p) => (p, true),
        None => (division.sampled_p(all), false),
    };
    let mean = |values: &[i64]| values.iter().sum::<i64>() as f64 / values.len() as f64;
    Some(Permutation {
        difference: crate::units::to_score(mean(&first) - mean(&second)),
        p,
        is_exact,
    })
}

/// The sizes of the groups and the observed statistic.
#[derive(Clone, Copy)]
struct Division {
    /// The size of the first group.
    size: usize,
    /// The number of all values.
    count: usize,
    /// The sum of all values.
    total: i128,
    /// The magnitude of the observed statistic.
    observed: i128,
}

impl Division {
    /// Returns the difference of the means, multiplied by both group sizes, for the sum of the first
    /// group.
    const fn statistic(&self, sum: i128) -> i128 {
        sum * self.count as i128 - self.total * self.size as i128
    }

    fn exact_p(&self, all: &[i64]) -> Option<f64> {
        if self.observed == 0 {
            return Some(1.0);
        }
        let (low, high) = all.split_at(all.len() / 2);
        let (low, high) = (subset_sums(low, self.size)?, subset_sums(high, self.size)?);
        let (count, size) = (self.count as i128, self.size as i128);
        // The statistic is at least `observed`, or at most its negative.
        let from = (self.total * size + self.observed + count - 1).div_euclid(count);
        let until = (self.total * size - self.observed).div_euclid(count);
        let (mut hits, mut divisions) = (0.0, 0.0);
        for (taken, sums) in low.iter().enumerate() {
            let Some(others) = self.size.checked_sub(taken).and_then(|rest| high.get(rest)) else {
                continue;
            };
            hits += sums.weight_of_sums_from(others, from);
            hits += sums
                .negated()
                .weight_of_sums_from(&others.negated(), -until);
            divisions += sums.weight_of_sums_from(others, i128::MIN / 2);
        }
        Some(hits / divisions)
    }

    fn sampled_p(&self, mut all: Vec<i64>) -> f64 {
        let mut generator = Generator::new();
        let mut hits = 0_u32;
        for _ in 0..SAMPLED_FLIPS {
            let mut sum = 0;
            for at in 0..self.size {
                all.swap(at, at + generator.below(self.count - at));
                sum += i128::from(all[at]);
            }
            hits += u32::from(self.statistic(sum).abs() >= self.observed);
        }
        f64::from(hits + 1) / f64::from(SAMPLED_FLIPS + 1)
    }
}

/// Returns the sums of all subsets of at most `max_size` values, by the size of the subset, weighted
/// by the number of subsets; `None` if there are too many.
fn subset_sums(values: &[i64], max_size: usize) -> Option<Vec<Sums>> {
    let mut by_size = vec![Sums::zero()];
    for &value in values {
        if by_size.len() <= max_size {
            by_size.push(Sums::empty());
        }
        for size in (1..by_size.len()).rev() {
            by_size[size] = Sums::merged(&by_size[size], 0, &by_size[size - 1], value, 1.0);
        }
        if by_size.iter().map(Sums::len).sum::<usize>() > MAX_SUMS {
            return None;
        }
    }
    Some(by_size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn large_groups_are_sampled() {
        let values: Vec<f64> = (1..=60).map(|at| f64::from(at).sqrt()).collect();
        let test = permutation_test(&values[..30], &values[30..]).unwrap();
        assert!(!test.is_exact);
        assert_eq!(test.p, 1.0 / 100_001.0);
        let forty = permutation_test(&values[..20], &values[20..40]).unwrap();
        assert!(forty.is_exact);
    }

    proptest! {
        #[test]
        fn p_is_the_share_of_all_divisions(
            first in prop::collection::vec(-9_i32..=9, 1..6),
            second in prop::collection::vec(-9_i32..=9, 1..6),
        ) {
            let all: Vec<i32> = first.iter().chain(&second).copied().collect();
            let (size, count) = (first.len() as i32, all.len() as i32);
            let total: i32 = all.iter().sum();
            let statistic = |sum: i32| (sum * count - total * size).abs();
            let observed = statistic(first.iter().sum());
            let (mut hits, mut divisions) = (0, 0);
            for chosen in 0_u32..1 << count {
                if chosen.count_ones() as i32 == size {
                    let sum = (0..all.len()).filter(|at| chosen >> at & 1 == 1).map(|at| all[at]).sum();
                    divisions += 1;
                    hits += i32::from(statistic(sum) >= observed);
                }
            }
            let floats = |values: &[i32]| -> Vec<f64> { values.iter().map(|&one| f64::from(one)).collect() };
            let test = permutation_test(&floats(&first), &floats(&second)).unwrap();
            prop_assert!(test.is_exact);
            prop_assert!((test.p - f64::from(hits) / f64::from(divisions)).abs() < 1e-12);
        }
    }
}
