//! The counts of a play: actions, resets and levels of each run.

use rhae_protocol::{Ending, LevelOutcome, RunOutcome};
use serde::{Deserialize, Serialize};

use crate::{StepOutcome, count_step};

/// The counts of a play.
///
/// A play consists of runs: a full reset starts a new run, whose counts start at zero. The tally
/// also keeps the action count of each level over *all* runs, because a full reset must not refill
/// a budget.
///
/// An action is charged to the level on which it was taken, even if it completes that level.
///
/// # Examples
///
/// ```
/// use rhae_engine::PlayState;
/// use rhae_protocol::Ending;
/// use rhae_session::{StepOutcome, Tally};
///
/// let opening = StepOutcome {
///     reset: true,
///     full_reset: true,
///     counted: false,
///     changed: true,
///     levels_completed: 0,
///     state: PlayState::NotFinished,
/// };
/// let action = StepOutcome { reset: false, full_reset: false, counted: true, ..opening };
///
/// let mut tally = Tally::default();
/// tally.count(opening);
/// tally.count(action);
/// tally.count(StepOutcome { levels_completed: 1, ..action });
/// assert_eq!((tally.level(), tally.actions()), (1, 2));
/// assert_eq!(tally.runs()[0].levels[0].actions, 2);
///
/// // A full reset starts the second run.
/// tally.count(opening);
/// assert_eq!(tally.runs().len(), 2);
/// assert_eq!(tally.runs()[0].ending, Some(Ending::Reset));
/// assert_eq!((tally.level(), tally.actions_on_level()), (0, 2));
///
/// tally.end(Ending::Budget, None);
/// assert_eq!(tally.runs()[1].ending, Some(Ending::Budget));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    runs: Vec<RunOutcome>,
    level: usize,
    /// Actions on each level over all runs, for budgets that a full reset must not refill.
    #[serde(rename = "spent")]
    level_actions: Vec<u32>,
    actions: u64,
}

impl Tally {
    /// Counts one step. The first step of a play should be the full reset that opens it; any other
    /// first step starts a run as well.
    pub fn count(&mut self, step: StepOutcome) {
        if step.full_reset || self.runs.is_empty() {
            if let Some(last) = self.runs.last_mut() {
                last.ending = Some(Ending::Reset);
            }
            self.runs.push(RunOutcome::default());
            self.level = 0;
        }
        let run = self.runs.last_mut().expect("a run was pushed above");
        count_step(run, self.level, step);
        if step.counted {
            *entry_at(&mut self.level_actions, self.level) += 1;
            self.actions += 1;
        }
        self.level = usize::from(step.levels_completed);
    }

    /// Sets the ending of the last run (see [`RunOutcome::ending`]) and its error message.
    pub fn end(&mut self, ending: Ending, message: Option<String>) {
        if let Some(run) = self.runs.last_mut() {
            run.ending = Some(ending);
            run.message = message;
        }
    }

    /// Returns the runs, the current one last.
    pub fn runs(&self) -> &[RunOutcome] {
        &self.runs
    }

    /// Returns the number of actions over all runs.
    pub const fn actions(&self) -> u64 {
        self.actions
    }

    /// Returns the number of actions on the current level, summed over all runs.
    pub fn actions_on_level(&self) -> u32 {
        self.level_actions.get(self.level).copied().unwrap_or(0)
    }

    /// Returns the index of the current level, from 0; after a win, the number of levels.
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

/// The counts of a run, summed over its levels.
pub(crate) struct RunTotals {
    pub(crate) actions: u64,
    pub(crate) unchanged: u64,
    pub(crate) completed: u32,
}

impl From<&RunOutcome> for RunTotals {
    fn from(run: &RunOutcome) -> Self {
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

    const START: StepOutcome = StepOutcome {
        reset: true,
        full_reset: true,
        counted: false,
        changed: true,
        levels_completed: 0,
        state: PlayState::NotFinished,
    };

    fn key(levels_completed: u8) -> StepOutcome {
        StepOutcome {
            reset: false,
            full_reset: false,
            counted: true,
            levels_completed,
            ..START
        }
    }

    fn tally(steps: &[StepOutcome]) -> Tally {
        let mut tally = Tally::default();
        steps.iter().for_each(|&step| tally.count(step));
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
    fn actions_are_charged_to_the_level_on_which_they_are_taken() {
        let level_reset = StepOutcome {
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
    fn full_reset_starts_a_new_run_without_refilling_the_budget() {
        let tally = tally(&[START, key(0), key(0), START, key(0)]);
        assert_eq!(tally.runs().len(), 2);
        assert_eq!(tally.runs()[0].ending, Some(Ending::Reset));
        assert_eq!(counts(&tally), [(1, false)]);
        assert_eq!(tally.actions_on_level(), 3);
    }

    #[test]
    fn skipped_and_lost_levels_are_counted_in_order() {
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
    fn restarted_level_is_no_longer_lost() {
        let lost = StepOutcome {
            state: PlayState::GameOver,
            ..key(0)
        };
        let tally = tally(&[
            START,
            lost,
            StepOutcome {
                reset: true,
                ..key(0)
            },
        ]);
        assert_eq!(tally.runs()[0].state, PlayState::NotFinished);
    }
}
