//! A systematic explorer that uses no model, no training and no prior knowledge of a game.
//!
//! The explorer builds a graph for each level: nodes are settled frames without status bars, edges
//! are actions. It estimates from the results of similar actions how likely an untried action
//! changes the state (`classes`), and takes the nearest untried action that has a good chance
//! (`search`). The way to it may lead back by undo or over RESET. When everything within reach was
//! tried, the explorer takes random actions, because an environment may depend on something that its
//! frames do not show.
//!
//! A prior guesses the goal: objects of the same colour belong together (`affinity`). What was learned
//! about classes of actions, status bars, movements and undo is kept from level to level.

mod affinity;
mod classes;
mod graph;
mod motion;
mod options;
mod search;
#[cfg(test)]
mod tests;
mod undo;

use rhae_engine::{Action, ActionKind, Frame, PlayState, Rng};
use rhae_percept::{CellSet, Scene, StatusBars};

use crate::random::nothing_offered;
use crate::registry::{AgentEntry, Constructor};
use crate::{Agent, AgentError, Decision, View};
use affinity::{Targets, blobs};
use classes::Classes;
use graph::{Graph, NodeId};
use motion::Motion;
use options::{Choice, choices};
use undo::UndoTrail;

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "explorer",
    form: "explorer",
    summary: "builds the state graph of each level and moves to untried actions that may change the frame",
    constructor: Constructor::FromSeed(|seed| Box::new(Explorer::new(seed))),
};

/// The last command, whose result is not yet recorded.
struct LastCommand {
    action: Action,
    frame: Frame,
    /// The node at which it was taken, `None` for a RESET after a loss.
    node: Option<NodeId>,
}

/// The systematic explorer. Its decisions depend on the views and the seed alone.
pub struct Explorer {
    rng: Rng,
    classes: Classes,
    motion: Motion,
    bars: StatusBars,
    graph: Graph,
    undo: UndoTrail,
    /// The rest of a way that begins with undo: the nodes and what to do there, the last first.
    route: Vec<(NodeId, Action)>,
    /// The outlines of the level that may be targets.
    targets: Targets,
    /// The cells that have changed on this level.
    changed: CellSet,
    /// The number of changes of `targets` and `changed`.
    aim_version: u32,
    level: Option<u8>,
    last: Option<LastCommand>,
    /// Whether RESET would have no effect: the level has just begun, or the last command was RESET.
    was_reset: bool,
}

impl Explorer {
    /// Creates an explorer. The seed breaks ties between equally promising actions.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 2),
            classes: Classes::default(),
            motion: Motion::default(),
            bars: StatusBars::default(),
            graph: Graph::default(),
            undo: UndoTrail::default(),
            route: Vec::new(),
            targets: Targets::default(),
            changed: CellSet::EMPTY,
            aim_version: 0,
            level: None,
            last: None,
            was_reset: true,
        }
    }

    fn start_level(&mut self, view: &View<'_>) {
        if let Some(last) = self.last.take()
            && !view.full_reset
            && let Some(node) = last.node
        {
            self.record_class(node, last.action, true);
        }
        self.level = Some(view.levels_completed);
        self.start_attempt();
        self.classes.start_level();
        self.motion.forget_last_step();
        self.graph = Graph::default();
        self.targets = Targets::of(&Scene::of(view.settled()));
        self.changed = CellSet::EMPTY;
        self.aim_version += 1;
        self.was_reset = true;
    }

    fn start_attempt(&mut self) {
        self.bars.start_attempt();
        self.undo.start_attempt();
        self.route.clear();
    }

    /// Records the result of the last command and returns the node of the current frame.
    fn learn(&mut self, view: &View<'_>) -> NodeId {
        let frame = view.settled();
        let mut last = self.last.take();
        if let Some(last) = &mut last
            && last.action != Action::Reset
        {
            self.observe_change(last, frame);
        }
        self.classes.set_offered(view.available);
        let here = match self.graph.find(frame, self.bars.mask(), view.available) {
            Some(node) => node,
            None => {
                if self.graph.is_full() {
                    self.graph = Graph::default();
                    self.undo.start_attempt();
                    self.route.clear();
                    self.motion.forget_last_step();
                    last = None;
                }
                self.insert(view)
            }
        };
        match last {
            Some(LastCommand {
                action: Action::Reset,
                ..
            }) => {
                self.graph.set_start(here);
                self.start_attempt();
            }
            Some(LastCommand {
                action: Action::Action7,
                ..
            }) => {
                self.undo.record_undo(here);
                self.motion.forget_last_step();
            }
            Some(LastCommand {
                action,
                node: Some(from),
                ..
            }) => {
                self.record_step(from, action, here);
            }
            _ => {}
        }
        here
    }

    /// Records which cells an action changed. If that reveals a status bar, rebuilds the graph.
    fn observe_change(&mut self, last: &mut LastCommand, frame: &Frame) {
        let changed = CellSet::difference(last.frame.cells(), frame.cells());
        let known = self.changed.len();
        self.changed.union(&changed);
        if self.targets.observe(frame) || self.changed.len() > known {
            self.aim_version += 1;
        }
        if self.bars.observe(last.action.kind(), &last.frame, frame) {
            let new_ids = self.graph.rebuild(self.bars.mask());
            last.node = last.node.map(|node| new_ids[node]);
            self.undo.rename(&new_ids);
            self.route.clear();
            self.motion.forget_last_step();
        }
    }

    fn insert(&mut self, view: &View<'_>) -> NodeId {
        let frame = view.settled();
        let scene = Scene::of(frame);
        let choices = choices(&scene, view.available, &mut self.classes);
        self.graph.insert(
            frame.clone(),
            self.bars.mask(),
            view.available,
            choices,
            blobs(&scene),
        )
    }

    /// Records that an action led from one node to another.
    fn record_step(&mut self, from: NodeId, action: Action, here: NodeId) {
        let is_changed = here != from;
        self.record_class(from, action, is_changed);
        let choice = self.graph.connect(from, action, here);
        if let Some(Choice {
            class,
            whole: Some((x, y)),
            ..
        }) = choice
            && let Some(other) = self.graph.successor(from, Action::Action6 { x, y })
            && (is_changed || other != from)
        {
            self.classes.record_part(class, other == here);
        }
        self.motion.record_step(action, from, here);
        if let (Some(old), Some(new)) = (self.aim(from), self.aim(here)) {
            self.motion.record_shift(action, old, new);
        }
        if is_changed {
            self.undo.push(from);
        }
    }

    /// Counts the first result of an action at a node for its class.
    fn record_class(&mut self, from: NodeId, action: Action, is_changed: bool) {
        let node = self.graph.node(from);
        let choice = node.choices.iter().find(|choice| choice.action == action);
        if let Some(choice) = choice.filter(|choice| !choice.is_tried) {
            self.classes.record(choice.class, node.key(), is_changed);
        }
    }

    /// Records that the last command lost the level.
    fn record_loss(&mut self) {
        if let Some(last) = self.last.take()
            && let Some(node) = last.node
        {
            self.graph.record_loss(node, last.action);
        }
    }
}

impl Agent for Explorer {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        if self.level != Some(view.levels_completed) || view.full_reset {
            self.start_level(view);
        }
        let (action, node) = if view.state == PlayState::GameOver {
            self.record_loss();
            (Action::Reset, None)
        } else {
            let here = self.learn(view);
            let action = self
                .choose(here, view.available)
                .ok_or_else(nothing_offered)?;
            (action, Some(here))
        };
        self.was_reset = action == Action::Reset;
        self.last = Some(LastCommand {
            action,
            frame: view.settled().clone(),
            node,
        });
        Ok(action.into())
    }
}

/// Returns whether an action is a key that is worth trying. Undo (ACTION7) is not, because it leads
/// back to known states.
fn is_exploratory(kind: ActionKind) -> bool {
    !matches!(
        kind,
        ActionKind::Reset | ActionKind::Action6 | ActionKind::Action7
    )
}
