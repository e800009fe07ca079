//! Human baselines of a study under every scoring method, with uncertainty and provenance.

use std::collections::BTreeMap;

use rhae_protocol::{
    BASELINE_FILE_VERSION, BaselineFile, CountInterval, EnvironmentBaselines, EnvironmentVersion,
    LevelBaseline, LevelPlay, MethodBaseline, ResamplingRange, SOFTWARE,
};
use rhae_scoring::{BaselineRule, LevelCount, Method, human_baseline};
use rhae_stats::{
    leave_one_out, median_interval_95, resampled_second_best, resampled_upper_median,
};

use crate::attempt_rule::Standing;
use crate::rows::{AttemptRow, Selection, exclusion_set, live_attempts};
use crate::state::StudyState;
use crate::verdict::applied;

/// Baselines from fewer people are provisional.
const MIN_PEOPLE: usize = 2;

/// Returns the baselines that the next publication would contain: under the attempt rule of the
/// protocol and with exclusions; `None` before the protocol is frozen.
pub fn publishable_baselines(state: &StudyState, revision: u32) -> Option<BaselineFile> {
    let (hash, protocol) = state.protocol().filter(|_| !state.frozen.is_empty())?;
    let environments = environment_baselines(state, applied(protocol.attempt_rule));
    Some(BaselineFile {
        format: BASELINE_FILE_VERSION,
        study: state.id.clone(),
        revision,
        software: SOFTWARE.to_owned(),
        protocol: hash.clone(),
        attempt_rule: protocol.attempt_rule,
        exclusions: exclusion_set(state),
        environments,
    })
}

/// Returns the baselines of every environment version with an attempt.
pub fn environment_baselines(
    state: &StudyState,
    selection: Selection,
) -> Vec<EnvironmentBaselines> {
    let mut rows: BTreeMap<&EnvironmentVersion, Vec<(AttemptRow<'_>, Standing)>> = BTreeMap::new();
    for row in live_attempts(state) {
        let standing = row.standing(selection);
        if standing.contributes() {
            rows.entry(row.environment)
                .or_default()
                .push((row, standing));
        }
    }
    rows.into_iter()
        .filter_map(|(environment, rows)| {
            let levels = state.environments.get(environment)?.levels;
            Some(of_environment(environment, levels, &rows))
        })
        .collect()
}

fn of_environment(
    environment: &EnvironmentVersion,
    levels: u32,
    rows: &[(AttemptRow<'_>, Standing)],
) -> EnvironmentBaselines {
    let count = |wanted: fn(Standing) -> bool| {
        rows.iter()
            .filter(|(_, standing)| wanted(*standing))
            .count()
    };
    EnvironmentBaselines {
        environment: environment.clone(),
        valid: count(Standing::is_valid),
        solved: count(|standing| standing == Standing::Solved),
        censored: count(|standing| standing == Standing::Censored),
        levels: (1..=levels).map(|level| of_level(level, rows)).collect(),
    }
}

fn of_level(level: u32, rows: &[(AttemptRow<'_>, Standing)]) -> LevelBaseline {
    let index = usize::try_from(level).unwrap_or(usize::MAX) - 1;
    let play = |row: &AttemptRow<'_>| {
        let play = row.attempt.counts.levels.get(index).copied();
        play.filter(|play| play.completed)
    };
    let completions: Vec<LevelPlay> = rows.iter().filter_map(|(row, _)| play(row)).collect();
    // A person who was interrupted in this level or before it has neither completed nor failed it.
    let people = rows
        .iter()
        .filter(|(row, standing)| standing.is_valid() || play(row).is_some())
        .count();
    let completed_by = rows.iter().filter(|(row, _)| play(row).is_some());
    LevelBaseline {
        level,
        people,
        completed: completions.len(),
        best: completions.iter().map(|play| play.actions).min(),
        methods: Method::ALL
            .into_iter()
            .map(|method| {
                let counts = counted(method, &completions);
                (
                    method.name().to_owned(),
                    of_method(method.baseline_rule(), &counts, people),
                )
            })
            .collect(),
        attempts: completed_by.map(|(row, _)| row.attempt.hash()).collect(),
    }
}

/// Returns the actions that a method counts in each completion.
fn counted(method: Method, completions: &[LevelPlay]) -> Vec<u32> {
    completions
        .iter()
        .map(|&play| level_count(play).counted_by(method))
        .collect()
}

pub(crate) const fn level_count(play: LevelPlay) -> LevelCount {
    LevelCount {
        actions: play.actions,
        effective: play.effective,
    }
}

/// Returns the baseline of a rule with its uncertainty, from the counts of the people who completed
/// the level and the number of people tested.
fn of_method(rule: BaselineRule, counts: &[u32], people: usize) -> MethodBaseline {
    let resampled = match rule {
        BaselineRule::SecondBest => resampled_second_best(counts, people),
        BaselineRule::UpperMedian => resampled_upper_median(counts, people),
    };
    let interval = match rule {
        BaselineRule::SecondBest => None,
        BaselineRule::UpperMedian => median_interval_95(counts).map(|interval| CountInterval {
            low: interval.low,
            high: interval.high,
            coverage: interval.coverage,
        }),
    };
    let without: Option<Vec<u32>> =
        leave_one_out(counts, |others| human_baseline(rule, others).ok())
            .into_iter()
            .collect();
    MethodBaseline {
        rule: rule.to_string(),
        actions: human_baseline(rule, counts).ok(),
        provisional: counts.len() < MIN_PEOPLE,
        interval,
        resampling: ResamplingRange {
            low: resampled.low,
            high: resampled.high,
            undefined: resampled.undefined,
        },
        leave_one_out: without
            .and_then(|values| Some((*values.iter().min()?, *values.iter().max()?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: [u32; 10] = [27, 12, 40, 18, 15, 90, 22, 15, 58, 31];

    #[test]
    fn first_counts_give_the_worked_baselines() {
        let table = [
            (1, None, Some(27)),
            (2, Some(27), Some(27)),
            (3, Some(27), Some(27)),
            (4, Some(18), Some(27)),
            (5, Some(15), Some(18)),
            (10, Some(15), Some(27)),
        ];
        for (count, second_best, upper_median) in table {
            let counts = &COUNTS[..count];
            let second = of_method(BaselineRule::SecondBest, counts, count);
            let median = of_method(BaselineRule::UpperMedian, counts, count);
            assert_eq!(
                (second.actions, median.actions),
                (second_best, upper_median),
                "{count}"
            );
            assert_eq!(second.provisional, count == 1);
        }
        let median = of_method(BaselineRule::UpperMedian, &COUNTS, 10);
        let interval = median.interval.unwrap();
        assert_eq!((interval.low, interval.high), (15, 58));
        let ties = of_method(BaselineRule::SecondBest, &[10, 10, 30], 3);
        assert_eq!(ties.actions, Some(10));
    }

    #[test]
    fn six_of_ten_people_give_the_worked_ranges() {
        let counts = [12, 15, 18, 22, 40, 90];
        let second = of_method(BaselineRule::SecondBest, &counts, 10);
        assert_eq!(second.actions, Some(15));
        assert_eq!(
            (second.resampling.low, second.resampling.high),
            (Some(12), Some(40))
        );
        assert_eq!(second.leave_one_out, Some((15, 18)));
        let median = of_method(BaselineRule::UpperMedian, &counts, 10);
        assert_eq!(median.actions, Some(22));
        assert_eq!(
            (median.resampling.low, median.resampling.high),
            (Some(15), Some(90))
        );
    }

    #[test]
    fn baseline_that_depends_on_one_person_has_no_leave_one_out_range() {
        let second = of_method(BaselineRule::SecondBest, &[10, 20], 5);
        assert_eq!((second.actions, second.leave_one_out), (Some(20), None));
    }
}
