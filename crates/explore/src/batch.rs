//! What the actions of some states led to, before it is known which states are new.

use rhae_engine::Outcome;

use crate::Explorable;
use crate::expand::Expander;
use crate::graph::{KEY, outcome_of};
use crate::index::{Index, hash_of};
use crate::pages::Pages;

pub(crate) struct Batch<S> {
    pub(crate) expander: Expander<S>,
    /// The states that edges lead to, as keys, and the hashes of these.
    pub(crate) keys: Vec<u128>,
    pub(crate) hashes: Vec<u64>,
    /// The numbers of those that were known before, as far as they were [found](Self::find).
    pub(crate) found: Vec<u32>,
    /// The states themselves, only where keys are not states.
    pub(crate) states: Vec<S>,
    /// Only where clicks have weights.
    pub(crate) weights: Vec<u16>,
    /// How many edges each state of the batch has.
    pub(crate) counts: Vec<u32>,
}

impl<S: Clone> Batch<S> {
    pub(crate) fn new() -> Self {
        Self {
            expander: Expander::default(),
            keys: Vec::new(),
            hashes: Vec::new(),
            found: Vec::new(),
            states: Vec::new(),
            weights: Vec::new(),
            counts: Vec::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.hashes.clear();
        self.states.clear();
        self.weights.clear();
        self.counts.clear();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<u128>()
            + self.hashes.capacity() * size_of::<u64>()
            + self.states.capacity() * size_of::<S>()
            + self.weights.capacity() * size_of::<u16>()
            + (self.found.capacity() + self.counts.capacity()) * size_of::<u32>()
    }

    /// Carries out the actions of one more state, which waits somewhere where its key is not the state.
    #[inline]
    pub(crate) fn look_into<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        all_clicks: bool,
        key: u128,
        waiting: impl FnOnce() -> S,
    ) -> Result<(), E::Error> {
        if outcome_of(key) != Outcome::Going {
            self.counts.push(0);
            return Ok(());
        }
        let Self { expander, keys, hashes, states, weights, counts, .. } = self;
        let found = |key: u128, after: S, weight: u16| {
            keys.push(key);
            hashes.push(hash_of(key));
            if !PACKED {
                states.push(after);
            }
            if all_clicks {
                weights.push(weight);
            }
        };
        let state = if PACKED { level.unpack(key & KEY).expect("a packed state comes back") } else { waiting() };
        counts.push(expander.expand::<E, PACKED>(level, (key, &state), all_clicks, found)?);
        Ok(())
    }

    /// Looks up which of the states are known.
    #[inline]
    pub(crate) fn find(&mut self, index: &Index, keys: &Pages<u128>) {
        index.find(&self.keys, &self.hashes, keys, &mut self.found);
    }
}
