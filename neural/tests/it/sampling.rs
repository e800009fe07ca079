use rhae_engine::{Action, ActionKind, ActionSet, Rng};
use rhae_neural::{OUTPUTS, SIMPLE_OUTPUTS, draw, weights};

const ALL: ActionSet = ActionSet::ARROWS
    .with(ActionKind::Action5)
    .with(ActionKind::Action6);

/// Logits with known probabilities: 0.75, 0.5, 0.25, 0.9 and 0.1 for the keys, 0.8 for clicks in the
/// upper half of the frame and 0.2 in the lower half.
fn logits() -> Vec<f32> {
    let logit = |odds: f32| odds.ln();
    let mut logits = vec![
        logit(3.0),
        0.0,
        logit(1.0 / 3.0),
        logit(9.0),
        logit(1.0 / 9.0),
    ];
    logits.extend([logit(4.0); 2048]);
    logits.extend([logit(0.25); 2048]);
    logits
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn keys_weigh_their_probability_and_all_clicks_together_as_much_as_one_key() {
    let weights = weights(&logits(), ALL);
    assert_eq!(weights.len(), OUTPUTS);
    for (weight, expected) in weights.iter().zip([0.75, 0.5, 0.25, 0.9, 0.1]) {
        assert_close(*weight, expected);
    }
    assert_close(weights[SIMPLE_OUTPUTS] * 4096.0, 0.8);
    assert_close(weights[OUTPUTS - 1] * 4096.0, 0.2);
    let clicks: f64 = weights[SIMPLE_OUTPUTS..].iter().sum();
    assert_close(clicks, 0.5);
    // ACTION4 has the probability 0.9 / (0.75 + 0.5 + 0.25 + 0.9 + 0.1 + 0.5).
    assert_close(weights[3] / weights.iter().sum::<f64>(), 0.3);
}

#[test]
fn actions_that_are_not_offered_have_no_weight() {
    let keys = weights(&logits(), ActionSet::of(&[ActionKind::Action2]));
    assert_close(keys.iter().sum(), 0.5);
    assert_close(keys[1], 0.5);
    let clicks = weights(&logits(), ActionSet::of(&[ActionKind::Action6]));
    assert!(clicks[..SIMPLE_OUTPUTS].iter().all(|&weight| weight == 0.0));
    let undo = weights(&logits(), ActionSet::of(&[ActionKind::Action7]));
    assert_eq!(draw(&undo, &mut Rng::new(1, 0)), None);
}

#[test]
fn extreme_logits_have_finite_weights() {
    let mut extreme = vec![-80.0; OUTPUTS];
    extreme[0] = 80.0;
    let weights = weights(&extreme, ALL);
    assert!(
        weights
            .iter()
            .all(|weight| weight.is_finite() && *weight > 0.0)
    );
    let drawn = draw(&weights, &mut Rng::new(1, 0)).unwrap();
    assert_eq!(drawn.action(), Action::Action1);
}

/// Pearson's test on the keys and the four quadrants of clicks, with 8 degrees of freedom. The
/// threshold has a probability of 0.001.
#[test]
fn draws_follow_the_weights() {
    let weights = weights(&logits(), ALL);
    let mut rng = Rng::new(7, 0);
    let mut counts = [0_u32; 9];
    let draws = 40_000;
    for _ in 0..draws {
        let category = match draw(&weights, &mut rng).unwrap().action() {
            Action::Action6 { x, y } => 5 + usize::from(y / 32) * 2 + usize::from(x / 32),
            key => usize::from(key.kind().id()) - 1,
        };
        counts[category] += 1;
    }
    let probabilities =
        [0.75, 0.5, 0.25, 0.9, 0.1, 0.2, 0.2, 0.05, 0.05].map(|weight| weight / 3.0);
    let statistic: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&count, probability)| {
            let expected = probability * f64::from(draws);
            (f64::from(count) - expected).powi(2) / expected
        })
        .sum();
    assert!(statistic < 26.12, "{statistic} {counts:?}");
}
