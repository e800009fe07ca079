//! Looking into a state: what each of its actions leads to. Whether that is new is not known here.

use rhae_engine::{Action, ActionKind, ActionSet, Outcome};

use crate::Explorable;
use crate::batch::Batch;
use crate::explorable::keys_of;
use crate::graph::{CLICKS, KEY, outcome_of, with_outcome};

/// Looks into states of a level, with memory that is used again for each.
pub(crate) struct Expander<'a, E: Explorable, const PACKED: bool> {
    level: &'a E,
    all_clicks: bool,
    /// What was offered in the last state.
    offered: ActionSet,
    /// The keys of that, and how many they are, followed by the last state's clicks.
    actions: Vec<Action>,
    keys: usize,
    clicked: Vec<(u128, E::State, u16)>,
}

impl<'a, E: Explorable, const PACKED: bool> Expander<'a, E, PACKED> {
    pub(crate) fn new(level: &'a E, all_clicks: bool) -> Self {
        let (offered, actions, clicked) = (ActionSet::EMPTY, Vec::new(), Vec::new());
        Self {
            level,
            all_clicks,
            offered,
            actions,
            keys: 0,
            clicked,
        }
    }

    /// Carries out the actions of one more state, which waits somewhere where its key is not the state. Each hash of what they
    /// lead to is handed on as soon as it is known.
    #[inline]
    pub(crate) fn look_into(
        &mut self,
        key: u128,
        waiting: impl FnOnce() -> E::State,
        batch: &mut Batch<E::State>,
        hashed: impl Fn(u64),
    ) -> Result<(), E::Error> {
        let first = batch.edges;
        if outcome_of(key) == Outcome::Going {
            let state = if PACKED {
                self.level
                    .unpack(key & KEY)
                    .expect("a packed state comes back")
            } else {
                waiting()
            };
            self.expand((key, &state), batch, &hashed)?;
        }
        batch.counts.push((batch.edges - first) as u32);
        Ok(())
    }

    #[inline]
    fn expand(
        &mut self,
        state: (u128, &E::State),
        batch: &mut Batch<E::State>,
        hashed: &impl Fn(u64),
    ) -> Result<(), E::Error> {
        let offered = self.level.offered(state.1);
        if offered != self.offered {
            self.offered = offered;
            self.actions.clear();
            self.actions.extend(keys_of(offered));
            self.keys = self.actions.len();
        }
        self.actions.truncate(self.keys);
        let clicks = offered.contains(ActionKind::Action6);
        batch.has_clicks |= clicks;
        if clicks && !self.all_clicks {
            self.level.clicks(state.1, &mut self.actions);
        }
        for &action in &self.actions {
            let result = result::<E, PACKED>(self.level, state, action, &mut batch.unpackable)?;
            batch.add::<PACKED>(state.0, result, hashed);
        }
        if self.all_clicks {
            batch.weights.resize(batch.edges, 0);
            if clicks {
                self.click_everywhere(state, batch, hashed)?;
            }
        }
        Ok(())
    }

    /// Clicks on every cell; cells that do the same are one edge.
    fn click_everywhere(
        &mut self,
        state: (u128, &E::State),
        batch: &mut Batch<E::State>,
        hashed: &impl Fn(u64),
    ) -> Result<(), E::Error> {
        self.clicked.clear();
        for cell in 0..CLICKS {
            let action = Action::Action6 {
                x: (cell % 64) as u8,
                y: (cell / 64) as u8,
            };
            let (key, after) =
                result::<E, PACKED>(self.level, state, action, &mut batch.unpackable)?;
            match self.clicked.iter_mut().find(|(known, ..)| *known == key) {
                Some((.., cells)) => *cells += 1,
                None => self.clicked.push((key, after, 1)),
            }
        }
        for (key, after, cells) in self.clicked.drain(..) {
            batch.add::<PACKED>(state.0, (key, after), hashed);
            batch.weights.push(cells);
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
