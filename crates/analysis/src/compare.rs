//! The comparison of two or more runs.

use rhae_engine::BaselineSource;
use rhae_protocol::{
    ANALYSIS_VERSION, AnalysedRun, MOCK_PROVIDER, PairComparison, RunComparison, RunRank, is_replay,
};
use rhae_report::counted;
use rhae_stats::{CostedScore, holm, pareto_frontier, rank};

use crate::AnalysisError;
use crate::comparable::{common, differences, is_evaluation};
use crate::difference::pair;
use crate::generalisation::generalisation;

/// How runs are compared.
#[derive(Clone, Debug, Default)]
pub struct CompareOptions {
    /// Whether runs that are not comparable are compared anyway, with a label.
    pub force: bool,
    /// The environments that the authors of the agents have seen, by id or by its first four
    /// characters.
    pub seen: Option<Vec<String>>,
    /// The environments that they have not seen. If only one of the two lists is given, the other
    /// contains all other environments.
    pub unseen: Option<Vec<String>>,
}

/// Compares runs pair by pair.
///
/// # Errors
///
/// Returns [`AnalysisError::NotComparable`] if the runs differ in something that determines scores,
/// unless `options.force` is set, and an error if there are fewer than two runs or two of them have
/// no environment in common.
///
/// # Examples
///
/// See the [crate documentation](crate#examples).
pub fn compare(
    mut runs: Vec<AnalysedRun>,
    options: &CompareOptions,
) -> Result<RunComparison, AnalysisError> {
    if runs.len() < 2 {
        return Err(AnalysisError::TooFewRuns(runs.len()));
    }
    let forced = differences(&runs);
    if !options.force && !forced.is_empty() {
        return Err(AnalysisError::NotComparable(forced));
    }
    let mut pairs = Vec::new();
    for (index, a) in runs.iter().enumerate() {
        for b in &runs[index + 1..] {
            pairs.push(pair(a, b)?);
        }
    }
    let generalisation = generalisation(&runs, &pairs, options)?;
    let mut notes = notes(&runs, &pairs);
    add_ranks(&mut runs, &mut notes);
    if pairs
        .iter()
        .all(|pair| pair.only_in_a.is_empty() && pair.only_in_b.is_empty())
    {
        mark_frontier(&mut runs);
    } else {
        notes.push(
            "The runs have different environments, so their costs are not comparable and there is no frontier."
                .to_owned(),
        );
    }
    let single = if pairs.len() == 1 { pairs.pop() } else { None };
    correct_p_values(&mut pairs);
    Ok(RunComparison {
        version: ANALYSIS_VERSION,
        forced,
        notes,
        pair: single,
        pairs,
        generalisation,
        runs,
    })
}

/// Marks the runs on the frontier of score and cost.
pub(crate) fn mark_frontier(runs: &mut [AnalysedRun]) {
    let systems: Vec<CostedScore> = runs
        .iter()
        .map(|run| CostedScore {
            cost: run.cost_usd,
            score: run.score.mean,
        })
        .collect();
    for (run, on_frontier) in runs.iter_mut().zip(pareto_frontier(&systems)) {
        run.on_frontier = on_frontier;
    }
}

fn correct_p_values(pairs: &mut [PairComparison]) {
    let p_values: Vec<f64> = pairs.iter().map(|pair| pair.p).collect();
    for (pair, corrected) in pairs.iter_mut().zip(holm(&p_values)) {
        pair.p_holm = Some(corrected);
    }
}

/// Ranks the runs on the environments that all of them have.
fn add_ranks(runs: &mut [AnalysedRun], notes: &mut Vec<String>) {
    let Some((first, others)) = runs.split_first() else {
        return;
    };
    let in_all = |id: &str| {
        others
            .iter()
            .all(|other| common(first, other).iter().any(|(one, _)| one.id == id))
    };
    let ids: Vec<String> = first
        .environments
        .iter()
        .map(|one| one.id.clone())
        .filter(|id| in_all(id))
        .collect();
    if ids.is_empty() {
        notes.push("No environment is in all runs, so there are no ranks.".to_owned());
        return;
    }
    let scores_of = |run: &AnalysedRun| -> Vec<f64> {
        common(first, run)
            .iter()
            .filter(|(one, _)| ids.contains(&one.id))
            .map(|(_, two)| two.score())
            .collect()
    };
    let scores: Vec<Vec<f64>> = runs.iter().map(scores_of).collect();
    let ranking = rank(&scores);
    for (run, rank) in runs.iter_mut().zip(ranking.ranks) {
        run.rank = Some(RunRank {
            rank: rank.rank,
            best: rank.best,
            worst: rank.worst,
            chance_of_first: rank.chance_of_first,
        });
    }
}

/// Returns sentences that qualify the numbers.
fn notes(runs: &[AnalysedRun], pairs: &[PairComparison]) -> Vec<String> {
    let mut notes = run_notes(runs);
    for pair in pairs {
        let (a, b) = (pair.only_in_a.len(), pair.only_in_b.len());
        if a + b > 0 {
            notes.push(format!(
                "{} and {} are compared on {} common environments; {a} only in {} and {b} only in {} are left out.",
                pair.run_a, pair.run_b, pair.environments.len(), pair.run_a, pair.run_b
            ));
        }
    }
    let most = pairs.iter().map(|pair| pair.differing).max().unwrap_or(0);
    if most < 6 {
        let unit = if is_evaluation(&runs[0]) {
            "task"
        } else {
            "environment"
        };
        notes.push(format!(
            "The runs differ on {}. With fewer than 6, no difference is significant at 5 %.",
            counted(most as u64, unit)
        ));
    }
    notes
}

/// Returns sentences that qualify the numbers of single runs.
pub(crate) fn run_notes(runs: &[AnalysedRun]) -> Vec<String> {
    let mut notes = Vec::new();
    for run in runs {
        let unit = if is_evaluation(run) { "task" } else { "play" };
        if !run.finished {
            notes.push(format!("{} did not finish.", run.label));
        }
        if run.missing > 0 {
            notes.push(format!(
                "{}: {} without a result, counted as 0.",
                run.label,
                counted(run.missing as u64, unit)
            ));
        }
        if run.failed > 0 {
            notes.push(format!(
                "{}: {} failed, counted with what was reached.",
                run.label,
                counted(run.failed as u64, unit)
            ));
        }
    }
    if runs.iter().any(|run| is_replay(&run.agent)) {
        notes.push(rhae_report::REPLAY_NOTE.to_owned());
    }
    for run in runs {
        let is_mock = run.provider.as_deref() == Some(MOCK_PROVIDER);
        if is_mock && run.cost_usd.is_some() {
            notes.push(format!(
                "The provider of {} is a mock, so its cost is not real.",
                run.label
            ));
        }
    }
    let is_provisional = |source: &Option<String>| {
        let source = source.as_deref().and_then(BaselineSource::parse);
        source.is_some_and(BaselineSource::is_provisional)
    };
    let mut levels = runs
        .iter()
        .flat_map(|run| &run.environments)
        .flat_map(|environment| &environment.levels);
    if levels.any(|level| is_provisional(&level.source)) {
        notes.push(rhae_report::PROVISIONAL_BASELINES_NOTE.to_owned());
    }
    let software: Vec<&str> = runs.iter().map(|run| run.software.as_str()).collect();
    if software.windows(2).any(|pair| pair[0] != pair[1]) {
        notes.push(format!(
            "The runs were made with different software: {}.",
            software.join(", ")
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{AnalysedEnvironment, RunKind};

    use super::*;

    /// The four systems of the worked example of `rhae-stats`.
    fn runs() -> Vec<AnalysedRun> {
        let scores = [
            ("A", [12.0, 4.0, 30.0, 5.0, 0.0, 44.0, 7.0, 0.0]),
            ("B", [10.0, 0.0, 21.0, 5.0, 3.0, 20.0, 0.0, 0.0]),
            ("C", [9.0, 0.0, 20.0, 5.0, 3.0, 22.0, 0.0, 0.0]),
            ("D", [1.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0]),
        ];
        let run = |(label, scores): (&str, [f64; 8])| AnalysedRun {
            label: label.to_owned(),
            kind: RunKind::Plays,
            finished: true,
            repeats: 1,
            environments: scores
                .iter()
                .enumerate()
                .map(|(index, &score)| AnalysedEnvironment {
                    id: format!("en{index:02}-v1"),
                    scores: vec![score],
                    ..AnalysedEnvironment::default()
                })
                .collect(),
            ..AnalysedRun::default()
        };
        scores.map(run).to_vec()
    }

    #[test]
    fn two_runs_have_the_worked_numbers() {
        let comparison = compare(runs()[..2].to_vec(), &CompareOptions::default()).unwrap();
        let pair = comparison.pair.unwrap();
        assert_eq!(
            (pair.mean_a, pair.mean_b, pair.difference),
            (12.75, 7.375, 5.375)
        );
        assert_eq!((pair.p, pair.interval), (0.09375, [0.75, 11.5]));
        assert_eq!(pair.differing, 6);
        assert_eq!(comparison.pairs, []);
    }

    #[test]
    fn more_runs_have_corrected_p_values_and_ranks() {
        let comparison = compare(runs(), &CompareOptions::default()).unwrap();
        assert_eq!(comparison.pair, None);
        let corrected: Vec<(String, f64)> = comparison
            .pairs
            .iter()
            .map(|pair| {
                (
                    format!("{}{}", pair.run_a, pair.run_b),
                    pair.p_holm.unwrap(),
                )
            })
            .collect();
        let expected = [
            ("AB", 0.3125),
            ("AC", 0.3125),
            ("AD", 0.1875),
            ("BC", 1.0),
            ("BD", 0.3125),
            ("CD", 0.3125),
        ];
        assert_eq!(corrected, expected.map(|(pair, p)| (pair.to_owned(), p)));
        let ranges: Vec<(usize, usize, usize)> = comparison
            .runs
            .iter()
            .filter_map(|run| run.rank)
            .map(|rank| (rank.rank, rank.best, rank.worst))
            .collect();
        assert_eq!(ranges, [(1, 1, 3), (2, 1, 4), (2, 1, 4), (4, 2, 4)]);
    }

    #[test]
    fn runs_without_common_environments_are_refused_even_if_forced() {
        let mut two = runs();
        two.truncate(2);
        for environment in &mut two[1].environments {
            environment.id = environment.id.replace("en", "xx");
        }
        let options = CompareOptions {
            force: true,
            ..CompareOptions::default()
        };
        let error = compare(two, &options).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`A` and `B` have no environment in common"
        );
        let error = compare(runs()[..1].to_vec(), &options).unwrap_err();
        assert!(matches!(error, AnalysisError::TooFewRuns(1)));
    }

    #[test]
    fn different_methods_need_force_and_label_the_result() {
        let mut two = runs();
        two.truncate(2);
        two[1].method = "draft-2025".to_owned();
        let refused = compare(two.clone(), &CompareOptions::default()).unwrap_err();
        assert!(refused.to_string().contains("scoring method"), "{refused}");
        assert!(refused.to_string().contains("--force"), "{refused}");
        let options = CompareOptions {
            force: true,
            ..CompareOptions::default()
        };
        assert_eq!(compare(two, &options).unwrap().forced.len(), 1);
    }

    #[test]
    fn environments_of_one_run_are_named_and_left_out() {
        let mut two = runs();
        two.truncate(2);
        two[1].environments.pop();
        let comparison = compare(two, &CompareOptions::default()).unwrap();
        let pair = comparison.pair.unwrap();
        assert_eq!(pair.only_in_a, ["en07-v1"]);
        assert_eq!(pair.environments.len(), 7);
        assert!(
            comparison
                .notes
                .iter()
                .any(|note| note.contains("7 common environments"))
        );
        assert!(comparison.runs.iter().all(|run| !run.on_frontier));
    }
}
