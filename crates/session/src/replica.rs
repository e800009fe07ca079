//! A play that follows a log entry by entry and verifies each entry.
//!
//! **Invariant:** every step that [`Replica::follow`] returns matches its entry in the log,
//! including the hash of the frames. After the first entry that differs, the replica rejects all
//! further entries.

use rhae_engine::{Action, Catalog, CatalogError, GameId};
use rhae_protocol::{Entry, Format, ResetRule};

use crate::replay::{check_source, difference};
use crate::{Mismatch, Play, PlayStep, ReplayError};

/// The conditions under which a log was recorded. Together with the actions of the log they
/// determine every observation.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub game_id: &'a GameId,
    /// The seed of the environment.
    pub seed: u64,
    pub rule: ResetRule,
    /// The number of levels, which must match the environment.
    pub win_levels: u8,
    /// The digest of the source of a hosted game, which must match the environment if it is known.
    pub source_digest: Option<&'a str>,
}

/// A play that is rebuilt from its log, one entry at a time.
///
/// The server stores the log of each play and rebuilds the play from it after a restart: from the
/// first entry, or from a snapshot and the entries after it.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, Catalog};
/// use rhae_games::Builtin;
/// use rhae_protocol::Details;
/// use rhae_session::{Origin, Play, Replica, ResetRule};
///
/// // The log of a play with two actions.
/// let mut play = Play::new(Builtin.open("kq19", 0)?, ResetRule::Official);
/// let mut log = vec![play.current().entry(Action::Reset, Details::default())];
/// for action in [Action::Action4, Action::Action1] {
///     log.push(play.command(action)?.entry(action, Details::default()));
/// }
///
/// let origin = Origin {
///     game_id: &play.info().id.clone(),
///     seed: 0,
///     rule: ResetRule::Official,
///     win_levels: play.current().observation.win_levels,
///     source_digest: None,
/// };
/// let mut replica = Replica::open(&Builtin, origin)?;
/// for entry in &log {
///     replica.follow(entry)?;
/// }
/// assert_eq!(replica.next(), 3);
/// assert_eq!(replica.play().tally(), play.tally());
///
/// // An entry that claims other frames is rejected.
/// log[1].hash ^= 1;
/// let mut replica = Replica::open(&Builtin, origin)?;
/// assert!(replica.follow(&log[0]).is_ok());
/// assert!(replica.follow(&log[1]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Replica {
    play: Play,
    next: u32,
    diverged: bool,
}

/// The reason why a replica cannot follow its log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplicaError {
    /// The environment produced a result other than the recorded one.
    #[error("at entry {} of its log {}", .0.entry, .0.reason)]
    Mismatch(Mismatch),
    /// The environment is not available, failed, or rejected the snapshot.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl Replica {
    /// Opens a replica at the start of a log. The first entry to follow is the opening RESET.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplicaError`] if the environment is not available in the recorded version,
    /// cannot be opened, or has another number of levels than the log.
    pub fn open(catalog: &dyn Catalog, origin: Origin<'_>) -> Result<Self, ReplicaError> {
        let play = Play::new(open_environment(catalog, origin)?, origin.rule);
        let levels = play.current().observation.win_levels;
        if levels != origin.win_levels {
            let reason = format!(
                "the environment had {} levels and now has {levels}",
                origin.win_levels
            );
            return Err(ReplicaError::Mismatch(Mismatch { entry: 0, reason }));
        }
        Ok(Self {
            play,
            next: 0,
            diverged: false,
        })
    }

    /// Opens a replica in the middle of a log, from a snapshot that was taken after the first
    /// `entries` entries. `last` is the last of them.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplicaError`] if the environment is not available in the recorded version,
    /// cannot be opened or rejects the snapshot, or if the restored play differs from `last` in its
    /// state or its number of completed levels. Frames are not compared.
    pub fn restore(
        catalog: &dyn Catalog,
        origin: Origin<'_>,
        snapshot: &[u8],
        entries: u32,
        last: &Entry,
    ) -> Result<Self, ReplicaError> {
        let play = Play::restore(open_environment(catalog, origin)?, origin.rule, snapshot)
            .map_err(ReplayError::from)?;
        let current = play.current().observation;
        if (current.state, current.levels_completed, current.win_levels)
            != (last.state, last.levels_completed, origin.win_levels)
        {
            let reason = "the snapshot after it has another state".to_owned();
            return Err(ReplicaError::Mismatch(Mismatch {
                entry: index(entries.saturating_sub(1)),
                reason,
            }));
        }
        Ok(Self {
            play,
            next: entries,
            diverged: false,
        })
    }

    /// Returns the index of the next entry to follow, from 0.
    pub const fn next(&self) -> u32 {
        self.next
    }

    /// Executes the command of the next entry and compares the result with the entry.
    ///
    /// # Errors
    ///
    /// Returns [`ReplicaError::Mismatch`] if the result differs from the entry, and for every entry
    /// after that. Returns [`ReplicaError::Replay`] if the environment fails.
    pub fn follow(&mut self, recorded: &Entry) -> Result<PlayStep<'_>, ReplicaError> {
        let is_opening = self.next == 0 && recorded.action == Action::Reset;
        let step = if is_opening {
            self.play.current()
        } else {
            self.play
                .command(recorded.action)
                .map_err(ReplayError::from)?
        };
        let found = step.entry(recorded.action, Default::default());
        if self.diverged {
            let reason = "the replay differed at an earlier entry".to_owned();
            return Err(ReplicaError::Mismatch(Mismatch {
                entry: index(self.next),
                reason,
            }));
        }
        if let Some(reason) = difference(Format::Rhae, recorded, &found) {
            self.diverged = true;
            return Err(ReplicaError::Mismatch(Mismatch {
                entry: index(self.next),
                reason,
            }));
        }
        self.next += 1;
        Ok(step)
    }

    /// Returns the play after the last executed command. After a mismatch, this includes the
    /// command whose result differed.
    pub const fn play(&self) -> &Play {
        &self.play
    }

    /// Converts the replica into its play, so that the play can be continued.
    pub fn into_play(self) -> Play {
        self.play
    }
}

/// Opens the environment of a log in exactly the recorded version.
fn open_environment(
    catalog: &dyn Catalog,
    origin: Origin<'_>,
) -> Result<Box<dyn rhae_engine::Environment>, ReplayError> {
    let recorded = origin.game_id;
    let info = catalog
        .find(recorded.as_str())
        .or_else(|missing: CatalogError| catalog.find(recorded.base()).map_err(|_| missing))?;
    if info.id != *recorded {
        return Err(ReplayError::Version {
            recorded: recorded.to_string(),
            present: info.id.to_string(),
        });
    }
    check_source(&info, origin.source_digest)?;
    Ok(catalog.open(recorded.as_str(), origin.seed)?)
}

fn index(entry: u32) -> usize {
    usize::try_from(entry).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use rhae_games::Builtin;

    use super::*;

    fn log(actions: &[Action]) -> (GameId, Vec<Entry>, Vec<u8>) {
        let mut play = Play::new(Builtin.open("kq19", 0).unwrap(), ResetRule::Official);
        let mut entries = vec![play.current().entry(Action::Reset, Default::default())];
        entries.extend(actions.iter().map(|&action| {
            play.command(action)
                .unwrap()
                .entry(action, Default::default())
        }));
        let snapshot = play.snapshot().unwrap().unwrap();
        (play.info().id.clone(), entries, snapshot)
    }

    #[test]
    fn replica_follows_a_log_from_its_start_or_a_snapshot_and_detects_the_first_difference() {
        let (game_id, first_part, snapshot) = log(&[Action::Action4, Action::Reset, Action::Reset]);
        let (_, entries, _) = log(&[
            Action::Action4,
            Action::Reset,
            Action::Reset,
            Action::Action1,
            Action::Action2,
        ]);
        let origin = Origin {
            game_id: &game_id,
            seed: 0,
            rule: ResetRule::Official,
            win_levels: 8,
            source_digest: None,
        };
        let restored = Replica::restore(&Builtin, origin, &snapshot, 4, &first_part[3])
            .ok()
            .unwrap();
        for mut replica in [Replica::open(&Builtin, origin).ok().unwrap(), restored] {
            for entry in &entries[replica.next() as usize..] {
                replica.follow(entry).unwrap();
            }
            assert_eq!(replica.next(), 6);
            let wrong = Entry {
                hash: 1,
                ..entries[5].clone()
            };
            for _ in 0..2 {
                assert!(matches!(
                    replica.follow(&wrong),
                    Err(ReplicaError::Mismatch(Mismatch { entry: 6, .. }))
                ));
            }
        }
        let other_state = Entry {
            levels_completed: 1,
            ..first_part[3].clone()
        };
        assert!(Replica::restore(&Builtin, origin, &snapshot, 4, &other_state).is_err());
        assert!(
            Replica::open(
                &Builtin,
                Origin {
                    win_levels: 7,
                    ..origin
                }
            )
            .is_err()
        );
        let other = "kq19-v9".parse().unwrap();
        let missing = Replica::open(
            &Builtin,
            Origin {
                game_id: &other,
                ..origin
            },
        )
        .err()
        .unwrap();
        assert!(
            missing
                .to_string()
                .contains("another version may show other frames"),
            "{missing}"
        );
    }
}
