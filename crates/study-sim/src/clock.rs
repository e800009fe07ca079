//! Simulated time: the clock of the server, the queue of what people do, and the calendar.
//!
//! Time moves in ticks of a second. Everything that happens in a tick has the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_server::Clock;

use crate::chance::Chance;
use crate::person::ARRIVAL;

/// The length of a tick.
pub(crate) const TICK_MS: u64 = 1000;
/// The time of the first session: Monday, 7 September 2026, 10:00 UTC.
pub(crate) const FIRST_SESSION_MS: u64 = 1_788_775_200_000;
/// The number of people who are invited to one session.
pub(crate) const SESSION_CAPACITY: u64 = 81;
/// The play time of a sitting.
pub(crate) const SITTING_MS: u64 = 90 * 60 * 1000;
/// The time within which the people of a session arrive.
const ARRIVALS_MS: f64 = 15.0 * 60_000.0;
/// The days between the sessions of a week: Monday, Wednesday, Friday.
const SESSION_DAYS: [u64; 3] = [0, 2, 4];
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A clock that only the simulation moves.
#[derive(Debug)]
pub(crate) struct SimulatedClock(AtomicU64);

impl SimulatedClock {
    pub(crate) const fn new(now_ms: u64) -> Self {
        Self(AtomicU64::new(now_ms))
    }

    /// Moves the clock forward. A time in the past changes nothing.
    pub(crate) fn advance_to(&self, now_ms: u64) {
        self.0.fetch_max(now_ms, Ordering::SeqCst);
    }
}

impl Clock for SimulatedClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Whether the order among people matters for what happens at a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    /// Actions of a play, which affect no other person. They run in parallel, before all commands.
    Play,
    /// A command that changes the study, such as the request for an environment.
    Command,
}

/// What people do next, by time.
///
/// *Invariant:* a person has at most one turn, so the turns of a tick can run in parallel.
#[derive(Debug, Default)]
pub(crate) struct Schedule(BTreeMap<u64, BTreeSet<(Turn, usize)>>);

impl Schedule {
    /// Adds a turn of a person at the first tick that is not before the given time.
    pub(crate) fn add(&mut self, at_ms: u64, turn: Turn, person: usize) {
        let tick_ms = at_ms.div_ceil(TICK_MS) * TICK_MS;
        self.0.entry(tick_ms).or_default().insert((turn, person));
    }

    /// Removes the turns of the next tick, in the order of people within each kind.
    pub(crate) fn pop(&mut self) -> Option<(u64, BTreeSet<(Turn, usize)>)> {
        self.0.pop_first()
    }
}

/// Returns when the session of a person starts: on a Monday, Wednesday or Friday.
pub(crate) const fn session_ms(person: u64) -> u64 {
    let session = person / SESSION_CAPACITY;
    let per_week = SESSION_DAYS.len() as u64;
    let day = 7 * (session / per_week) + SESSION_DAYS[(session % per_week) as usize];
    FIRST_SESSION_MS + DAY_MS * day
}

/// Returns when a person arrives at the session.
pub(crate) fn arrival_ms(seed: u64, number: u32) -> u64 {
    let late = Chance::new(seed, &[ARRIVAL, number.into()]).between(0.0, ARRIVALS_MS);
    session_ms(number.into()) + late as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_the_order_of_time_plays_and_people() {
        let mut schedule = Schedule::default();
        for (at_ms, turn, person) in [
            (5_000, Turn::Command, 1),
            (4_001, Turn::Command, 0),
            (4_500, Turn::Play, 7),
            (1, Turn::Play, 3),
        ] {
            schedule.add(at_ms, turn, person);
        }
        let mut next = || {
            let (at_ms, turns) = schedule.pop()?;
            Some((at_ms, turns.into_iter().collect::<Vec<_>>()))
        };
        assert_eq!(next(), Some((1000, vec![(Turn::Play, 3)])));
        let turns = vec![(Turn::Play, 7), (Turn::Command, 0), (Turn::Command, 1)];
        assert_eq!(next(), Some((5000, turns)));
        assert_eq!(next(), None);
    }

    #[test]
    fn sessions_are_on_mondays_wednesdays_and_fridays() {
        // 1970-01-01 was a Thursday.
        let weekday = |at_ms: u64| (at_ms / DAY_MS + 3) % 7;
        let days: BTreeSet<u64> = (0..486)
            .map(|number| weekday(arrival_ms(1, number)))
            .collect();
        assert_eq!(days, BTreeSet::from([0, 2, 4]));
        assert!(arrival_ms(1, 485) > arrival_ms(1, 0) + 10 * DAY_MS);
    }

    #[test]
    fn clock_never_moves_back() {
        let clock = SimulatedClock::new(5);
        clock.advance_to(9);
        clock.advance_to(7);
        assert_eq!(clock.now_ms(), 9);
    }
}
