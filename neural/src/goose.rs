//! `goose`: a network learns which actions change the frame, and actions are drawn by that
//! probability.
//!
//! The agent follows the winner of the ARC-AGI-3 preview, StochasticGoose by Dries Smit. It has no
//! state graph, no goal and, without `keep_weights`, no memory beyond a level. `docs/agents/goose.md`
//! lists the differences from the original.

mod faithful;
mod learner;
mod lite;
mod loss;
mod network;
mod sample_buffer;
mod sampling;

use rhae_agents::{Agent, AgentError, Decision, View};
use rhae_engine::{Action, Frame, PlayState, Rng};
use rhae_percept::{CellSet, StatusBars};

pub use learner::Learner;
pub use loss::loss;
pub use network::{Network, NetworkKind};
pub use sample_buffer::{BUFFER_CAPACITY, Sample, SampleBuffer};
pub use sampling::{draw, weights};

use crate::ActionIndex;

/// The number of actions between two training steps.
const TRAIN_EVERY: u64 = 5;
/// The number of samples of a training step, which needs at least as many.
const BATCH: usize = 64;
/// The streams of a seed.
const ACTION_STREAM: u64 = 18;
const BATCH_STREAM: u64 = 19;

/// The network of the agent, and what it does better than the original.
#[derive(Clone, Copy, Debug)]
pub struct GooseOptions {
    pub network: NetworkKind,
    /// Compare and identify frames without their status bars. The network still sees them.
    pub mask_status_bars: bool,
    /// Keep the network and its optimiser when a level begins. The samples are always dropped.
    pub keep_weights: bool,
    /// Apply no dropout while acting.
    pub eval_mode: bool,
    /// Draw no action that is known to have no effect at the current frame, unless all are.
    pub skip_known: bool,
}

impl GooseOptions {
    /// The rules of the original.
    pub const fn original(network: NetworkKind) -> Self {
        Self {
            network,
            mask_status_bars: false,
            keep_weights: false,
            eval_mode: false,
            skip_known: false,
        }
    }
}

/// The agent `goose`. Its decisions depend on the views, the options and the seed alone.
pub struct Goose {
    options: GooseOptions,
    learner: Learner,
    samples: SampleBuffer,
    action_rng: Rng,
    batch_rng: Rng,
    status_bars: StatusBars,
    level: Option<u8>,
    /// The last action and the frame at which it was taken, if its result is still to be seen.
    last: Option<(Frame, ActionIndex)>,
    /// The number of actions so far, without RESET.
    actions: u64,
    /// Whether RESET would restart the level and not the game.
    is_touched: bool,
}

impl Goose {
    /// Creates the agent. All random choices derive from the seed.
    pub fn new(options: GooseOptions, seed: u64) -> Self {
        Self {
            learner: Learner::new(options.network, seed),
            options,
            samples: SampleBuffer::new(BUFFER_CAPACITY),
            action_rng: Rng::new(seed, ACTION_STREAM),
            batch_rng: Rng::new(seed, BATCH_STREAM),
            status_bars: StatusBars::default(),
            level: None,
            last: None,
            actions: 0,
            is_touched: false,
        }
    }

    pub const fn learner(&self) -> &Learner {
        &self.learner
    }

    pub const fn samples(&self) -> &SampleBuffer {
        &self.samples
    }

    /// Drops what was learnt on the previous level. The first level needs no new network.
    fn start_level(&mut self, level: u8) {
        if self.level.replace(level).is_some() && !self.options.keep_weights {
            self.learner.restart();
        }
        self.samples.clear();
        self.status_bars.start_attempt();
        self.last = None;
        self.is_touched = false;
    }

    /// Stores the result of the last action.
    fn observe(&mut self, after: &Frame) {
        let Some((before, action)) = self.last.take() else {
            return;
        };
        // Samples from the time before a status bar was recognised have wrong labels.
        if self.options.mask_status_bars && self.status_bars.observe(action.kind(), &before, after)
        {
            self.samples.clear();
        }
        let mut changed = CellSet::difference(before.cells(), after.cells());
        changed.subtract(self.status_bars.mask());
        let identity = self.identity(&before);
        self.samples
            .insert(&before, &identity, action, !changed.is_empty());
    }

    /// Returns the frame without status bars. Their mask is empty if they are not observed.
    fn identity(&self, frame: &Frame) -> Frame {
        let mut masked = frame.clone();
        for (x, y) in self.status_bars.mask().iter() {
            masked.set(x.into(), y.into(), 0);
        }
        masked
    }

    /// Draws the next action, `None` if no action with an output is offered.
    fn choose(&mut self, view: &View<'_>) -> Option<ActionIndex> {
        let frame = view.settled();
        let logits = self.learner.logits(frame, !self.options.eval_mode);
        let mut weights = weights(&logits, view.available);
        if self.options.skip_known {
            let all = weights.clone();
            for action in self.samples.without_effect(&self.identity(frame)) {
                weights[action.index()] = 0.0;
            }
            if weights.iter().all(|&weight| weight == 0.0) {
                weights = all;
            }
        }
        draw(&weights, &mut self.action_rng)
    }

    fn train(&mut self) {
        if self.actions.is_multiple_of(TRAIN_EVERY)
            && let Some(batch) = self.samples.batch(BATCH, &mut self.batch_rng)
        {
            self.learner.train(&batch);
        }
    }

    fn reset(&mut self) -> Action {
        self.last = None;
        self.is_touched = false;
        self.status_bars.start_attempt();
        Action::Reset
    }
}

impl Agent for Goose {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        if self.level != Some(view.levels_completed) {
            self.start_level(view.levels_completed);
        }
        self.observe(view.settled());
        if view.state == PlayState::GameOver {
            return Ok(self.reset().into());
        }
        match self.choose(view) {
            Some(action) => {
                self.last = Some((view.settled().clone(), action));
                self.is_touched = true;
                self.actions += 1;
                self.train();
                Ok(action.action().into())
            }
            None if self.is_touched => Ok(self.reset().into()),
            None => Err(AgentError::Stuck(
                "the environment offers none of ACTION1 to ACTION6, and RESET does not change that"
                    .to_owned(),
            )),
        }
    }
}
