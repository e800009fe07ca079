//! The Ladder: feedback on a hidden set that shows only clear improvements (Blum and Hardt, 2015).

use crate::units::{to_score, to_units};

/// Returns what is shown after each of several submissions in order. The shown score moves only if a
/// score exceeds it by more than `step`, and then to that score rounded down to a multiple of `step`.
///
/// # Panics
///
/// Panics if the step is not above 0, or if a score is not finite or exceeds one million.
///
/// # Examples
///
/// ```
/// use rhae_stats::ladder;
///
/// assert_eq!(ladder(&[1.2, 1.6, 1.9, 1.8, 2.6], 0.5), [1.0, 1.5, 1.5, 1.5, 2.5]);
/// ```
pub fn ladder(scores: &[f64], step: f64) -> Vec<f64> {
    let step = to_units(step);
    assert!(step > 0, "the step must be above 0");
    let mut shown = 0;
    let show = |&score: &f64| {
        let score = to_units(score);
        if score > shown + step {
            shown = score.div_euclid(step) * step;
        }
        to_score(shown as f64)
    };
    scores.iter().map(show).collect()
}

/// Returns the number of bits that a fixed number of independent answers reveal at most, if each is
/// one of `values`.
///
/// # Examples
///
/// ```
/// use rhae_stats::answers_leak_bits;
///
/// assert_eq!(answers_leak_bits(3, 8), 9.0);
/// ```
pub fn answers_leak_bits(answers: u32, values: u32) -> f64 {
    f64::from(answers) * f64::from(values).log2()
}

/// Returns the number of bits that the Ladder reveals at most: the logarithm of the number of
/// non-decreasing sequences of `answers` steps from 0 to `steps`.
///
/// # Examples
///
/// ```
/// use rhae_stats::ladder_leak_bits;
///
/// // One answer on a ladder of three steps shows one of four values.
/// assert!((ladder_leak_bits(1, 3) - 2.0).abs() < 1e-12);
/// ```
pub fn ladder_leak_bits(answers: u32, steps: u32) -> f64 {
    let factor = |at: u32| ((f64::from(steps) + f64::from(at)) / f64::from(at)).log2();
    (1..=answers).map(factor).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_ladder_is_exact() {
        let shown = ladder(&[1.2, 1.6, 1.9, 1.8, 2.6], 0.5);
        assert_eq!(shown, [1.0, 1.5, 1.5, 1.5, 2.5]);
    }

    #[test]
    fn worked_leaks_are_exact() {
        // Two decimals from 0 to 100 are 10,001 values; a step of 0.5 points has 200 steps.
        assert_eq!(format!("{:.1}", answers_leak_bits(1, 10_001)), "13.3");
        assert_eq!(format!("{:.0}", answers_leak_bits(150, 10_001)), "1993");
        assert_eq!(format!("{:.0}", ladder_leak_bits(150, 200)), "340");
    }

    #[test]
    fn equal_improvement_is_not_shown() {
        assert_eq!(ladder(&[0.5, 0.6], 0.5), [0.0, 0.5]);
        assert_eq!(ladder(&[], 0.5), [0.0; 0]);
    }
}
