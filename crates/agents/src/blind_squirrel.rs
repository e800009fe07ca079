//! `blind-squirrel`: a graph of exact frames, rule-based priors, and a value model that is trained
//! after each level.
//!
//! The agent follows the second-placed agent of the ARC-AGI-3 preview, Blind Squirrel by wd13ca. It
//! rates every action of every state as unknown, bad or good, avoids bad actions and dead ends, and
//! after the first level prefers actions that a value model considers as progress.
//! `docs/agents/blind-squirrel.md` lists the differences from the original.
//!
//! The agent has two forms. The faithful one follows the original in all its rules: states are exact
//! frames, so a timer makes every state new, and an action is identified by its position in a list.
//! The default one leaves status bars out of states and identifies clicks by the class of the object.

mod boosted_trees;
mod features;
mod identities;
mod priors;
mod state_graph;
mod targets;
#[cfg(test)]
mod tests;
mod value_model;

use std::sync::Arc;

use rhae_engine::{Action, Frame, PlayState, Rng, StateKey, key_of};
use rhae_percept::{ObjectId, Scene, StatusBars};

use crate::random::{nothing_offered, random_action};
use crate::registry::{AgentEntry, Constructor};
use crate::{Agent, AgentError, Decision, View};
use boosted_trees::BoostedTrees;
use features::{action_features, frame_features};
use identities::{Form, Identities};
use priors::Priors;
use state_graph::{Rating, SIMPLE, StateGraph, StateId, Successor};
pub use value_model::{ActionFeatures, StateInput, ValueModel, ValueSample};

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "blind-squirrel",
    form: "blind-squirrel",
    summary: "avoids actions without effect and dead ends, and learns from each level which actions make progress",
    constructor: Constructor::FromSeed(|seed| Box::new(BlindSquirrel::new(seed))),
};

pub(crate) const FAITHFUL: AgentEntry = AgentEntry {
    name: "blind-squirrel:faithful",
    form: "blind-squirrel:faithful",
    summary: "the same agent with all rules of the original: exact frames, and actions identified by rank",
    constructor: Constructor::FromSeed(|seed| Box::new(BlindSquirrel::faithful(seed))),
};

/// The colour of status bars in states. Boards use the colours 0 to 15.
const BAR_COLOR: u8 = 16;
/// The largest number of samples of all levels. The oldest are dropped.
const MAX_SAMPLES: usize = 16_384;

/// The agent `blind-squirrel`. Its decisions depend on the views and the seed alone.
///
/// # Examples
///
/// ```
/// use rhae_agents::{Agent, BlindSquirrel, View};
/// use rhae_engine::{ActionSet, Frame, PlayState};
///
/// let view = View {
///     frames: &[Frame::filled(0)],
///     state: PlayState::NotFinished,
///     levels_completed: 0,
///     win_levels: 3,
///     available: ActionSet::ARROWS,
///     full_reset: true,
/// };
/// let decision = BlindSquirrel::new(7).act(&view)?;
/// assert!(view.available.contains(decision.action.kind()));
/// # Ok::<(), rhae_agents::AgentError>(())
/// ```
pub struct BlindSquirrel {
    form: Form,
    rng: Rng,
    level: Option<u8>,
    /// The first frame of the level.
    first_frame: Frame,
    /// The state of the first frame, `None` if the graph was dropped since.
    first: Option<StateId>,
    graph: StateGraph,
    identities: Identities,
    priors: Priors,
    /// The status bars of the game. The faithful form leaves them in its states.
    bars: StatusBars,
    /// The last action and the settled frame before it, from which bars are recognised.
    last_frame: Option<(Action, Frame)>,
    /// The last action of the graph, whose result is not yet recorded.
    last: Option<(StateId, u16)>,
    /// The transitions of all finished levels.
    samples: Vec<ValueSample>,
    model: Box<dyn ValueModel>,
    /// Whether RESET would restart the game: the level has just begun, or the last command was RESET.
    was_reset: bool,
}

impl BlindSquirrel {
    /// Creates the agent with boosted trees as its value model. The seed makes its random choices.
    pub fn new(seed: u64) -> Self {
        Self::with_model(seed, Box::new(BoostedTrees::default()))
    }

    /// Creates the agent in the form that follows the original in all its rules.
    pub fn faithful(seed: u64) -> Self {
        Self::faithful_with_model(seed, Box::new(BoostedTrees::default()))
    }

    /// Creates the agent with another value model.
    pub fn with_model(seed: u64, model: Box<dyn ValueModel>) -> Self {
        Self::with_form(Form::ByClass, seed, model)
    }

    /// Creates the agent in the form that follows the original, with another value model.
    pub fn faithful_with_model(seed: u64, model: Box<dyn ValueModel>) -> Self {
        Self::with_form(Form::Faithful, seed, model)
    }

    fn with_form(form: Form, seed: u64, model: Box<dyn ValueModel>) -> Self {
        Self {
            form,
            rng: Rng::new(seed, 4),
            level: None,
            first_frame: Frame::filled(0),
            first: None,
            graph: StateGraph::default(),
            identities: Identities::new(form),
            priors: Priors::default(),
            bars: StatusBars::default(),
            last_frame: None,
            last: None,
            samples: Vec::new(),
            model,
            was_reset: true,
        }
    }

    /// Starts a level, after learning from the previous one if it was completed.
    fn start_level(&mut self, view: &View<'_>) {
        let is_completed = self
            .level
            .is_some_and(|level| level < view.levels_completed);
        if let Some((from, action)) = self.last.take()
            && is_completed
            && !view.full_reset
        {
            self.graph
                .record(from, action, Successor::Win, self.first, &mut self.priors);
            self.samples
                .extend(targets::samples(&self.graph, self.first));
            let excess = self.samples.len().saturating_sub(MAX_SAMPLES);
            self.samples.drain(..excess);
            self.model.train(&self.samples);
        }
        self.level = Some(view.levels_completed);
        self.first_frame = self.board(view);
        self.first = None;
        self.graph = StateGraph::default();
        if self.form == Form::Faithful {
            self.priors = Priors::default();
        }
        self.bars.start_attempt();
        self.last_frame = None;
        self.was_reset = true;
        let scene = Scene::of(&self.board(view));
        self.first = Some(self.state(view, &scene));
    }

    /// Looks for status bars in the change that the last action made. A change of the mask makes the
    /// known states useless, so the graph is dropped.
    fn observe_bars(&mut self, view: &View<'_>) {
        if let Some((action, before)) = self.last_frame.take()
            && self.bars.observe(action.kind(), &before, view.settled())
        {
            self.graph = StateGraph::default();
            self.first = None;
            self.last = None;
        }
    }

    /// Returns the settled frame, in which the cells of status bars have one colour.
    fn board(&self, view: &View<'_>) -> Frame {
        let mut board = view.settled().clone();
        for (x, y) in self.bars.mask().iter() {
            board.set(x.into(), y.into(), BAR_COLOR);
        }
        board
    }

    /// Returns the state of the current frame.
    fn state(&mut self, view: &View<'_>, scene: &Scene) -> StateId {
        let frame = self.board(view);
        let key: StateKey = key_of(&(view.levels_completed, frame.cells(), view.available));
        if let Some(state) = self.graph.find(key) {
            return state;
        }
        if self.graph.is_full() {
            self.graph = StateGraph::default();
            self.first = None;
            self.last = None;
        }
        let input = StateInput {
            features: frame_features(&frame, &self.first_frame, scene.objects().len()),
            frame: self.model.reads_frames().then(|| Arc::new(frame)),
        };
        self.graph
            .insert(key, input, scene, view.available, &mut self.identities)
    }

    /// Returns the index of the next action of a state, `None` if none is offered.
    fn choose(&mut self, here: StateId) -> Option<u16> {
        let actions = &self.graph.states[here.index()].actions;
        let has_successor = actions.iter().any(|action| action.successor.is_some());
        if self.level > Some(0)
            && has_successor
            && self.rng.below(2) == 0
            && let Some(best) = self.most_valuable(here)
        {
            return Some(best);
        }
        let weights: Vec<(u16, f64)> = (0..)
            .zip(actions)
            .filter_map(|(index, action)| match action.rating {
                Rating::Bad => None,
                Rating::Good => Some((index, 1.0)),
                Rating::Unknown => Some((index, self.priors.weight(action.identity))),
            })
            .collect();
        if weights.is_empty() {
            let offered: Vec<u16> = (0..)
                .zip(actions)
                .filter(|(_, action)| action.is_offered)
                .map(|(index, _)| index)
                .collect();
            return self.rng.choose(&offered).copied();
        }
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mut rest = total * f64::from(self.rng.next_u32()) / 4_294_967_296.0;
        for &(index, weight) in &weights {
            if rest < weight {
                return Some(index);
            }
            rest -= weight;
        }
        weights.last().map(|&(index, _)| index)
    }

    /// Returns the action of a state with the highest value among those that are not bad. The value
    /// of an unknown action is multiplied by its prior.
    fn most_valuable(&self, here: StateId) -> Option<u16> {
        let state = &self.graph.states[here.index()];
        let actions = state.actions.iter().enumerate();
        let of_actions: Vec<ActionFeatures> = actions
            .map(|(index, action)| action_features(index, action))
            .collect();
        let values = self.model.values(&state.input, &of_actions)?;
        let mut best: Option<(f64, u16)> = None;
        for ((index, action), value) in (0_u16..).zip(&state.actions).zip(values) {
            let prior = match action.rating {
                Rating::Bad => continue,
                Rating::Good => 1.0,
                Rating::Unknown => self.priors.weight(action.identity),
            };
            let value = f64::from(value) * prior;
            if best.is_none_or(|(highest, _)| value > highest) {
                best = Some((value, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// Returns the command for an action of the current state.
    fn command(&mut self, here: StateId, index: u16, scene: &Scene) -> Action {
        let clicked = self.graph.action(here, index).clicked;
        match clicked {
            Some(object) => {
                let cells: Vec<(u8, u8)> = scene.cells(ObjectId(object.id)).iter().collect();
                let &(x, y) = self.rng.choose(&cells).expect("an object has cells");
                Action::Action6 { x, y }
            }
            None => SIMPLE[usize::from(index)]
                .simple()
                .expect("a simple action needs no coordinates"),
        }
    }
}

impl Agent for BlindSquirrel {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        if self.level != Some(view.levels_completed) || view.full_reset {
            self.start_level(view);
        }
        let action = if view.state == PlayState::GameOver {
            if let Some((from, action)) = self.last.take() {
                // A single loss may be due to a limit of actions, whatever the last one was.
                if self.graph.count_loss(from, action) >= self.form.believed_losses() {
                    self.graph
                        .record(from, action, Successor::Lost, self.first, &mut self.priors);
                }
            }
            Action::Reset
        } else {
            self.observe_bars(view);
            let scene = Scene::of(&self.board(view));
            let here = self.state(view, &scene);
            if let Some((from, action)) = self.last.take() {
                let successor = Successor::State(here);
                // Without bars in states, a way back to the first state is not a sign of a loss.
                let first = self.first.filter(|_| self.form == Form::Faithful);
                self.graph
                    .record(from, action, successor, first, &mut self.priors);
            }
            match self.choose(here) {
                Some(index) => {
                    self.last = Some((here, index));
                    self.command(here, index, &scene)
                }
                None => {
                    let reset = (!self.was_reset).then_some(Action::Reset);
                    random_action(&mut self.rng, view.available)
                        .or(reset)
                        .ok_or_else(nothing_offered)?
                }
            }
        };
        self.was_reset = action == Action::Reset;
        if self.was_reset {
            self.bars.start_attempt();
            self.last_frame = None;
        } else if self.form == Form::ByClass {
            self.last_frame = Some((action, view.settled().clone()));
        }
        Ok(action.into())
    }
}
