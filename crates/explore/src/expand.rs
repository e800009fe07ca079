//! Expansion of a state: applies each of its actions and collects the results. A later stage looks
//! up which of the reached states are new.

use rhae_engine::{Action, ActionKind, ActionSet, Outcome};

use crate::Explorable;
use crate::batch::Batch;
use crate::explorable::simple_actions;
use crate::graph::{CLICKS, KEY, outcome_of, with_outcome};

/// Expands the states of a level, reusing its buffers from one state to the next.
pub(crate) struct Expander<'a, E: Explorable, const PACKED: bool> {
    level: &'a E,
    all_clicks: bool,
    /// The kinds of action that the last expanded state offered.
    offered: ActionSet,
    /// The simple actions among `offered`, followed by the clicks of the last state.
    actions: Vec<Action>,
    simple_count: usize,
    click_results: Vec<(u128, E::State, u16)>,
}

impl<'a, E: Explorable, const PACKED: bool> Expander<'a, E, PACKED> {
    pub(crate) fn new(level: &'a E, all_clicks: bool) -> Self {
        let (offered, actions, click_results) = (ActionSet::EMPTY, Vec::new(), Vec::new());
        Self {
            level,
            all_clicks,
            offered,
            actions,
            simple_count: 0,
            click_results,
        }
    }

    /// Expands the state with the given key into `batch`. `queued` returns the state if it is not
    /// packed. Passes the hash of each target to `on_hash` as soon as it is known, so that the
    /// caller can prefetch its index group.
    #[inline]
    pub(crate) fn expand(
        &mut self,
        key: u128,
        queued: impl FnOnce() -> E::State,
        batch: &mut Batch<E::State>,
        on_hash: impl Fn(u64),
    ) -> Result<(), E::Error> {
        let first = batch.edges;
        if outcome_of(key) == Outcome::Continue {
            let state = if PACKED {
                self.level
                    .unpack(key & KEY)
                    .expect("`unpack` inverts `pack`")
            } else {
                queued()
            };
            self.expand_state((key, &state), batch, &on_hash)?;
        }
        batch.counts.push((batch.edges - first) as u32);
        Ok(())
    }

    #[inline]
    fn expand_state(
        &mut self,
        state: (u128, &E::State),
        batch: &mut Batch<E::State>,
        on_hash: &impl Fn(u64),
    ) -> Result<(), E::Error> {
        let offered = self.level.offered(state.1);
        if offered != self.offered {
            self.offered = offered;
            self.actions.clear();
            self.actions.extend(simple_actions(offered));
            self.simple_count = self.actions.len();
        }
        self.actions.truncate(self.simple_count);
        let clicks = offered.contains(ActionKind::Action6);
        batch.has_clicks |= clicks;
        if clicks && !self.all_clicks {
            self.level.clicks(state.1, &mut self.actions);
            batch.representative_clicks |= self.level.has_representative_clicks(state.1);
        }
        for &action in &self.actions {
            let reached = successor::<E, PACKED>(self.level, state, action, &mut batch.unpackable)?;
            batch.add::<PACKED>(state.0, reached, on_hash);
        }
        if self.all_clicks {
            batch.weights.resize(batch.edges, 0);
            if clicks {
                self.click_all_cells(state, batch, on_hash)?;
            }
        }
        Ok(())
    }

    /// Clicks every cell. Cells with the same result become one edge.
    fn click_all_cells(
        &mut self,
        state: (u128, &E::State),
        batch: &mut Batch<E::State>,
        on_hash: &impl Fn(u64),
    ) -> Result<(), E::Error> {
        self.click_results.clear();
        for cell in 0..CLICKS {
            let action = Action::Action6 {
                x: (cell % 64) as u8,
                y: (cell / 64) as u8,
            };
            let (key, after) =
                successor::<E, PACKED>(self.level, state, action, &mut batch.unpackable)?;
            match self
                .click_results
                .iter_mut()
                .find(|(known, ..)| *known == key)
            {
                Some((.., cells)) => *cells += 1,
                None => self.click_results.push((key, after, 1)),
            }
        }
        for (key, after, cells) in self.click_results.drain(..) {
            batch.add::<PACKED>(state.0, (key, after), on_hash);
            batch.weights.push(cells);
        }
        Ok(())
    }
}

/// Returns the key (with outcome bits) and the state that an action leads to.
#[inline]
fn successor<E: Explorable, const PACKED: bool>(
    level: &E,
    (key, state): (u128, &E::State),
    action: Action,
    unpackable: &mut bool,
) -> Result<(u128, E::State), E::Error> {
    let mut after = state.clone();
    let outcome = level.step(&mut after, action)?;
    // Packing a state takes less time than a mispredicted branch after a comparison, so only states
    // that do not pack are compared.
    if !PACKED && outcome == Outcome::Continue && level.is_same(state, &after) {
        return Ok((key, after));
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
