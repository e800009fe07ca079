//! Competing risks over time: the Aalen-Johansen estimate of the probability that each of several
//! events has happened first.
//!
//! A person who leaves an environment can no longer solve it. One minus the Kaplan-Meier estimate
//! would treat leaving as an interruption and overestimate the share of solvers. Aalen and Johansen
//! (Scandinavian Journal of Statistics 5, 1978) divide the event-free share at each time among the
//! events of that time. Censoring at a time takes place after the events of that time.

/// What ended the observation of one person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedEvent {
    pub time: u64,
    /// The index of the event; `None` if the person was censored.
    pub cause: Option<usize>,
}

/// The estimate from one time on.
#[derive(Clone, Debug, PartialEq)]
pub struct IncidencePoint {
    pub time: u64,
    /// The number of people whose observation lasted at least until `time`.
    pub at_risk: usize,
    /// The estimated share of people without any event so far.
    pub event_free: f64,
    /// The cumulative incidence of each event.
    pub incidence: Vec<f64>,
}

/// Returns the cumulative incidence of `causes` events at each time with an event.
///
/// # Panics
///
/// Panics if the index of an event is not below `causes`.
///
/// # Examples
///
/// ```
/// use rhae_stats::{TimedEvent, aalen_johansen};
///
/// let event = |time, cause| TimedEvent { time, cause };
/// let points = aalen_johansen(2, &[event(1, Some(0)), event(2, None), event(3, Some(1))]);
/// assert!((points[1].incidence[1] - 2.0 / 3.0).abs() < 1e-12);
/// ```
pub fn aalen_johansen(causes: usize, events: &[TimedEvent]) -> Vec<IncidencePoint> {
    let mut sorted = events.to_vec();
    sorted.sort_unstable_by_key(|event| event.time);
    let (mut event_free, mut incidence) = (1.0, vec![0.0; causes]);
    let mut points = Vec::new();
    let mut at_risk = sorted.len();
    for group in sorted.chunk_by(|one, next| one.time == next.time) {
        let mut happened = 0;
        for cause in group.iter().filter_map(|event| event.cause) {
            incidence[cause] += event_free / at_risk as f64;
            happened += 1;
        }
        if happened > 0 {
            event_free *= 1.0 - f64::from(happened) / at_risk as f64;
            points.push(IncidencePoint {
                time: group[0].time,
                at_risk,
                event_free,
                incidence: incidence.clone(),
            });
        }
        at_risk -= group.len();
    }
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(cause: Option<usize>, times: &[u64]) -> Vec<TimedEvent> {
        times
            .iter()
            .map(|&time| TimedEvent { time, cause })
            .collect()
    }

    #[test]
    fn solved_and_left_have_the_worked_incidence() {
        let mut people = events(Some(1), &[3, 8, 20, 30, 30]);
        people.extend(events(Some(0), &[5, 6, 9, 15]));
        people.extend(events(None, &[12]));
        let points = aalen_johansen(2, &people);
        let last = points.last().unwrap();
        assert_eq!((last.time, last.at_risk), (30, 2));
        assert!((last.incidence[0] - 0.425).abs() < 1e-12);
        assert!((last.incidence[1] - 0.575).abs() < 1e-12);
        assert!(last.event_free.abs() < 1e-12);
    }

    #[test]
    fn interruptions_follow_the_events_of_the_same_time() {
        let mut people = events(Some(0), &[5]);
        people.extend(events(None, &[5]));
        let points = aalen_johansen(1, &people);
        assert_eq!((points.len(), points[0].incidence[0]), (1, 0.5));
        assert_eq!(aalen_johansen(2, &[]), []);
    }

    fn any_people() -> impl Strategy<Value = Vec<TimedEvent>> {
        let one = (0_u64..12, prop::option::weighted(0.7, 0_usize..3));
        prop::collection::vec(
            one.prop_map(|(time, cause)| TimedEvent { time, cause }),
            1..30,
        )
    }

    proptest! {
        #[test]
        fn shares_sum_to_one(people in any_people()) {
            for point in aalen_johansen(3, &people) {
                let sum = point.event_free + point.incidence.iter().sum::<f64>();
                prop_assert!((sum - 1.0).abs() < 1e-12);
            }
        }

        #[test]
        fn without_interruptions_the_incidence_is_the_raw_share(people in any_people()) {
            let people: Vec<_> = people.into_iter().filter(|one| one.cause.is_some()).collect();
            for point in aalen_johansen(3, &people) {
                for cause in 0..3 {
                    let count = people.iter().filter(|one| one.time <= point.time && one.cause == Some(cause)).count();
                    prop_assert!((point.incidence[cause] - count as f64 / people.len() as f64).abs() < 1e-12);
                }
            }
        }

        /// With a single cause, the estimate is one minus the Kaplan-Meier estimate of the times.
        #[test]
        fn single_cause_is_the_complement_of_kaplan_meier(people in any_people()) {
            let people: Vec<_> = people.into_iter().map(|one| TimedEvent { cause: one.cause.map(|_| 0), ..one }).collect();
            for point in aalen_johansen(1, &people) {
                let product: f64 = (0..=point.time).map(|time| {
                    let at_risk = people.iter().filter(|one| one.time >= time).count();
                    let failed = people.iter().filter(|one| one.time == time && one.cause.is_some()).count();
                    if at_risk == 0 { 1.0 } else { 1.0 - failed as f64 / at_risk as f64 }
                }).product();
                prop_assert!((point.event_free - product).abs() < 1e-12);
            }
        }
    }
}
