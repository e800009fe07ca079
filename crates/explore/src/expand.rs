//! Looking into a state: what each of its actions leads to. Whether that is new is not known here.

use rhae_engine::{Action, ActionKind, ActionSet, Outcome};

use crate::Explorable;
use crate::explorable::keys_of;
use crate::graph::{CLICKS, with_outcome};

/// Memory that is used again for each state, and what was noticed of all of them.
pub(crate) struct Expander<S> {
    /// What was offered in the last state.
    offered: ActionSet,
    /// The keys of that, and how many they are, followed by the last state's clicks.
    actions: Vec<Action>,
    keys: usize,
    clicked: Vec<(u128, S, u16)>,
    /// Whether a state did not pack.
    pub(crate) unpackable: bool,
    /// Whether clicks were offered anywhere.
    pub(crate) has_clicks: bool,
}

/// What actions led to, in their order.
pub(crate) struct Results<S> {
    /// The states as keys.
    pub(crate) keys: Vec<u128>,
    /// The states themselves, only where keys are not states.
    pub(crate) states: Vec<S>,
    /// Only with all clicks: the number of cells that do the same, 0 for a key.
    pub(crate) weights: Vec<u16>,
}

impl<S> Default for Expander<S> {
    fn default() -> Self {
        let (offered, actions, clicked) = (ActionSet::EMPTY, Vec::new(), Vec::new());
        Self { offered, actions, keys: 0, clicked, unpackable: false, has_clicks: false }
    }
}

impl<S: Clone> Expander<S> {
    /// Carries out all actions of a state with its key.
    #[inline]
    pub(crate) fn expand<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        state: (u128, &S),
        all_clicks: bool,
        results: &mut Results<S>,
    ) -> Result<(), E::Error> {
        let offered = level.offered(state.1);
        if offered != self.offered {
            self.offered = offered;
            self.actions.clear();
            self.actions.extend(keys_of(offered));
            self.keys = self.actions.len();
        }
        self.actions.truncate(self.keys);
        let clicks = offered.contains(ActionKind::Action6);
        self.has_clicks |= clicks;
        if clicks && !all_clicks {
            level.clicks(state.1, &mut self.actions);
        }
        let mut failed = None;
        results.keys.extend(self.actions.iter().map(|&action| {
            if failed.is_some() {
                return 0;
            }
            match result::<E, PACKED>(level, state, action, &mut self.unpackable) {
                Ok((key, after)) => {
                    if !PACKED {
                        results.states.push(after);
                    }
                    key
                }
                Err(error) => {
                    failed = Some(error);
                    0
                }
            }
        }));
        if let Some(error) = failed {
            return Err(error);
        }
        if all_clicks {
            results.weights.resize(results.keys.len(), 0);
            if clicks {
                self.click_everywhere::<E, PACKED>(level, state, results)?;
            }
        }
        Ok(())
    }

    /// Clicks on every cell; cells that do the same are one edge.
    fn click_everywhere<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        state: (u128, &S),
        results: &mut Results<S>,
    ) -> Result<(), E::Error> {
        for cell in 0..CLICKS {
            let action = Action::Action6 { x: (cell % 64) as u8, y: (cell / 64) as u8 };
            let (key, after) = result::<E, PACKED>(level, state, action, &mut self.unpackable)?;
            match self.clicked.iter_mut().find(|(known, ..)| *known == key) {
                Some((.., cells)) => *cells += 1,
                None => self.clicked.push((key, after, 1)),
            }
        }
        for (key, after, cells) in self.clicked.drain(..) {
            results.keys.push(key);
            results.weights.push(cells);
            if !PACKED {
                results.states.push(after);
            }
        }
        Ok(())
    }
}

/// The key, with the outcome in it, and the state that an action leads to.
#[inline]
fn result<E: Explorable, const PACKED: bool>(
    level: &E,
    (own, state): (u128, &E::State),
    action: Action,
    unpackable: &mut bool,
) -> Result<(u128, E::State), E::Error> {
    let mut after = state.clone();
    let outcome = level.step(&mut after, action)?;
    // Packing a state is quicker than guessing wrong whether it is the same.
    if !PACKED && outcome == Outcome::Going && level.is_same(state, &after) {
        return Ok((own, after));
    }
    let key = if PACKED {
        level.pack(&after).unwrap_or_else(|| {
            *unpackable = true;
            0
        })
    } else {
        level.key(&after)
    };
    Ok((with_outcome(key, outcome), after))
}
