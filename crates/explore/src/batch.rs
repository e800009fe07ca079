//! What the actions of some states led to, before it is known which states are new.

use rhae_engine::Outcome;

use crate::Explorable;
use crate::expand::{Expander, Results};
use crate::graph::{KEY, outcome_of};
use crate::index::{Index, hash_of};
use crate::pages::Pages;

pub(crate) struct Batch<S> {
    pub(crate) expander: Expander<S>,
    /// What edges lead to, and the hashes of its keys.
    pub(crate) results: Results<S>,
    pub(crate) hashes: Vec<u64>,
    /// The numbers of those that were known before, as far as they were [found](Self::find).
    pub(crate) found: Vec<u32>,
    /// How many edges each state of the batch has.
    pub(crate) counts: Vec<u32>,
}

impl<S: Clone> Batch<S> {
    pub(crate) fn new() -> Self {
        Self {
            expander: Expander::default(),
            results: Results { keys: Vec::new(), states: Vec::new(), weights: Vec::new() },
            hashes: Vec::new(),
            found: Vec::new(),
            counts: Vec::new(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.results.keys.clear();
        self.results.states.clear();
        self.results.weights.clear();
        self.hashes.clear();
        self.counts.clear();
    }

    /// How many edges there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.results.keys.capacity() * size_of::<u128>()
            + self.results.states.capacity() * size_of::<S>()
            + self.results.weights.capacity() * size_of::<u16>()
            + self.hashes.capacity() * size_of::<u64>()
            + (self.found.capacity() + self.counts.capacity()) * size_of::<u32>()
    }

    /// Carries out the actions of one more state, which waits somewhere where its key is not the state. Each hash is handed on
    /// as soon as it is known.
    #[inline]
    pub(crate) fn look_into<E: Explorable<State = S>, const PACKED: bool>(
        &mut self,
        level: &E,
        all_clicks: bool,
        key: u128,
        waiting: impl FnOnce() -> S,
        hashed: impl Fn(u64),
    ) -> Result<(), E::Error> {
        let first = self.hashes.len();
        if outcome_of(key) == Outcome::Going {
            let state = if PACKED { level.unpack(key & KEY).expect("a packed state comes back") } else { waiting() };
            self.expander.expand::<E, PACKED>(level, (key, &state), all_clicks, &mut self.results)?;
            self.hashes.extend(self.results.keys[first..].iter().map(|&key| {
                let hash = hash_of(key);
                hashed(hash);
                hash
            }));
        }
        self.counts.push((self.hashes.len() - first) as u32);
        Ok(())
    }

    /// Gets all places of the index from memory that will be looked up.
    #[inline]
    pub(crate) fn expect(&self, index: &Index) {
        self.hashes.iter().for_each(|&hash| index.expect(hash));
    }

    /// Looks up which of the states are known.
    #[inline]
    pub(crate) fn find(&mut self, index: &Index, keys: &Pages<u128>) {
        index.find(&self.results.keys, &self.hashes, keys, &mut self.found);
    }
}
