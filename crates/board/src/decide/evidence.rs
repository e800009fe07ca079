//! Evidence that raises the state of a row.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{BoardEvent, BoardKind, BoardRun, EntryId, RegistrationId, VerificationState};
use rhae_stats::{MIN_RERUNS, predict_95};

use super::run::{check_run, is_competition};
use super::{Events, live, note};
use crate::rejection::Rejection;
use crate::scores::entry_scores;
use crate::state::{BoardState, Entry};

/// The tolerance of a comparison with reruns that all have the same score, in points.
const TOLERANCE: f64 = 1e-9;

pub(super) fn witness(state: &BoardState, id: EntryId, cards: Vec<String>) -> Events {
    let entry = live(state, &id)?;
    check_complete(state, entry)?;
    if !entry.runs.iter().all(is_competition) {
        return Err(Rejection::NotCompetition);
    }
    if cards.is_empty() {
        return Err(Rejection::NoText("the cards on the server"));
    }
    Ok(vec![BoardEvent::Witnessed { entry: id, cards }])
}

pub(super) fn certify(state: &BoardState, id: EntryId, statement: &str) -> Events {
    let entry = live(state, &id)?;
    if state.definition.kind != BoardKind::Official {
        return Err(Rejection::State {
            found: state.definition.kind.name(),
            expected: "a row of an official board",
        });
    }
    check_complete(state, entry)?;
    let statement = note(statement, "the statement of the organiser")?;
    Ok(vec![BoardEvent::Certified {
        entry: id,
        statement,
    }])
}

/// Compares the score of a row with at least three runs of the organiser with other seeds. Each seed
/// is one rerun of the whole set.
pub(super) fn reproduce(state: &BoardState, id: EntryId, runs: Vec<BoardRun>) -> Events {
    let entry = live(state, &id)?;
    check_complete(state, entry)?;
    let plays = entry.runs.iter().flat_map(|run| &run.plays);
    let used: BTreeSet<u64> = plays.map(|play| play.seed).collect();
    for run in &runs {
        check_run(state, run)?;
        if entry.runs.iter().any(|one| one.settings != run.settings) {
            return Err(Rejection::MixedSettings);
        }
        if let Some(play) = run.plays.iter().find(|play| used.contains(&play.seed)) {
            return Err(Rejection::UsedSeed(play.seed));
        }
        // Evaluations have no seeds, so the same files must not count as two reruns.
        let known = entry.runs.iter().chain(&runs);
        let same = known.filter(|one| one.digest == run.digest).count();
        if !run.answers.is_empty() && same > 1 {
            return Err(Rejection::RunTwice(id));
        }
    }
    let scores = rerun_scores(state, entry, &runs);
    let agrees = agreement(state, entry, &scores).ok_or(Rejection::Reruns {
        found: scores.len(),
        expected: MIN_RERUNS,
    })?;
    Ok(vec![BoardEvent::Reproduced {
        entry: id,
        runs,
        agrees,
    }])
}

/// Returns whether the score of a row agrees with runs of the organiser; `None` if there are too few.
pub(super) fn agrees(state: &BoardState, entry: &Entry, runs: &[BoardRun]) -> Option<bool> {
    agreement(state, entry, &rerun_scores(state, entry, runs))
}

fn agreement(state: &BoardState, entry: &Entry, reruns: &[f64]) -> Option<bool> {
    let prediction = predict_95(reruns)?;
    let claim = entry_scores(state, entry).row_score();
    let claim = claim.map_or(0.0, |score| score.mean);
    Some(prediction.contains(claim) || (claim - prediction.mean).abs() <= TOLERANCE)
}

/// Returns the scores of all complete reruns. A seed is one rerun of the environments, and a run one
/// rerun of static tasks.
fn rerun_scores(state: &BoardState, entry: &Entry, runs: &[BoardRun]) -> Vec<f64> {
    let mut reruns: BTreeMap<u64, Vec<BoardRun>> = BTreeMap::new();
    for (number, run) in (0..).zip(runs) {
        if !run.answers.is_empty() {
            reruns.insert(number, vec![run.clone()]);
        }
        for play in &run.plays {
            let one = BoardRun {
                plays: vec![play.clone()],
                ..run.clone()
            };
            reruns.entry(play.seed).or_default().push(one);
        }
    }
    let scores = reruns.into_values();
    scores
        .filter_map(|runs| rerun_score(state, entry, runs))
        .collect()
}

/// Returns the score of one rerun; `None` unless it has every environment or task exactly once.
fn rerun_score(state: &BoardState, entry: &Entry, runs: Vec<BoardRun>) -> Option<f64> {
    let rerun = Entry {
        runs,
        registration: None::<RegistrationId>,
        ..entry.clone()
    };
    let scores = entry_scores(state, &rerun);
    let is_whole = scores.played() == state.definition.set.len() && scores.repeats == 1;
    scores
        .row_score()
        .filter(|_| is_whole)
        .map(|score| score.mean)
}

/// Checks that a row has replayed and registered plays of the whole set.
fn check_complete(state: &BoardState, entry: &Entry) -> Result<(), Rejection> {
    if entry.state < VerificationState::Replayed {
        return Err(Rejection::State {
            found: entry.state.name(),
            expected: VerificationState::Replayed.name(),
        });
    }
    let registration = entry.registration.as_ref();
    let registered = registration.and_then(|id| state.registrations.get(id));
    let (played, announced) = state.progress(registered.ok_or(Rejection::Unregistered)?);
    if played < announced {
        return Err(Rejection::Incomplete {
            missing: announced - played,
            announced,
        });
    }
    Ok(())
}
