//! The loss that training minimises.

use burn::Tensor;
use burn::tensor::Int;
use burn::tensor::activation::{log_sigmoid, sigmoid};

use crate::{OUTPUTS, SIMPLE_OUTPUTS};

/// The weight of the mean probability of the keys.
const SIMPLE_BONUS: f64 = 1e-4;
/// The weight of the mean probability of the clicks.
const CLICK_BONUS: f64 = 1e-5;

/// Returns the binary cross-entropy of the logits of the taken actions, minus a small bonus for high
/// probabilities of all actions. The bonus keeps actions that were not tried from becoming
/// improbable.
///
/// `logits` has the shape `[batch, 4101]`. `actions` and `labels` have the shape `[batch, 1]`.
pub fn loss(logits: Tensor<2>, actions: Tensor<2, Int>, labels: Tensor<2>) -> Tensor<1> {
    let simple = sigmoid(logits.clone().narrow(1, 0, SIMPLE_OUTPUTS)).mean();
    let clicks = logits
        .clone()
        .narrow(1, SIMPLE_OUTPUTS, OUTPUTS - SIMPLE_OUTPUTS);
    let clicks = sigmoid(clicks).mean();
    let taken = logits.gather(1, actions);
    // -y log σ(l) - (1 - y) log σ(-l) = (1 - y) l - log σ(l), without an overflow of exp.
    let unchanged = labels.neg().add_scalar(1.0);
    let cross_entropy = (unchanged * taken.clone() - log_sigmoid(taken)).mean();
    cross_entropy - simple.mul_scalar(SIMPLE_BONUS) - clicks.mul_scalar(CLICK_BONUS)
}
