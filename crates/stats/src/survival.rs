//! Drop-off by level: the Kaplan-Meier estimate of the share of people who complete each level.
//!
//! A person who was interrupted (censored) in a level has neither completed it nor failed it. Kaplan
//! and Meier (JASA 53, 1958) therefore estimate each level from the people who did either, and
//! multiply the levels. The standard error is that of Greenwood. The interval is computed on the
//! scale of log(−log S), so it stays between 0 and 1.

use crate::Interval;
use crate::binomial::NORMAL_975;

/// How far one person came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of completed levels.
    pub completed: usize,
    /// Whether the person was interrupted in the level after the last completed one. Otherwise the
    /// person failed that level, unless all levels were completed.
    pub censored: bool,
}

/// The people at risk in one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RiskSet {
    /// The number of people who completed or failed the level.
    pub at_risk: u64,
    /// The number of people who failed the level.
    pub failed: u64,
}

/// The estimate after one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurvivalPoint {
    pub risk: RiskSet,
    /// The estimated share of people who complete this level and all earlier ones.
    pub survival: f64,
    /// Greenwood's standard error.
    pub standard_error: f64,
    /// The 95 % interval; `None` if the estimate is 0 or 1, where the scale is undefined.
    pub interval: Option<Interval>,
}

/// Returns the people at risk in each of `levels` levels.
///
/// # Examples
///
/// ```
/// use rhae_stats::{Progress, RiskSet, risk_sets};
///
/// let failed = Progress { completed: 1, censored: false };
/// let interrupted = Progress { completed: 1, censored: true };
/// let risk = |at_risk, failed| RiskSet { at_risk, failed };
/// assert_eq!(risk_sets(2, &[failed, interrupted]), [risk(2, 0), risk(1, 1)]);
/// ```
pub fn risk_sets(levels: usize, people: &[Progress]) -> Vec<RiskSet> {
    let mut sets = vec![RiskSet::default(); levels];
    for person in people {
        for set in sets.iter_mut().take(person.completed) {
            set.at_risk += 1;
        }
        if let Some(set) = sets.get_mut(person.completed)
            && !person.censored
        {
            set.at_risk += 1;
            set.failed += 1;
        }
    }
    sets
}

/// Returns the Kaplan-Meier estimate after each level. It ends before the first level in which no
/// one is at risk, because nothing is known about that level.
///
/// # Examples
///
/// ```
/// use rhae_stats::{RiskSet, kaplan_meier};
///
/// let risk = |at_risk, failed| RiskSet { at_risk, failed };
/// let points = kaplan_meier(&[risk(10, 1), risk(8, 1)]);
/// assert!((points[1].survival - 0.9 * 0.875).abs() < 1e-12);
/// ```
pub fn kaplan_meier(levels: &[RiskSet]) -> Vec<SurvivalPoint> {
    let (mut survival, mut variance) = (1.0, 0.0);
    let reached = levels.iter().take_while(|risk| risk.at_risk > 0);
    reached
        .map(|&risk| {
            let (at_risk, failed) = (risk.at_risk as f64, risk.failed as f64);
            survival *= 1.0 - failed / at_risk;
            if risk.failed < risk.at_risk {
                variance += failed / (at_risk * (at_risk - failed));
            }
            let standard_error = survival * f64::sqrt(variance);
            SurvivalPoint {
                risk,
                survival,
                standard_error,
                interval: log_log_interval(survival, standard_error),
            }
        })
        .collect()
}

fn log_log_interval(survival: f64, standard_error: f64) -> Option<Interval> {
    if survival <= 0.0 || standard_error <= 0.0 {
        return None;
    }
    let spread = NORMAL_975 * standard_error / (survival * -survival.ln());
    Some(Interval {
        low: survival.powf(spread.exp()),
        high: survival.powf((-spread).exp()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn person(completed: usize, censored: bool) -> Progress {
        Progress {
            completed,
            censored,
        }
    }

    #[test]
    fn ten_people_on_six_levels_have_the_worked_estimate() {
        let people = [
            person(1, false),
            person(2, true),
            person(2, false),
            person(3, false),
            person(3, false),
            person(5, false),
            person(6, false),
            person(6, false),
            person(6, false),
            person(6, false),
        ];
        let sets = risk_sets(6, &people);
        let pairs: Vec<_> = sets.iter().map(|set| (set.at_risk, set.failed)).collect();
        assert_eq!(pairs, [(10, 0), (10, 1), (8, 1), (7, 2), (5, 0), (5, 1)]);
        let points = kaplan_meier(&sets);
        let survival: Vec<f64> = points.iter().map(|point| point.survival).collect();
        for (found, expected) in survival
            .iter()
            .zip([1.0, 0.9, 0.7875, 0.5625, 0.5625, 0.45])
        {
            assert!((found - expected).abs() < 1e-12, "{survival:?}");
        }
        assert_eq!(points[0].interval, None);
        let last = points[5];
        assert_eq!(format!("{:.4}", last.standard_error), "0.1660");
        let interval = last.interval.unwrap();
        assert_eq!(
            format!("{:.3} {:.3}", interval.low, interval.high),
            "0.139 0.724"
        );
    }

    #[test]
    fn estimate_ends_where_no_one_is_at_risk() {
        let points = kaplan_meier(&risk_sets(4, &[person(1, false), person(1, true)]));
        assert_eq!(points.len(), 2);
        assert_eq!((points[1].survival, points[1].interval), (0.0, None));
    }

    fn any_people() -> impl Strategy<Value = Vec<Progress>> {
        let one = (0_usize..=5, any::<bool>());
        prop::collection::vec(
            one.prop_map(|(done, cut)| person(done, cut && done < 5)),
            1..30,
        )
    }

    proptest! {
        #[test]
        fn estimate_without_interruptions_is_the_raw_share(people in any_people()) {
            let people: Vec<_> = people.iter().map(|one| person(one.completed, false)).collect();
            for (level, point) in kaplan_meier(&risk_sets(5, &people)).iter().enumerate() {
                let done = people.iter().filter(|one| one.completed > level).count();
                prop_assert!((point.survival - done as f64 / people.len() as f64).abs() < 1e-12);
            }
        }

        /// Redistributes the weight of an interrupted person equally among the people who went further
        /// (Efron, 1967), which gives the same estimate.
        #[test]
        fn estimate_is_that_of_redistributed_weights(people in any_people()) {
            let mut weights = vec![1.0 / people.len() as f64; people.len()];
            for level in 0..5 {
                let stays = |one: &Progress| one.completed > level || (one.completed == level && !one.censored);
                let heirs: Vec<_> = (0..people.len()).filter(|&at| people[at].completed >= level && stays(&people[at])).collect();
                let cut: Vec<_> = (0..people.len()).filter(|&at| people[at].completed == level && people[at].censored).collect();
                if heirs.is_empty() {
                    break;
                }
                for at in cut {
                    let share = std::mem::take(&mut weights[at]) / heirs.len() as f64;
                    heirs.iter().for_each(|&heir| weights[heir] += share);
                }
            }
            for (level, point) in kaplan_meier(&risk_sets(5, &people)).iter().enumerate() {
                let weight: f64 = (0..people.len()).filter(|&at| people[at].completed > level).map(|at| weights[at]).sum();
                prop_assert!((point.survival - weight).abs() < 1e-9, "{} {}", point.survival, weight);
            }
        }

        #[test]
        fn interval_contains_the_estimate(people in any_people()) {
            for point in kaplan_meier(&risk_sets(5, &people)) {
                if let Some(interval) = point.interval {
                    prop_assert!(0.0 <= interval.low && interval.low <= point.survival);
                    prop_assert!(point.survival <= interval.high && interval.high <= 1.0);
                }
            }
        }
    }
}
