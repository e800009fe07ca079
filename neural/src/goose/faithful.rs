//! The network of the original: 34.32 million parameters, 33.55 million of them in one layer.

use burn::Tensor;
use burn::module::Module;
use burn::nn::Linear;
use burn::nn::conv::Conv2d;
use burn::tensor::activation::relu;
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;
use rhae_engine::CELLS;

use crate::layers::LayerFactory;
use crate::packed_frame::COLORS;

/// The width of the dense layer of the action head, to which dropout applies.
const HIDDEN: usize = 512;
/// The number of channels after the last shared convolution.
const CHANNELS: usize = 256;
/// The width and height of the cells that the action head pools.
const POOL: usize = 4;

/// Four shared convolutions, a dense head for the keys and a convolutional head for the clicks.
#[derive(Module, Debug)]
pub struct FaithfulNetwork {
    shared: Vec<Conv2d>,
    hidden: Linear,
    simple: Linear,
    clicks: Vec<Conv2d>,
}

impl FaithfulNetwork {
    pub(super) const HIDDEN: usize = HIDDEN;

    pub(super) fn new(layers: &mut LayerFactory<'_>) -> Self {
        let shared = [COLORS, 32, 64, 128, CHANNELS];
        Self {
            shared: shared
                .windows(2)
                .map(|channels| layers.conv([channels[0], channels[1]], 3))
                .collect(),
            hidden: layers.dense(CHANNELS * CELLS / (POOL * POOL), HIDDEN),
            simple: layers.dense(HIDDEN, 5),
            clicks: [(CHANNELS, 128, 3), (128, 64, 3), (64, 32, 1), (32, 1, 1)]
                .map(|(from, to, kernel)| layers.conv([from, to], kernel))
                .into(),
        }
    }

    /// Returns the logits of the keys, `[batch, 5]`, and of the clicks, `[batch, 4096]`, of frames with
    /// the shape `[batch, 16, 64, 64]`.
    pub(super) fn heads(
        &self,
        frames: Tensor<4>,
        dropout: Option<Tensor<2>>,
    ) -> (Tensor<2>, Tensor<2>) {
        let features = self
            .shared
            .iter()
            .fold(frames, |features, layer| relu(layer.forward(features)));
        let pooled = max_pool2d(features.clone(), MaxPoolOptions::new([POOL, POOL]));
        let mut hidden = relu(self.hidden.forward(pooled.flatten::<2>(1, 3)));
        if let Some(factors) = dropout {
            hidden = hidden * factors;
        }
        let last = self.clicks.len() - 1;
        let mut clicks = features;
        for (position, layer) in self.clicks.iter().enumerate() {
            clicks = layer.forward(clicks);
            if position < last {
                clicks = relu(clicks);
            }
        }
        (self.simple.forward(hidden), clicks.flatten::<2>(1, 3))
    }
}
