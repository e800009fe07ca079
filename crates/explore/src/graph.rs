//! The state graph of a level.
//!
//! Node ids follow the order of the breadth-first search, so each depth is a range of ids and node
//! 0 is the start. The edges of a node have the same order as its actions. The actions are
//! therefore not stored; [`edge_actions`](crate::edge_actions) recomputes them.
//!
//! **Invariant:** a node has either all of its edges or none. The graph does not contain frames,
//! probabilities, or the name of the environment.

use std::ops::Range;

use rhae_engine::{Outcome, PACKED_BITS};

use crate::pages::{EdgeRows, Pages};

/// The number of cells in a frame, each of which can be clicked.
pub const CLICKS: u16 = 4096;

/// The reason why a search ended before the graph was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The maximum number of states was reached.
    Nodes,
    /// The maximum number of edges was reached.
    Edges,
    /// States at the maximum depth were not expanded.
    Depth,
    /// The memory limit would have been exceeded.
    Memory,
    /// The `should_continue` callback returned false.
    Time,
    /// The user interrupted the search. Only [`analyze`](crate::analyze) reports it.
    Interrupt,
}

impl StopReason {
    /// Returns the name that is used in files and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Edges => "edges",
            Self::Depth => "depth",
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Interrupt => "interrupt",
        }
    }
}

/// The distribution from which a random player draws its actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Uniform over the actions that the search tried: all simple actions except RESET and undo,
    /// and one action per clicked cell.
    Valid,
    /// First draws a kind of action uniformly from the offered kinds, except RESET and undo. For a
    /// click, then draws a cell uniformly from all cells.
    Blind,
}

/// The states of a level and the transitions between them, as built by [`explore`](crate::explore).
///
/// Nodes that were not expanded because a limit was reached form the *frontier*. A graph without a
/// frontier is complete.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The key of each node, with its outcome in the two highest bits.
    pub(crate) keys: Pages<u128>,
    /// The targets of every expanded node. If all cells were clicked, each edge has a weight: the
    /// number of cells that it represents, or 0 if its action is not a click.
    pub(crate) rows: EdgeRows,
    /// The first node of each depth.
    pub(crate) layers: Vec<u32>,
    pub(crate) stop: Option<StopReason>,
    pub(crate) packed: bool,
    pub(crate) has_clicks: bool,
    pub(crate) representative_clicks: bool,
    pub(crate) peak_bytes: usize,
}

impl Graph {
    /// Returns the number of states, terminal states included.
    #[inline]
    pub fn nodes(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of transitions.
    #[inline]
    pub fn edges(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of expanded nodes, terminal nodes included. Nodes with higher ids were
    /// not expanded.
    #[inline]
    pub fn expanded(&self) -> usize {
        self.rows.rows()
    }

    /// Returns whether every reachable state was expanded.
    pub fn is_complete(&self) -> bool {
        self.stop.is_none()
    }

    /// Returns the limit that ended the search, or `None` if the graph is complete.
    pub const fn stop(&self) -> Option<StopReason> {
        self.stop
    }

    /// Returns whether keys are packed states rather than hashes. Two different states then never
    /// share a key.
    pub const fn is_packed(&self) -> bool {
        self.packed
    }

    /// Returns the largest number of bytes that the search used at any time.
    pub const fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// Returns the depth of the deepest node.
    pub fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    /// Returns the nodes at a depth.
    ///
    /// # Panics
    ///
    /// Panics if `depth` is greater than [`depth`](Self::depth).
    pub fn layer(&self, depth: usize) -> Range<u32> {
        let end = self
            .layers
            .get(depth + 1)
            .map_or(self.keys.len() as u32, |&next| next);
        self.layers[depth]..end
    }

    /// Returns the length of a shortest path from the start to a node.
    pub fn depth_of(&self, node: u32) -> usize {
        self.layers.partition_point(|&first| first <= node) - 1
    }

    /// Returns whether a node is a win, a loss, or not terminal.
    #[inline]
    pub fn outcome(&self, node: u32) -> Outcome {
        outcome_of(self.keys.at(node as usize))
    }

    /// Returns the key of a node without its outcome bits.
    pub fn key(&self, node: u32) -> u128 {
        self.keys.at(node as usize) & KEY
    }

    /// Returns whether a node is neither terminal nor expanded.
    pub fn is_frontier(&self, node: u32) -> bool {
        node as usize >= self.expanded() && self.outcome(node) == Outcome::Continue
    }

    /// Returns the target of each action of a node, in the order of the actions. The slice is empty
    /// for terminal nodes and for the frontier.
    #[inline]
    pub fn targets(&self, node: u32) -> &[u32] {
        self.rows.targets(node as usize)
    }

    /// Returns whether any expanded state offers clicks.
    pub const fn has_clicks(&self) -> bool {
        self.has_clicks
    }

    /// Returns whether the search clicked representative cells in any state, because the environment
    /// does not list where clicks may have an effect. Clicks on other cells may then lead to further
    /// states, so the graph proves no probabilities and no dead ends.
    pub const fn has_representative_clicks(&self) -> bool {
        self.representative_clicks
    }

    /// Returns whether the graph contains the transitions that a policy needs. [`Policy::Blind`]
    /// needs a search with all clicks if clicks are offered.
    pub const fn supports(&self, policy: Policy) -> bool {
        matches!(policy, Policy::Valid) || self.rows.is_weighted() || !self.has_clicks
    }

    /// Returns the targets of a node with their weights under a policy, and the sum of the weights.
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

    /// Returns, for each edge of a node, the number of cells whose clicks lead to its target, or 0
    /// if its action is not a click. Returns `None` if the search did not click all cells.
    pub fn cells(&self, node: u32) -> Option<&[u16]> {
        self.rows.weights(node as usize)
    }

    /// Returns the number of winning nodes and the number of losing nodes.
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

/// Stores an outcome in the two highest bits of a key. A hash is truncated to the remaining
/// 126 bits.
#[inline]
pub(crate) const fn with_outcome(key: u128, outcome: Outcome) -> u128 {
    // Works on the two halves of the key separately, because reading a 128-bit value right after
    // its halves were written is slow.
    let (low, high) = (key as u64, (key >> 64) as u64);
    let high = high & (KEY >> 64) as u64 | (outcome as u64) << (PACKED_BITS - 64);
    (high as u128) << 64 | low as u128
}

#[inline]
pub(crate) const fn outcome_of(key: u128) -> Outcome {
    match key >> PACKED_BITS {
        0 => Outcome::Continue,
        1 => Outcome::LevelWon,
        _ => Outcome::GameOver,
    }
}
