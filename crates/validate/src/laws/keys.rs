//! Equal state keys have equal frames and equal successors, undo aside: counter-examples are looked for by random play.
//!
//! Short plays from the level's start come to the same states again and again by different ways. What an action does in a state
//! is remembered under the state's key, and has to be the same ever after.

use std::hash::BuildHasherDefault;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rhae_engine::{Action, PlayState, Rng, key_of};

use super::law_steps;
use super::same::finish;
use crate::walk::{Broken, Walk, answer};
use crate::{Finding, Options, Rule, Subject};

/// A map without ambient randomness: the keys are hashes already.
type Known<V> = HashMap<u128, V, BuildHasherDefault<KeyBits>>;

/// Longest play before the level is started again.
const LONGEST: usize = 60;

pub(super) fn keys(subject: &dyn Subject, options: &Options, level: u8) -> Vec<Finding> {
    finish(Rule::Keys, level, search(subject, options, level))
}

fn search(subject: &dyn Subject, options: &Options, level: u8) -> Result<Option<Finding>, Broken> {
    let rule = Rule::Keys;
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    let mut rng = Rng::new(options.seed, 600 + u64::from(level));
    let mut frames: Known<(u64, Vec<Action>)> = Known::default();
    let mut effects: Known<(u128, Vec<Action>)> = Known::default();
    let (mut seen_again, mut length) = (0_u32, LONGEST / 4);
    for _ in 0..4 * law_steps(subject, options) {
        let over =
            walk.seen().state != PlayState::NotFinished || walk.seen().levels_completed != level;
        if over || walk.log.len() >= length {
            length = 1 + rng.below(LONGEST as u32) as usize;
            let Some(fresh) = Walk::enter(subject, options.env_seed, level)? else {
                return Ok(None);
            };
            walk = fresh;
            continue;
        }
        let key = walk.key();
        let picture = key_of(walk.seen().settled().cells()) as u64;
        match frames.entry(key) {
            Entry::Vacant(place) => {
                place.insert((picture, walk.log.clone()));
            }
            Entry::Occupied(known) if known.get().0 != picture => {
                let text =
                    "two states with one key look different: the key lacks something that is drawn";
                return Ok(Some(doubt(subject, text, &walk, &known.get().1)));
            }
            Entry::Occupied(_) => {}
        }
        // Few different actions, so that the same ones are taken again in the same states.
        let action = match walk.random(&mut rng) {
            Action::Action6 { x, y } => Action::Action6 {
                x: x & !7 | 4,
                y: y & !7 | 4,
            },
            Action::Action7 => continue_without_undo(&walk, &mut rng),
            other => other,
        };
        if action == Action::Reset || action == Action::Action7 {
            walk.act(action)?;
            length = 0;
            continue;
        }
        walk.act(action)?;
        let effect = key_of(&(answer(walk.seen()), walk.key()));
        match effects.entry(key_of(&(key, action))) {
            Entry::Vacant(place) => {
                place.insert((effect, walk.log.clone()));
            }
            Entry::Occupied(known) if known.get().0 != effect => {
                let text = "two states with one key answer the same action differently: something hidden is missing from the key";
                return Ok(Some(doubt(subject, text, &walk, &known.get().1)));
            }
            Entry::Occupied(_) => seen_again += 1,
        }
    }
    let states = frames.len();
    Ok(Some(Finding::pass(
        rule,
        format!(
            "{states} states, {seen_again} actions taken again in a known state, no contradiction"
        ),
    )))
}

/// Another action in place of undo, whose effect depends on what went before.
fn continue_without_undo(walk: &Walk, rng: &mut Rng) -> Action {
    (0..20)
        .map(|_| walk.random(rng))
        .find(|&action| action != Action::Action7)
        .unwrap_or(Action::Action7)
}

/// Hosted games need not report what they hide, so it is no fault of theirs; a search must know all the same.
fn doubt(subject: &dyn Subject, text: &str, walk: &Walk, earlier: &[Action]) -> Finding {
    let (rule, prefix) = (Rule::Keys, walk.log.len());
    let finding = if subject.is_hosted() {
        Finding::warn(
            rule,
            format!("{text}; report it through the engine's `_get_hidden_state`"),
        )
    } else {
        Finding::fail(rule, text)
    };
    let line = walk.line();
    let other = line.as_ref().map(|line| {
        line[..line.len() - prefix]
            .iter()
            .chain(earlier)
            .copied()
            .collect()
    });
    finding
        .shown("one way to the state, and the action", line)
        .shown("another way to a state with the same key", other)
}

/// Takes the low half of a key.
#[derive(Default)]
pub(crate) struct KeyBits(u64);

impl std::hash::Hasher for KeyBits {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only 128-bit keys are put into this table")
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
