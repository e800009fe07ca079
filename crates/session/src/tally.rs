//! Counting a play: actions, resets and levels, run by run.

use rhae_protocol::{LevelOutcome, PlayOutcome, Seen};
use serde::{Deserialize, Serialize};

/// The counts of a play. A full reset begins a new run with counts of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    runs: Vec<PlayOutcome>,
    level: usize,
    /// Actions on each level over all runs, for budgets that a full reset must not refill.
    spent: Vec<u32>,
    actions: u64,
}

impl Tally {
    /// Counts one observation; the first must be a full reset.
    pub fn count(&mut self, seen: Seen) {
        if seen.full_reset || self.runs.is_empty() {
            if let Some(last) = self.runs.last_mut() {
                last.ending = "reset".to_owned();
            }
            self.runs.push(PlayOutcome::default());
            self.level = 0;
        }
        let run = self.runs.last_mut().expect("a run was pushed above");
        run.count(self.level, seen);
        if seen.counted {
            *entry_at(&mut self.spent, self.level) += 1;
            self.actions += 1;
        }
        self.level = usize::from(seen.levels_completed);
    }

    /// Ends the last run with its reason.
    pub fn end(&mut self, ending: &str, message: Option<String>) {
        if let Some(run) = self.runs.last_mut() {
            run.ending = ending.to_owned();
            run.message = message;
        }
    }

    /// The runs so far, the current one last.
    pub fn runs(&self) -> &[PlayOutcome] {
        &self.runs
    }

    /// Actions over all runs.
    pub const fn actions(&self) -> u64 {
        self.actions
    }

    /// Actions on the current level over all runs.
    pub fn actions_on_level(&self) -> u32 {
        self.spent.get(self.level).copied().unwrap_or(0)
    }

    /// The level being played, from 0; the number of levels after a win.
    pub const fn level(&self) -> usize {
        self.level
    }
}

fn entry_at<T: Clone + Default>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}

/// The sums of a run.
pub(crate) struct Sums {
    pub(crate) actions: u64,
    pub(crate) unchanged: u64,
    pub(crate) completed: u32,
}

impl From<&PlayOutcome> for Sums {
    fn from(run: &PlayOutcome) -> Self {
        let sum = |count: fn(&LevelOutcome) -> u32| {
            run.levels.iter().map(|level| u64::from(count(level))).sum()
        };
        let completed = run.levels.iter().filter(|level| level.completed).count();
        Self {
            actions: sum(|level| level.actions),
            unchanged: sum(|level| level.actions.saturating_sub(level.effective)),
            completed: u32::try_from(completed).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use rhae_engine::PlayState;

    use super::*;

    const START: Seen = Seen {
        reset: true,
        full_reset: true,
        counted: false,
        changed: true,
        levels_completed: 0,
        state: PlayState::NotFinished,
    };

    fn key(levels_completed: u8) -> Seen {
        Seen {
            reset: false,
            full_reset: false,
            counted: true,
            levels_completed,
            ..START
        }
    }

    fn tally(seen: &[Seen]) -> Tally {
        let mut tally = Tally::default();
        seen.iter().for_each(|&seen| tally.count(seen));
        tally
    }

    fn counts(tally: &Tally) -> Vec<(u32, bool)> {
        tally
            .runs()
            .last()
            .unwrap()
            .levels
            .iter()
            .map(|level| (level.actions, level.completed))
            .collect()
    }

    #[test]
    fn actions_are_charged_to_the_level_they_are_taken_on() {
        let level_reset = Seen {
            reset: true,
            ..key(1)
        };
        let tally = tally(&[START, key(0), key(1), key(1), level_reset, key(1)]);
        assert_eq!(counts(&tally), [(2, true), (3, false)]);
        assert_eq!(tally.runs()[0].resets, 1);
        assert_eq!(
            (tally.actions(), tally.actions_on_level(), tally.level()),
            (5, 3, 1)
        );
    }

    #[test]
    fn a_full_reset_begins_a_new_run_but_refills_no_budget() {
        let tally = tally(&[START, key(0), key(0), START, key(0)]);
        assert_eq!(tally.runs().len(), 2);
        assert_eq!(tally.runs()[0].ending, "reset");
        assert_eq!(counts(&tally), [(1, false)]);
        assert_eq!(tally.actions_on_level(), 3);
    }

    #[test]
    fn jumps_and_falls_keep_the_counts_in_order() {
        assert_eq!(
            counts(&tally(&[START, key(2), key(2)])),
            [(1, true), (0, true), (1, false)]
        );
        assert_eq!(
            counts(&tally(&[START, key(1), key(0), key(0)])),
            [(2, false), (1, false)]
        );
    }

    #[test]
    fn a_lost_and_restarted_level_is_not_shown_as_lost() {
        let lost = Seen {
            state: PlayState::GameOver,
            ..key(0)
        };
        let tally = tally(&[
            START,
            lost,
            Seen {
                reset: true,
                ..key(0)
            },
        ]);
        assert_eq!(tally.runs()[0].state, "NOT_FINISHED");
    }
}
