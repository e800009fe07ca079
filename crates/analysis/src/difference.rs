//! The comparison of two runs, environment by environment.

use rhae_protocol::{
    AnalysedEnvironment, AnalysedLevel, AnalysedRun, EnvironmentDifference, LevelDifference,
    PairComparison,
};
use rhae_stats::{GENERATOR, SAMPLED_FLIPS, bootstrap_difference_95, sign_flip_test};

use crate::AnalysisError;
use crate::comparable::{common, is_evaluation};
use crate::sources::sources;

/// Compares two runs on their common environments.
pub(crate) fn pair(a: &AnalysedRun, b: &AnalysedRun) -> Result<PairComparison, AnalysisError> {
    let both = common(a, b);
    let nothing = || AnalysisError::NothingInCommon {
        a: a.label.clone(),
        b: b.label.clone(),
    };
    let repeats: Vec<(Vec<f64>, Vec<f64>)> = both
        .iter()
        .map(|(one, two)| (one.scores.clone(), two.scores.clone()))
        .collect();
    let interval = bootstrap_difference_95(&repeats).ok_or_else(nothing)?;
    let environments: Vec<EnvironmentDifference> = both
        .iter()
        .map(|(one, two)| environment(one, two))
        .collect();
    let differences: Vec<f64> = environments.iter().map(|one| one.difference).collect();
    let test = sign_flip_test(&differences);
    let count = environments.len() as f64;
    let mean = |value: fn(&EnvironmentDifference) -> f64| {
        environments.iter().map(value).sum::<f64>() / count
    };
    let missing = |run: &AnalysedRun, is_compared: &dyn Fn(&str) -> bool| -> Vec<String> {
        let ids = run.environments.iter().map(|one| one.id.clone());
        ids.filter(|id| !is_compared(id)).collect()
    };
    Ok(PairComparison {
        run_a: a.label.clone(),
        run_b: b.label.clone(),
        mean_a: mean(|one| one.a),
        mean_b: mean(|one| one.b),
        difference: mean(|one| one.difference),
        p: test.p,
        p_method: if test.is_exact {
            "exact-sign-flip".to_owned()
        } else {
            format!("sampled-sign-flip, {SAMPLED_FLIPS} flips, {GENERATOR}")
        },
        p_holm: None,
        differing: test.differing,
        interval: [interval.low, interval.high],
        interval_method: interval.method().to_owned(),
        interval_error: Some(interval.error).filter(|&error| error > 0.0),
        sources: (!is_evaluation(a)).then(|| sources(&both)),
        only_in_a: missing(a, &|id| both.iter().any(|(one, _)| one.id == id)),
        only_in_b: missing(b, &|id| both.iter().any(|(_, two)| two.id == id)),
        environments,
    })
}

fn environment(one: &AnalysedEnvironment, two: &AnalysedEnvironment) -> EnvironmentDifference {
    let none = AnalysedLevel::default();
    let level = |index: usize| {
        let a = one.levels.get(index).unwrap_or(&none);
        let b = two.levels.get(index).unwrap_or(&none);
        LevelDifference {
            level: index + 1,
            a: a.score,
            b: b.score,
            completed_a: a.completed,
            completed_b: b.completed,
            actions_a: a.mean_actions(true),
            actions_b: b.mean_actions(true),
        }
    };
    EnvironmentDifference {
        id: one.id.clone(),
        a: one.score(),
        b: two.score(),
        difference: one.score() - two.score(),
        repeats_a: one.scores.len(),
        repeats_b: two.scores.len(),
        levels: (0..one.levels.len().max(two.levels.len()))
            .map(level)
            .collect(),
    }
}
