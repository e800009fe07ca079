//! A play as bytes, and back: the environment's snapshot, and what the play adds to it.
//!
//! ```text
//! snapshot = length:u32 kept environment checksum:u64     numbers little-endian; XXH3 with 64 bits over all before the checksum
//! kept     = JSON of `length` bytes: rule about RESET, whether an action was taken, the counts
//! ```
//!
//! **Invariant:** as for an environment: what is taken answers and counts as the saved play would, what does not fit is refused.

use rhae_engine::{Environment, EnvironmentError};
use rhae_protocol::ResetRule;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Play, Tally};

/// The version of the form.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Kept {
    format: u32,
    rule: String,
    acted: bool,
    tally: Tally,
}

impl Play {
    /// The whole play as bytes that [`Play::restore`] of the same software takes, where the environment can be saved.
    pub fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        let Some(environment) = self.environment.snapshot()? else {
            return Ok(None);
        };
        let kept = Kept {
            format: FORMAT,
            rule: self.rule.name().to_owned(),
            acted: self.acted,
            tally: self.tally.clone(),
        };
        let failed =
            |reason: String| EnvironmentError::Failed(format!("cannot write a snapshot: {reason}"));
        let kept = serde_json::to_vec(&kept).map_err(|error| failed(error.to_string()))?;
        let length =
            u32::try_from(kept.len()).map_err(|_| failed("its counts are too many".to_owned()))?;
        let mut bytes = Vec::with_capacity(kept.len() + environment.len() + 12);
        bytes.extend(length.to_le_bytes());
        bytes.extend(kept);
        bytes.extend(environment);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        Ok(Some(bytes))
    }

    /// The play of a snapshot, in an environment that was just opened.
    pub fn restore(
        mut environment: Box<dyn Environment>,
        rule: ResetRule,
        snapshot: &[u8],
    ) -> Result<Self, EnvironmentError> {
        let refused = |reason: &str| EnvironmentError::Snapshot(reason.to_owned());
        let (sealed, checksum) = snapshot
            .split_last_chunk::<8>()
            .ok_or_else(|| refused("it is cut off"))?;
        if xxh3_64(sealed) != u64::from_le_bytes(*checksum) {
            return Err(refused("its checksum does not fit"));
        }
        let parts = sealed.split_first_chunk::<4>().and_then(|(length, rest)| {
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            rest.split_at_checked(length)
        });
        let (kept, rest) = parts.ok_or_else(|| refused("it is cut off"))?;
        let kept: Kept = serde_json::from_slice(kept)
            .map_err(|error| EnvironmentError::Snapshot(error.to_string()))?;
        if kept.format != FORMAT || kept.rule != rule.name() {
            return Err(refused("it has another format or another rule about RESET"));
        }
        environment.restore(rest)?;
        Ok(Self {
            environment,
            rule,
            tally: kept.tally,
            acted: kept.acted,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rhae_engine::{Action, Frame};

    use super::*;
    use crate::{Builtin, Catalog};

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
        fn a_restored_play_answers_and_counts_as_the_saved_one(
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
                prop_assert_eq!(found.seen, expected.seen);
                prop_assert_eq!(Frame::hash_all(found.frames), Frame::hash_all(expected.frames));
            }
            prop_assert_eq!(restored.tally(), saved.tally());
            prop_assert_eq!(restored.reset_starts_anew(), saved.reset_starts_anew());
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
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
        assert!(refusal("ny40", ResetRule::Official, &whole).contains("it is of `kq19-v1`"));
        assert!(refusal("kq19", ResetRule::LevelsOnly, &whole).contains("another rule"));
    }
}
