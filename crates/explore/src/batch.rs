//! The transitions of a batch of expanded states, before their targets are looked up.

use crate::index::{Index, hash_of};

/// The results of applying all actions to some states, ordered by state, then by action.
pub(crate) struct Batch<S> {
    /// The total number of edges.
    pub(crate) edges: usize,
    /// The number of edges of each state.
    pub(crate) counts: Vec<u32>,
    /// The edges that lead to a different state. Self-loops are common and need no lookup.
    pub(crate) transitions: Vec<Transition>,
    /// The states that the transitions reach, one per transition. Empty if states are packed,
    /// because a packed key contains the state.
    pub(crate) states: Vec<S>,
    /// In a search with all clicks: the number of cells that each edge represents, 0 if its action
    /// is not a click. Empty in other searches.
    pub(crate) weights: Vec<u16>,
    /// Whether at least one reached state could not be packed into a key.
    pub(crate) unpackable: bool,
    /// Whether any state of the batch offers clicks.
    pub(crate) has_clicks: bool,
    /// Whether representative cells were clicked in any state of the batch.
    pub(crate) representative_clicks: bool,
}

/// An edge to a state other than its source.
#[derive(Clone, Copy)]
pub(crate) struct Transition {
    /// The key of the target, with its outcome bits.
    pub(crate) key: u128,
    pub(crate) hash: u64,
    /// The position of the edge within the batch.
    pub(crate) edge: u32,
}

impl<S> Batch<S> {
    /// Creates an empty batch with room for `states` states and two transitions per state.
    pub(crate) fn new(states: usize) -> Self {
        Self {
            edges: 0,
            counts: Vec::with_capacity(states),
            transitions: Vec::with_capacity(2 * states),
            states: Vec::new(),
            weights: Vec::new(),
            unpackable: false,
            has_clicks: false,
            representative_clicks: false,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.edges = 0;
        self.counts.clear();
        self.transitions.clear();
        self.states.clear();
        self.weights.clear();
    }

    /// Adds the result of an action that was applied to the state with key `from`. If the target is
    /// another state, passes its hash to `on_hash`, so that the caller can prefetch its index
    /// group.
    #[inline]
    pub(crate) fn add<const PACKED: bool>(
        &mut self,
        from: u128,
        (key, state): (u128, S),
        on_hash: &impl Fn(u64),
    ) {
        if key != from {
            let hash = hash_of(key);
            on_hash(hash);
            self.transitions.push(Transition {
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

    /// Returns the number of targets that must be looked up.
    #[inline]
    pub(crate) const fn lookups(&self) -> usize {
        self.transitions.len()
    }

    /// Prefetches the index groups of all targets.
    #[inline]
    pub(crate) fn prefetch(&self, index: &Index) {
        self.transitions
            .iter()
            .for_each(|transition| index.prefetch(transition.hash));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u32>()
            + self.transitions.capacity() * size_of::<Transition>()
            + self.states.capacity() * size_of::<S>()
            + self.weights.capacity() * size_of::<u16>()
    }
}
