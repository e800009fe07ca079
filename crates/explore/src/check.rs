//! A randomised check of a graph for two errors in how a level describes itself: different states
//! that share a key, and clicks that have an effect although the environment does not list them.
//!
//! The check plays random walks on the level and compares every result with the graph. A walk
//! usually reaches a state by a different path than the search did. If the key omits part of the
//! state, the check can therefore detect it once a walk applies an action whose result depends on
//! the omitted part.

use rhae_engine::{Action, ActionKind, Outcome, Rng};

use crate::graph::with_outcome;
use crate::paths::edge_choices;
use crate::{Explorable, Graph};

/// Evidence of an error in a graph: a sequence of actions, from the start of the level, that
/// demonstrates it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphWarning {
    /// An action had another result than the graph contains for the state with the same key.
    KeyCollision {
        /// The last action is the one whose result differs.
        actions: Vec<Action>,
    },
    /// A click that is not listed changed the state in a way that no listed click does.
    UnlistedClick {
        /// The last action is the click.
        actions: Vec<Action>,
    },
}

/// The result of [`check_graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphCheck {
    /// The number of random actions that were applied.
    pub actions: u32,
    /// The first warning of each kind.
    pub warnings: Vec<GraphWarning>,
}

/// Applies `steps` random actions to a level and compares their results with its graph.
///
/// `should_continue` is called before each action; the check ends early if it returns false.
///
/// # Errors
///
/// Returns the error of [`Explorable::step`] if an action fails.
pub fn check_graph<E: Explorable>(
    level: &E,
    graph: &Graph,
    steps: u32,
    rng: &mut Rng,
    mut should_continue: impl FnMut() -> bool,
) -> Result<GraphCheck, E::Error> {
    let (mut same_key, mut unlisted) = (None, None);
    let max_walk_len = 4 * graph.depth().max(8);
    let mut remaining = steps;
    'walks: while remaining > 0 {
        let (mut state, mut node, mut walk) = (level.start(), 0_u32, Vec::new());
        while remaining > 0
            && walk.len() < max_walk_len
            && graph.outcome(node) == Outcome::Continue
            && !graph.is_frontier(node)
        {
            if !should_continue() {
                break 'walks;
            }
            remaining -= 1;
            // In a weighted graph `edge_choices` clicks every cell, which is slow, so it is called
            // only once per step.
            let actions = edge_choices(level, &state, graph.rows.is_weighted())?;
            // A weighted graph comes from a search that clicked every cell, so no click can be
            // missing.
            if unlisted.is_none()
                && !graph.rows.is_weighted()
                && level.offered(&state).contains(ActionKind::Action6)
            {
                unlisted = unlisted_click(level, &state, &actions, rng)?.map(|click| {
                    let actions = walk.iter().copied().chain([click]).collect();
                    GraphWarning::UnlistedClick { actions }
                });
            }
            let targets = graph.targets(node);
            let Some(&action) = rng.choose(&actions) else {
                break;
            };
            walk.push(action);
            let edge = actions
                .iter()
                .position(|&known| known == action)
                .expect("the action was chosen from this list");
            let outcome = level.step(&mut state, action)?;
            let key = if graph.is_packed() {
                level.pack(&state).unwrap_or_default()
            } else {
                level.key(&state)
            };
            let agrees = actions.len() == targets.len()
                && graph.keys.at(targets[edge] as usize) == with_outcome(key, outcome);
            if !agrees {
                same_key.get_or_insert(GraphWarning::KeyCollision { actions: walk });
                break;
            }
            node = targets[edge];
        }
        if remaining > 0 && graph.targets(0).is_empty() {
            break;
        }
    }
    Ok(GraphCheck {
        actions: steps - remaining,
        warnings: same_key.into_iter().chain(unlisted).collect(),
    })
}

/// Clicks one random cell and returns the click if it is not listed and has an effect that no
/// listed click has.
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
    if listed.contains(&click) || found == (Outcome::Continue, before) {
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
