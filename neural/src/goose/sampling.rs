//! The draw of an action from the logits of a network.

use rhae_engine::{ActionSet, CELLS, Rng};

use crate::{ActionIndex, OUTPUTS, SIMPLE_OUTPUTS};

/// Returns the weight of each output: 0 if its action is not offered, the probability that it
/// changes the frame for a key, and a 4,096th of that probability for a click. All clicks together
/// therefore weigh as much as one key.
///
/// # Panics
///
/// Panics unless there is a logit for each output.
pub fn weights(logits: &[f32], offered: ActionSet) -> Vec<f64> {
    assert_eq!(logits.len(), OUTPUTS, "a network has an output per action");
    let weight = |(output, &logit): (usize, &f32)| {
        let index = ActionIndex::new(output).expect("the number of logits was checked");
        if !offered.contains(index.kind()) {
            return 0.0;
        }
        let share = if output < SIMPLE_OUTPUTS {
            1.0
        } else {
            CELLS as f64
        };
        1.0 / (1.0 + f64::from(-logit).exp()) / share
    };
    logits.iter().enumerate().map(weight).collect()
}

/// Draws an output with a probability proportional to its weight. Returns `None` if all weights are
/// 0.
///
/// # Examples
///
/// ```
/// use rhae_engine::Rng;
/// use rhae_neural::draw;
///
/// let drawn = draw(&[0.0, 2.0, 0.0], &mut Rng::new(1, 0));
/// assert_eq!(drawn.map(|index| index.index()), Some(1));
/// assert_eq!(draw(&[0.0; 3], &mut Rng::new(1, 0)), None);
/// ```
pub fn draw(weights: &[f64], rng: &mut Rng) -> Option<ActionIndex> {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return None;
    }
    let unit = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut rest = unit * total;
    let mut last = None;
    for (output, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            // Rounding may leave a rest after the last output, which then takes it.
            last = Some(output);
            if rest < weight {
                break;
            }
            rest -= weight;
        }
    }
    last.and_then(ActionIndex::new)
}
