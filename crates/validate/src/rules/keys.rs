//! The rule `keys`: two states with the same key have the same frame and the same successors. Undo
//! is exempt, because its effect depends on the history.
//!
//! Short random plays from the start of a level reach the same states by different paths. The check
//! stores the effect of each action under the key of the state. At every later visit the effect
//! must be the same.

use hashbrown::hash_map::Entry;
use rhae_engine::{Action, PlayState, Rng, key_of};

use crate::laws::{KeyMap, law_steps};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk, observation_hash};
use crate::{Finding, Rule, Subject, Verdict};

/// The maximum length of a play. After that the level is entered again.
const MAX_PLAY_LEN: usize = 60;

pub(super) const DEFINITION: Definition = Definition {
    name: "keys",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "Equal state keys have equal frames and equal successors.",
    checks: &[Check::Laws(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let rule = Rule::Keys;
    let Some(mut walk) = Walk::enter(subject, options.env_seed, level)? else {
        return Ok(None);
    };
    let mut rng = Rng::new(options.seed, 600 + u64::from(level));
    let mut frames: KeyMap<(u64, Vec<Action>)> = KeyMap::default();
    let mut effects: KeyMap<(u128, Vec<Action>)> = KeyMap::default();
    let (mut seen_again, mut length) = (0_u32, MAX_PLAY_LEN / 4);
    for _ in 0..4 * law_steps(context) {
        let over = walk.observation().state != PlayState::NotFinished
            || walk.observation().levels_completed != level;
        if over || walk.log.len() >= length {
            length = 1 + rng.below(MAX_PLAY_LEN as u32) as usize;
            let Some(fresh) = Walk::enter(subject, options.env_seed, level)? else {
                return Ok(None);
            };
            walk = fresh;
            continue;
        }
        let key = walk.key();
        let picture = key_of(walk.observation().settled().cells()) as u64;
        match frames.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert((picture, walk.log.clone()));
            }
            Entry::Occupied(known) if known.get().0 != picture => {
                let text = "two states with the same key have different frames: the key omits something that is drawn";
                return Ok(Some(collision(subject, text, &walk, &known.get().1)));
            }
            Entry::Occupied(_) => {}
        }
        // Clicks are restricted to a few cells, so that the walk repeats the same actions in the
        // same states.
        let action = match walk.random_action(&mut rng) {
            Action::Action6 { x, y } => Action::Action6 {
                x: x & !7 | 4,
                y: y & !7 | 4,
            },
            Action::Action7 => action_without_undo(&walk, &mut rng),
            other => other,
        };
        if action == Action::Reset || action == Action::Action7 {
            walk.act(action)?;
            length = 0;
            continue;
        }
        walk.act(action)?;
        let effect = key_of(&(observation_hash(walk.observation()), walk.key()));
        match effects.entry(key_of(&(key, action))) {
            Entry::Vacant(entry) => {
                entry.insert((effect, walk.log.clone()));
            }
            Entry::Occupied(known) if known.get().0 != effect => {
                let text = "two states with the same key react differently to the same action: the key omits hidden state";
                return Ok(Some(collision(subject, text, &walk, &known.get().1)));
            }
            Entry::Occupied(_) => seen_again += 1,
        }
    }
    let states = frames.len();
    Ok(Some(Finding::pass(
        rule,
        format!(
            "{states} states, {seen_again} actions repeated in a known state, no contradiction"
        ),
    )))
}

/// Draws a random action other than undo. Returns undo if twenty draws find no other action.
fn action_without_undo(walk: &Walk, rng: &mut Rng) -> Action {
    (0..20)
        .map(|_| walk.random_action(rng))
        .find(|&action| action != Action::Action7)
        .unwrap_or(Action::Action7)
}

/// Reports two different states with the same key. Hosted games need not report hidden state, so
/// for them the finding is only a warning.
fn collision(subject: &dyn Subject, text: &str, walk: &Walk, earlier: &[Action]) -> Finding {
    let (rule, prefix) = (Rule::Keys, walk.log.len());
    let finding = if subject.is_hosted() {
        Finding::warn(
            rule,
            format!("{text}; report the hidden state through `_get_hidden_state`"),
        )
    } else {
        Finding::fail(rule, text)
    };
    let line = walk.full_log();
    let other = line.as_ref().map(|line| {
        line[..line.len() - prefix]
            .iter()
            .chain(earlier)
            .copied()
            .collect()
    });
    finding
        .with_evidence("one path to the state, ending with the action", line)
        .with_evidence("another path to a state with the same key", other)
}
