//! A play that follows a log, entry by entry, and proves each.
//!
//! **Invariant:** what a replica shows is what the log's play showed: the first entry that gives anything else is a departure, after which it
//! goes no further.

use rhae_engine::{Action, GameId};
use rhae_protocol::{Entry, Format, ResetRule};

use crate::replay::difference;
use crate::{Answer, Catalog, CatalogError, Mismatch, Play, ReplayError};

/// What a log is of: with its actions it determines everything.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The environment with its version.
    pub game_id: &'a GameId,
    /// The environment's seed.
    pub seed: u64,
    /// What RESET may do.
    pub rule: ResetRule,
    /// How many levels there are.
    pub win_levels: u8,
}

/// A play on its way through its log.
pub struct Replica {
    play: Play,
    next: u32,
    departed: bool,
}

/// Why a replica goes no further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Departure {
    /// The log says something else than the environment.
    #[error("at entry {} of its log {}", .0.entry, .0.what)]
    Mismatch(Mismatch),
    /// There is no such environment, or it failed, or does not take the snapshot.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl Replica {
    /// At the beginning of a log: the first entry to follow is the opening RESET.
    pub fn open(catalog: &dyn Catalog, origin: Origin<'_>) -> Result<Self, Departure> {
        let play = Play::new(environment(catalog, origin)?, origin.rule);
        let levels = play.opening().observation.win_levels;
        if levels != origin.win_levels {
            let what = format!(
                "there were {} levels, and there are {levels}",
                origin.win_levels
            );
            return Err(Departure::Mismatch(Mismatch { entry: 0, what }));
        }
        Ok(Self {
            play,
            next: 0,
            departed: false,
        })
    }

    /// In the middle of a log: from a snapshot that these entries led to, `last` being the last of them.
    pub fn restore(
        catalog: &dyn Catalog,
        origin: Origin<'_>,
        snapshot: &[u8],
        entries: u32,
        last: &Entry,
    ) -> Result<Self, Departure> {
        let play = Play::restore(environment(catalog, origin)?, origin.rule, snapshot)
            .map_err(ReplayError::from)?;
        let seen = play.opening().observation;
        if (seen.state, seen.levels_completed, seen.win_levels)
            != (last.state, last.levels_completed, origin.win_levels)
        {
            let what = "the snapshot after it stands elsewhere".to_owned();
            return Err(Departure::Mismatch(Mismatch {
                entry: index(entries.saturating_sub(1)),
                what,
            }));
        }
        Ok(Self {
            play,
            next: entries,
            departed: false,
        })
    }

    /// The index of the next entry to follow.
    pub const fn next(&self) -> u32 {
        self.next
    }

    /// Does what the next entry of the log says, and gives what it shows if that is what it showed.
    pub fn follow(&mut self, recorded: &Entry) -> Result<Answer<'_>, Departure> {
        let opens = self.next == 0 && recorded.action == Action::Reset;
        let answer = if opens {
            self.play.opening()
        } else {
            self.play
                .command(recorded.action)
                .map_err(ReplayError::from)?
        };
        let found = answer.entry(recorded.action, Default::default());
        if self.departed {
            let what = "the replay has departed before".to_owned();
            return Err(Departure::Mismatch(Mismatch {
                entry: index(self.next),
                what,
            }));
        }
        if let Some(what) = difference(Format::Rhae, recorded, &found) {
            self.departed = true;
            return Err(Departure::Mismatch(Mismatch {
                entry: index(self.next),
                what,
            }));
        }
        self.next += 1;
        Ok(answer)
    }

    /// The play where the replica stands.
    pub const fn play(&self) -> &Play {
        &self.play
    }

    /// The play, to go on with.
    pub fn into_play(self) -> Play {
        self.play
    }
}

fn environment(
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
    Ok(catalog.open(recorded.as_str(), origin.seed)?)
}

fn index(entry: u32) -> usize {
    usize::try_from(entry).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builtin;

    fn log(actions: &[Action]) -> (GameId, Vec<Entry>, Vec<u8>) {
        let mut play = Play::new(Builtin.open("kq19", 0).unwrap(), ResetRule::Official);
        let mut entries = vec![play.opening().entry(Action::Reset, Default::default())];
        entries.extend(actions.iter().map(|&action| {
            play.command(action)
                .unwrap()
                .entry(action, Default::default())
        }));
        let snapshot = play.snapshot().unwrap().unwrap();
        (play.info().id.clone(), entries, snapshot)
    }

    #[test]
    fn a_replica_follows_a_log_from_its_beginning_or_a_snapshot_and_notices_the_first_departure() {
        let (game_id, begun, snapshot) = log(&[Action::Action4, Action::Reset, Action::Reset]);
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
        };
        let restored = Replica::restore(&Builtin, origin, &snapshot, 4, &begun[3])
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
                    Err(Departure::Mismatch(Mismatch { entry: 6, .. }))
                ));
            }
        }
        let elsewhere = Entry {
            levels_completed: 1,
            ..begun[3].clone()
        };
        assert!(Replica::restore(&Builtin, origin, &snapshot, 4, &elsewhere).is_err());
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
