//! The numbers of a whole study.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    AttemptOutcome, EnvironmentVersion, MedianMinutes, ParticipantId, StudyStage, StudySummary,
};
use rhae_stats::{RaschEstimate, Response, median, rasch, suppress_small};

use crate::attempt_rule::Standing;
use crate::pay::books_balance;
use crate::rows::{AttemptRow, Selection, live_attempts};
use crate::state::StudyState;
use crate::verdict::{Verdict, verdicts};

/// The difficulty of an environment is not shown below this number of people.
pub const MIN_PEOPLE_FOR_DIFFICULTY: usize = 5;

const MINUTE_MS: f64 = 60_000.0;
const SHORT_MS: u64 = 20 * 60 * 1000;

/// Returns the numbers of a study.
pub fn study_report(state: &StudyState, selection: Selection) -> StudySummary {
    let live: Vec<_> = state
        .sittings
        .values()
        .filter(|sitting| sitting.stage == StudyStage::Live)
        .collect();
    let people: BTreeSet<&ParticipantId> =
        live.iter().map(|sitting| &sitting.participant).collect();
    let starts: usize = live.iter().map(|sitting| sitting.started().count()).sum();
    let attempts: Vec<(AttemptRow<'_>, Standing)> = live_attempts(state)
        .map(|row| (row, row.standing(selection)))
        .filter(|(_, standing)| standing.is_valid())
        .collect();
    let share = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    let count = |wanted: Standing| attempts.iter().filter(|(_, one)| *one == wanted).count();
    let none = Verdict::ALL.map(|verdict| (verdict, 0));
    let mut environments: BTreeMap<Verdict, usize> = none.into();
    for verdict in verdicts(state).into_values() {
        *environments.entry(verdict).or_default() += 1;
    }
    let total_ms: u64 = attempts
        .iter()
        .map(|(row, _)| row.attempt.duration_ms)
        .sum();
    let left = attempts
        .iter()
        .filter(|(row, _)| row.attempt.outcome == AttemptOutcome::Left);
    StudySummary {
        attempt_rule: selection.rule,
        exclusions: selection.exclusions,
        participants: people.len(),
        sittings: live.len(),
        starts,
        attempts: attempts.len(),
        median_minutes: median_minutes(&attempts),
        hours: total_ms as f64 / (60.0 * MINUTE_MS),
        environments_per_sitting: share(starts, live.len()),
        solved_share: share(count(Standing::Solved), attempts.len()),
        left: left.count(),
        environments,
        books_balance: books_balance(state),
    }
}

fn median_minutes(attempts: &[(AttemptRow<'_>, Standing)]) -> MedianMinutes {
    let of = |wanted: &dyn Fn(Standing, u64) -> bool| {
        let durations: Vec<u64> = attempts
            .iter()
            .map(|(row, standing)| (*standing, row.attempt.duration_ms))
            .filter(|&(standing, duration_ms)| wanted(standing, duration_ms))
            .map(|(_, duration_ms)| duration_ms)
            .collect();
        median(&durations).map(|median_ms| median_ms / MINUTE_MS)
    };
    MedianMinutes {
        all: of(&|_, _| true),
        solved: of(&|standing, _| standing == Standing::Solved),
        unsolved: of(&|standing, _| standing == Standing::Failed),
        unsolved_under_20: of(&|standing, ms| standing == Standing::Failed && ms < SHORT_MS),
    }
}

/// The difficulty of environments and the ability of people under the Rasch model.
#[derive(Clone, Debug, PartialEq)]
pub struct DifficultyReport {
    /// The difficulty of each environment; `None` below [`MIN_PEOPLE_FOR_DIFFICULTY`] people.
    pub environments: BTreeMap<EnvironmentVersion, Option<f64>>,
    pub people: BTreeMap<ParticipantId, f64>,
}

/// Estimates difficulties and abilities from all valid attempts.
pub fn difficulty_report(state: &StudyState, selection: Selection) -> DifficultyReport {
    let valid: Vec<(AttemptRow<'_>, Standing)> = live_attempts(state)
        .map(|row| (row, row.standing(selection)))
        .filter(|(_, standing)| standing.is_valid())
        .collect();
    let people: BTreeSet<_> = valid.iter().map(|(row, _)| row.participant).collect();
    let items: BTreeSet<_> = valid.iter().map(|(row, _)| row.environment).collect();
    let (people, items): (Vec<_>, Vec<_>) =
        (people.into_iter().collect(), items.into_iter().collect());
    let responses: Vec<Response> = valid
        .iter()
        .map(|(row, standing)| Response {
            person: people.partition_point(|one| *one < row.participant),
            item: items.partition_point(|one| *one < row.environment),
            solved: *standing == Standing::Solved,
        })
        .collect();
    let RaschEstimate {
        abilities,
        difficulties,
        ..
    } = rasch(people.len(), items.len(), &responses);
    let attempted = |item: usize| responses.iter().filter(|one| one.item == item).count();
    DifficultyReport {
        environments: items
            .iter()
            .enumerate()
            .map(|(at, &environment)| {
                let shown = attempted(at) >= MIN_PEOPLE_FOR_DIFFICULTY;
                (environment.clone(), shown.then_some(difficulties[at]))
            })
            .collect(),
        people: people.into_iter().cloned().zip(abilities).collect(),
    }
}

/// Returns how often each band of a demographic question was answered by live participants. Small
/// counts are hidden ([`suppress_small`]).
pub fn demographic_counts(state: &StudyState, question: &str) -> Vec<(String, Option<u64>)> {
    let Some((_, protocol)) = state.protocol() else {
        return Vec::new();
    };
    let Some(asked) = protocol.demographics.iter().find(|one| one.id == question) else {
        return Vec::new();
    };
    let live = || {
        state
            .participants
            .values()
            .filter(|one| one.stage == StudyStage::Live)
    };
    let counts: Vec<u64> = asked
        .bands
        .iter()
        .map(|band| {
            live()
                .filter(|one| one.answers.get(question) == Some(band))
                .count() as u64
        })
        .collect();
    let shown = suppress_small(&counts, u64::from(protocol.k_anonymity));
    asked.bands.iter().cloned().zip(shown).collect()
}
