//! Commands of an attempt: its start, its end, and the counts of its play.

use rhae_protocol::{
    AttemptOutcome, EnvironmentVersion, PlayCounts, ReleaseReason, StudyChain, StudyEvent,
};

use super::Events;
use super::closing::closing_events;
use super::sitting::Opened;
use crate::clock::{Limit, millis};
use crate::rejection::Rejection;
use crate::state::{AssignmentState, StudyState};

/// Starts the reserved environment. Repeating the command with the same play does nothing.
pub(super) fn start_attempt(opened: &Opened<'_>, play: &str) -> Result<Events, Rejection> {
    let sitting = opened.sitting;
    opened.before_limit()?;
    let (position, assignment) = sitting.current().ok_or(Rejection::NoReservation)?;
    if let AssignmentState::Started(attempt) = &assignment.state {
        if attempt.play == play {
            return Ok(opened.touch());
        }
        return Err(Rejection::AttemptOpen);
    }
    if sitting.clock.paused_since_ms.is_some() {
        return Err(Rejection::AlreadyPaused);
    }
    let family = assignment.environment.family();
    if opened
        .state
        .families_seen(&sitting.participant)
        .contains(family)
    {
        return Err(Rejection::FamilySeen(family.to_owned()));
    }
    let mut events = opened.touch();
    events.push(opened.on_chain(StudyEvent::AttemptStarted {
        position,
        play: play.to_owned(),
    }));
    Ok(events)
}

/// Ends the attempt in progress. If the limit that ended it also ends the sitting, the sitting is
/// closed as well.
pub(super) fn end_attempt(
    opened: &Opened<'_>,
    leave: bool,
    counts: &PlayCounts,
) -> Result<Events, Rejection> {
    let attempt = opened.sitting.open_attempt();
    let (position, assignment, _) = attempt.ok_or(Rejection::NoAttempt)?;
    check_counts(opened.state, &assignment.environment, counts)?;
    let limit = opened.reading.limit;
    let outcome = match limit {
        _ if counts.solved => AttemptOutcome::Solved,
        Some(limit) => limit.outcome(),
        None if leave => AttemptOutcome::Left,
        None => return Err(Rejection::NotDue),
    };
    let mut events = opened.touch();
    events.push(ended_event(opened, position, outcome, counts));
    match limit.and_then(Limit::sitting_end) {
        Some(reason) => closing_events(opened, events, reason, None),
        None => Ok(events),
    }
}

/// Returns the event that ends the attempt in progress. A solved play is solved, whatever else ended
/// it, because commands after a limit are refused.
pub(super) fn ended_event(
    opened: &Opened<'_>,
    position: u32,
    outcome: AttemptOutcome,
    counts: &PlayCounts,
) -> (StudyChain, StudyEvent) {
    let clock_ms = opened.reading.attempt_ms.unwrap_or(0);
    let (outcome, duration_ms) = if counts.solved {
        let limits = &opened.state.protocol_of(opened.sitting).limits;
        let completed = counts.levels.last().and_then(|level| level.completed_ms);
        let before_limit = millis(limits.hard_s).saturating_sub(1);
        (
            AttemptOutcome::Solved,
            completed.unwrap_or(clock_ms).min(before_limit),
        )
    } else {
        (outcome, clock_ms)
    };
    opened.on_chain(StudyEvent::AttemptEnded {
        position,
        outcome,
        duration_ms,
        counts: counts.clone(),
    })
}

/// Checks counts against the environment and against themselves.
pub(super) fn check_counts(
    state: &StudyState,
    environment: &EnvironmentVersion,
    counts: &PlayCounts,
) -> Result<(), Rejection> {
    let unknown = || Rejection::UnknownEnvironment(environment.clone());
    let pooled = state.environments.get(environment).ok_or_else(unknown)?;
    let levels = usize::try_from(pooled.levels).unwrap_or(usize::MAX);
    let error = |reason| Err(Rejection::Counts(reason));
    if counts.levels.len() > levels {
        return error("there are more levels than the environment has");
    }
    let completed = counts.completed_levels();
    if !counts.levels[..completed]
        .iter()
        .all(|level| level.completed)
    {
        return error("a level is completed before an earlier one");
    }
    if counts.solved != (completed == levels) {
        return error("a play is solved exactly if all levels are completed");
    }
    let times = counts.levels.iter().filter_map(|level| level.completed_ms);
    if !times.is_sorted() {
        return error("a level is completed at an earlier time than the level before it");
    }
    for level in &counts.levels {
        if level.completed && level.actions == 0 {
            return error("a completed level has no actions");
        }
        if level.effective > level.actions || level.actions_last_try > level.actions {
            return error("a part of the actions exceeds all actions");
        }
        if level.resets > level.actions {
            return error("there are more resets than actions");
        }
    }
    Ok(())
}

/// Returns an event for each reservation whose participant was not in contact for too long. A
/// contact is in the log at most a minute after it happened, which is short against the limit.
pub(super) fn expired_reservations(state: &StudyState, now_ms: u64) -> Events {
    let mut events = Vec::new();
    for (id, sitting) in state.sittings.iter().filter(|(_, one)| one.is_open()) {
        let Some((position, assignment)) = sitting.current() else {
            continue;
        };
        let last_ms = sitting.clock.last_contact_ms.max(assignment.reserved_ms);
        let limit_ms = millis(state.protocol_of(sitting).limits.reservation_s);
        if assignment.state == AssignmentState::Reserved && now_ms >= last_ms + limit_ms {
            events.push((
                StudyChain::Sitting(id.clone()),
                StudyEvent::Released {
                    position,
                    reason: ReleaseReason::Expired,
                },
            ));
        }
    }
    events
}
