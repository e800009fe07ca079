//! The interface of the models that estimate the value of an action.

use std::sync::Arc;

use rhae_engine::Frame;

/// The features of an action: 6 kinds, 16 colours, regularity, size, row and column of the clicked
/// object.
pub type ActionFeatures = [f32; 26];

/// What a value model knows of a state.
#[derive(Clone, Debug, Default)]
pub struct StateInput {
    /// The shares of 16 colours, the number of objects, the share of cells that differ from the
    /// level's first frame, and the centre of these cells.
    pub features: [f32; 20],
    /// The frame, if the model [reads frames](ValueModel::reads_frames).
    pub frame: Option<Arc<Frame>>,
}

/// An action on a finished level with its value.
#[derive(Clone, Debug)]
pub struct ValueSample {
    pub state: StateInput,
    pub action: ActionFeatures,
    /// From -1 for a bad action to 1 for the largest progress.
    pub value: f32,
}

/// Estimates how much progress an action makes.
///
/// [`BlindSquirrel`](crate::BlindSquirrel) trains its model after each level. A model must be
/// deterministic, because the decisions of the agent depend on it.
pub trait ValueModel: Send {
    /// Learns from the samples of all finished levels. What was learnt before is replaced.
    fn train(&mut self, samples: &[ValueSample]);

    /// Returns the values of actions at a state, in their order, or `None` before the first training.
    fn values(&self, state: &StateInput, actions: &[ActionFeatures]) -> Option<Vec<f32>>;

    /// Returns whether states must contain their frames, which take 4 KB each.
    fn reads_frames(&self) -> bool {
        false
    }
}
