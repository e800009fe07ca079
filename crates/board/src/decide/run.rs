//! Whether a replayed run may enter a row.

use rhae_protocol::{
    BoardDefinition, BoardEvent, BoardKind, BoardRun, EntryId, EnvironmentVersion,
};

use super::{Events, live};
use crate::rejection::Rejection;
use crate::state::{BoardState, Entry};
use crate::suspicion::{shares_author, suspicions};

/// How far the clock of a machine that played may be ahead.
const CLOCK_TOLERANCE_MS: u64 = 10 * 60 * 1000;

pub(super) fn add(state: &BoardState, now_ms: u64, id: &EntryId, run: BoardRun) -> Events {
    let entry = live(state, id)?;
    check_run(state, &run)?;
    if run.started_ms > now_ms.saturating_add(CLOCK_TOLERANCE_MS) {
        return Err(Rejection::StartedInFuture);
    }
    check_system(state, id, entry, &run)?;
    check_registration(state, entry, &run)?;
    let mut next = entry.clone();
    next.runs.push(run.clone());
    let flags = suspicions(state, id, &next);
    let mut events = vec![BoardEvent::Replayed {
        entry: id.clone(),
        runs: vec![run],
    }];
    let new = flags
        .into_iter()
        .filter(|(flag, _)| !entry.flags.contains_key(flag));
    events.extend(new.map(|(flag, evidence)| BoardEvent::Flagged {
        entry: id.clone(),
        flag,
        evidence,
    }));
    Ok(events)
}

/// Checks that an environment is in the set of a board.
///
/// # Errors
///
/// Returns [`Rejection::OtherSet`] if it is not.
pub fn check_environment(
    definition: &BoardDefinition,
    environment: &EnvironmentVersion,
) -> Result<(), Rejection> {
    let mut environments = definition.set.environments.iter();
    if environments.any(|one| one.id == *environment) {
        return Ok(());
    }
    let hint = match definition.kind {
        BoardKind::Official => {
            ": an official board takes no results of other sets, such as the public one"
        }
        BoardKind::Community | BoardKind::Competition => "",
    };
    Err(Rejection::OtherSet {
        environment: environment.clone(),
        hint,
    })
}

/// Checks that a run was played under what the board fixes.
pub(super) fn check_run(state: &BoardState, run: &BoardRun) -> Result<(), Rejection> {
    let definition = &state.definition;
    let is_official = definition.kind == BoardKind::Official;
    for play in &run.plays {
        check_environment(definition, &play.environment)?;
    }
    check_answers(definition, run)?;
    if run.plays.is_empty() && run.answers.is_empty() {
        return Err(Rejection::NoPlays);
    }
    if run.budget != definition.budget {
        return Err(Rejection::Budget {
            found: run.budget.clone(),
            expected: definition.budget.clone(),
        });
    }
    if run.env_seed != 0 {
        return Err(Rejection::EnvironmentSeed(run.env_seed));
    }
    if is_official {
        if !run.agent.starts_with("model:") {
            return Err(Rejection::Agent(run.agent.clone()));
        }
        if run.prompt_sha256 != definition.prompt_sha256 {
            return Err(Rejection::Prompt);
        }
        if run.keeps_reasoning {
            return Err(Rejection::Reasoning);
        }
        if !is_competition(run) {
            return Err(Rejection::NotCompetition);
        }
    }
    Ok(())
}

/// Checks that the answers of a run are to tasks of the board.
fn check_answers(definition: &BoardDefinition, run: &BoardRun) -> Result<(), Rejection> {
    let Some(tasks) = &definition.set.tasks else {
        let found = !run.answers.is_empty();
        return check_kind(definition, found);
    };
    check_kind(definition, run.plays.is_empty())?;
    for answer in &run.answers {
        let tests = tasks.tests.get(&answer.task);
        if tests.is_none_or(|tests| tests.len() != answer.solved.len()) {
            return Err(Rejection::OtherTask(answer.task.clone()));
        }
    }
    Ok(())
}

/// Checks that a run has what a board ranks: plays of environments, or answers to static tasks.
///
/// # Errors
///
/// Returns [`Rejection::OtherKind`] if it has the other.
pub fn check_kind(definition: &BoardDefinition, has_answers: bool) -> Result<(), Rejection> {
    const KINDS: [&str; 2] = ["plays of environments", "answers to static tasks"];
    let ranks_answers = definition.set.tasks.is_some();
    if ranks_answers == has_answers {
        return Ok(());
    }
    Err(Rejection::OtherKind {
        found: KINDS[usize::from(has_answers)],
        expected: KINDS[usize::from(ranks_answers)],
    })
}

pub(super) fn is_competition(run: &BoardRun) -> bool {
    run.competition && run.server.is_some()
}

/// Checks that a run is of the system of the row, and that the system has no other row.
fn check_system(
    state: &BoardState,
    id: &EntryId,
    entry: &Entry,
    run: &BoardRun,
) -> Result<(), Rejection> {
    if entry.runs.iter().any(|one| one.settings != run.settings) {
        return Err(Rejection::MixedSettings);
    }
    let same_play = |one: &BoardRun| {
        one.plays.iter().any(|play| {
            let mut plays = run.plays.iter();
            plays.any(|new| new.environment == play.environment && new.seed == play.seed)
        })
    };
    let same_files = |one: &BoardRun| one.digest == run.digest;
    if entry
        .runs
        .iter()
        .any(|one| same_play(one) || same_files(one))
    {
        return Err(Rejection::RunTwice(id.clone()));
    }
    let same_system = state.entries.iter().find(|(other_id, other)| {
        *other_id != id
            && other.is_live()
            && shares_author(state, entry, other)
            && other.runs.iter().any(|one| one.settings == run.settings)
    });
    match same_system {
        Some((other, _)) => Err(Rejection::SameSystem(other.clone())),
        None => Ok(()),
    }
}

/// Checks that a run of a registered row was announced.
fn check_registration(state: &BoardState, entry: &Entry, run: &BoardRun) -> Result<(), Rejection> {
    let registration = entry.registration.as_ref();
    let Some(registered) = registration.and_then(|id| state.registrations.get(id)) else {
        return Ok(());
    };
    if run.started_ms < registered.at_ms {
        return Err(Rejection::StartedBefore);
    }
    for answer in &run.answers {
        let earlier = entry.runs.iter().flat_map(|run| &run.answers);
        let count = earlier.filter(|one| one.task == answer.task).count();
        if count >= registered.seeds.len() {
            return Err(Rejection::RepeatsUsed(registered.seeds.len()));
        }
    }
    let mut seeds = run.plays.iter().map(|play| play.seed);
    match seeds.find(|seed| !registered.seeds.contains(seed)) {
        Some(seed) => Err(Rejection::Seed(seed)),
        None => Ok(()),
    }
}
