//! Layers whose weights come from a seeded generator.
//!
//! burn would draw them from a generator of the process, which tests and agents share.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::tensor::{Device, TensorData};
use rhae_engine::Rng;

/// Of this many values, dropout sets one to 0: a probability of 0.2.
const DROPOUT_ONE_IN: u32 = 5;

/// A 3 × 3 convolution of tensors with the shape `[batch, rows, columns, channels]`, as a product of
/// matrices.
///
/// burn's own convolution needs less memory, but its gradients take several times as long.
#[derive(Module, Debug)]
pub(crate) struct PatchConv {
    weights: Linear,
}

impl PatchConv {
    /// Returns the convolution. Cells outside the input are 0.
    pub(crate) fn forward(&self, input: Tensor<4>) -> Tensor<4> {
        let [batch, rows, columns, channels] = input.dims();
        let border = Tensor::zeros([batch, rows + 2, columns + 2, channels], &input.device());
        let padded =
            border.slice_assign([0..batch, 1..rows + 1, 1..columns + 1, 0..channels], input);
        let shifted = (0..9).map(|tap| {
            let (top, left) = (tap / 3, tap % 3);
            padded
                .clone()
                .slice([0..batch, top..top + rows, left..left + columns, 0..channels])
        });
        let patches = Tensor::cat(shifted.collect(), 3);
        let output = self.of_patches(patches.reshape([batch * rows * columns, 9 * channels]));
        let channels = output.dims()[1];
        output.reshape([batch, rows, columns, channels])
    }

    /// Returns the convolution, given a row for the 3 × 3 patch around each cell.
    pub(crate) fn of_patches(&self, patches: Tensor<2>) -> Tensor<2> {
        self.weights.forward(patches)
    }
}

/// Halves the rows and columns of `[batch, rows, columns, channels]`: each result is the maximum of
/// four cells.
pub(crate) fn halve(input: Tensor<4>) -> Tensor<4> {
    let [batch, rows, columns, channels] = input.dims();
    let pairs = |input: Tensor<3>| {
        let first = input.clone().narrow(1, 0, 1);
        first.max_pair(input.narrow(1, 1, 1))
    };
    let rows = rows / 2;
    let halved = pairs(input.reshape([batch * rows, 2, columns * channels]));
    let columns = columns / 2;
    let halved = pairs(halved.reshape([batch * rows * columns, 2, channels]));
    halved.reshape([batch, rows, columns, channels])
}

/// Doubles the rows and columns of `[batch, rows, columns, channels]` by repeating each cell.
pub(crate) fn double(input: Tensor<4>) -> Tensor<4> {
    let [batch, rows, columns, channels] = input.dims();
    input
        .reshape([batch * rows, 1, columns, 1, channels])
        .expand([batch * rows, 2, columns, 2, channels])
        .reshape([batch, 2 * rows, 2 * columns, channels])
}

/// Creates layers on a device. Weights and biases are uniform between `±1 / sqrt(inputs)`, as
/// PyTorch initialises them.
pub(crate) struct LayerFactory<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) device: &'a Device,
}

impl LayerFactory<'_> {
    /// Creates a convolution with a square kernel, padded so that it keeps the size.
    pub(crate) fn conv(&mut self, channels: [usize; 2], kernel: usize) -> Conv2d {
        let padding = kernel / 2;
        let mut layer = Conv2dConfig::new(channels, [kernel, kernel])
            .with_padding(PaddingConfig2d::Explicit(
                padding, padding, padding, padding,
            ))
            .init(self.device);
        let inputs = channels[0] * kernel * kernel;
        layer.weight = self.uniform([channels[1], channels[0], kernel, kernel], inputs);
        layer.bias = Some(self.uniform([channels[1]], inputs));
        layer
    }

    /// Creates a 3 × 3 convolution of tensors whose last dimension contains the channels.
    pub(crate) fn patch_conv(&mut self, from: usize, to: usize) -> PatchConv {
        PatchConv {
            weights: self.dense(9 * from, to),
        }
    }

    /// Creates a dense layer.
    pub(crate) fn dense(&mut self, inputs: usize, outputs: usize) -> Linear {
        let mut layer = self.partial_dense(inputs, outputs, inputs);
        layer.bias = Some(self.uniform([outputs], inputs));
        layer
    }

    /// Creates a dense layer without a bias, for some of the inputs of a layer with `all_inputs`.
    pub(crate) fn partial_dense(
        &mut self,
        inputs: usize,
        outputs: usize,
        all_inputs: usize,
    ) -> Linear {
        let mut layer = LinearConfig::new(inputs, outputs)
            .with_bias(false)
            .init(self.device);
        layer.weight = self.uniform([inputs, outputs], all_inputs);
        layer
    }

    /// Creates a vector of biases.
    pub(crate) fn bias(&mut self, outputs: usize, all_inputs: usize) -> Param<Tensor<1>> {
        self.uniform([outputs], all_inputs)
    }

    fn uniform<const D: usize>(&mut self, shape: [usize; D], inputs: usize) -> Param<Tensor<D>> {
        let bound = 1.0 / (inputs as f32).sqrt();
        let values: Vec<f32> = (0..shape.iter().product())
            .map(|_| {
                let unit = (self.rng.next_u32() >> 8) as f32 / (1_u32 << 24) as f32;
                (2.0 * unit - 1.0) * bound
            })
            .collect();
        Param::from_data(TensorData::new(values, shape), self.device)
    }
}

/// Returns factors that set a fifth of the values of a layer to 0 and scale the others, so that the
/// mean is kept.
pub(crate) fn dropout_factors(rng: &mut Rng, shape: [usize; 2], device: &Device) -> Tensor<2> {
    let kept = DROPOUT_ONE_IN as f32 / (DROPOUT_ONE_IN - 1) as f32;
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| {
            if rng.below(DROPOUT_ONE_IN) == 0 {
                0.0
            } else {
                kept
            }
        })
        .collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_depend_on_the_seed_and_keep_their_bound() {
        let device = Device::flex();
        let weights = |seed| -> Vec<f32> {
            let mut rng = Rng::new(seed, 0);
            let mut factory = LayerFactory {
                rng: &mut rng,
                device: &device,
            };
            let layer = factory.conv([4, 8], 3);
            layer.weight.val().try_to_vec_as().unwrap()
        };
        assert_eq!(weights(1), weights(1));
        assert_ne!(weights(1), weights(2));
        let largest = weights(1).into_iter().map(f32::abs).fold(0.0, f32::max);
        assert!((0.15..=1.0 / 6.0).contains(&largest), "{largest}");
    }

    #[test]
    fn dropout_removes_a_fifth_and_keeps_the_mean() {
        let factors: Vec<f32> = dropout_factors(&mut Rng::new(1, 0), [100, 500], &Device::flex())
            .try_to_vec_as()
            .unwrap();
        let removed = factors.iter().filter(|&&factor| factor == 0.0).count();
        // The standard deviation of the number of removed values is 89.
        assert!((9_600..10_400).contains(&removed), "{removed}");
        assert!(
            factors
                .iter()
                .all(|&factor| factor == 0.0 || factor == 1.25)
        );
    }

    /// Both convolutions compute the same from the same weights.
    #[test]
    fn patch_convolution_equals_the_convolution_of_burn() {
        let device = Device::flex();
        let mut rng = Rng::new(3, 0);
        let mut factory = LayerFactory {
            rng: &mut rng,
            device: &device,
        };
        let (from, to, side) = (3, 5, 8);
        let ours = factory.patch_conv(from, to);
        let mut theirs = factory.conv([from, to], 3);
        let weight = ours.weights.weight.val().reshape([3, 3, from, to]);
        theirs.weight = Param::from_tensor(weight.permute([3, 2, 0, 1]));
        theirs.bias = ours.weights.bias.clone();
        let input: Tensor<4> = factory.uniform([2, side, side, from], 1).val();
        let expected = theirs.forward(input.clone().permute([0, 3, 1, 2]));
        let expected: Vec<f32> = expected.permute([0, 2, 3, 1]).try_to_vec_as().unwrap();
        let found: Vec<f32> = ours.forward(input).try_to_vec_as().unwrap();
        assert_eq!(found.len(), 2 * side * side * to);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    #[test]
    fn halving_takes_the_maximum_and_doubling_repeats() {
        let device = Device::flex();
        let values: Vec<f32> = (0..32).map(|value| (value * 7 % 32) as f32).collect();
        let input: Tensor<4> =
            Tensor::from_data(TensorData::new(values.clone(), [1, 4, 4, 2]), &device);
        let halved: Vec<f32> = halve(input).try_to_vec_as().unwrap();
        let at = |y: usize, x: usize, channel: usize| values[(y * 4 + x) * 2 + channel];
        let mut expected = Vec::new();
        for (y, x, channel) in (0..8).map(|index| (index / 4, index / 2 % 2, index % 2)) {
            let cells = [(0, 0), (0, 1), (1, 0), (1, 1)];
            let cells = cells.map(|(down, right)| at(2 * y + down, 2 * x + right, channel));
            expected.push(cells.into_iter().fold(0.0, f32::max));
        }
        assert_eq!(halved, expected);
        let small: Tensor<4> = Tensor::from_data(TensorData::new(halved, [1, 2, 2, 2]), &device);
        let doubled = double(small.clone());
        assert_eq!(doubled.dims(), [1, 4, 4, 2]);
        let again: Vec<f32> = halve(doubled).try_to_vec_as().unwrap();
        assert_eq!(again, expected);
    }
}
