//! The inputs of the value model: 26 features of an action and 20 of a frame.

use rhae_engine::{CELLS, Frame};
use rhae_percept::CellSet;

use super::state_graph::StateAction;
use super::value_model::ActionFeatures;

/// The number of frame features: 16 shares of colours, the number of objects, the share of cells that
/// differ from the level's first frame, and the centre of these cells.
const FRAME: usize = 20;
/// The number of action features: 6 kinds, 16 colours, regularity, size, row and column.
const ACTION: usize = 26;
/// The number of all features.
pub(super) const FEATURES: usize = FRAME + ACTION;

/// The features of a frame.
pub(super) type FrameFeatures = [f32; FRAME];
/// The features of an action at a state.
pub(super) type Features = [f32; FEATURES];

/// Returns the features of a frame, given the first frame of its level.
pub(super) fn frame_features(frame: &Frame, first: &Frame, objects: usize) -> FrameFeatures {
    let mut features = [0.0; FRAME];
    for &cell in frame.cells() {
        features[usize::from(cell & 15)] += 1.0 / CELLS as f32;
    }
    let changed = CellSet::difference(first.cells(), frame.cells());
    let count = changed.len();
    let sum = changed.iter().fold((0_u32, 0_u32), |sum, (x, y)| {
        (sum.0 + u32::from(x), sum.1 + u32::from(y))
    });
    features[16] = objects as f32 / CELLS as f32;
    features[17] = count as f32 / CELLS as f32;
    features[18] = sum.1 as f32 / (count.max(1) * 64) as f32;
    features[19] = sum.0 as f32 / (count.max(1) * 64) as f32;
    features
}

/// Returns the features of an action at a frame.
pub(super) fn features(frame: &FrameFeatures, action: &ActionFeatures) -> Features {
    let mut features = [0.0; FEATURES];
    let (of_action, of_frame) = features.split_at_mut(ACTION);
    of_action.copy_from_slice(action);
    of_frame.copy_from_slice(frame);
    features
}

/// Returns the features of the action with an index at a state.
pub(super) fn action_features(index: usize, action: &StateAction) -> ActionFeatures {
    let mut of_action = [0.0; ACTION];
    match action.clicked {
        None => of_action[index.min(4)] = 1.0,
        Some(object) => {
            of_action[5] = 1.0;
            of_action[6 + usize::from(object.color & 15)] = 1.0;
            of_action[22] = f32::from(object.area) / f32::from(object.bounds_area);
            of_action[23] = f32::from(object.bounds_area) / CELLS as f32;
            of_action[24] = f32::from(object.y) / 64.0;
            of_action[25] = f32::from(object.x) / 64.0;
        }
    }
    of_action
}
