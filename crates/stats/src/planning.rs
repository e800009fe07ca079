//! Planning of a human study: sample sizes and the chance that an environment passes.

use statrs::distribution::{Binomial, DiscreteCDF};

/// Returns the probability that at least `needed` of `people` people succeed if each of them
/// succeeds independently with the probability `p`.
///
/// # Panics
///
/// Panics if `p` is not a probability.
///
/// # Examples
///
/// An environment that a fifth of all people can solve is accepted if two of ten people solve it:
///
/// ```
/// use rhae_stats::pass_probability;
///
/// assert_eq!(format!("{:.4}", pass_probability(2, 10, 0.2)), "0.6242");
/// ```
pub fn pass_probability(needed: u64, people: u64, p: f64) -> f64 {
    if needed == 0 {
        return 1.0;
    }
    if needed > people {
        return 0.0;
    }
    Binomial::new(p, people)
        .expect("`p` is a probability")
        .sf(needed - 1)
}

/// Returns the least number of people for which [`pass_probability`] reaches `power`; `None` if it
/// exceeds `max_people`.
///
/// # Examples
///
/// ```
/// use rhae_stats::people_for_power;
///
/// assert_eq!(people_for_power(2, 0.3, 0.8, 100), Some(9));
/// assert_eq!(people_for_power(2, 0.0, 0.8, 100), None);
/// ```
pub fn people_for_power(needed: u64, p: f64, power: f64, max_people: u64) -> Option<u64> {
    (needed..=max_people).find(|&people| pass_probability(needed, people, p) >= power)
}

/// The inputs of [`sittings_needed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StudySize {
    pub environments: u64,
    /// The number of people that each environment needs.
    pub target: u64,
    /// The number of environments of one sitting.
    pub per_sitting: u64,
    /// The share of plays that count towards the target, in tenths.
    pub counted_tenths: u64,
}

/// Returns the least number of sittings that reach the target of every environment, or `None` if a
/// sitting contributes nothing.
///
/// # Examples
///
/// ```
/// use rhae_stats::{StudySize, sittings_needed};
///
/// let every_play = StudySize { environments: 414, target: 10, per_sitting: 9, counted_tenths: 10 };
/// assert_eq!(sittings_needed(every_play), Some(460));
/// assert_eq!(sittings_needed(StudySize { counted_tenths: 7, ..every_play }), Some(658));
/// ```
pub fn sittings_needed(size: StudySize) -> Option<u64> {
    let per_sitting = size.per_sitting.checked_mul(size.counted_tenths)?;
    let plays = size
        .environments
        .checked_mul(size.target)?
        .checked_mul(10)?;
    (per_sitting > 0).then(|| plays.div_ceil(per_sitting))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn chances_to_pass_are_the_worked_ones() {
        let worked = [
            (0.1, "0.2639", "0.1497"),
            (0.2, "0.6242", "0.4233"),
            (0.3, "0.8507", "0.6706"),
            (0.5, "0.9893", "0.9375"),
        ];
        for (p, of_ten, of_seven) in worked {
            assert_eq!(format!("{:.4}", pass_probability(2, 10, p)), of_ten);
            assert_eq!(format!("{:.4}", pass_probability(2, 7, p)), of_seven);
        }
    }

    #[test]
    fn gates_at_the_ends_are_certain() {
        assert_eq!(pass_probability(0, 5, 0.0), 1.0);
        assert_eq!(pass_probability(3, 2, 0.9), 0.0);
        assert_eq!(pass_probability(1, 5, 0.0), 0.0);
        assert_eq!(pass_probability(5, 5, 1.0), 1.0);
    }

    #[test]
    fn sitting_that_contributes_nothing_reaches_no_target() {
        let size = StudySize {
            environments: 3,
            target: 10,
            per_sitting: 0,
            counted_tenths: 10,
        };
        assert_eq!(sittings_needed(size), None);
    }

    proptest! {
        /// Compares with the enumeration of all outcomes.
        #[test]
        fn probability_is_the_weight_of_all_passing_outcomes(people in 1_u64..12, needed in 0_u64..13, p in 0.0..1.0_f64) {
            let weight = |outcome: u32| {
                let solved = outcome.count_ones() as i32;
                p.powi(solved) * (1.0 - p).powi(people as i32 - solved)
            };
            let sum: f64 = (0..1_u32 << people)
                .filter(|outcome| u64::from(outcome.count_ones()) >= needed)
                .map(weight)
                .sum();
            prop_assert!((pass_probability(needed, people, p) - sum).abs() < 1e-9);
        }

        #[test]
        fn planned_sittings_suffice_and_one_less_does_not(environments in 1_u64..500, target in 1_u64..20, per_sitting in 1_u64..15, counted_tenths in 1_u64..=10) {
            let sittings = sittings_needed(StudySize { environments, target, per_sitting, counted_tenths }).unwrap();
            let needed = environments * target * 10;
            prop_assert!(sittings * per_sitting * counted_tenths >= needed);
            prop_assert!((sittings - 1) * per_sitting * counted_tenths < needed);
        }
    }
}
