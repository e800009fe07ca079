//! The state graph of one level, with the distances of its nodes to the frontier.

use std::collections::{BTreeMap, VecDeque};

use rhae_engine::StateKey;

use super::frame_processor::TIERS;

/// The largest number of nodes. A graph that exceeds it is dropped, see [`LevelGraph::is_full`].
const MAX_NODES: usize = 65_536;
/// The largest number of actions of all nodes together: 48 MB.
const MAX_ACTIONS: usize = 4_000_000;
/// The largest number of suspicious transitions that are counted at a time.
const MAX_SUSPICIONS: usize = 65_536;
/// How often a suspicious transition must be seen until it is believed.
const BELIEVED_AFTER: u8 = 3;

/// The index of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeId(u32);

impl NodeId {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The position of an action in the list of its node.
pub(super) type ActionIndex = u16;

/// What is known about an action at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Untested,
    /// The action leads to another node.
    Success(NodeId),
    /// The action does not change the masked frame.
    Fail,
}

#[derive(Clone, Copy)]
struct Edge {
    outcome: Outcome,
    tier: u8,
    /// How often in a row the action had another result than the stored one.
    contradictions: u8,
}

struct Node {
    edges: Vec<Edge>,
    /// The number of untested actions of each tier.
    untested: [u16; TIERS as usize],
    /// The nodes from which an action leads here, one entry for each action.
    predecessors: Vec<NodeId>,
    /// The length of the shortest known path to the frontier.
    distance: u32,
}

/// The distance of a node from which no known path leads to the frontier.
const UNREACHABLE: u32 = u32::MAX;

/// The state graph of one level.
///
/// **Frontier:** the nodes with an untested action of the active tier or a lower one.
///
/// **Cost:** each tested action adds at most one edge, so a search after `n` actions visits at most
/// `n` edges.
#[derive(Default)]
pub(super) struct LevelGraph {
    nodes: Vec<Node>,
    by_key: BTreeMap<StateKey, NodeId>,
    active_tier: u8,
    /// The number of actions of all nodes.
    actions: usize,
    /// How often each suspicious transition was seen.
    suspicions: BTreeMap<(NodeId, ActionIndex, NodeId), u8>,
    /// Whether `distance` of some node may be outdated.
    is_stale: bool,
}

impl LevelGraph {
    pub(super) fn find(&self, key: StateKey) -> Option<NodeId> {
        self.by_key.get(&key).copied()
    }

    /// Adds a node whose actions have these tiers.
    pub(super) fn insert(&mut self, key: StateKey, tiers: impl Iterator<Item = u8>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let mut untested = [0; TIERS as usize];
        let edges: Vec<Edge> = tiers
            .map(|tier| {
                untested[usize::from(tier)] += 1;
                Edge {
                    outcome: Outcome::Untested,
                    tier,
                    contradictions: 0,
                }
            })
            .collect();
        self.actions += edges.len();
        self.nodes.push(Node {
            edges,
            untested,
            predecessors: Vec::new(),
            distance: UNREACHABLE,
        });
        self.by_key.insert(key, id);
        self.is_stale = true;
        id
    }

    /// Returns whether the graph has reached its limits and must be replaced by an empty one.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_NODES || self.actions >= MAX_ACTIONS
    }

    /// Records the result of an action. A suspicious transition is ignored until it was seen three
    /// times.
    pub(super) fn record(
        &mut self,
        from: NodeId,
        action: ActionIndex,
        to: NodeId,
        is_suspicious: bool,
    ) {
        if is_suspicious {
            if self.suspicions.len() >= MAX_SUSPICIONS {
                self.suspicions.clear();
            }
            let seen = self.suspicions.entry((from, action, to)).or_default();
            *seen = seen.saturating_add(1);
            if *seen < BELIEVED_AFTER {
                return;
            }
        }
        let outcome = if from == to {
            Outcome::Fail
        } else {
            Outcome::Success(to)
        };
        let edge = self.nodes[from.index()].edges[usize::from(action)];
        if edge.outcome == outcome {
            self.edge_mut(from, action).contradictions = 0;
        } else if edge.outcome == Outcome::Untested || self.overrides(from, action, to) {
            self.store(from, action, outcome);
        }
    }

    /// Returns whether a result replaces another one that was stored before: if it is nearer to the
    /// frontier, or if the stored one was contradicted three times in a row.
    fn overrides(&mut self, from: NodeId, action: ActionIndex, to: NodeId) -> bool {
        self.update_distances();
        let edge = self.edge_mut(from, action);
        edge.contradictions += 1;
        let is_refuted = edge.contradictions >= BELIEVED_AFTER;
        let known = match edge.outcome {
            Outcome::Success(known) => known,
            Outcome::Untested | Outcome::Fail => from,
        };
        is_refuted || self.distance(to) < self.distance(known)
    }

    fn store(&mut self, from: NodeId, action: ActionIndex, outcome: Outcome) {
        let edge = self.edge_mut(from, action);
        let tier = usize::from(edge.tier);
        let old = std::mem::replace(&mut edge.outcome, outcome);
        edge.contradictions = 0;
        match old {
            Outcome::Untested => self.nodes[from.index()].untested[tier] -= 1,
            Outcome::Success(to) => {
                let predecessors = &mut self.nodes[to.index()].predecessors;
                if let Some(position) = predecessors.iter().position(|&node| node == from) {
                    predecessors.swap_remove(position);
                }
            }
            Outcome::Fail => {}
        }
        if let Outcome::Success(to) = outcome {
            self.nodes[to.index()].predecessors.push(from);
        }
        self.is_stale = true;
    }

    fn edge_mut(&mut self, from: NodeId, action: ActionIndex) -> &mut Edge {
        &mut self.nodes[from.index()].edges[usize::from(action)]
    }

    fn is_frontier(&self, node: NodeId) -> bool {
        let untested = &self.nodes[node.index()].untested;
        untested[..=usize::from(self.active_tier)]
            .iter()
            .any(|&count| count > 0)
    }

    /// Returns the untested actions of a node up to the active tier.
    pub(super) fn untested(&self, node: NodeId) -> Vec<ActionIndex> {
        self.positions(node, |edge| {
            edge.outcome == Outcome::Untested && edge.tier <= self.active_tier
        })
    }

    /// Returns the actions of a node that begin a shortest path to the frontier, none if no path is
    /// known.
    pub(super) fn steps_to_frontier(&mut self, node: NodeId) -> Vec<ActionIndex> {
        self.update_distances();
        let distance = self.distance(node);
        if distance == UNREACHABLE {
            return Vec::new();
        }
        self.positions(node, |edge| match edge.outcome {
            Outcome::Success(to) => self.distance(to) < distance,
            Outcome::Untested | Outcome::Fail => false,
        })
    }

    fn positions(&self, node: NodeId, wanted: impl Fn(&Edge) -> bool) -> Vec<ActionIndex> {
        let edges = (0..).zip(&self.nodes[node.index()].edges);
        edges
            .filter(|(_, edge)| wanted(edge))
            .map(|(index, _)| index)
            .collect()
    }

    /// Opens the next tier, which makes nodes part of the frontier again. Returns `false` if all
    /// tiers are open.
    pub(super) fn open_next_tier(&mut self) -> bool {
        let opened = self.active_tier + 1 < TIERS;
        if opened {
            self.active_tier += 1;
            self.is_stale = true;
        }
        opened
    }

    fn distance(&self, node: NodeId) -> u32 {
        self.nodes[node.index()].distance
    }

    /// Computes the distance of every node to the frontier by a breadth-first search from all nodes
    /// of the frontier against the direction of the edges.
    fn update_distances(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let mut queue = VecDeque::new();
        for id in (0..self.nodes.len() as u32).map(NodeId) {
            let is_frontier = self.is_frontier(id);
            self.nodes[id.index()].distance = if is_frontier { 0 } else { UNREACHABLE };
            if is_frontier {
                queue.push_back(id);
            }
        }
        while let Some(node) = queue.pop_front() {
            let distance = self.distance(node) + 1;
            for position in 0..self.nodes[node.index()].predecessors.len() {
                let from = self.nodes[node.index()].predecessors[position];
                if self.distance(from) == UNREACHABLE {
                    self.nodes[from.index()].distance = distance;
                    queue.push_back(from);
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn outcome(&self, node: NodeId, action: ActionIndex) -> Outcome {
        self.nodes[node.index()].edges[usize::from(action)].outcome
    }

    #[cfg(test)]
    pub(super) const fn active_tier(&self) -> u8 {
        self.active_tier
    }
}
