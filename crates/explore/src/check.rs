//! Looking for what would make a graph wrong: states that share a key but behave differently, and clicks that were not listed.
//!
//! Random walks compare what the level does with what the graph says. A walk comes to a state by another way than the
//! search did, so a key that leaves something out is found out as soon as that something matters.

use rhae_engine::{Action, ActionKind, Outcome, Rng};

use crate::graph::with_outcome;
use crate::paths::choices;
use crate::{Explorable, Graph};

/// What was found wrong, with the actions from the start that show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// An action led elsewhere than from another state with the same key.
    SameKey {
        /// The actions, the last one being the one that differs.
        actions: Vec<Action>,
    },
    /// A click that was not listed changed the state in a way that no listed click does.
    UnlistedClick {
        /// The actions, the last one being the click.
        actions: Vec<Action>,
    },
}

/// What became of a random check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Actions that were compared.
    pub actions: u32,
    /// The first doubt of each kind.
    pub doubts: Vec<Doubt>,
}

/// Walks at random through level and graph, `steps` actions in all unless `go_on` ends it.
pub fn check<E: Explorable>(
    level: &E,
    graph: &Graph,
    steps: u32,
    rng: &mut Rng,
    mut go_on: impl FnMut() -> bool,
) -> Result<Check, E::Error> {
    let (mut same_key, mut unlisted) = (None, None);
    let longest = 4 * graph.depth().max(8);
    let mut left = steps;
    'walks: while left > 0 {
        let (mut state, mut node, mut line) = (level.start(), 0_u32, Vec::new());
        while left > 0
            && line.len() < longest
            && graph.outcome(node) == Outcome::Going
            && !graph.is_frontier(node)
        {
            if !go_on() {
                break 'walks;
            }
            left -= 1;
            // All cells were clicked already where clicks have weights, and going through them again would take long.
            let actions = choices(level, &state, graph.rows.is_weighted())?;
            if unlisted.is_none()
                && !graph.rows.is_weighted()
                && level.offered(&state).contains(ActionKind::Action6)
            {
                unlisted = unlisted_click(level, &state, &actions, rng)?.map(|click| {
                    let actions = line.iter().copied().chain([click]).collect();
                    Doubt::UnlistedClick { actions }
                });
            }
            let targets = graph.targets(node);
            let Some(&action) = rng.choose(&actions) else {
                break;
            };
            line.push(action);
            let edge = actions
                .iter()
                .position(|&known| known == action)
                .expect("it was chosen from them");
            let outcome = level.step(&mut state, action)?;
            let key = if graph.is_packed() {
                level.pack(&state).unwrap_or_default()
            } else {
                level.key(&state)
            };
            let agrees = actions.len() == targets.len()
                && graph.keys.at(targets[edge] as usize) == with_outcome(key, outcome);
            if !agrees {
                same_key.get_or_insert(Doubt::SameKey { actions: line });
                break;
            }
            node = targets[edge];
        }
        if left > 0 && graph.targets(0).is_empty() {
            break;
        }
    }
    Ok(Check {
        actions: steps - left,
        doubts: same_key.into_iter().chain(unlisted).collect(),
    })
}

/// Tries one cell that is not listed.
fn unlisted_click<E: Explorable>(
    level: &E,
    state: &E::State,
    listed: &[Action],
    rng: &mut Rng,
) -> Result<Option<Action>, E::Error> {
    let click = Action::Action6 {
        x: rng.below(64) as u8,
        y: rng.below(64) as u8,
    };
    let before = level.key(state);
    let result = |action: Action| {
        let mut after = state.clone();
        Ok((level.step(&mut after, action)?, level.key(&after)))
    };
    let found = result(click)?;
    if listed.contains(&click) || found == (Outcome::Going, before) {
        return Ok(None);
    }
    for &action in listed
        .iter()
        .filter(|action| action.kind() == ActionKind::Action6)
    {
        if result(action)? == found {
            return Ok(None);
        }
    }
    Ok(Some(click))
}
