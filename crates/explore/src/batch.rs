//! What the actions of some states led to, before it is known which states are new.

use crate::index::{Index, hash_of};

/// What actions led to, in their order, state by state.
pub(crate) struct Batch<S> {
    /// How many actions there are, and how many of them each state has.
    pub(crate) edges: usize,
    pub(crate) counts: Vec<u32>,
    /// What leads away from the state in which the action is taken. Many an action leads back to it, and nothing has to be looked up
    /// for that.
    pub(crate) away: Vec<Away>,
    /// The states that it leads to, only where keys are not states.
    pub(crate) states: Vec<S>,
    /// Only with all clicks: for every action the number of cells that do the same, 0 for a key.
    pub(crate) weights: Vec<u16>,
    /// Whether a state did not pack.
    pub(crate) unpackable: bool,
    /// Whether clicks were offered anywhere.
    pub(crate) has_clicks: bool,
}

/// An action that leads to another state.
#[derive(Clone, Copy)]
pub(crate) struct Away {
    /// The state as a key, and its hash.
    pub(crate) key: u128,
    pub(crate) hash: u64,
    /// Which of the actions it is.
    pub(crate) edge: u32,
}

impl<S> Batch<S> {
    /// Nothing yet, with room for so many states that do not have many actions.
    pub(crate) fn new(states: usize) -> Self {
        Self {
            edges: 0,
            counts: Vec::with_capacity(states),
            away: Vec::with_capacity(2 * states),
            states: Vec::new(),
            weights: Vec::new(),
            unpackable: false,
            has_clicks: false,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.edges = 0;
        self.counts.clear();
        self.away.clear();
        self.states.clear();
        self.weights.clear();
    }

    /// Adds what an action in a state with this key led to. The hash is handed on as soon as it is known.
    #[inline]
    pub(crate) fn add<const PACKED: bool>(
        &mut self,
        own: u128,
        (key, state): (u128, S),
        hashed: &impl Fn(u64),
    ) {
        if key != own {
            let hash = hash_of(key);
            hashed(hash);
            self.away.push(Away {
                key,
                hash,
                edge: self.edges as u32,
            });
            if !PACKED {
                self.states.push(state);
            }
        }
        self.edges += 1;
    }

    /// How many states have to be looked up.
    #[inline]
    pub(crate) const fn look_ups(&self) -> usize {
        self.away.len()
    }

    /// Gets all places of the index from memory that will be looked up.
    #[inline]
    pub(crate) fn expect(&self, index: &Index) {
        self.away.iter().for_each(|away| index.expect(away.hash));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u32>()
            + self.away.capacity() * size_of::<Away>()
            + self.states.capacity() * size_of::<S>()
            + self.weights.capacity() * size_of::<u16>()
    }
}
