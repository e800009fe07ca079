//! The state graph of a level: who leads where.
//!
//! States are numbered in the order of a breadth-first search, so that each depth is a range of numbers. **Invariant:** of
//! a state either all actions are there or none. A state's edges are in the order of its actions, which are therefore
//! not stored. What the graph does not know: pictures, probabilities, the environment's name.

use std::ops::Range;

use rhae_engine::{Outcome, PACKED_BITS};

use crate::pages::{Pages, Rows};

/// Cells of a frame that can be clicked.
pub const CLICKS: u16 = 4096;

/// Why a search stopped before it had seen everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// As many states as allowed.
    Nodes,
    /// As many edges as allowed.
    Edges,
    /// States at the greatest depth allowed were not looked into.
    Depth,
    /// More memory would have been needed than allowed.
    Memory,
    /// The caller had enough, by its clock or otherwise.
    Time,
}

impl Stop {
    /// The name in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Edges => "edges",
            Self::Depth => "depth",
            Self::Memory => "memory",
            Self::Time => "time",
        }
    }
}

/// How actions are weighed by a player who knows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Uniform over the actions of the graph.
    Valid,
    /// Uniform over the kinds of action that are offered, a click uniform over all cells.
    Blind,
}

/// The states of a level and what leads from one to another.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The key of each state, its outcome in the two highest bits.
    pub(crate) keys: Pages<u128>,
    /// Where each state leads that was looked into, and how many cells a click stands for, 0 for a key; without such weights
    /// clicks stand for themselves.
    pub(crate) rows: Rows,
    /// The first state of each depth.
    pub(crate) layers: Vec<u32>,
    pub(crate) stop: Option<Stop>,
    pub(crate) packed: bool,
    pub(crate) has_clicks: bool,
    /// The most memory that the search held at a time.
    pub(crate) peak_bytes: usize,
}

impl Graph {
    /// How many different states there are, ends of the level included.
    #[inline]
    pub fn nodes(&self) -> usize {
        self.keys.len()
    }

    /// How many actions lead from state to state.
    #[inline]
    pub fn edges(&self) -> usize {
        self.rows.len()
    }

    /// How many states were looked into, ends included; the others are the frontier.
    #[inline]
    pub fn expanded(&self) -> usize {
        self.rows.rows()
    }

    /// Whether every action of every state is there.
    pub fn is_complete(&self) -> bool {
        self.stop.is_none()
    }

    /// What stopped the search.
    pub const fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// Whether keys are states, so that no two states can be confused.
    pub const fn is_packed(&self) -> bool {
        self.packed
    }

    /// The most memory that the search held at a time.
    pub const fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// The depth of the deepest state.
    pub fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    /// The states at a depth.
    pub fn layer(&self, depth: usize) -> Range<u32> {
        let end = self
            .layers
            .get(depth + 1)
            .map_or(self.keys.len() as u32, |&next| next);
        self.layers[depth]..end
    }

    /// The depth of a state.
    pub fn depth_of(&self, node: u32) -> usize {
        self.layers.partition_point(|&first| first <= node) - 1
    }

    /// Whether a state ends the level.
    #[inline]
    pub fn outcome(&self, node: u32) -> Outcome {
        outcome_of(self.keys.at(node as usize))
    }

    /// The key of a state, without its outcome.
    pub fn key(&self, node: u32) -> u128 {
        self.keys.at(node as usize) & KEY
    }

    /// Whether a state goes on but was not looked into.
    pub fn is_frontier(&self, node: u32) -> bool {
        node as usize >= self.expanded() && self.outcome(node) == Outcome::Going
    }

    /// Where the actions of a state lead, in their order.
    #[inline]
    pub fn targets(&self, node: u32) -> &[u32] {
        self.rows.targets(node as usize)
    }

    /// Whether clicks are offered anywhere.
    pub const fn has_clicks(&self) -> bool {
        self.has_clicks
    }

    /// Whether the chances of a policy are known: of one that clicks blindly only if all cells were tried.
    pub const fn knows(&self, policy: Policy) -> bool {
        matches!(policy, Policy::Valid) || self.rows.is_weighted() || !self.has_clicks
    }

    /// Where a state leads under a policy, each action with its weight, and the sum of the weights.
    #[inline]
    pub(crate) fn moves(
        &self,
        node: u32,
        policy: Policy,
    ) -> (impl Iterator<Item = (u32, u64)> + Clone + '_, u64) {
        let targets = self.rows.targets(node as usize);
        let weights = self.rows.weights(node as usize);
        let weight = move |edge: usize| match (weights.map(|weights| weights[edge]), policy) {
            (None, _) | (Some(0), Policy::Valid) => 1,
            (Some(0), Policy::Blind) => u64::from(CLICKS),
            (Some(cells), _) => u64::from(cells),
        };
        let total = if weights.is_none() {
            targets.len() as u64
        } else {
            (0..targets.len()).map(weight).sum()
        };
        (
            targets
                .iter()
                .enumerate()
                .map(move |(edge, &target)| (target, weight(edge))),
            total,
        )
    }

    /// Where clicks on all cells were tried: how many cells each edge of a state stands for, 0 for a key.
    pub fn cells(&self, node: u32) -> Option<&[u16]> {
        self.rows.weights(node as usize)
    }

    /// Ends of the level: wins, losses.
    pub fn terminals(&self) -> (usize, usize) {
        let count = |wanted: Outcome| {
            self.keys
                .iter_from(0)
                .filter(|&key| outcome_of(key) == wanted)
                .count()
        };
        (count(Outcome::LevelWon), count(Outcome::GameOver))
    }
}

pub(crate) const KEY: u128 = (1 << PACKED_BITS) - 1;

/// A key with its outcome in the two highest bits. Of a hash two bits are lost.
#[inline]
pub(crate) const fn with_outcome(key: u128, outcome: Outcome) -> u128 {
    // Half by half: a key that was just written to memory in two halves is slow to read as a whole.
    let (low, high) = (key as u64, (key >> 64) as u64);
    let high = high & (KEY >> 64) as u64 | (outcome as u64) << (PACKED_BITS - 64);
    (high as u128) << 64 | low as u128
}

#[inline]
pub(crate) const fn outcome_of(key: u128) -> Outcome {
    match key >> PACKED_BITS {
        0 => Outcome::Going,
        1 => Outcome::LevelWon,
        _ => Outcome::GameOver,
    }
}
