//! The network that predicts which actions change the frame.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::Device;
use rhae_engine::Rng;

use super::faithful::FaithfulNetwork;
use super::lite::LiteNetwork;
use crate::PackedFrame;
use crate::layers::LayerFactory;
use crate::packed_frame::{one_hot, one_hot_patches};

/// The shape of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum NetworkKind {
    /// The network of the original, with 34,320,614 parameters. It takes seconds per action on a CPU.
    Faithful,
    /// A network with 31,542 parameters that is about 90 times cheaper.
    Lite,
}

/// Returns a logit for each of the 4,101 outputs of [`ActionIndex`](crate::ActionIndex), given frames.
#[derive(Module, Debug)]
pub enum Network {
    Faithful(FaithfulNetwork),
    Lite(LiteNetwork),
}

impl Network {
    /// Creates a network with random weights.
    pub fn new(kind: NetworkKind, rng: &mut Rng, device: &Device) -> Self {
        let mut layers = LayerFactory { rng, device };
        match kind {
            NetworkKind::Faithful => Self::Faithful(FaithfulNetwork::new(&mut layers)),
            NetworkKind::Lite => Self::Lite(LiteNetwork::new(&mut layers)),
        }
    }

    /// Returns the logits of frames, `[frames, 4101]`. `dropout` multiplies the values of the action
    /// head's hidden layer, `[frames, self.hidden_width()]`.
    pub fn logits<'a>(
        &self,
        frames: impl ExactSizeIterator<Item = &'a PackedFrame>,
        dropout: Option<Tensor<2>>,
        device: &Device,
    ) -> Tensor<2> {
        let (simple, clicks) = match self {
            Self::Faithful(network) => network.heads(one_hot(frames, device), dropout),
            Self::Lite(network) => network.heads(one_hot_patches(frames, 1, device), dropout),
        };
        Tensor::cat(vec![simple, clicks], 1)
    }

    /// Returns the number of samples whose gradients are computed together. The buffers of few samples
    /// fit into the processor's cache, and the memory allocator reuses them; each pass over the
    /// faithful network creates gradients of 137 MB.
    pub(super) const fn samples_per_pass(&self) -> usize {
        match self {
            Self::Faithful(_) => 8,
            Self::Lite(_) => 1,
        }
    }

    /// Returns the number of values to which dropout applies.
    pub const fn hidden_width(&self) -> usize {
        match self {
            Self::Faithful(_) => FaithfulNetwork::HIDDEN,
            Self::Lite(_) => LiteNetwork::HIDDEN,
        }
    }
}
