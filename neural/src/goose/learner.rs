//! A network with its optimiser and the generators behind its weights and dropout.

use burn::Tensor;
use burn::module::Module;
use burn::optim::{AdamConfig, GradientsAccumulator, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Int, TensorData};
use rhae_engine::{Frame, Rng};

use super::loss::loss;
use super::network::{Network, NetworkKind};
use super::sample_buffer::Sample;
use crate::PackedFrame;
use crate::layers::dropout_factors;

const LEARNING_RATE: f64 = 1e-4;
/// The epsilon of PyTorch's Adam. That of burn is 1e-5.
const ADAM_EPSILON: f32 = 1e-8;
/// The streams of a seed.
const WEIGHT_STREAM: u64 = 16;
const DROPOUT_STREAM: u64 = 17;

/// Predicts and trains.
pub struct Learner {
    kind: NetworkKind,
    device: Device,
    network: Network,
    optimiser: ModuleOptimizer,
    weight_rng: Rng,
    dropout_rng: Rng,
}

impl Learner {
    /// Creates a network with random weights and its optimiser.
    pub fn new(kind: NetworkKind, seed: u64) -> Self {
        let device = Device::flex().autodiff();
        let mut weight_rng = Rng::new(seed, WEIGHT_STREAM);
        Self {
            kind,
            network: Network::new(kind, &mut weight_rng, &device),
            optimiser: optimiser(),
            device,
            weight_rng,
            dropout_rng: Rng::new(seed, DROPOUT_STREAM),
        }
    }

    /// Replaces the network by one with other random weights, and starts its optimiser.
    pub fn restart(&mut self) {
        self.network = Network::new(self.kind, &mut self.weight_rng, &self.device);
        self.optimiser = optimiser();
    }

    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the logits of all outputs for a frame, with or without dropout.
    pub fn logits(&mut self, frame: &Frame, with_dropout: bool) -> Vec<f32> {
        let device = self.device.clone().without_autodiff();
        let shape = [1, self.network.hidden_width()];
        let dropout = with_dropout.then(|| dropout_factors(&mut self.dropout_rng, shape, &device));
        let frame = [PackedFrame::new(frame)];
        let logits = self.network.valid().logits(frame.iter(), dropout, &device);
        logits
            .try_to_vec_as()
            .expect("the CPU backend stores logits as 32-bit floats")
    }

    /// Takes one step of Adam on a batch and returns the loss before the step.
    pub fn train(&mut self, batch: &[&Sample]) -> f32 {
        let mut total = 0.0;
        let mut gradients = GradientsAccumulator::new();
        for part in batch.chunks(self.network.samples_per_pass()) {
            // The loss is a mean, so the loss of the batch is the weighted mean of its parts.
            let share = part.len() as f32 / batch.len() as f32;
            let loss = self.loss(part).mul_scalar(share);
            let of_part = GradientsParams::from_grads(loss.backward(), &self.network);
            gradients.accumulate(&self.network, of_part);
            total += loss.into_scalar::<f32>();
        }
        let network = self.network.clone();
        self.network = self
            .optimiser
            .step(LEARNING_RATE, network, gradients.grads());
        total
    }

    fn loss(&mut self, batch: &[&Sample]) -> Tensor<1> {
        let count = batch.len();
        let actions: Vec<i64> = batch
            .iter()
            .map(|sample| sample.action.index() as i64)
            .collect();
        let labels: Vec<f32> = batch
            .iter()
            .map(|sample| f32::from(u8::from(sample.has_effect)))
            .collect();
        let actions: Tensor<2, Int> =
            Tensor::from_data(TensorData::new(actions, [count, 1]), &self.device);
        let labels: Tensor<2> =
            Tensor::from_data(TensorData::new(labels, [count, 1]), &self.device);
        let shape = [count, self.network.hidden_width()];
        let dropout = dropout_factors(&mut self.dropout_rng, shape, &self.device);
        let frames = batch.iter().map(|sample| &sample.frame);
        let logits = self.network.logits(frames, Some(dropout), &self.device);
        loss(logits, actions, labels)
    }
}

fn optimiser() -> ModuleOptimizer {
    AdamConfig::new().with_epsilon(ADAM_EPSILON).init()
}
