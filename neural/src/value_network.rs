//! The value model of `blind-squirrel` as a network.
//!
//! A residual network reads the frame, a dense layer reads the features of an action, and two dense
//! layers combine them into a value. The network is trained from scratch after each level, on the
//! transitions of all finished levels.

use burn::Tensor;
use burn::module::Module;
use burn::nn::Linear;
use burn::optim::{AdamConfig, GradientsAccumulator, GradientsParams};
use burn::tensor::activation::relu;
use burn::tensor::{Device, TensorData};
use rhae_agents::{ActionFeatures, StateInput, ValueModel, ValueSample};
use rhae_engine::{CELLS, Frame, Rng, SIZE};

use crate::PackedFrame;
use crate::layers::{LayerFactory, PatchConv, halve};
use crate::packed_frame::{COLORS, one_hot_patches};

/// The number of features of an action.
const ACTION_FEATURES: usize = size_of::<ActionFeatures>() / size_of::<f32>();
/// The number of channels of each convolution.
const CHANNELS: usize = 32;
/// The width of the dense layers.
const HIDDEN: usize = 64;
/// Ten times that of the original, which starts from trained weights.
const LEARNING_RATE: f64 = 1e-3;
const ADAM_EPSILON: f32 = 1e-8;
const BATCH: usize = 32;
/// The number of samples whose gradients are computed together.
const PART: usize = 4;
const EPOCHS: usize = 10;
/// The largest number of batches of a training. The original stops after 15 minutes instead.
const MAX_BATCHES: usize = 240;
/// The streams of a seed.
const WEIGHT_STREAM: u64 = 20;
const BATCH_STREAM: u64 = 21;

/// Six convolutions with 32 channels, of which four form two residual blocks, and the dense layers.
#[derive(Module, Debug)]
pub(crate) struct ValueNetwork {
    first: PatchConv,
    blocks: Vec<[PatchConv; 2]>,
    last: PatchConv,
    frame: Linear,
    action: Linear,
    hidden: Linear,
    value: Linear,
}

impl ValueNetwork {
    fn new(rng: &mut Rng, device: &Device) -> Self {
        let mut layers = LayerFactory { rng, device };
        let mut conv = |from| layers.patch_conv(from, CHANNELS);
        Self {
            first: conv(COLORS),
            blocks: (0..2).map(|_| [conv(CHANNELS), conv(CHANNELS)]).collect(),
            last: conv(CHANNELS),
            frame: layers.dense(CHANNELS, HIDDEN),
            action: layers.dense(ACTION_FEATURES, HIDDEN),
            hidden: layers.dense(2 * HIDDEN, HIDDEN),
            value: layers.dense(HIDDEN, 1),
        }
    }

    /// Returns the features of frames, `[batch, 64]`. The first convolution has a stride of 2.
    fn frames<'a>(
        &self,
        frames: impl ExactSizeIterator<Item = &'a PackedFrame>,
        device: &Device,
    ) -> Tensor<2> {
        let batch = frames.len();
        let first = relu(self.first.of_patches(one_hot_patches(frames, 2, device)));
        let pooled = halve(first.reshape([batch, SIZE / 2, SIZE / 2, CHANNELS]));
        let features = self.blocks.iter().fold(pooled, |input, [one, two]| {
            let inner = relu(one.forward(input.clone()));
            relu(two.forward(inner) + input)
        });
        let features: Tensor<3> =
            relu(self.last.forward(features)).reshape([batch, CELLS / 16, CHANNELS]);
        let mean = features.mean_dim(1).squeeze_dim::<2>(1);
        relu(self.frame.forward(mean))
    }

    /// Returns the values, `[batch, 1]`, of actions at frames.
    fn values(&self, frames: Tensor<2>, actions: Tensor<2>) -> Tensor<2> {
        let actions = relu(self.action.forward(actions));
        let both = Tensor::cat(vec![frames, actions], 1);
        self.value.forward(relu(self.hidden.forward(both)))
    }
}

/// Trains a [`ValueNetwork`] and estimates values with it.
pub struct SquirrelNetwork {
    device: Device,
    network: Option<ValueNetwork>,
    weight_rng: Rng,
    batch_rng: Rng,
}

impl SquirrelNetwork {
    /// Creates a model without a network. The first training creates one.
    pub fn new(seed: u64) -> Self {
        Self {
            device: Device::flex().autodiff(),
            network: None,
            weight_rng: Rng::new(seed, WEIGHT_STREAM),
            batch_rng: Rng::new(seed, BATCH_STREAM),
        }
    }

    /// Trains another network on these samples and returns the mean squared error of the last batch.
    /// The work is limited by a number of batches.
    pub fn fit(&mut self, samples: &[ValueSample]) -> f32 {
        let mut network = ValueNetwork::new(&mut self.weight_rng, &self.device);
        let mut optimiser = AdamConfig::new().with_epsilon(ADAM_EPSILON).init();
        let mut order: Vec<usize> = (0..samples.len()).collect();
        let (mut batches, mut error) = (0, 0.0);
        'training: for _ in 0..EPOCHS {
            self.batch_rng.shuffle(&mut order);
            for chosen in order.chunks(BATCH) {
                if batches == MAX_BATCHES {
                    break 'training;
                }
                batches += 1;
                let batch: Vec<&ValueSample> =
                    chosen.iter().map(|&index| &samples[index]).collect();
                let gradients;
                (error, gradients) = self.gradients(&network, &batch);
                network = optimiser.step(LEARNING_RATE, network, gradients);
            }
        }
        self.network = Some(network.valid());
        error
    }

    /// Returns the mean squared error of a batch and its gradients.
    fn gradients(&self, network: &ValueNetwork, batch: &[&ValueSample]) -> (f32, GradientsParams) {
        let mut error = 0.0;
        let mut gradients = GradientsAccumulator::new();
        for part in batch.chunks(PART) {
            let share = part.len() as f32 / batch.len() as f32;
            let loss = self.mean_squared_error(network, part).mul_scalar(share);
            let of_part = GradientsParams::from_grads(loss.backward(), network);
            gradients.accumulate(network, of_part);
            error += loss.into_scalar::<f32>();
        }
        (error, gradients.grads())
    }

    fn mean_squared_error(&self, network: &ValueNetwork, batch: &[&ValueSample]) -> Tensor<1> {
        let frames: Vec<PackedFrame> = batch.iter().map(|sample| packed(&sample.state)).collect();
        let actions = actions(batch.iter().map(|sample| &sample.action), &self.device);
        let values: Vec<f32> = batch.iter().map(|sample| sample.value).collect();
        let values = Tensor::from_data(TensorData::new(values, [batch.len(), 1]), &self.device);
        let estimated = network.values(network.frames(frames.iter(), &self.device), actions);
        (estimated - values).square().mean()
    }
}

impl ValueModel for SquirrelNetwork {
    fn train(&mut self, samples: &[ValueSample]) {
        self.fit(samples);
    }

    fn values(&self, state: &StateInput, of_actions: &[ActionFeatures]) -> Option<Vec<f32>> {
        let network = self.network.as_ref()?;
        let device = self.device.clone().without_autodiff();
        // The frame is the same for all actions, so its features are computed once.
        let frame = network.frames([packed(state)].iter(), &device);
        let frames = frame.repeat_dim(0, of_actions.len());
        let values = network.values(frames, actions(of_actions.iter(), &device));
        let values = values.try_to_vec_as();
        Some(values.expect("the CPU backend stores values as 32-bit floats"))
    }

    fn reads_frames(&self) -> bool {
        true
    }
}

/// Returns the frame of a state.
fn packed(state: &StateInput) -> PackedFrame {
    let frame: &Frame = state
        .frame
        .as_deref()
        .expect("the agent stores frames for a model that reads them");
    PackedFrame::new(frame)
}

fn actions<'a>(
    features: impl ExactSizeIterator<Item = &'a ActionFeatures>,
    device: &Device,
) -> Tensor<2> {
    let shape = [features.len(), ACTION_FEATURES];
    let values: Vec<f32> = features.flatten().copied().collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn state(frame: &Frame) -> StateInput {
        StateInput {
            frame: Some(Arc::new(frame.clone())),
            ..StateInput::default()
        }
    }

    #[test]
    fn network_has_six_convolutions_and_the_expected_number_of_parameters() {
        let network = ValueNetwork::new(&mut Rng::new(1, 0), &Device::flex());
        let convolutions = (16 * 9 + 1) * 32 + 5 * (32 * 9 + 1) * 32;
        let dense = (32 + 1) * 64 + (26 + 1) * 64 + (128 + 1) * 64 + (64 + 1);
        assert_eq!(network.num_params(), convolutions + dense);
    }

    /// Samples whose value is the sum of a part for the colour of an object and one for the key.
    fn samples(count: usize) -> Vec<ValueSample> {
        let sample = |index: usize| {
            let (color, key) = (index % 2, index / 2 % 2);
            let mut frame = Frame::filled(0);
            frame.rect(index % 48, index / 12, 16, 16, 3 + color as u8);
            let mut action = [0.0; ACTION_FEATURES];
            action[key] = 1.0;
            ValueSample {
                state: state(&frame),
                action,
                value: (1 - color as i32 - key as i32) as f32,
            }
        };
        (0..count).map(sample).collect()
    }

    #[test]
    fn trained_network_ranks_states_and_actions() {
        let samples = samples(256);
        let mut model = SquirrelNetwork::new(5);
        model.train(&samples);
        let keys: Vec<ActionFeatures> = [0, 2].map(|index| samples[index].action).into();
        let good = model.values(&samples[0].state, &keys).unwrap();
        let bad = model.values(&samples[1].state, &keys).unwrap();
        for (higher, lower) in [(good[0], good[1]), (bad[0], bad[1]), (good[0], bad[0])] {
            assert!(higher > lower + 0.05, "{good:?} {bad:?}");
        }
    }

    #[test]
    fn training_is_deterministic() {
        let samples = samples(40);
        let trained = || {
            let mut model = SquirrelNetwork::new(5);
            let error = model.fit(&samples);
            (error, model.values(&samples[0].state, &[samples[0].action]))
        };
        assert_eq!(trained(), trained());
    }

    #[test]
    fn model_has_no_values_before_its_first_training() {
        let model = SquirrelNetwork::new(1);
        let state = state(&Frame::filled(0));
        assert_eq!(model.values(&state, &[[0.0; ACTION_FEATURES]]), None);
    }
}
