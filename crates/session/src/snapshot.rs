//! Snapshots of plays: the snapshot of the environment, preceded by the state that the play adds.
//!
//! ```text
//! snapshot = length:u32 header environment checksum:u64
//! header   = JSON of `length` bytes: reset rule, whether an action was taken, the counts
//! checksum = 64-bit XXH3 over all preceding bytes
//! ```
//!
//! Numbers are little-endian.
//!
//! **Invariant:** a restored play responds to commands and counts them exactly as the saved play
//! would. [`Play::restore`] rejects bytes from another version of the software, another environment
//! or another reset rule.

use rhae_engine::{Environment, EnvironmentError};
use rhae_protocol::ResetRule;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Play, Tally};

/// The version of the snapshot format.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct SnapshotHeader {
    format: u32,
    rule: String,
    acted: bool,
    tally: Tally,
}

impl Play {
    /// Serialises the play for [`Play::restore`]; `None` if the environment does not support
    /// snapshots.
    ///
    /// Only the same version of the software can restore the bytes, so the action log remains the
    /// authoritative record of the play.
    ///
    /// # Errors
    ///
    /// Returns an [`EnvironmentError`] if the environment or the counts of the play cannot be
    /// serialised.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_engine::{Action, Catalog};
    /// use rhae_games::Builtin;
    /// use rhae_session::{Play, ResetRule};
    ///
    /// let mut play = Play::new(Builtin.open("kq19", 0)?, ResetRule::Official);
    /// play.command(Action::Action4)?;
    /// let snapshot = play.snapshot()?.expect("native games can be saved");
    ///
    /// let restored = Play::restore(Builtin.open("kq19", 0)?, ResetRule::Official, &snapshot)?;
    /// assert_eq!(restored.tally(), play.tally());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        let Some(environment) = self.environment.snapshot()? else {
            return Ok(None);
        };
        let header = SnapshotHeader {
            format: FORMAT,
            rule: self.rule.name().to_owned(),
            acted: self.acted,
            tally: self.tally.clone(),
        };
        let failed =
            |reason: String| EnvironmentError::Failed(format!("cannot write a snapshot: {reason}"));
        let header = serde_json::to_vec(&header).map_err(|error| failed(error.to_string()))?;
        let length =
            u32::try_from(header.len()).map_err(|_| failed("it has too many counts".to_owned()))?;
        let mut bytes = Vec::with_capacity(header.len() + environment.len() + 12);
        bytes.extend(length.to_le_bytes());
        bytes.extend(header);
        bytes.extend(environment);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        Ok(Some(bytes))
    }

    /// Restores a play from a snapshot, in an environment that was just opened.
    ///
    /// # Errors
    ///
    /// Returns [`EnvironmentError::Snapshot`] if the bytes are damaged, or belong to another
    /// environment, another reset rule or another version of the software.
    pub fn restore(
        mut environment: Box<dyn Environment>,
        rule: ResetRule,
        snapshot: &[u8],
    ) -> Result<Self, EnvironmentError> {
        let rejected = |reason: &str| EnvironmentError::Snapshot(reason.to_owned());
        let (sealed, checksum) = snapshot
            .split_last_chunk::<8>()
            .ok_or_else(|| rejected("it is truncated"))?;
        if xxh3_64(sealed) != u64::from_le_bytes(*checksum) {
            return Err(rejected("its checksum does not match"));
        }
        let parts = sealed.split_first_chunk::<4>().and_then(|(length, rest)| {
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            rest.split_at_checked(length)
        });
        let (header, rest) = parts.ok_or_else(|| rejected("it is truncated"))?;
        let header: SnapshotHeader = serde_json::from_slice(header)
            .map_err(|error| EnvironmentError::Snapshot(error.to_string()))?;
        if header.format != FORMAT || header.rule != rule.name() {
            return Err(rejected("it has another format or another reset rule"));
        }
        environment.restore(rest)?;
        Ok(Self {
            environment,
            rule,
            tally: header.tally,
            acted: header.acted,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rhae_engine::{Action, Catalog, Frame};
    use rhae_games::Builtin;

    use super::*;

    const GAMES: [&str; 3] = ["kq19", "hk26", "ym39"];

    fn open(game: &str) -> Box<dyn Environment> {
        Builtin.open(game, 0).unwrap()
    }

    fn actions() -> impl Strategy<Value = Action> {
        prop_oneof![
            6 => (1_u8..=5).prop_map(|id| rhae_engine::ActionKind::from_id(id).unwrap().simple().unwrap()),
            3 => (0_u8..64, 0_u8..64).prop_map(|(x, y)| Action::Action6 { x, y }),
            2 => Just(Action::Action7),
            1 => Just(Action::Reset),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn restored_play_behaves_as_the_saved_one(
            game in 0..GAMES.len(),
            levels_only in any::<bool>(),
            before in prop::collection::vec(actions(), 0..120),
            after in prop::collection::vec(actions(), 1..120),
        ) {
            let rule = if levels_only { ResetRule::LevelsOnly } else { ResetRule::Official };
            let mut saved = Play::new(open(GAMES[game]), rule);
            for action in before {
                saved.command(action).unwrap();
            }
            let mut restored = Play::restore(open(GAMES[game]), rule, &saved.snapshot().unwrap().unwrap()).unwrap();
            for action in after {
                let (expected, found) = (saved.command(action).unwrap(), restored.command(action).unwrap());
                prop_assert_eq!(found.outcome, expected.outcome);
                prop_assert_eq!(Frame::hash_all(found.frames), Frame::hash_all(expected.frames));
            }
            prop_assert_eq!(restored.tally(), saved.tally());
            prop_assert_eq!(restored.reset_restarts_game(), saved.reset_restarts_game());
        }
    }

    #[test]
    fn damaged_or_foreign_snapshots_are_rejected() {
        let play = Play::new(open("kq19"), ResetRule::Official);
        let whole = play.snapshot().unwrap().unwrap();
        let refusal = |game: &str, rule, bytes: &[u8]| {
            Play::restore(open(game), rule, bytes)
                .err()
                .unwrap()
                .to_string()
        };
        for place in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[place] ^= 0x80;
            assert!(refusal("kq19", ResetRule::Official, &bytes).contains("checksum"));
            refusal("kq19", ResetRule::Official, &whole[..place]);
        }
        assert!(refusal("ny40", ResetRule::Official, &whole).contains("it is a play of `kq19-v1`"));
        assert!(refusal("kq19", ResetRule::LevelsOnly, &whole).contains("another reset rule"));
    }
}
