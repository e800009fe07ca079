//! The counts of a play, run by run, as they stand beside its log.
//!
//! **Invariant:** they are those that counting the log gives; a database brings them up to date in the transaction that appends an entry.
//! The rule itself is [`PlayOutcome::count`], which whoever plays counts by too.

use rhae_protocol::{Entry, LevelOutcome, PlayOutcome, Seen};

use crate::StoreError;

/// The last run of a play and its number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCounts {
    /// Which run of the play it is, from 0: a full reset begins another.
    pub run: u32,
    /// The levels completed, which is the level that the next action is charged to.
    pub level: u8,
    /// What was counted.
    pub outcome: PlayOutcome,
}

impl RunCounts {
    /// Counts the next entry of the log; `true` if it begins another run, which is then the one that this is about. The entry that
    /// opens a play begins its first.
    pub fn count(&mut self, index: u32, entry: &Entry) -> bool {
        let begins = entry.full_reset && index > 0;
        if begins {
            *self = Self {
                run: self.run + 1,
                ..Self::default()
            };
        }
        self.outcome
            .count(usize::from(self.level), Seen::from(entry));
        self.level = entry.levels_completed;
        begins
    }

    /// All runs of a log.
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

    /// The runs as a card shows them: all but the last were ended by a reset.
    pub fn outcomes(runs: Vec<Self>) -> Vec<PlayOutcome> {
        let mut outcomes: Vec<PlayOutcome> = runs.into_iter().map(|run| run.outcome).collect();
        if let Some((_, ended)) = outcomes.split_last_mut() {
            ended
                .iter_mut()
                .for_each(|run| "reset".clone_into(&mut run.ending));
        }
        outcomes
    }

    /// Actions of the run.
    pub fn actions(&self) -> u64 {
        self.outcome
            .levels
            .iter()
            .map(|level| u64::from(level.actions))
            .sum()
    }

    /// The counts of the levels as text: actions, those that changed something, and `+` if it was completed.
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

    /// The counts of the levels from such a text.
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
        let wrong = || StoreError::Corrupt("a value in the column `levels`".to_owned());
        text.split_whitespace()
            .map(|word| level(word).ok_or_else(wrong))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_come_back_from_their_text_and_nothing_else_is_read() {
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
            outcome: PlayOutcome {
                levels: levels.clone(),
                ..PlayOutcome::default()
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
