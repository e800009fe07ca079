//! The state graph of a level: settled frames and the actions between them.

use std::collections::{BTreeMap, VecDeque};

use rhae_engine::{Action, ActionKind, ActionSet, CELLS, Frame, StateKey, key_of};

use super::action_stats::Feature;
use super::bars::Mask;
use super::is_exploratory;
use super::objects::{Object, objects};

/// The index of a node.
pub(super) type NodeId = usize;

/// An action that can be tried at a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) action: Action,
    pub(super) feature: Feature,
}

struct Node {
    frame: Frame,
    objects: Vec<Object>,
    offered: ActionSet,
    untried: Vec<Choice>,
    /// Whether the frame showed a colour that was new on this level.
    novel: bool,
    /// The successor of each tried action; `None` if the action lost the level.
    steps: BTreeMap<Action, Option<NodeId>>,
}

/// The state graph of one level.
///
/// **Invariant:** RESET leads from every node to the start, as far as it was observed.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// The node to which the last RESET led. Until the first one, node 0 is assumed, the beginning of
    /// the level; but its frame need not be that after RESET.
    start: Option<NodeId>,
    by_key: BTreeMap<StateKey, NodeId>,
}

impl Graph {
    /// Returns the node of a frame, and adds it if it is new.
    pub(super) fn get_or_insert(
        &mut self,
        frame: &Frame,
        mask: &Mask,
        offered: ActionSet,
        novel: bool,
    ) -> NodeId {
        let key = masked_key(frame, mask);
        if let Some(&node) = self.by_key.get(&key) {
            return node;
        }
        let node = self.nodes.len();
        let objects = objects(frame);
        self.nodes.push(Node {
            frame: frame.clone(),
            offered,
            untried: choices(&objects, mask, offered),
            objects,
            novel,
            steps: BTreeMap::new(),
        });
        self.by_key.insert(key, node);
        node
    }

    /// Records the successor of an action.
    pub(super) fn connect(&mut self, from: NodeId, action: Action, to: NodeId, lost: bool) {
        let node = &mut self.nodes[from];
        node.untried.retain(|option| option.action != action);
        if action != Action::Reset {
            node.steps.insert(action, (!lost).then_some(to));
        } else if !lost {
            self.start = Some(to);
        }
    }

    /// Returns whether RESET is known to lead to a node.
    pub(super) fn is_start(&self, node: NodeId) -> bool {
        self.start == Some(node)
    }

    /// Rebuilds the graph with a new mask, which may merge nodes.
    pub(super) fn rebuild(&mut self, mask: &Mask) {
        let old = std::mem::take(self);
        let new_ids: Vec<NodeId> = old
            .nodes
            .iter()
            .map(|node| self.get_or_insert(&node.frame, mask, node.offered, node.novel))
            .collect();
        self.start = old.start.map(|start| new_ids[start]);
        for (index, node) in old.nodes.into_iter().enumerate() {
            for (action, to) in node.steps {
                self.connect(
                    new_ids[index],
                    action,
                    to.map_or(new_ids[index], |to| new_ids[to]),
                    to.is_none(),
                );
            }
        }
    }

    pub(super) fn untried(&self, node: NodeId) -> &[Choice] {
        &self.nodes[node].untried
    }

    pub(super) fn objects(&self, node: NodeId) -> &[Object] {
        &self.nodes[node].objects
    }

    /// Returns the weight of keys at a node: higher if the frame showed a new colour.
    pub(super) fn novelty(&self, node: NodeId) -> f64 {
        if self.nodes[node].novel { 2.0 } else { 1.0 }
    }

    /// Returns, for each node, the length of a shortest path of known actions and its first action;
    /// `None` if the node is unreachable. The path to `here` itself has no first action. RESET is the
    /// first action only if `may_reset` is set.
    pub(super) fn paths_from(
        &self,
        here: NodeId,
        may_reset: bool,
    ) -> Vec<Option<(u32, Option<Action>)>> {
        let mut paths: Vec<Option<(u32, Option<Action>)>> = vec![None; self.nodes.len()];
        paths[here] = Some((0, None));
        let mut queue = VecDeque::from([here]);
        while let Some(node) = queue.pop_front() {
            let (length, first_step) = paths[node].expect("a queued node has a path");
            let steps = self.nodes[node]
                .steps
                .iter()
                .filter_map(|(&action, &to)| to.map(|to| (action, to)));
            let start = self.start.unwrap_or(0);
            let reset = (may_reset || node != here).then_some((Action::Reset, start));
            for (action, to) in steps.chain(reset) {
                if paths[to].is_none() {
                    paths[to] = Some((length + 1, first_step.or(Some(action))));
                    queue.push_back(to);
                }
            }
        }
        paths
    }

    /// Returns the known actions that lead from a node to another one.
    pub(super) fn known_exits(&self, node: NodeId) -> Vec<Action> {
        let steps = self.nodes[node].steps.iter();
        steps
            .filter(|(_, to)| to.is_some_and(|to| to != node))
            .map(|(&action, _)| action)
            .collect()
    }
}

fn masked_key(frame: &Frame, mask: &Mask) -> StateKey {
    let mut cells = *frame.cells();
    for cell in 0..CELLS {
        if mask[cell] {
            cells[cell] = 0;
        }
    }
    key_of(&cells)
}

fn choices(objects: &[Object], mask: &Mask, offered: ActionSet) -> Vec<Choice> {
    let keys = offered.iter().filter(|&kind| is_exploratory(kind));
    let mut choices: Vec<Choice> = keys
        .filter_map(|kind| {
            kind.simple().map(|action| Choice {
                action,
                feature: Feature::Key(kind),
            })
        })
        .collect();
    if offered.contains(ActionKind::Action6) {
        let outside_bars = |x: u8, y: u8| !mask[usize::from(y) * 64 + usize::from(x)];
        let clicks = objects
            .iter()
            .filter(|object| outside_bars(object.x, object.y));
        choices.extend(clicks.map(|object| Choice {
            action: Action::Action6 {
                x: object.x,
                y: object.y,
            },
            feature: Feature::Object(object.appearance),
        }));
    }
    choices
}
