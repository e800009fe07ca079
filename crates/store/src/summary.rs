//! The action counts of a play, one record per run, which the store keeps together with the log.
//!
//! **Invariant:** the stored counts are the same as those computed from the whole log. The store
//! updates them in the transaction that appends an entry. The counting rule itself is
//! [`count_step`], which live plays use too.

use rhae_protocol::{Ending, Entry, LevelOutcome, RunOutcome};
use rhae_session::{StepOutcome, count_step};

use crate::StoreError;

/// The counts of one run of a play.
///
/// A full reset starts a new run. [`count`](Self::count) updates the counts entry by entry;
/// [`of_log`](Self::of_log) counts a complete log.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, PlayState};
/// use rhae_protocol::{Details, Entry};
/// use rhae_store::RunCounts;
///
/// let entry = |action, full_reset| Entry {
///     action,
///     hash: 0,
///     frames: None,
///     state: PlayState::NotFinished,
///     levels_completed: 0,
///     full_reset,
///     counted: action != Action::Reset,
///     changed: Some(true),
///     details: Details::default(),
/// };
/// let log = [
///     entry(Action::Reset, true), // opens the play and its first run
///     entry(Action::Action1, false),
///     entry(Action::Reset, true), // starts the second run
///     entry(Action::Action2, false),
///     entry(Action::Action2, false),
/// ];
/// let runs = RunCounts::of_log(&log);
/// assert_eq!(runs.iter().map(RunCounts::actions).collect::<Vec<_>>(), [1, 2]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCounts {
    /// The number of the run, starting with 0.
    pub run: u32,
    /// The number of completed levels, which is also the index of the level that the next action
    /// counts towards.
    pub level: u8,
    pub outcome: RunOutcome,
}

impl RunCounts {
    /// Counts the next entry of the log, whose index is `index`.
    ///
    /// If the entry is a full reset, `self` becomes the next run and the method returns `true`. The
    /// opening RESET, entry 0, belongs to the first run and returns `false`.
    pub fn count(&mut self, index: u32, entry: &Entry) -> bool {
        let starts_run = entry.full_reset && index > 0;
        if starts_run {
            *self = Self {
                run: self.run + 1,
                ..Self::default()
            };
        }
        let level = usize::from(self.level);
        count_step(&mut self.outcome, level, StepOutcome::from(entry));
        self.level = entry.levels_completed;
        starts_run
    }

    /// Counts a complete log and returns its runs. An empty log has one empty run.
    pub fn of_log<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Vec<Self> {
        let mut runs = vec![Self::default()];
        for (index, entry) in (0..).zip(entries) {
            let mut last = runs.last().cloned().unwrap_or_default();
            if !last.count(index, entry) {
                runs.pop();
            }
            runs.push(last);
        }
        runs
    }

    /// Converts runs into the outcomes that a card shows. All runs but the last were ended by a
    /// full reset.
    pub fn outcomes(runs: Vec<Self>) -> Vec<RunOutcome> {
        let mut outcomes: Vec<RunOutcome> = runs.into_iter().map(|run| run.outcome).collect();
        if let Some((_, ended)) = outcomes.split_last_mut() {
            ended
                .iter_mut()
                .for_each(|run| run.ending = Some(Ending::Reset));
        }
        outcomes
    }

    /// Returns the number of counted actions over all levels of the run.
    pub fn actions(&self) -> u64 {
        self.outcome
            .levels
            .iter()
            .map(|level| u64::from(level.actions))
            .sum()
    }

    /// Formats the counts of the levels for the database: for each level its actions, a slash, the
    /// actions that changed something, and `+` if the level was completed.
    pub(crate) fn levels_text(&self) -> String {
        let level = |level: &LevelOutcome| {
            format!(
                "{}/{}{} ",
                level.actions,
                level.effective,
                if level.completed { "+" } else { "" }
            )
        };
        self.outcome.levels.iter().map(level).collect()
    }

    /// Parses the format of [`Self::levels_text`].
    pub(crate) fn levels_from(text: &str) -> Result<Vec<LevelOutcome>, StoreError> {
        let level = |word: &str| {
            let (counts, completed) = word
                .strip_suffix('+')
                .map_or((word, false), |counts| (counts, true));
            let (actions, effective) = counts.split_once('/')?;
            Some(LevelOutcome {
                actions: actions.parse().ok()?,
                effective: effective.parse().ok()?,
                completed,
            })
        };
        let invalid = || StoreError::Corrupt("column `levels`".to_owned());
        text.split_whitespace()
            .map(|word| level(word).ok_or_else(invalid))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_round_trip_and_malformed_text_is_rejected() {
        let level = |actions, effective, completed| LevelOutcome {
            actions,
            effective,
            completed,
        };
        let levels = vec![
            level(12, 7, true),
            level(0, 0, true),
            level(u32::MAX, 1, false),
        ];
        let counts = RunCounts {
            outcome: RunOutcome {
                levels: levels.clone(),
                ..RunOutcome::default()
            },
            ..RunCounts::default()
        };
        assert_eq!(RunCounts::levels_from(&counts.levels_text()), Ok(levels));
        assert_eq!(counts.actions(), u64::from(u32::MAX) + 12);
        assert_eq!(RunCounts::levels_from(""), Ok(Vec::new()));
        for text in ["1", "1/", "/1", "1/2++", "-1/2", "1/2/3", "99999999999/1"] {
            assert!(
                matches!(RunCounts::levels_from(text), Err(StoreError::Corrupt(_))),
                "{text}"
            );
        }
    }
}
