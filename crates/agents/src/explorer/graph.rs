//! The pictures seen on a level and the actions between them.

use std::collections::{BTreeMap, VecDeque};

use rhae_engine::{Action, ActionKind, ActionSet, CELLS, Frame, StateKey, key_of};

use super::bars::Mask;
use super::habits::Feature;
use super::is_exploratory;
use super::objects::{Object, objects};

/// A picture's place in the graph.
pub(super) type NodeId = usize;

/// Something that can be tried in a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) action: Action,
    pub(super) feature: Feature,
}

struct Node {
    picture: Frame,
    objects: Vec<Object>,
    offered: ActionSet,
    untried: Vec<Choice>,
    /// Whether something appeared here that had not been seen before.
    surprising: bool,
    /// Where each tried action led; a lost game leads nowhere.
    steps: BTreeMap<Action, Option<NodeId>>,
}

/// The graph of one level. The first picture entered is the level's start, to which RESET leads from everywhere.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    by_key: BTreeMap<StateKey, NodeId>,
}

impl Graph {
    /// The place of a picture, which is new or known.
    pub(super) fn enter(
        &mut self,
        picture: &Frame,
        mask: &Mask,
        offered: ActionSet,
        surprising: bool,
    ) -> NodeId {
        let key = key_without(picture, mask);
        if let Some(&node) = self.by_key.get(&key) {
            return node;
        }
        let node = self.nodes.len();
        let objects = objects(picture);
        self.nodes.push(Node {
            picture: picture.clone(),
            offered,
            untried: choices(&objects, mask, offered),
            objects,
            surprising,
            steps: BTreeMap::new(),
        });
        self.by_key.insert(key, node);
        node
    }

    /// Remembers where an action led.
    pub(super) fn connect(&mut self, from: NodeId, action: Action, to: NodeId, lost: bool) {
        let node = &mut self.nodes[from];
        node.untried.retain(|option| option.action != action);
        if action != Action::Reset {
            node.steps.insert(action, (!lost).then_some(to));
        }
    }

    /// Builds the graph anew because pictures are now compared in another way: some that were different are the same.
    pub(super) fn rebuild(&mut self, mask: &Mask) {
        let old = std::mem::take(self);
        let places: Vec<NodeId> = old
            .nodes
            .iter()
            .map(|node| self.enter(&node.picture, mask, node.offered, node.surprising))
            .collect();
        for (index, node) in old.nodes.into_iter().enumerate() {
            for (action, to) in node.steps {
                self.connect(
                    places[index],
                    action,
                    to.map_or(places[index], |to| places[to]),
                    to.is_none(),
                );
            }
        }
    }

    /// What was not tried in a picture.
    pub(super) fn untried(&self, node: NodeId) -> &[Choice] {
        &self.nodes[node].untried
    }

    /// The objects of a picture.
    pub(super) fn objects(&self, node: NodeId) -> &[Object] {
        &self.nodes[node].objects
    }

    /// How much more everything is worth trying in a picture where something appeared for the first time.
    pub(super) fn surprise(&self, node: NodeId) -> f64 {
        if self.nodes[node].surprising {
            2.0
        } else {
            1.0
        }
    }

    /// For every picture that can be reached by known ways: how many steps away it is, and the first of them.
    pub(super) fn ways_from(&self, here: NodeId) -> Vec<Option<(u32, Option<Action>)>> {
        let mut ways: Vec<Option<(u32, Option<Action>)>> = vec![None; self.nodes.len()];
        ways[here] = Some((0, None));
        let mut queue = VecDeque::from([here]);
        while let Some(node) = queue.pop_front() {
            let (length, first_step) = ways[node].expect("a node is queued with its way");
            let steps = self.nodes[node]
                .steps
                .iter()
                .filter_map(|(&action, &to)| to.map(|to| (action, to)));
            for (action, to) in steps.chain([(Action::Reset, 0)]) {
                if ways[to].is_none() {
                    ways[to] = Some((length + 1, first_step.or(Some(action))));
                    queue.push_back(to);
                }
            }
        }
        ways
    }

    /// The known actions that lead from a picture to another.
    pub(super) fn steps_away(&self, node: NodeId) -> Vec<Action> {
        let steps = self.nodes[node].steps.iter();
        steps
            .filter(|(_, to)| to.is_some_and(|to| to != node))
            .map(|(&action, _)| action)
            .collect()
    }
}

fn key_without(picture: &Frame, mask: &Mask) -> StateKey {
    let mut cells = *picture.cells();
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
            feature: Feature::Object(object.look),
        }));
    }
    choices
}
