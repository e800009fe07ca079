//! A systematic explorer that uses no model, no training and no prior knowledge of a game.
//!
//! The explorer builds a graph for each level: nodes are settled frames, edges are actions. At each
//! node the explorer tries the action that most likely changes the frame, estimated from the
//! results of similar actions. It does not repeat an action that had no effect at the same node.
//! When a node has no promising action left, the explorer walks to a nearby node that has one. When
//! everything within reach was tried, it takes random actions, because an environment may depend on
//! something that its frames do not show.
//!
//! The explorer recognises counters and progress bars by how they change, and ignores them when it
//! compares frames. Two priors rank untried actions: a frame that shows a new colour deserves more
//! exploration (`action_stats`), and objects of the same colour belong together (`affinity`).

mod action_stats;
mod affinity;
mod bars;
mod graph;
mod objects;

use rhae_engine::{Action, ActionKind, ActionSet, CELLS, Frame, PlayState, Rng};

use crate::random::{nothing_offered, random_action};
use crate::registry::{AgentEntry, Constructor};
use crate::{Agent, AgentError, Decision, View};
use action_stats::{ActionStats, Feature};
use affinity::{Pair, nearest_pair};
use bars::Bars;
use graph::{Graph, NodeId};

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "explorer",
    form: "explorer",
    summary: "builds the state graph of each level and moves to untried actions that may change the frame",
    constructor: Constructor::FromSeed(|seed| Box::new(Explorer::new(seed))),
};

/// The thresholds that the promise of an untried action must exceed. The explorer uses the next
/// lower threshold only when no reachable node has an untried action above the current one.
const PROMISE_THRESHOLDS: [f64; 3] = [0.34, 0.08, 0.0];
/// The distance between a mover and its target, in cells, that costs as much as one step.
const CELLS_PER_STEP: f64 = 1.0;
/// The expected reduction of that distance, in cells, that doubles the promise of an action.
const CELLS_TO_DOUBLE: f64 = 20.0;

/// The systematic explorer. Its decisions depend on the views and the seed alone.
pub struct Explorer {
    rng: Rng,
    /// The effects of the actions tried so far, over all levels.
    action_stats: ActionStats,
    bars: Bars,
    graph: Graph,
    /// Whether each cell has changed on this level.
    changed: Box<[bool; CELLS]>,
    level: Option<u8>,
    /// The last action and the settled frame before it.
    last: Option<(Frame, Action)>,
    /// Whether RESET would have no effect: the level has just begun, or the last command was RESET.
    was_reset: bool,
}

impl Explorer {
    /// Creates an explorer. The seed breaks ties between equally promising actions.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 2),
            action_stats: ActionStats::default(),
            bars: Bars::default(),
            graph: Graph::default(),
            changed: Box::new([false; CELLS]),
            level: None,
            last: None,
            was_reset: true,
        }
    }

    /// Records the result of the last action and returns the node of the current frame.
    fn learn(&mut self, view: &View<'_>) -> NodeId {
        let frame = view.settled();
        if self.level != Some(view.levels_completed) || view.full_reset {
            if let Some((before, action)) = &self.last {
                self.action_stats
                    .record_result(feature_of(before, *action), true);
            }
            self.start_level(view.levels_completed);
        }
        if let Some((before, action)) = &self.last
            && *action != Action::Reset
        {
            let cells = before.cells().iter().zip(frame.cells());
            self.changed
                .iter_mut()
                .zip(cells)
                .for_each(|(changed, (old, new))| *changed |= old != new);
            if self.bars.observe(before, frame) {
                self.graph.rebuild(self.bars.mask());
            }
        }
        self.action_stats.set_offered(view.available);
        let novel = self.action_stats.shows_new_color(frame, self.bars.mask());
        let here = self
            .graph
            .get_or_insert(frame, self.bars.mask(), view.available, novel);
        let Some((before, action)) = self.last.take() else {
            return here;
        };
        // The graph may have been rebuilt since the previous frame was added.
        let from = self
            .graph
            .get_or_insert(&before, self.bars.mask(), view.available, false);
        self.graph
            .connect(from, action, here, view.state == PlayState::GameOver);
        if action != Action::Reset {
            self.action_stats
                .record_result(feature_of(&before, action), here != from);
            self.action_stats.record_step(action, from, here);
            let pair = |node| nearest_pair(self.graph.objects(node), &self.changed);
            if let (Some(old), Some(new)) = (pair(from), pair(here)) {
                self.action_stats.record_shift(action, old, new);
            }
        }
        here
    }

    fn start_level(&mut self, level: u8) {
        self.level = Some(level);
        self.bars.start_level();
        self.action_stats.start_level();
        self.graph = Graph::default();
        self.changed.fill(false);
        self.last = None;
        self.was_reset = true;
    }

    /// Returns the action to take at a node: an untried one, or the first step on the way to the
    /// nearest node with a promising one. Returns `None` if no action is offered and RESET does not
    /// help.
    fn choose(&mut self, here: NodeId, offered: ActionSet) -> Option<Action> {
        let paths = self.graph.paths_from(here, !self.was_reset);
        for threshold in PROMISE_THRESHOLDS {
            let mut best: Option<(f64, NodeId, Option<Action>)> = None;
            for (node, path) in paths.iter().enumerate() {
                let Some((steps, first_step)) = *path else {
                    continue;
                };
                if self.promise_of(node) <= threshold {
                    continue;
                }
                let distance = nearest_pair(self.graph.objects(node), &self.changed)
                    .map_or(0.0, Pair::distance);
                let cost = f64::from(steps) + distance / CELLS_PER_STEP;
                if best.is_none_or(|(least, _, _)| cost < least) {
                    best = Some((cost, node, first_step));
                }
            }
            match best {
                Some((_, _, Some(first_step))) => return Some(first_step),
                Some((_, _, None)) => return Some(self.best_untried(here)),
                None => {}
            }
        }
        self.any_action(here, offered)
    }

    /// Returns the highest promise among the untried actions of a node, or 0 if all were tried.
    fn promise_of(&self, node: NodeId) -> f64 {
        let novelty = self.graph.novelty(node);
        let weight = |feature| {
            if matches!(feature, Feature::Key(_)) {
                novelty
            } else {
                1.0
            }
        };
        let promises = self
            .graph
            .untried(node)
            .iter()
            .map(|option| weight(option.feature) * self.action_stats.promise(option.feature));
        promises.fold(0.0, f64::max)
    }

    /// Returns the most promising untried action of a node. The seed breaks ties.
    fn best_untried(&mut self, here: NodeId) -> Action {
        let pair = nearest_pair(self.graph.objects(here), &self.changed);
        let mut best: Option<(f64, Action)> = None;
        for option in self.graph.untried(here) {
            let noise = f64::from(self.rng.below(1000)) * 1e-5;
            let gain = pair.map_or(0.0, |pair| {
                self.action_stats.expected_gain(option.action, pair)
            });
            let promise = self.action_stats.promise(option.feature)
                * self.action_stats.continuity(option.action)
                * (1.0 + gain / CELLS_TO_DOUBLE)
                + noise;
            if best.is_none_or(|(value, _)| promise > value) {
                best = Some((promise, option.action));
            }
        }
        best.map_or(Action::Reset, |(_, action)| action)
    }

    /// Returns a random known action that leaves the node, RESET if it may leave the node, or else
    /// any offered action. It is used when no untried action is within reach.
    fn any_action(&mut self, here: NodeId, offered: ActionSet) -> Option<Action> {
        let steps: Vec<Action> = self.graph.known_exits(here);
        if let Some(&exit) = self.rng.choose(&steps) {
            return Some(exit);
        }
        let reset = (!self.was_reset).then_some(Action::Reset);
        match reset.filter(|_| !self.graph.is_start(here)) {
            Some(reset) => Some(reset),
            None => random_action(&mut self.rng, offered).or(reset),
        }
    }
}

impl Agent for Explorer {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        let here = self.learn(view);
        let action = if view.state == PlayState::GameOver {
            Action::Reset
        } else {
            self.choose(here, view.available)
                .ok_or_else(nothing_offered)?
        };
        self.was_reset = action == Action::Reset;
        self.last = Some((view.settled().clone(), action));
        Ok(action.into())
    }
}

/// Returns the feature by which an action is grouped with similar actions: its key, or the
/// appearance of the clicked object.
fn feature_of(frame: &Frame, action: Action) -> Feature {
    match action {
        Action::Action6 { x, y } => Feature::Object(objects::appearance_at(frame, x, y)),
        other => Feature::Key(other.kind()),
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
