//! The exact sign-flip test for paired differences.
//!
//! If two systems were equally good, each difference could as well have the opposite sign. The
//! p-value is the share of the sign patterns of the non-zero differences whose sum is at least as far
//! from 0 as the observed one.
//!
//! The differences are divided into two halves. The sums of one half have at most 2²⁰ distinct values
//! for 20 differences of any kind, and for many more if values repeat, as those of static tasks do.
//! Combining two such halves is exact for 40 differences of any kind. Only beyond that the test
//! samples patterns.

use crate::generator::Generator;
use crate::sums::{MAX_SUMS, Sums};
use crate::units::to_units;

/// The number of sampled patterns if the test is not exact.
pub const SAMPLED_FLIPS: u32 = 100_000;

/// The result of [`sign_flip_test`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignFlip {
    /// The two-sided p-value.
    pub p: f64,
    /// The number of non-zero differences. The smallest possible p-value is 2 / 2ⁿ, so fewer than 6
    /// are never significant at 5 %.
    pub differing: usize,
    /// Whether all sign patterns were considered. Otherwise `p` is (hits + 1) / (N + 1) for
    /// [`SAMPLED_FLIPS`] patterns of the generator [`GENERATOR`](crate::GENERATOR).
    pub is_exact: bool,
}

/// Tests whether paired differences are centred at 0. Differences are rounded to 1e-9.
///
/// # Panics
///
/// Panics if a difference is not finite or exceeds one million.
///
/// # Examples
///
/// ```
/// use rhae_stats::sign_flip_test;
///
/// let test = sign_flip_test(&[2.0, 4.0, 9.0, 0.0, -3.0, 24.0, 7.0, 0.0]);
/// assert_eq!((test.p, test.differing), (6.0 / 64.0, 6));
/// // Equal scores are no evidence.
/// assert_eq!(sign_flip_test(&[0.0, 0.0]).p, 1.0);
/// ```
pub fn sign_flip_test(differences: &[f64]) -> SignFlip {
    let mut units: Vec<i64> = differences.iter().map(|&one| to_units(one)).collect();
    units.retain(|&unit| unit != 0);
    let observed = units.iter().sum::<i64>().abs();
    let mut sizes: Vec<i64> = units.iter().map(|unit| unit.abs()).collect();
    // Equal sizes in the same half have fewer distinct sums.
    sizes.sort_unstable();
    let (p, is_exact) = match exact_p(&sizes, observed) {
        Some(p) => (p, true),
        None => (sampled_p(&sizes, observed), false),
    };
    SignFlip {
        p,
        differing: sizes.len(),
        is_exact,
    }
}

/// Returns the exact p-value; `None` if there are too many distinct sums.
fn exact_p(sizes: &[i64], observed: i64) -> Option<f64> {
    if observed == 0 {
        return Some(1.0);
    }
    let (first, second) = sizes.split_at(sizes.len() / 2);
    let (first, second) = (signed_sums(first)?, signed_sums(second)?);
    // The distribution is symmetric.
    Some(2.0 * first.weight_of_sums_from(&second, i128::from(observed)))
}

/// Returns the distribution of the sum with random signs; `None` if it has too many values.
fn signed_sums(sizes: &[i64]) -> Option<Sums> {
    let mut sums = Sums::zero();
    for &size in sizes {
        sums = Sums::merged(&sums, -size, &sums, size, 0.5);
        if sums.len() > MAX_SUMS {
            return None;
        }
    }
    Some(sums)
}

fn sampled_p(sizes: &[i64], observed: i64) -> f64 {
    let mut generator = Generator::new();
    let mut hits = 0_u32;
    for _ in 0..SAMPLED_FLIPS {
        let mut sum = 0;
        for part in sizes.chunks(64) {
            let mut signs = generator.next_u64();
            for size in part {
                sum += if signs & 1 == 1 { *size } else { -*size };
                signs >>= 1;
            }
        }
        hits += u32::from(sum.abs() >= observed);
    }
    f64::from(hits + 1) / f64::from(SAMPLED_FLIPS + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::worked_example::{A, B, C, D};

    fn p(first: &[f64], second: &[f64]) -> f64 {
        let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        sign_flip_test(&differences).p
    }

    #[test]
    fn worked_p_values_are_exact() {
        assert_eq!(p(&A, &B), 0.09375);
        assert_eq!(p(&A, &C), 0.09375);
        assert_eq!(p(&A, &D), 0.03125);
        assert_eq!((p(&B, &D), p(&C, &D)), (0.0625, 0.0625));
        assert_eq!(p(&B, &C), 1.0);
    }

    #[test]
    fn least_p_value_is_two_patterns() {
        for count in 1..=40_i32 {
            let differences: Vec<f64> = (0..count).map(|at| 1.0 + f64::from(at) * 0.37).collect();
            let test = sign_flip_test(&differences);
            assert!(test.is_exact);
            assert_eq!(test.p, 2.0 / 2_f64.powi(count));
        }
    }

    #[test]
    fn many_tasks_with_few_scores_are_tested_exactly() {
        // 30 tasks that only the first solver solves and 10 that only the second solves: the same
        // as McNemar's exact test.
        let mut differences = vec![100.0; 30];
        differences.extend([-100.0; 10]);
        differences.extend([0.0; 360]);
        let test = sign_flip_test(&differences);
        assert!(test.is_exact);
        assert!((test.p - crate::mcnemar_p(30, 10)).abs() < 1e-14);
    }

    #[test]
    fn sampled_p_is_never_zero_and_close_to_the_exact_one() {
        let differences: Vec<f64> = (1..=60)
            .map(|at| f64::from(at).sqrt() * if at % 3 == 0 { -1.0 } else { 1.0 })
            .collect();
        let test = sign_flip_test(&differences);
        assert!(!test.is_exact && test.p > 0.0);
        assert_eq!(test, sign_flip_test(&differences));
        let sizes: Vec<i64> = [2, 4, 9, 3, 24, 7]
            .map(|size| size * 1_000_000_000)
            .to_vec();
        let sampled = sampled_p(&sizes, 43_000_000_000);
        assert!((sampled - 0.09375).abs() < 0.005, "{sampled}");
        let none = sampled_p(&[1; 64], 64);
        assert_eq!(none, 1.0 / 100_001.0);
    }

    proptest! {
        #[test]
        fn p_is_the_share_of_all_sign_patterns(
            differences in prop::collection::vec(-20_i32..=20, 0..12),
        ) {
            let differences: Vec<f64> = differences.into_iter().map(|one| f64::from(one) / 4.0).collect();
            let count = differences.len();
            let observed: f64 = differences.iter().sum();
            let hits = (0_u32..1 << count).filter(|signs| {
                let sum: f64 = differences.iter().enumerate()
                    .map(|(at, one)| if signs >> at & 1 == 1 { -one } else { *one })
                    .sum();
                sum.abs() >= observed.abs()
            });
            let expected = hits.count() as f64 / f64::from(1_u32 << count);
            prop_assert_eq!(sign_flip_test(&differences).p, expected);
        }
    }
}
