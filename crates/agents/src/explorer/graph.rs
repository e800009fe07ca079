//! The state graph of a level: settled frames without status bars, and the actions between them.

use std::collections::BTreeMap;

use rhae_engine::{Action, ActionSet, CELLS, Frame, SIZE, StateKey, key_of};
use rhae_percept::CellSet;

use super::affinity::{Blob, Pair};
use super::options::Choice;

/// The largest number of nodes, which occupy 5 KB each.
const MAX_NODES: usize = 16_384;
/// The largest number of choices of all nodes together: 32 MB.
const MAX_CHOICES: usize = 2_000_000;
/// How often an action must have lost the level at a node to be given up there.
const MAX_LOSSES: u8 = 2;
/// How often the result of an action must have changed to be considered as random.
const MAX_CONFLICTS: u8 = 3;

/// The index of a node.
pub(super) type NodeId = usize;

/// The known result of an action.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: NodeId,
    /// How often the result differed from the stored one.
    conflicts: u8,
    losses: u8,
}

/// What the explorer knows about a state.
pub(super) struct Node {
    frame: Frame,
    offered: ActionSet,
    key: StateKey,
    pub(super) choices: Vec<Choice>,
    pub(super) blobs: Vec<Blob>,
    edges: BTreeMap<Action, Edge>,
    /// The nearest mover and target, and the version of the targets for which they hold.
    pub(super) aim: Option<(u32, Option<Pair>)>,
}

impl Node {
    /// Returns the known actions that lead to another node, without those that are random or lose
    /// the level.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Action, NodeId)> + '_ {
        let reliable = self
            .edges
            .iter()
            .filter(|(_, edge)| edge.conflicts < MAX_CONFLICTS && edge.losses < MAX_LOSSES);
        reliable.map(|(&action, edge)| (action, edge.to))
    }

    pub(super) const fn key(&self) -> StateKey {
        self.key
    }
}

/// The state graph of one level.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// The node to which the last RESET led. Until the first one, node 0 is assumed, the beginning of
    /// the level; but its frame need not be that after RESET.
    start: Option<NodeId>,
    by_key: BTreeMap<StateKey, NodeId>,
    choices: usize,
}

impl Graph {
    /// Returns the node of a frame, if it is known.
    pub(super) fn find(&self, frame: &Frame, mask: &CellSet, offered: ActionSet) -> Option<NodeId> {
        self.by_key.get(&masked_key(frame, mask, offered)).copied()
    }

    /// Adds the node of a frame.
    pub(super) fn insert(
        &mut self,
        frame: Frame,
        mask: &CellSet,
        offered: ActionSet,
        choices: Vec<Choice>,
        blobs: Vec<Blob>,
    ) -> NodeId {
        let key = masked_key(&frame, mask, offered);
        let id = self.nodes.len();
        self.choices += choices.len();
        self.nodes.push(Node {
            frame,
            offered,
            key,
            choices,
            blobs,
            edges: BTreeMap::new(),
            aim: None,
        });
        self.by_key.insert(key, id);
        id
    }

    /// Returns whether the graph has reached its limits and must be replaced by an empty one.
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_NODES || self.choices >= MAX_CHOICES
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id]
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node to which RESET leads, as far as it is known.
    pub(super) fn start(&self) -> NodeId {
        self.start.unwrap_or(0)
    }

    /// Returns whether RESET is known to lead to a node.
    pub(super) fn is_start(&self, node: NodeId) -> bool {
        self.start == Some(node)
    }

    /// Records the node to which RESET led.
    pub(super) fn set_start(&mut self, node: NodeId) {
        self.start = Some(node);
    }

    /// Records the successor of an action, and returns its choice if it was not tried before.
    pub(super) fn connect(&mut self, from: NodeId, action: Action, to: NodeId) -> Option<Choice> {
        let node = &mut self.nodes[from];
        let edge = node.edges.entry(action).or_insert(Edge {
            to,
            conflicts: 0,
            losses: 0,
        });
        if edge.to != to {
            edge.to = to;
            edge.conflicts = edge.conflicts.saturating_add(1);
        }
        let choice = node
            .choices
            .iter_mut()
            .find(|choice| choice.action == action)?;
        (!std::mem::replace(&mut choice.is_tried, true)).then_some(*choice)
    }

    /// Records that an action lost the level.
    pub(super) fn record_loss(&mut self, from: NodeId, action: Action) {
        let node = &mut self.nodes[from];
        if let Some(edge) = node.edges.get_mut(&action) {
            edge.losses = edge.losses.saturating_add(1);
        } else if let Some(choice) = node.choices.iter_mut().find(|one| one.action == action) {
            choice.losses += 1;
            choice.is_tried = choice.losses >= MAX_LOSSES;
        }
    }

    /// Returns the known successor of an action.
    pub(super) fn successor(&self, from: NodeId, action: Action) -> Option<NodeId> {
        self.nodes[from].edges.get(&action).map(|edge| edge.to)
    }

    /// Rebuilds the graph with a new mask, which may merge nodes. Returns the new id of each node.
    pub(super) fn rebuild(&mut self, mask: &CellSet) -> Vec<NodeId> {
        let old = std::mem::take(self);
        let mut kept = Vec::with_capacity(old.nodes.len());
        let mut new_ids = Vec::with_capacity(old.nodes.len());
        for node in old.nodes {
            let known = self.find(&node.frame, mask, node.offered);
            let id = known.unwrap_or_else(|| {
                let mut choices = node.choices.clone();
                choices.iter_mut().for_each(|choice| {
                    choice.is_tried = choice.losses >= MAX_LOSSES;
                });
                self.insert(node.frame, mask, node.offered, choices, node.blobs)
            });
            new_ids.push(id);
            kept.push(node.edges);
        }
        self.start = old.start.map(|start| new_ids[start]);
        for (from, edges) in new_ids.iter().zip(kept) {
            for (action, edge) in edges {
                self.connect(*from, action, new_ids[edge.to]);
                if let Some(new) = self.nodes[*from].edges.get_mut(&action) {
                    new.losses = new.losses.max(edge.losses);
                }
            }
        }
        // Conflicts between merged nodes say nothing about the game.
        for edge in self
            .nodes
            .iter_mut()
            .flat_map(|node| node.edges.values_mut())
        {
            edge.conflicts = 0;
        }
        new_ids
    }
}

fn masked_key(frame: &Frame, mask: &CellSet, offered: ActionSet) -> StateKey {
    let mut cells: [u8; CELLS] = *frame.cells();
    for (x, y) in mask.iter() {
        cells[usize::from(y) * SIZE + usize::from(x)] = 0;
    }
    key_of(&(cells, offered))
}
