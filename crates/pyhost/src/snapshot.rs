//! Snapshots of plays of hosted games: the actions with the hashes of their frames, and the game's
//! own state if the game can save it.
//!
//! **Invariant:** the actions alone suffice to restore a play; loading the game's own state is only
//! faster. A snapshot is accepted only if the game's source files are the same as when it was made.

use rhae_engine::{Action, GameId};

use crate::wire::{WireObservation, action_bytes, action_from};

const MAGIC: &[u8; 8] = b"rhaesnp1";
/// The size of one log entry: three bytes for the action, eight for the hash.
const ENTRY_BYTES: usize = 3 + 8;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) game: String,
    /// The checksum of the game's files.
    pub(crate) source: [u8; 32],
    pub(crate) seed: u64,
    /// The hash of the frames of the opening RESET.
    pub(crate) opening: u64,
    /// The actions after the opening RESET, each with the hash of its frames.
    pub(crate) log: Vec<(Action, u64)>,
    /// The last observation with only its settled frame.
    pub(crate) last: WireObservation,
    pub(crate) counted: bool,
    pub(crate) changed: bool,
    /// The game's own state.
    pub(crate) state: Option<Vec<u8>>,
}

impl Snapshot {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let length = |length: usize| {
            u32::try_from(length)
                .expect("each part of a snapshot is smaller than 4 GiB")
                .to_le_bytes()
        };
        let put = |bytes: &mut Vec<u8>, part: &[u8]| {
            bytes.extend_from_slice(&length(part.len()));
            bytes.extend_from_slice(part);
        };
        put(&mut bytes, self.game.as_bytes());
        bytes.extend_from_slice(&self.source);
        bytes.extend_from_slice(&self.seed.to_le_bytes());
        bytes.extend_from_slice(&self.opening.to_le_bytes());
        let log: Vec<u8> = self
            .log
            .iter()
            .flat_map(|&(action, hash)| action_bytes(action).into_iter().chain(hash.to_le_bytes()))
            .collect();
        put(&mut bytes, &log);
        put(&mut bytes, &self.last.to_bytes());
        bytes.extend_from_slice(&[
            u8::from(self.counted),
            u8::from(self.changed),
            u8::from(self.state.is_some()),
        ]);
        put(&mut bytes, self.state.as_deref().unwrap_or_default());
        bytes
    }

    /// Decodes a snapshot. Fails with a description of the fault if it is malformed or belongs to
    /// another game or other source files.
    pub(crate) fn parse(bytes: &[u8], game: &GameId, source: &[u8; 32]) -> Result<Self, String> {
        let mut reader = Reader(bytes);
        if reader.take(MAGIC.len())? != MAGIC {
            return Err("it is not a snapshot of a hosted game".to_owned());
        }
        let found = String::from_utf8_lossy(reader.part()?).into_owned();
        if found != game.as_str() {
            return Err(format!(
                "it is a snapshot of `{}`, not of `{game}`",
                crate::wire::sanitize(&found)
            ));
        }
        let made_from: [u8; 32] = reader.array()?;
        if made_from != *source {
            return Err(format!(
                "the files of `{game}` have changed since it was made"
            ));
        }
        let (seed, opening) = (
            u64::from_le_bytes(reader.array()?),
            u64::from_le_bytes(reader.array()?),
        );
        let (entries, remainder) = reader.part()?.as_chunks::<ENTRY_BYTES>();
        let entry = |entry: &[u8; ENTRY_BYTES]| {
            let [id, x, y, hash @ ..] = *entry;
            action_from([id, x, y]).map(|action| (action, u64::from_le_bytes(hash)))
        };
        let log: Option<Vec<(Action, u64)>> = entries.iter().map(entry).collect();
        let log = log
            .filter(|_| remainder.is_empty())
            .ok_or("its log contains an invalid action")?;
        let last = WireObservation::parse(reader.part()?)?;
        let [counted, changed, has_state] = reader.array::<3>()?.map(|flag| flag != 0);
        let state = reader.part()?.to_vec();
        if !reader.0.is_empty() {
            return Err("it is longer than expected".to_owned());
        }
        Ok(Self {
            game: found,
            source: made_from,
            seed,
            opening,
            log,
            last,
            counted,
            changed,
            state: has_state.then_some(state),
        })
    }
}

/// Reads parts from the front of a byte slice.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("it is truncated")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        Ok(self
            .take(N)?
            .try_into()
            .expect("`take` returns exactly N bytes"))
    }

    /// Reads a part that is preceded by its length.
    fn part(&mut self) -> Result<&'a [u8], String> {
        let length = u32::from_le_bytes(self.array()?);
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rhae_engine::{ActionSet, Frame, PlayState};

    use super::*;

    fn snapshot() -> Snapshot {
        Snapshot {
            game: "ab12-v1".to_owned(),
            source: [7; 32],
            seed: 9,
            opening: 1,
            log: vec![
                (Action::Action1, 5),
                (Action::Action6 { x: 1, y: 63 }, u64::MAX),
            ],
            last: WireObservation {
                state: PlayState::NotFinished,
                levels_completed: 1,
                win_levels: 3,
                available: ActionSet::ARROWS,
                full_reset: false,
                frames: vec![Frame::filled(4)],
            },
            counted: true,
            changed: false,
            state: Some(vec![1, 2, 3]),
        }
    }

    #[test]
    fn snapshots_round_trip_and_invalid_ones_are_rejected() {
        let id: GameId = "ab12-v1".parse().unwrap();
        let bytes = snapshot().to_bytes();
        assert_eq!(Snapshot::parse(&bytes, &id, &[7; 32]), Ok(snapshot()));
        assert!(
            Snapshot::parse(&bytes, &id, &[8; 32])
                .unwrap_err()
                .contains("have changed since")
        );
        assert!(
            Snapshot::parse(&bytes, &"ab12-v2".parse().unwrap(), &[7; 32])
                .unwrap_err()
                .contains("not of `ab12-v2`")
        );
        for end in 0..bytes.len() {
            assert!(
                Snapshot::parse(&bytes[..end], &id, &[7; 32]).is_err(),
                "{end}"
            );
        }
        let longer = [bytes.as_slice(), &[0]].concat();
        assert!(
            Snapshot::parse(&longer, &id, &[7; 32])
                .unwrap_err()
                .contains("longer")
        );
    }

    proptest! {
        #[test]
        fn corrupt_snapshot_does_not_panic(at in 0usize..4000, to in any::<u8>()) {
            let mut bytes = snapshot().to_bytes();
            let at = at % bytes.len();
            bytes[at] = to;
            drop(Snapshot::parse(&bytes, &"ab12-v1".parse().unwrap(), &[7; 32]));
        }
    }
}
