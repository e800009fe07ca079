//! The sittings of a study as documents: those in progress, and all of them for a review.

use rhae_protocol::{
    AttemptRow, AttemptRule, AttemptState, EffortRow, EnvironmentVersion, ExclusionBasis,
    ExclusionRow, LiveSitting, SittingEndRow, SittingId, SittingRow,
};
use rhae_study::{
    Assignment, AssignmentState, Exclusion, Moment, Sitting, StudyState, read_clock, sitting_effort,
};

/// Returns the open sittings with their clocks. `contact_ms` is the last contact with a sitting that
/// the server remembers. The levels are left out, because the log of a study does not contain them.
pub fn live_sittings(
    state: &StudyState,
    now_ms: u64,
    contact_ms: impl Fn(&SittingId) -> Option<u64>,
) -> Vec<LiveSitting> {
    let open = state.sittings.iter().filter(|(_, one)| one.is_open());
    open.map(|(id, sitting)| {
        let limits = &state.protocol_of(sitting).limits;
        let contact_ms = contact_ms(id);
        let reading = read_clock(sitting, limits, Moment { now_ms, contact_ms });
        let contact_ms = contact_ms.unwrap_or(0).max(sitting.clock.last_contact_ms);
        let idle_ms = now_ms.saturating_sub(contact_ms);
        let current = sitting.current();
        LiveSitting {
            sitting: id.clone(),
            participant: sitting.participant.clone(),
            stage: sitting.stage,
            site: sitting.site.clone(),
            seat: sitting.seat,
            environment: current.map(|(_, assignment)| assignment.environment.clone()),
            position: sitting.last_position(),
            level: None,
            attempt_ms: reading.attempt_ms,
            sitting_ms: reading.sitting_ms,
            remaining_ms: reading.remaining_ms,
            idle_ms,
            connected: idle_ms < limits.outage_grace_s * 1000,
            paused: sitting.clock.paused_since_ms.is_some(),
            hidden: sitting.clock.hidden,
        }
    })
    .collect()
}

/// Returns all sittings with their attempts, exclusions and the finding of the low-effort rule.
pub fn sitting_rows(state: &StudyState) -> Vec<SittingRow> {
    let sittings = state.sittings.iter();
    sittings
        .map(|(id, sitting)| {
            let protocol = state.protocol_of(sitting);
            let effort = sitting_effort(&protocol.low_effort, sitting);
            let attempts = sitting.assignments.iter().zip(1..);
            SittingRow {
                sitting: id.clone(),
                participant: sitting.participant.clone(),
                stage: sitting.stage,
                site: sitting.site.clone(),
                started_ms: sitting.started_ms,
                end: sitting.ending.as_ref().map(|ending| SittingEndRow {
                    reason: ending.reason,
                    at_ms: ending.at_ms,
                    clock_ms: ending.clock_ms,
                    note: ending.note.clone(),
                }),
                attempts: attempts
                    .map(|(one, position)| attempt_row(one, position, protocol.attempt_rule))
                    .collect(),
                effort: EffortRow {
                    verdict: effort.verdict,
                    evidence: effort.evidence(),
                },
                exclusions: sitting.exclusions.iter().map(exclusion_row).collect(),
                comments: sitting.comments.clone(),
            }
        })
        .collect()
}

/// Returns the sitting and the environment of an attempt with this play.
pub fn sitting_of_play<'a>(
    state: &'a StudyState,
    play: &str,
) -> Option<(&'a SittingId, &'a Sitting, &'a EnvironmentVersion)> {
    let mut sittings = state.sittings.iter();
    sittings.find_map(|(id, sitting)| {
        let mut started = sitting.started();
        let found = started.find(|one| match &one.state {
            AssignmentState::Started(attempt) => attempt.play == play,
            AssignmentState::Ended(attempt) => attempt.play == play,
            AssignmentState::Reserved | AssignmentState::Released(_) => false,
        })?;
        Some((id, sitting, &found.environment))
    })
}

fn attempt_row(assignment: &Assignment, position: u32, rule: AttemptRule) -> AttemptRow {
    let mut row = AttemptRow {
        position,
        environment: assignment.environment.clone(),
        state: AttemptState::Released,
        outcome: None,
        standing: None,
        duration_ms: None,
        actions: None,
        levels_completed: None,
        play: None,
        helped: assignment.helped.clone(),
    };
    row.state = match &assignment.state {
        AssignmentState::Reserved => AttemptState::Reserved,
        AssignmentState::Started(attempt) => {
            row.play = Some(attempt.play.clone());
            AttemptState::Playing
        }
        AssignmentState::Ended(attempt) => {
            row.play = Some(attempt.play.clone());
            row.outcome = Some(attempt.outcome);
            row.standing = Some(attempt.standing(rule));
            row.duration_ms = Some(attempt.duration_ms);
            row.actions = Some(attempt.counts.actions());
            row.levels_completed = Some(attempt.counts.completed_levels() as u64);
            AttemptState::Ended
        }
        AssignmentState::Released(_) => AttemptState::Released,
    };
    row
}

fn exclusion_row(exclusion: &Exclusion) -> ExclusionRow {
    let (by, reason) = match &exclusion.basis {
        ExclusionBasis::Rule { id, version } => (format!("{id}-{version}"), None),
        ExclusionBasis::Person { by, reason } => (by.clone(), Some(reason.clone())),
    };
    let undone = exclusion.undone.as_ref();
    ExclusionRow {
        exclusion: exclusion.id.clone(),
        position: exclusion.position,
        by,
        reason,
        evidence: exclusion.evidence.clone(),
        at_ms: exclusion.at_ms,
        undone: undone.map(|(by, reason)| format!("{by}: {reason}")),
    }
}
