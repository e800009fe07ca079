//! A systematic explorer: no model, no training, nothing known beforehand.
//!
//! It keeps a graph of the pictures it has seen on the level and of the actions that led from one to another. In each
//! picture it tries what it expects to change something, judged by what similar actions did before; it never repeats an
//! action that is known to do nothing; and when a picture has nothing promising left, it goes by the shortest known way
//! to one that has. Counters and bars are recognised by how they change and left out of the comparison of pictures.

mod bars;
mod graph;
mod habits;
mod objects;

use rhae_engine::{Action, ActionKind, Frame, PlayState, Rng};

use crate::{Agent, AgentError, Decision, View};
use bars::Bars;
use graph::{Graph, NodeId};
use habits::{Feature, Habits};

/// The systematic explorer.
pub struct Explorer {
    rng: Rng,
    /// What each kind of action has done so far, on all levels.
    habits: Habits,
    bars: Bars,
    graph: Graph,
    level: Option<u8>,
    /// The settled picture before the last action, its place in the graph, and the action.
    last: Option<(Frame, NodeId, Action)>,
}

impl Explorer {
    /// The explorer with this seed, which decides between equally good choices.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed, 2),
            habits: Habits::default(),
            bars: Bars::default(),
            graph: Graph::default(),
            level: None,
            last: None,
        }
    }

    /// Takes in what the last action led to and gives the place of the picture in the graph.
    fn learn(&mut self, view: &View<'_>) -> NodeId {
        let picture = view.settled();
        if self.level != Some(view.levels_completed) || view.full_reset {
            if let Some((before, _, action)) = &self.last {
                self.habits.note(feature_of(before, *action), true);
            }
            self.level = Some(view.levels_completed);
            self.bars.new_level();
            self.graph = Graph::default();
            self.last = None;
        }
        if let Some((before, _, action)) = &self.last
            && *action != Action::Reset
            && self.bars.observe(before, picture)
        {
            self.graph.rebuild(self.bars.mask());
        }
        let here = self.graph.enter(picture, self.bars.mask(), view.available);
        let Some((before, _, action)) = self.last.take() else {
            return here;
        };
        // The graph may have been rebuilt since the picture before was entered.
        let from = self.graph.enter(&before, self.bars.mask(), view.available);
        let lost = view.state == PlayState::GameOver;
        self.graph.connect(from, action, here, lost);
        if action != Action::Reset {
            self.habits.note(feature_of(&before, action), here != from);
            self.habits.note_step(action, from, here);
        }
        here
    }

    fn choose(&mut self, here: NodeId) -> Action {
        for least in [0.34, 0.08, 0.0] {
            let promising = |graph: &Graph, habits: &Habits, node: NodeId| {
                graph.untried(node).iter().map(|option| habits.promise(option.feature, option.action)).fold(0.0, f64::max) > least
            };
            let (graph, habits) = (&self.graph, &self.habits);
            match graph.way_to(here, |node| promising(graph, habits, node)) {
                Some(None) => return self.best_untried(here),
                Some(Some(first_step)) => return first_step,
                None => {}
            }
        }
        self.anything(here)
    }

    /// The most promising action not tried here; ties are decided by the seed.
    fn best_untried(&mut self, here: NodeId) -> Action {
        let mut best: Option<(f64, Action)> = None;
        for option in self.graph.untried(here) {
            let noise = f64::from(self.rng.below(1000)) * 1e-5;
            let promise = self.habits.promise(option.feature, option.action) + noise;
            if best.is_none_or(|(value, _)| promise > value) {
                best = Some((promise, option.action));
            }
        }
        best.map_or(Action::Reset, |(_, action)| action)
    }

    /// Everything near is known: take any known step that leads elsewhere.
    fn anything(&mut self, here: NodeId) -> Action {
        let steps: Vec<Action> = self.graph.steps_away(here);
        self.rng.choose(&steps).copied().unwrap_or(Action::Reset)
    }
}

impl Agent for Explorer {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        let here = self.learn(view);
        let action = if view.state == PlayState::GameOver { Action::Reset } else { self.choose(here) };
        self.last = Some((view.settled().clone(), here, action));
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
    !matches!(kind, ActionKind::Reset | ActionKind::Action6 | ActionKind::Action7)
}
