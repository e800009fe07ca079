//! A systematic explorer: no model, no training, nothing known beforehand.
//!
//! It keeps a graph of the pictures it has seen on the level and of the actions that led from one to another. In each
//! picture it tries what it expects to change something, judged by what similar actions did before; it never repeats an
//! action that is known to do nothing; and when a picture has nothing promising left, it goes on from a near one that has.
//! Counters and bars are recognised by how they change and left out of the comparison of pictures. Two priors order what
//! is untried: where something appears that was never seen before, everything is worth trying; and like goes to like.

mod affinity;
mod bars;
mod graph;
mod habits;
mod objects;

use rhae_engine::{Action, ActionKind, CELLS, Frame, PlayState, Rng};

use crate::{Agent, AgentError, Decision, View};
use affinity::{Pair, nearest_pair};
use bars::Bars;
use graph::{Graph, NodeId};
use habits::{Feature, Habits};

/// How promising an untried action must be, in the order in which levels of hope are given up.
const HOPES: [f64; 3] = [0.34, 0.08, 0.0];
/// What a step to another picture is worth, in cells between a traveller and its place.
const CELLS_PER_STEP: f64 = 1.0;
/// By how many cells nearer an action must lead to count twice.
const CELLS_TO_DOUBLE: f64 = 20.0;

/// The systematic explorer.
pub struct Explorer {
    rng: Rng,
    /// What each kind of action has done so far, on all levels.
    habits: Habits,
    bars: Bars,
    graph: Graph,
    /// Cells that have ever changed on this level.
    changed: Box<[bool; CELLS]>,
    level: Option<u8>,
    /// The settled picture before the last action, and the action.
    last: Option<(Frame, Action)>,
}

impl Explorer {
    /// The explorer with this seed, which decides between equally good choices.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 2),
            habits: Habits::default(),
            bars: Bars::default(),
            graph: Graph::default(),
            changed: Box::new([false; CELLS]),
            level: None,
            last: None,
        }
    }

    /// Takes in what the last action led to and gives the place of the picture in the graph.
    fn learn(&mut self, view: &View<'_>) -> NodeId {
        let picture = view.settled();
        if self.level != Some(view.levels_completed) || view.full_reset {
            if let Some((before, action)) = &self.last {
                self.habits.note(feature_of(before, *action), true);
            }
            self.begin_level(view.levels_completed);
        }
        if let Some((before, action)) = &self.last
            && *action != Action::Reset
        {
            let cells = before.cells().iter().zip(picture.cells());
            self.changed
                .iter_mut()
                .zip(cells)
                .for_each(|(changed, (old, new))| *changed |= old != new);
            if self.bars.observe(before, picture) {
                self.graph.rebuild(self.bars.mask());
            }
        }
        self.habits.see_offered(view.available);
        let surprising = self.habits.looks_new(picture, self.bars.mask());
        let here = self
            .graph
            .enter(picture, self.bars.mask(), view.available, surprising);
        let Some((before, action)) = self.last.take() else {
            return here;
        };
        // The graph may have been rebuilt since the picture before was entered.
        let from = self
            .graph
            .enter(&before, self.bars.mask(), view.available, false);
        self.graph
            .connect(from, action, here, view.state == PlayState::GameOver);
        if action != Action::Reset {
            self.habits.note(feature_of(&before, action), here != from);
            self.habits.note_step(action, from, here);
            let pair = |node| nearest_pair(self.graph.objects(node), &self.changed);
            if let (Some(old), Some(new)) = (pair(from), pair(here)) {
                self.habits.note_shift(action, old, new);
            }
        }
        here
    }

    fn begin_level(&mut self, level: u8) {
        self.level = Some(level);
        self.bars.new_level();
        self.habits.new_level();
        self.graph = Graph::default();
        self.changed.fill(false);
        self.last = None;
    }

    fn choose(&mut self, here: NodeId) -> Action {
        let ways = self.graph.ways_from(here);
        for hope in HOPES {
            let mut best: Option<(f64, NodeId, Option<Action>)> = None;
            for (node, way) in ways.iter().enumerate() {
                let Some((steps, first_step)) = *way else {
                    continue;
                };
                if self.promise_of(node) <= hope {
                    continue;
                }
                let apart = nearest_pair(self.graph.objects(node), &self.changed)
                    .map_or(0.0, Pair::distance);
                let cost = f64::from(steps) + apart / CELLS_PER_STEP;
                if best.is_none_or(|(least, _, _)| cost < least) {
                    best = Some((cost, node, first_step));
                }
            }
            match best {
                Some((_, _, Some(first_step))) => return first_step,
                Some((_, _, None)) => return self.best_untried(here),
                None => {}
            }
        }
        self.anything(here)
    }

    /// The best that is untried in a picture.
    fn promise_of(&self, node: NodeId) -> f64 {
        let surprise = self.graph.surprise(node);
        let weight = |feature| {
            if matches!(feature, Feature::Key(_)) {
                surprise
            } else {
                1.0
            }
        };
        let promises = self
            .graph
            .untried(node)
            .iter()
            .map(|option| weight(option.feature) * self.habits.promise(option.feature));
        promises.fold(0.0, f64::max)
    }

    /// The most promising action not tried here; ties are decided by the seed.
    fn best_untried(&mut self, here: NodeId) -> Action {
        let pair = nearest_pair(self.graph.objects(here), &self.changed);
        let mut best: Option<(f64, Action)> = None;
        for option in self.graph.untried(here) {
            let noise = f64::from(self.rng.below(1000)) * 1e-5;
            let nearer = pair.map_or(0.0, |pair| self.habits.expected_gain(option.action, pair));
            let promise = self.habits.promise(option.feature)
                * self.habits.flow(option.action)
                * (1.0 + nearer / CELLS_TO_DOUBLE)
                + noise;
            if best.is_none_or(|(value, _)| promise > value) {
                best = Some((promise, option.action));
            }
        }
        best.map_or(Action::Reset, |(_, action)| action)
    }

    /// Everything within reach is known: take any known step that leads elsewhere.
    fn anything(&mut self, here: NodeId) -> Action {
        let steps: Vec<Action> = self.graph.steps_away(here);
        self.rng.choose(&steps).copied().unwrap_or(Action::Reset)
    }
}

impl Agent for Explorer {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        let here = self.learn(view);
        let action = if view.state == PlayState::GameOver {
            Action::Reset
        } else {
            self.choose(here)
        };
        self.last = Some((view.settled().clone(), action));
        Ok(action.into())
    }
}

/// What an action has in common with similar ones elsewhere: the key, or the look of the clicked object.
fn feature_of(picture: &Frame, action: Action) -> Feature {
    match action {
        Action::Action6 { x, y } => Feature::Object(objects::look_at(picture, x, y)),
        other => Feature::Key(other.kind()),
    }
}

/// The keys in the order of their ids; undo is left out, because it leads only to what was seen before.
fn is_exploratory(kind: ActionKind) -> bool {
    !matches!(
        kind,
        ActionKind::Reset | ActionKind::Action6 | ActionKind::Action7
    )
}
