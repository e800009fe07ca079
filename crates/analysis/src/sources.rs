//! Where the difference of two runs comes from: completed levels, and actions on completed levels.

use rhae_protocol::{AnalysedEnvironment, AnalysedLevel, DifferenceSources};

/// Divides the mean difference of environments. See [`DifferenceSources`] for the rule.
pub(crate) fn sources(
    environments: &[(&AnalysedEnvironment, &AnalysedEnvironment)],
) -> DifferenceSources {
    let mut all = DifferenceSources::default();
    let none = AnalysedLevel::default();
    for (one, two) in environments {
        let (mut completed, mut actions) = (0.0, 0.0);
        for index in 0..one.levels.len().max(two.levels.len()) {
            let a = one.levels.get(index).unwrap_or(&none);
            let b = two.levels.get(index).unwrap_or(&none);
            let part = level_parts(a, b);
            completed += part.0;
            actions += part.1;
            match (a.completed > 0, b.completed > 0) {
                (true, true) => all.levels_both += 1,
                (true, false) => all.levels_only_a += 1,
                (false, true) => all.levels_only_b += 1,
                (false, false) => all.levels_neither += 1,
            }
        }
        all.levels_completed += completed;
        all.actions += actions;
        all.cap += one.score() - two.score() - completed - actions;
    }
    let count = environments.len().max(1) as f64;
    // Sums of rounded products differ from the score by some 1e-14.
    let mean = |sum: f64| (sum / count * 1e9).round() / 1e9 + 0.0;
    DifferenceSources {
        levels_completed: mean(all.levels_completed),
        actions: mean(all.actions),
        cap: mean(all.cap),
        ..all
    }
}

/// Returns the parts of a level in the difference of its environment: completion and actions.
fn level_parts(a: &AnalysedLevel, b: &AnalysedLevel) -> (f64, f64) {
    let share = |level: &AnalysedLevel| level.completed as f64 / level.plays.max(1) as f64;
    let (share_a, share_b) = (share(a), share(b));
    let weight = if a.weight > 0.0 { a.weight } else { b.weight };
    let (score_a, score_b) = match (share_a > 0.0, share_b > 0.0) {
        (true, true) => (a.score / share_a, b.score / share_b),
        (true, false) => (a.score / share_a, a.score / share_a),
        (false, true) => (b.score / share_b, b.score / share_b),
        (false, false) => return (0.0, 0.0),
    };
    (
        weight * (share_a - share_b) * (score_a + score_b) / 2.0,
        weight * (score_a - score_b) * (share_a + share_b) / 2.0,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(score: f64, levels: &[(usize, f64)]) -> AnalysedEnvironment {
        let level = |&(completed, score): &(usize, f64)| AnalysedLevel {
            weight: 1.0 / levels.len() as f64,
            plays: 2,
            completed,
            score,
            ..AnalysedLevel::default()
        };
        AnalysedEnvironment {
            scores: vec![score; 2],
            levels: levels.iter().map(level).collect(),
            ..AnalysedEnvironment::default()
        }
    }

    #[test]
    fn parts_add_up_to_the_difference() {
        // Level 1: both always complete it, 80 against 50. Level 2: A completes it in one of two
        // plays with 60, B never. Level 3: neither.
        let a = environment(110.0 / 3.0, &[(2, 80.0), (1, 30.0), (0, 0.0)]);
        let b = environment(50.0 / 3.0, &[(2, 50.0), (0, 0.0), (0, 0.0)]);
        let parts = sources(&[(&a, &b)]);
        assert_eq!((parts.levels_completed, parts.actions), (10.0, 10.0));
        assert_eq!(parts.cap, 0.0);
        assert_eq!(
            (
                parts.levels_both,
                parts.levels_only_a,
                parts.levels_only_b,
                parts.levels_neither
            ),
            (1, 1, 0, 1)
        );
    }

    #[test]
    fn capped_scores_leave_a_rest() {
        // The level scores 115, but the score of the environment is capped at 100.
        let a = environment(100.0, &[(2, 115.0)]);
        let b = environment(90.0, &[(2, 90.0)]);
        let parts = sources(&[(&a, &b)]);
        assert_eq!(
            (parts.levels_completed, parts.actions, parts.cap),
            (0.0, 25.0, -15.0)
        );
    }
}
