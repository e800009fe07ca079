//! A network that is about 90 times cheaper than the original, for training on a CPU.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::relu;
use rhae_engine::{CELLS, SIZE};

use crate::layers::{LayerFactory, PatchConv, double, halve};
use crate::packed_frame::COLORS;

/// The number of channels of the first layer, at full resolution.
const FINE: usize = 16;
/// The number of channels of the layers at half the resolution.
const COARSE: usize = 32;
/// The width of the dense layer of the action head, to which dropout applies.
const HIDDEN: usize = 64;
/// The number of channels of the click head.
const CLICK: usize = 32;

/// One convolution at full and three at half the resolution. The action head pools the whole frame,
/// and the click head combines both resolutions.
#[derive(Module, Debug)]
pub struct LiteNetwork {
    fine: PatchConv,
    coarse: Vec<PatchConv>,
    hidden: Linear,
    simple: Linear,
    /// The weights of the click head for the doubled coarse and for the fine channels, and its bias.
    click_coarse: Linear,
    click_fine: Linear,
    click_bias: Param<Tensor<1>>,
    click: Linear,
}

impl LiteNetwork {
    pub(super) const HIDDEN: usize = HIDDEN;

    pub(super) fn new(layers: &mut LayerFactory<'_>) -> Self {
        Self {
            fine: layers.patch_conv(COLORS, FINE),
            coarse: [FINE, COARSE, COARSE]
                .map(|from| layers.patch_conv(from, COARSE))
                .into(),
            hidden: layers.dense(2 * COARSE, HIDDEN),
            simple: layers.dense(HIDDEN, 5),
            click_coarse: layers.partial_dense(COARSE, CLICK, COARSE + FINE),
            click_fine: layers.partial_dense(FINE, CLICK, COARSE + FINE),
            click_bias: layers.bias(CLICK, COARSE + FINE),
            click: layers.dense(CLICK, 1),
        }
    }

    /// Returns the logits of the keys, `[batch, 5]`, and of the clicks, `[batch, 4096]`, given the
    /// patches of all cells, `[batch * 4096, 144]`.
    pub(super) fn heads(
        &self,
        patches: Tensor<2>,
        dropout: Option<Tensor<2>>,
    ) -> (Tensor<2>, Tensor<2>) {
        let batch = patches.dims()[0] / CELLS;
        let fine = relu(self.fine.of_patches(patches));
        let halved = halve(fine.clone().reshape([batch, SIZE, SIZE, FINE]));
        let coarse = self
            .coarse
            .iter()
            .fold(halved, |features, layer| relu(layer.forward(features)));
        let coarse = coarse.reshape([batch * CELLS / 4, COARSE]);

        let cells: Tensor<3> = coarse.clone().reshape([batch, CELLS / 4, COARSE]);
        let pooled = Tensor::cat(vec![cells.clone().mean_dim(1), cells.max_dim(1)], 2);
        let mut hidden = relu(self.hidden.forward(pooled.squeeze_dim::<2>(1)));
        if let Some(factors) = dropout {
            hidden = hidden * factors;
        }

        // A 1 × 1 convolution of the doubled coarse and the fine channels together. The product with
        // the coarse channels is computed before they are doubled, which is the same and cheaper.
        let from_coarse = self.click_coarse.forward(coarse);
        let from_coarse = double(from_coarse.reshape([batch, SIZE / 2, SIZE / 2, CLICK]));
        let combined = from_coarse.reshape([batch * CELLS, CLICK])
            + self.click_fine.forward(fine)
            + self.click_bias.val().unsqueeze();
        let clicks = self.click.forward(relu(combined));
        (self.simple.forward(hidden), clicks.reshape([batch, CELLS]))
    }
}
