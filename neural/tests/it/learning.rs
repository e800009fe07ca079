use burn::Tensor;
use burn::tensor::{Device, Int, TensorData};
use rhae_engine::Frame;
use rhae_neural::{
    ActionIndex, Learner, NetworkKind, OUTPUTS, PackedFrame, SIMPLE_OUTPUTS, Sample, loss,
};

fn loss_of(logits: &[f32], actions: &[i64], labels: &[f32]) -> f32 {
    let (device, batch) = (Device::flex(), actions.len());
    let logits: Tensor<2> =
        Tensor::from_data(TensorData::new(logits.to_vec(), [batch, OUTPUTS]), &device);
    let actions: Tensor<2, Int> =
        Tensor::from_data(TensorData::new(actions.to_vec(), [batch, 1]), &device);
    let labels: Tensor<2> =
        Tensor::from_data(TensorData::new(labels.to_vec(), [batch, 1]), &device);
    loss(logits, actions, labels).into_scalar()
}

/// The loss in 64-bit floats, straight from its definition.
fn expected_loss(logits: &[f32], actions: &[i64], labels: &[f32]) -> f64 {
    let probability = |logit: f32| 1.0 / (1.0 + f64::from(-logit).exp());
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let rows: Vec<&[f32]> = logits.chunks(OUTPUTS).collect();
    let errors = rows
        .iter()
        .zip(actions)
        .zip(labels)
        .map(|((row, &action), &label)| {
            let probability = probability(row[action as usize]);
            -(if label == 1.0 {
                probability
            } else {
                1.0 - probability
            })
            .ln()
        });
    let of = |range: std::ops::Range<usize>| -> Vec<f64> {
        let all = rows.iter().flat_map(|row| row[range.clone()].iter());
        all.map(|&logit| probability(logit)).collect()
    };
    mean(errors.collect())
        - 1e-4 * mean(of(0..SIMPLE_OUTPUTS))
        - 1e-5 * mean(of(SIMPLE_OUTPUTS..OUTPUTS))
}

#[test]
fn loss_is_the_cross_entropy_minus_the_two_bonuses() {
    let logits: Vec<f32> = (0..3 * OUTPUTS)
        .map(|index| ((index * 37 + index / 101) % 211) as f32 / 40.0 - 2.0)
        .collect();
    let (actions, labels) = ([2, 4100, 77], [1.0, 0.0, 1.0]);
    let expected = expected_loss(&logits, &actions, &labels);
    let found = f64::from(loss_of(&logits, &actions, &labels));
    assert!((found - expected).abs() < 2e-6, "{found} {expected}");
    // The bonuses are large enough to be seen at this precision: of keys with the probability 0.5,
    // 5e-5, and of clicks 5e-6.
    let zeros = vec![0.0; OUTPUTS];
    let found = f64::from(loss_of(&zeros, &[0], &[1.0]));
    let expected = 2.0_f64.ln() - 5e-5 - 5e-6;
    assert!((found - expected).abs() < 2e-7, "{found} {expected}");
}

#[test]
fn loss_of_extreme_logits_is_finite() {
    let mut logits = vec![0.0; OUTPUTS];
    logits[3] = 200.0;
    let wrong = loss_of(&logits, &[3], &[0.0]);
    assert!((wrong - 200.0).abs() < 0.01, "{wrong}");
    logits[3] = -200.0;
    let wrong = loss_of(&logits, &[3], &[1.0]);
    assert!((wrong - 200.0).abs() < 0.01, "{wrong}");
}

/// Samples of two keys at distinct frames: the first always has an effect, the second never.
fn samples() -> Vec<Sample> {
    let sample = |index: usize| {
        let mut frame = Frame::filled(5);
        frame.rect(index, index / 2, 6, 6, 9);
        Sample {
            frame: PackedFrame::new(&frame),
            action: ActionIndex::new(index % 2).unwrap(),
            has_effect: index.is_multiple_of(2),
        }
    };
    (0..64).map(sample).collect()
}

#[test]
fn training_separates_the_keys_and_is_deterministic() {
    let samples = samples();
    let batch: Vec<&Sample> = samples.iter().step_by(9).collect();
    let difference = |learner: &mut Learner| {
        let mut frame = Frame::filled(5);
        frame.rect(6, 3, 6, 6, 9);
        let logits = learner.logits(&frame, false);
        logits[0] - logits[1]
    };
    let mut learner = Learner::new(NetworkKind::Lite, 3);
    let before = difference(&mut learner);
    let losses: Vec<f32> = (0..150).map(|_| learner.train(&batch)).collect();
    assert!(losses[149] < 0.9 * losses[0], "{losses:?}");
    let after = difference(&mut learner);
    assert!(after > before + 0.1, "{before} {after}");

    let mut same = Learner::new(NetworkKind::Lite, 3);
    let same_losses: Vec<f32> = (0..20).map(|_| same.train(&batch)).collect();
    assert_eq!(losses[..20], same_losses);
}

/// The gradients of a batch are computed in parts, which must not change the step.
#[test]
fn loss_of_a_batch_is_the_mean_of_its_samples() {
    let samples = samples();
    let batch: Vec<&Sample> = samples.iter().take(20).collect();
    let loss_of = |part: &[&Sample]| Learner::new(NetworkKind::Lite, 3).train(part);
    // Dropout has little influence on untrained logits.
    let single: Vec<f32> = batch.chunks(1).map(loss_of).collect();
    let mean = single.iter().sum::<f32>() / single.len() as f32;
    let found = loss_of(&batch);
    assert!((found - mean).abs() < 0.01, "{found} {mean}");
}

#[test]
fn faithful_network_learns_too() {
    let samples = samples();
    let batch: Vec<&Sample> = samples.iter().take(2).collect();
    let mut learner = Learner::new(NetworkKind::Faithful, 3);
    let losses: Vec<f32> = (0..3).map(|_| learner.train(&batch)).collect();
    assert!(losses[2] < losses[0], "{losses:?}");
}
