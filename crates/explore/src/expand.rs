//! Looking into a state: what each of its actions leads to.
//!
//! Results are handed on one by one, as the key with the outcome in it, and the state. Whether they are new is not known here.

use rhae_engine::{Action, ActionKind, Outcome};

use crate::Explorable;
use crate::graph::{CLICKS, with_outcome};

/// Memory that is used again for each state, and what was noticed of all of them.
pub(crate) struct Expander<S> {
    actions: Vec<Action>,
    clicked: Vec<(u128, S, u16)>,
    /// Whether a state did not pack.
    pub(crate) unpackable: bool,
    /// Whether clicks were offered anywhere.
    pub(crate) has_clicks: bool,
}

impl<S> Default for Expander<S> {
    fn default() -> Self {
        Self { actions: Vec::new(), clicked: Vec::new(), unpackable: false, has_clicks: false }
    }
}

impl<S: Clone> Expander<S> {
    /// Carries out all actions of a state with its key and gives the number of edges. An edge has a key, a state and a weight: with
    /// all clicks, the number of cells that do the same, else 0.
    #[inline]
    pub(crate) fn expand<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        state: (u128, &S),
        all_clicks: bool,
        mut found: impl FnMut(u128, S, u16),
    ) -> Result<u32, E::Error> {
        let mut actions = std::mem::take(&mut self.actions);
        actions.clear();
        level.actions(state.1, &mut actions);
        let clicks = level.offered(state.1).contains(ActionKind::Action6);
        self.has_clicks |= clicks || actions.last().is_some_and(|action| action.kind() == ActionKind::Action6);
        if all_clicks {
            actions.retain(|action| action.kind() != ActionKind::Action6);
        }
        let mut edges = actions.len() as u32;
        for &action in &actions {
            let (key, after) = self.result::<E, PACKED>(level, state, action)?;
            found(key, after, 0);
        }
        self.actions = actions;
        if all_clicks && clicks {
            self.click_everywhere::<E, PACKED>(level, state)?;
            edges += self.clicked.len() as u32;
            self.clicked.drain(..).for_each(|(key, after, cells)| found(key, after, cells));
        }
        Ok(edges)
    }

    /// Clicks on every cell; cells that do the same are one edge.
    fn click_everywhere<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        state: (u128, &S),
    ) -> Result<(), E::Error> {
        self.clicked.clear();
        for cell in 0..CLICKS {
            let action = Action::Action6 { x: (cell % 64) as u8, y: (cell / 64) as u8 };
            let (key, after) = self.result::<E, PACKED>(level, state, action)?;
            match self.clicked.iter_mut().find(|(known, ..)| *known == key) {
                Some((.., cells)) => *cells += 1,
                None => self.clicked.push((key, after, 1)),
            }
        }
        Ok(())
    }

    #[inline]
    fn result<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        (own, state): (u128, &S),
        action: Action,
    ) -> Result<(u128, S), E::Error> {
        let mut after = state.clone();
        let outcome = level.step(&mut after, action)?;
        if outcome == Outcome::Going && level.is_same(state, &after) {
            return Ok((own, after));
        }
        let key = if PACKED {
            level.pack(&after).unwrap_or_else(|| {
                self.unpackable = true;
                0
            })
        } else {
            level.key(&after)
        };
        Ok((with_outcome(key, outcome), after))
    }
}
