//! Tiered evaluations: the easiest environments first, and more of them only after progress that luck
//! does not explain.

use crate::units::{UNITS, to_score, to_units};

/// The environments that each tier adds; the last tier has the rest.
const TIER_SIZES: [usize; 5] = [3, 5, 8, 13, 21];
/// The probability up to which progress is not explained by luck.
const SIGNIFICANT: f64 = 0.05;
/// The greatest score of an environment in points.
const MAX_SCORE: i64 = 100;

/// Returns how many environments have been played after each tier of a set of `environments`.
///
/// # Examples
///
/// ```
/// use rhae_stats::tier_ends;
///
/// assert_eq!(tier_ends(55), [3, 8, 16, 29, 50, 55]);
/// assert_eq!(tier_ends(4), [3, 4]);
/// ```
pub fn tier_ends(environments: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut end = 0;
    for size in TIER_SIZES.into_iter().chain([usize::MAX]) {
        if end < environments {
            end = end.saturating_add(size).min(environments);
            ends.push(end);
        }
    }
    ends
}

/// Returns the probability that at least `completed` of several independent events occur, each with
/// its own chance. The distribution of the count is exact.
///
/// # Panics
///
/// Panics if a chance is not between 0 and 1.
///
/// # Examples
///
/// ```
/// use rhae_stats::luck_tail_p;
///
/// assert_eq!(luck_tail_p(&[0.5, 0.5], 2), 0.25);
/// assert_eq!(luck_tail_p(&[0.5, 0.5], 0), 1.0);
/// ```
pub fn luck_tail_p(chances: &[f64], completed: usize) -> f64 {
    let mut counts = vec![1.0];
    for &chance in chances {
        assert!(
            (0.0..=1.0).contains(&chance),
            "`{chance}` is not a probability"
        );
        counts.push(0.0);
        for count in (1..counts.len()).rev() {
            counts[count] = counts[count] * (1.0 - chance) + counts[count - 1] * chance;
        }
        counts[0] *= 1.0 - chance;
    }
    match completed {
        0 => 1.0,
        _ => counts.iter().skip(completed).sum(),
    }
}

/// Returns whether a tier in which a level of `completed` environments was completed leads to the
/// next tier. `chances` has an upper bound for each environment of the tier on the probability that
/// random play completes a level within the same budget.
///
/// # Examples
///
/// ```
/// use rhae_stats::tier_promotes;
///
/// assert!(tier_promotes(&[0.3, 0.1, 0.0], 2));
/// assert!(!tier_promotes(&[0.3, 0.1, 0.0], 1));
/// ```
pub fn tier_promotes(chances: &[f64], completed: usize) -> bool {
    luck_tail_p(chances, completed) <= SIGNIFICANT
}

/// The bounds of the mean score of a whole set, of which only some environments were played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartialScore {
    /// The mean if every other environment scores 0. It ranks the evaluation.
    pub lower: f64,
    /// The mean if every other environment scores 100.
    pub upper: f64,
    /// The mean of the played environments, which must not be compared with scores of the whole set.
    pub played: f64,
}

/// Returns the bounds for the scores of the played environments in a set of `environments`; `None`
/// if nothing was played or the set is smaller than what was played.
///
/// # Examples
///
/// ```
/// use rhae_stats::partial_score;
///
/// let bounds = partial_score(&[50.0, 0.0], 4).unwrap();
/// assert_eq!((bounds.lower, bounds.upper, bounds.played), (12.5, 62.5, 25.0));
/// ```
pub fn partial_score(played: &[f64], environments: usize) -> Option<PartialScore> {
    if played.is_empty() || environments < played.len() {
        return None;
    }
    let sum: i64 = played.iter().map(|&score| to_units(score)).sum();
    let rest = (environments - played.len()) as f64 * MAX_SCORE as f64 * UNITS;
    let mean = |units: f64, count: usize| to_score(units / count as f64);
    Some(PartialScore {
        lower: mean(sum as f64, environments),
        upper: mean(sum as f64 + rest, environments),
        played: mean(sum as f64, played.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worked_example::A;

    #[test]
    fn worked_tiers_are_exact() {
        assert_eq!(tier_ends(55), [3, 8, 16, 29, 50, 55]);
        assert_eq!(tier_ends(3), [3]);
        assert_eq!(tier_ends(0), [0; 0]);
        let chances = [0.3, 0.1, 0.0];
        let p = |completed| format!("{:.2}", luck_tail_p(&chances, completed));
        assert_eq!([p(1), p(2), p(3)], ["0.37", "0.03", "0.00"]);
        assert!(tier_promotes(&chances, 2) && !tier_promotes(&chances, 1));
    }

    #[test]
    fn worked_partial_score_is_exact() {
        let bounds = partial_score(&A, 55).unwrap();
        let text = [bounds.lower, bounds.upper].map(|bound| format!("{bound:.2}"));
        assert_eq!(text, ["1.85", "87.31"]);
        assert_eq!(bounds.played, 12.75);
        assert_eq!(partial_score(&A, 7), None);
        assert_eq!(partial_score(&[], 7), None);
    }

    #[test]
    fn equal_chances_are_binomial() {
        for completed in 0..=6 {
            let expected = crate::binomial_tail_p(completed, 6, 0.2);
            let found = luck_tail_p(&[0.2; 6], usize::try_from(completed).unwrap());
            assert!((found - expected).abs() < 1e-12, "{completed}");
        }
    }
}
