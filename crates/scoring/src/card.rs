//! From runs to an environment's score, and from environments to a card's.

/// An environment's score: its best run, 0 if there is none.
pub fn best_run(runs: impl IntoIterator<Item = f64>) -> f64 {
    runs.into_iter().fold(0.0, f64::max)
}

/// A card's score: the mean over its environments, 0 if there is none.
///
/// Summed in ascending order, so that the order in which environments are listed cannot change even the last bit.
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
    fn the_best_run_counts_and_the_mean_of_environments() {
        assert_eq!(best_run([0.2, 0.7, 0.1]), 0.7);
        assert_eq!(best_run([]), 0.0);
        assert_eq!(card_score([0.5, 1.0, 0.0]), 0.5);
        assert_eq!(card_score([]), 0.0);
    }

    proptest! {
        #[test]
        fn the_order_of_environments_does_not_matter(mut scores in prop::collection::vec(0.0_f64..1.15, 0..20), by in 0_usize..20) {
            let before = card_score(scores.iter().copied());
            let places = scores.len().max(1);
            scores.rotate_left(by % places);
            scores.reverse();
            prop_assert_eq!(before.to_bits(), card_score(scores).to_bits());
        }
    }
}
