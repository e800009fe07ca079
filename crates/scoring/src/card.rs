//! The score of an environment from its runs, and the score of a card from its environments.

/// Returns the score of an environment: the highest score of its runs, or 0 without runs.
pub fn best_run(runs: impl IntoIterator<Item = f64>) -> f64 {
    runs.into_iter().fold(0.0, f64::max)
}

/// Returns the score of a card: the mean over its environments, or 0 without environments.
///
/// The caller must pass 0 for an environment that was not played. The scores are summed in
/// ascending order, so that the order in which environments are listed cannot change the last bit.
pub fn card_score(environments: impl IntoIterator<Item = f64>) -> f64 {
    let mut scores: Vec<f64> = environments.into_iter().collect();
    scores.sort_by(f64::total_cmp);
    if scores.is_empty() {
        0.0
    } else {
        scores.iter().sum::<f64>() / scores.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn environment_scores_its_best_run_and_card_scores_the_mean() {
        assert_eq!(best_run([0.2, 0.7, 0.1]), 0.7);
        assert_eq!(best_run([]), 0.0);
        assert_eq!(card_score([0.5, 1.0, 0.0]), 0.5);
        assert_eq!(card_score([]), 0.0);
    }

    proptest! {
        #[test]
        fn card_score_does_not_depend_on_the_order_of_environments(mut scores in prop::collection::vec(0.0_f64..1.15, 0..20), by in 0_usize..20) {
            let before = card_score(scores.iter().copied());
            let places = scores.len().max(1);
            scores.rotate_left(by % places);
            scores.reverse();
            prop_assert_eq!(before.to_bits(), card_score(scores).to_bits());
        }
    }
}
