//! The search for the nearest untried action, and for the way to it.

use rhae_engine::{Action, ActionKind, ActionSet};

use super::Explorer;
use super::affinity::Pair;
use super::classes::POSTPONED;
use super::graph::NodeId;
use super::options::Choice;
use crate::random::random_action;

/// The chances that an untried action must exceed. The explorer uses the next lower one only when no
/// state within reach has an untried action above the current one.
const THRESHOLDS: [f64; 3] = [0.34, 0.08, 0.0];
/// The largest number of nodes that one search visits.
const MAX_VISITED: usize = 4096;
/// The factor for each time that an action lost the level.
const LOSS_WEIGHT: f64 = 0.1;
/// The expected reduction of the distance between mover and target, in cells, that doubles the weight
/// of an action.
const CELLS_TO_DOUBLE: f64 = 20.0;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// Try an untried action here.
    Try,
    /// Take the first step of the way to a state with an untried action.
    Go(Action),
}

impl Explorer {
    /// Returns the action to take at a node. Returns `None` if no action is offered and RESET does
    /// not help.
    pub(super) fn choose(&mut self, here: NodeId, offered: ActionSet) -> Option<Action> {
        match self.plan(here, offered.contains(ActionKind::Action7)) {
            Some(Plan::Go(action)) => Some(action),
            Some(Plan::Try) => Some(self.best_untried(here)),
            None => self.any_action(here, offered),
        }
    }

    /// Returns the most promising untried action of a node. The seed breaks ties.
    fn best_untried(&mut self, here: NodeId) -> Action {
        let pair = self.aim(here);
        let mut best: Option<(f64, Action)> = None;
        for position in 0..self.graph.node(here).choices.len() {
            let choice = self.graph.node(here).choices[position];
            if choice.is_tried {
                continue;
            }
            let noise = f64::from(self.rng.below(1000)) * 1e-5;
            let gain = pair.map_or(0.0, |pair| self.motion.expected_gain(choice.action, pair));
            let promise = self.chance(&choice)
                * self.motion.continuity(choice.action)
                * (1.0 + gain / CELLS_TO_DOUBLE)
                + noise;
            if best.is_none_or(|(value, _)| promise > value) {
                best = Some((promise, choice.action));
            }
        }
        best.map_or(Action::Reset, |(_, action)| action)
    }

    /// Returns a random known action that leaves the node, RESET if it may leave the node, or else
    /// any offered action. It is used when no untried action is within reach.
    fn any_action(&mut self, here: NodeId, offered: ActionSet) -> Option<Action> {
        let steps = self.graph.node(here).steps();
        let exits: Vec<Action> = steps
            .filter(|&(_, to)| to != here)
            .map(|(action, _)| action)
            .collect();
        if let Some(&exit) = self.rng.choose(&exits) {
            return Some(exit);
        }
        let reset = (!self.was_reset).then_some(Action::Reset);
        match reset.filter(|_| !self.graph.is_start(here)) {
            Some(reset) => Some(reset),
            None => random_action(&mut self.rng, offered).or(reset),
        }
    }

    /// Returns the plan for the nearest untried action, `None` if no such action is within reach.
    ///
    /// Where to go is decided without undo, because a cheap way back makes the explorer give up each
    /// new state too early. Undo then shortens the way, which is followed to its end.
    fn plan(&mut self, here: NodeId, can_undo: bool) -> Option<Plan> {
        match self.route.pop() {
            Some((node, action)) if node == here => return Some(Plan::Go(action)),
            _ => self.route.clear(),
        }
        let found = THRESHOLDS
            .into_iter()
            .find_map(|threshold| self.nearest_above(here, threshold));
        let (plan, node, distance) = found?;
        if can_undo {
            self.route = self.shorter_route(here, node, distance);
            if let Some((_, action)) = self.route.pop() {
                return Some(Plan::Go(action));
            }
        }
        Some(plan)
    }

    /// Returns the plan, the node and the number of steps for the nearest untried action whose chance
    /// exceeds a threshold. Visits the nodes in the order of their distance, over known actions and
    /// over RESET.
    fn nearest_above(&self, here: NodeId, threshold: f64) -> Option<(Plan, NodeId, usize)> {
        let mut is_visited = vec![false; self.graph.len()];
        let mut visited = 0;
        let mut layer = vec![(here, Plan::Try)];
        for distance in 0.. {
            if layer.is_empty() || visited >= MAX_VISITED {
                break;
            }
            let mut next = Vec::new();
            for (node, plan) in layer {
                if std::mem::replace(&mut is_visited[node], true) {
                    continue;
                }
                visited += 1;
                if self.best_chance(node) > threshold {
                    return Some((plan, node, distance));
                }
                next.extend(
                    self.graph
                        .node(node)
                        .steps()
                        .map(|(action, to)| match plan {
                            Plan::Try => (to, Plan::Go(action)),
                            Plan::Go(_) => (to, plan),
                        }),
                );
            }
            if distance == 0 && !self.was_reset {
                next.push((self.graph.start(), Plan::Go(Action::Reset)));
            }
            layer = next;
        }
        None
    }

    /// Returns a way to a node with less than `distance` steps that consists of undos and then of
    /// known steps: the nodes and what to do there, the last first. It is empty if no path exists.
    fn shorter_route(&self, here: NodeId, goal: NodeId, distance: usize) -> Vec<(NodeId, Action)> {
        // Each entry is a node that was reached, the action that led there, and the entry before.
        let mut reached: Vec<(NodeId, Action, usize)> = vec![(here, Action::Action7, 0)];
        let mut is_visited = vec![false; self.graph.len()];
        let mut last_undo = 0;
        let mut layer = Vec::new();
        for steps in 1..distance {
            if let Some(node) = self.undo.back(steps) {
                reached.push((node, Action::Action7, last_undo));
                last_undo = reached.len() - 1;
                layer.push(last_undo);
            }
            let mut next = Vec::new();
            for entry in layer {
                let node = reached[entry].0;
                if node == goal {
                    let way = std::iter::successors(Some(entry), |&entry| {
                        (reached[entry].2 != 0).then_some(reached[entry].2)
                    });
                    return way
                        .map(|at| (reached[reached[at].2].0, reached[at].1))
                        .collect();
                }
                if std::mem::replace(&mut is_visited[node], true) || reached.len() > MAX_VISITED {
                    continue;
                }
                for (action, to) in self.graph.node(node).steps() {
                    reached.push((to, action, entry));
                    next.push(reached.len() - 1);
                }
            }
            layer = next;
        }
        Vec::new()
    }

    /// Returns the chance that a choice changes the state, 0 if it was tried.
    fn chance(&self, choice: &Choice) -> f64 {
        if choice.is_tried {
            return 0.0;
        }
        let chance = self.classes.chance(choice.class, choice.whole.is_some())
            * LOSS_WEIGHT.powi(choice.losses.into());
        match choice.action {
            Action::Action6 { x, y } if self.bars.mask().contains(x, y) => chance * POSTPONED,
            _ => chance,
        }
    }

    fn best_chance(&self, node: NodeId) -> f64 {
        let choices = self.graph.node(node).choices.iter();
        choices
            .map(|choice| self.chance(choice))
            .fold(0.0, f64::max)
    }

    /// Returns the nearest mover and target of a node that are not yet together.
    pub(super) fn aim(&mut self, node: NodeId) -> Option<Pair> {
        let version = self.aim_version;
        let node = self.graph.node_mut(node);
        match node.aim {
            Some((known, aim)) if known == version => aim,
            _ => {
                let aim = self.targets.nearest(&node.blobs, &self.changed);
                node.aim = Some((version, aim));
                aim
            }
        }
    }
}
