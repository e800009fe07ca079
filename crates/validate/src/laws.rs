//! The laws that every environment must obey: determinism, independent copies, sound keys, and
//! exact RESET and undo. Each law is a rule; this module contains what they share.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;

use crate::Finding;
use crate::levels::judge_level;
use crate::rule::{Check, Context, checks};
use crate::walk::Walk;

/// A map from state keys. The keys are already hashes, so they are not hashed again.
pub(crate) type KeyMap<V> = HashMap<u128, V, BuildHasherDefault<KeyBits>>;

/// Checks all laws on one level.
pub(crate) fn check(context: Context<'_>, level: u8) -> Vec<Finding> {
    let laws = checks().filter_map(|(rule, check)| match check {
        Check::Laws(law) => Some((rule, law)),
        _ => None,
    });
    laws.flat_map(|(rule, law)| judge_level(rule, level, law(context, level)))
        .collect()
}

/// Returns the number of random steps for each law on each level.
pub(crate) fn law_steps(context: Context<'_>) -> u32 {
    let max_steps = if context.subject.is_hosted() {
        300
    } else {
        2_000
    };
    u32::try_from(context.options.steps / 100)
        .unwrap_or(max_steps)
        .clamp(60, max_steps)
}

/// Returns everything that identifies the current state: key, frame, play state, completed levels,
/// and offered actions.
pub(crate) fn situation(walk: &Walk) -> impl PartialEq + use<> {
    let seen = walk.observation();
    (
        walk.key(),
        seen.settled().clone(),
        seen.state,
        seen.levels_completed,
        seen.available,
    )
}

/// Uses the low half of a key as its hash, because keys are already hashes.
#[derive(Default)]
pub(crate) struct KeyBits(u64);

impl std::hash::Hasher for KeyBits {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("the table holds only 128-bit keys")
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
