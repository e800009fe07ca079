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
    let used: BTreeSet<u64> = entry.played().into_iter().map(|(_, seed)| seed).collect();
    let mut by_seed: BTreeMap<u64, Vec<BoardRun>> = BTreeMap::new();
    for run in &runs {
        check_run(state, run)?;
        if entry.runs.iter().any(|one| one.settings != run.settings) {
            return Err(Rejection::MixedSettings);
        }
        for play in &run.plays {
            if used.contains(&play.seed) {
                return Err(Rejection::UsedSeed(play.seed));
            }
            let one = BoardRun {
                plays: vec![play.clone()],
                ..run.clone()
            };
            by_seed.entry(play.seed).or_default().push(one);
        }
    }
    let environments = state.definition.set.environments.len();
    let reruns: Vec<f64> = by_seed
        .into_values()
        .filter_map(|runs| rerun_score(state, entry, runs, environments))
        .collect();
    let prediction = predict_95(&reruns).ok_or(Rejection::Reruns {
        found: reruns.len(),
        expected: MIN_RERUNS,
    })?;
    let claim = entry_scores(state, entry)
        .row_score()
        .map_or(0.0, |score| score.mean);
    let agrees = prediction.contains(claim) || (claim - prediction.mean).abs() <= TOLERANCE;
    Ok(vec![BoardEvent::Reproduced {
        entry: id,
        runs,
        agrees,
    }])
}

/// Returns the score of one rerun; `None` unless it has every environment exactly once.
fn rerun_score(
    state: &BoardState,
    entry: &Entry,
    runs: Vec<BoardRun>,
    environments: usize,
) -> Option<f64> {
    let rerun = Entry {
        runs,
        registration: None::<RegistrationId>,
        ..entry.clone()
    };
    let scores = entry_scores(state, &rerun);
    let is_whole = scores.played == environments && scores.repeats == 1;
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
