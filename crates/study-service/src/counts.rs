//! The counts of a participant's play, from the replay of its log.
//!
//! *Invariant:* counts follow from the log of the play and from the sitting, so that a verification
//! gives the same numbers as the end of the attempt.

use rhae_engine::{Action, Catalog, PlayState};
use rhae_protocol::{Entry, LevelPlay, PlayCounts};
use rhae_session::{Origin, Replica, ReplicaError};
use rhae_store::{LogEntry, PlayId, Store, StoreError};
use rhae_study::Sitting;

/// The number of log entries per read.
const CHUNK: u32 = 1024;

/// Why a play cannot be counted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the play `{0}` is not in the database")]
    UnknownPlay(String),
    #[error("the play `{play}` cannot be replayed: {error}")]
    Replay { play: String, error: ReplicaError },
    #[error("entry {entry} of the play `{play}` is missing")]
    Missing { play: String, entry: u32 },
}

/// Counts a play, one log entry after the other.
///
/// Every counted action is charged to the level on which it was taken, over all tries of the level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayCounter {
    levels: Vec<LevelPlay>,
    level: usize,
    won: bool,
    clock_ms: u64,
}

impl PlayCounter {
    /// Counts an entry that was appended when the attempt's clock was at `clock_ms`.
    ///
    /// An outage is known only when it ends, and it may begin before the last action, because contacts
    /// are logged once a minute. The clock then seems to go back. Such an entry has the time of the
    /// entry before it.
    pub fn count(&mut self, entry: &Entry, clock_ms: u64) {
        self.clock_ms = self.clock_ms.max(clock_ms);
        let completed = usize::from(entry.levels_completed);
        if entry.counted {
            let level = self.level_mut(self.level);
            level.actions += 1;
            level.effective += u32::from(entry.changed.unwrap_or(true));
            level.actions_last_try += 1;
            level.deaths += u32::from(entry.state == PlayState::GameOver);
            if entry.action == Action::Reset {
                level.resets += 1;
                level.actions_last_try = 0;
            }
        }
        let clock_ms = self.clock_ms;
        for index in self.level..completed {
            let level = self.level_mut(index);
            level.completed = true;
            level.completed_ms = Some(clock_ms);
        }
        self.level = self.level.max(completed);
        self.won |= entry.state == PlayState::Win;
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> PlayCounts {
        PlayCounts {
            levels: self.levels.clone(),
            solved: self.won,
        }
    }

    fn level_mut(&mut self, index: usize) -> &mut LevelPlay {
        if self.levels.len() <= index {
            self.levels.resize(index + 1, LevelPlay::default());
        }
        &mut self.levels[index]
    }
}

/// Replays a play and counts it. `started_ms` is the time of the attempt's first frame; the outages
/// of the sitting do not count as play time.
///
/// # Errors
///
/// Returns [`CountError`] if the play does not exist, its log has a gap, or the replay disagrees
/// with an entry.
pub async fn count_play(
    store: &dyn Store,
    catalog: &dyn Catalog,
    play: &str,
    sitting: &Sitting,
    started_ms: u64,
) -> Result<PlayCounts, CountError> {
    let unknown = || CountError::UnknownPlay(play.to_owned());
    let id: PlayId = play.parse().map_err(|_| unknown())?;
    let stored = store.play(id).await?.ok_or_else(unknown)?;
    let failed = |error| CountError::Replay {
        play: play.to_owned(),
        error,
    };
    let origin = Origin {
        game_id: &stored.game_id,
        seed: stored.seed,
        rule: stored.rule,
        win_levels: stored.win_levels,
        source_digest: stored.source_digest.as_deref(),
    };
    let mut replica = Replica::open(catalog, origin).map_err(failed)?;
    let mut counter = PlayCounter::default();
    loop {
        let part = store.log_from(stored.key, replica.next(), CHUNK).await?;
        if part.is_empty() {
            return Ok(counter.counts());
        }
        for LogEntry {
            index,
            entry,
            at_ms,
        } in &part
        {
            if *index != replica.next() {
                return Err(CountError::Missing {
                    play: play.to_owned(),
                    entry: replica.next(),
                });
            }
            replica.follow(entry).map_err(failed)?;
            let stopped_ms = sitting.clock.outages_between_ms(started_ms, *at_ms);
            let clock_ms = at_ms.saturating_sub(started_ms + stopped_ms);
            counter.count(entry, clock_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    use rhae_protocol::Details;

    use super::*;

    fn entry(action: Action, state: PlayState, levels_completed: u8) -> Entry {
        Entry {
            action,
            hash: 0,
            frames: None,
            state,
            levels_completed,
            full_reset: false,
            counted: true,
            changed: Some(action != Action::Action5),
            details: Details::default(),
        }
    }

    #[test]
    fn actions_are_charged_to_their_level_over_all_tries() {
        use PlayState::{GameOver, NotFinished, Win};
        let mut counter = PlayCounter::default();
        let opening = Entry {
            counted: false,
            full_reset: true,
            ..entry(Action::Reset, NotFinished, 0)
        };
        counter.count(&opening, 0);
        for (action, state, completed) in [
            (Action::Action1, NotFinished, 0),
            (Action::Action5, GameOver, 0),
            (Action::Reset, NotFinished, 0),
            (Action::Action2, NotFinished, 0),
            (Action::Action3, NotFinished, 1),
            (Action::Action4, Win, 2),
        ] {
            counter.count(&entry(action, state, completed), 10);
        }
        let counts = counter.counts();
        assert!(counts.solved);
        let first = LevelPlay {
            actions: 5,
            effective: 4,
            actions_last_try: 2,
            resets: 1,
            deaths: 1,
            completed: true,
            completed_ms: Some(10),
        };
        assert_eq!(counts.levels[0], first);
        assert_eq!(counts.levels.len(), 2);
        assert_eq!(counts.levels[1].actions, 1);
    }

    #[test]
    fn levels_are_completed_in_order_of_time_although_an_outage_overlaps_them() {
        let mut counter = PlayCounter::default();
        for (completed, clock_ms) in [(1, 26_000), (2, 15_000), (3, 71_000)] {
            let entry = entry(Action::Action1, PlayState::NotFinished, completed);
            counter.count(&entry, clock_ms);
        }
        let times: Vec<_> = counter
            .counts()
            .levels
            .iter()
            .map(|level| level.completed_ms)
            .collect();
        assert_eq!(times, [Some(26_000), Some(26_000), Some(71_000)]);
    }
}
