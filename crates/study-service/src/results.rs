//! The results of a study as documents.

use rhae_engine::Catalog;
use rhae_protocol::{
    AttemptRule, BandCount, EnvironmentResults, EnvironmentVersion, LevelResults, RateInterval,
    StoppedPlayResult, StudyResults, TimeResults,
};
use rhae_scoring::{BaselineRule, Method, human_baseline};
use rhae_study::{
    EnvironmentReport, LEFT, SOLVED, Selection, StudyState, demographic_counts, difficulty_report,
    duration_bins, environment_report, own_scores, stopped_plays, study_report,
};

use crate::status::coverage;

const MINUTE_MS: f64 = 60_000.0;

/// Returns the results of a study: its numbers under both attempt rules, with and without
/// exclusions, and the details of the given environments.
pub fn study_results(state: &StudyState, environments: &[EnvironmentVersion]) -> StudyResults {
    let selections = AttemptRule::ALL
        .into_iter()
        .flat_map(|rule| [true, false].map(|exclusions| Selection { rule, exclusions }));
    let questions = state.protocol().map(|(_, protocol)| &protocol.demographics);
    let demographics = questions.into_iter().flatten().map(|question| {
        let counts = demographic_counts(state, &question.id).into_iter();
        let counts = counts.map(|(band, people)| BandCount { band, people });
        (question.id.clone(), counts.collect())
    });
    StudyResults {
        study: state.id.clone(),
        title: state.title.clone(),
        summaries: selections
            .map(|selection| study_report(state, selection))
            .collect(),
        demographics: demographics.collect(),
        durations: selection_of(state)
            .map_or_else(Vec::new, |selection| duration_bins(state, None, selection)),
        environments: environment_results(state, environments),
    }
}

/// Adds the lengths of the shortest known solutions, for the environments that declare them.
pub fn add_optima(results: &mut StudyResults, catalog: &dyn Catalog) {
    for one in &mut results.environments {
        let Ok(info) = catalog.find(one.coverage.environment.as_str()) else {
            continue;
        };
        for (level, baseline) in one.by_level.iter_mut().zip(&info.baselines) {
            level.optimal = baseline.solution_length();
        }
    }
}

/// Returns the attempts that the results of environments use: those under the rule of the protocol,
/// with exclusions.
fn selection_of(state: &StudyState) -> Option<Selection> {
    let (_, protocol) = state.protocol()?;
    Some(Selection {
        rule: protocol.attempt_rule,
        exclusions: true,
    })
}

fn environment_results(
    state: &StudyState,
    wanted: &[EnvironmentVersion],
) -> Vec<EnvironmentResults> {
    let protocol = state.protocol().filter(|_| !wanted.is_empty());
    let (Some((_, protocol)), Some(selection)) = (protocol, selection_of(state)) else {
        return Vec::new();
    };
    let method: Method = protocol.analysis.method.parse().unwrap_or(Method::DEFAULT);
    let difficulties = difficulty_report(state, selection).environments;
    let covered = coverage(state).into_iter();
    covered
        .filter(|one| wanted.contains(&one.environment))
        .filter_map(|coverage| {
            let environment = &coverage.environment;
            let report = environment_report(state, environment, selection)?;
            let own = own_scores(state, environment, method, selection);
            let own: Vec<f64> = own.iter().map(|one| one.score).collect();
            let own_score = (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64);
            Some(EnvironmentResults {
                by_level: level_results(&report),
                by_time: time_results(&report),
                durations: duration_bins(state, Some(environment), selection),
                own_score,
                difficulty: difficulties.get(environment).copied().flatten(),
                stopped: stopped(state, environment),
                coverage,
            })
        })
        .collect()
}

fn level_results(report: &EnvironmentReport) -> Vec<LevelResults> {
    let levels = report.levels.iter().zip(&report.drop_off);
    levels
        .map(|(level, point)| LevelResults {
            level: level.level,
            reached: level.reached,
            completed: level.completed,
            stopped: level.stopped,
            censored: level.censored,
            resets: level.resets,
            deaths: level.deaths,
            optimal: None,
            best: level.actions.first().copied(),
            second_best: human_baseline(BaselineRule::SecondBest, &level.actions).ok(),
            upper_median: human_baseline(BaselineRule::UpperMedian, &level.actions).ok(),
            median_minutes: level.median_ms.map(|median_ms| median_ms / MINUTE_MS),
            survival: point.survival,
            survival_interval: point.interval.map(|interval| RateInterval {
                rate: point.survival,
                low: interval.low,
                high: interval.high,
            }),
            actions: level.actions.clone(),
        })
        .collect()
}

fn time_results(report: &EnvironmentReport) -> Vec<TimeResults> {
    let points = report.time.iter();
    points
        .map(|point| TimeResults {
            minutes: point.time as f64 / MINUTE_MS,
            solved: point.incidence[SOLVED],
            left: point.incidence[LEFT],
        })
        .collect()
}

fn stopped(state: &StudyState, environment: &EnvironmentVersion) -> Vec<StoppedPlayResult> {
    let plays = stopped_plays(state, environment).into_iter();
    plays
        .map(|play| StoppedPlayResult {
            play: play.play,
            level: play.level,
            outcome: play.outcome,
            actions: play.actions,
            replay_from: play.replay_from,
        })
        .collect()
}
