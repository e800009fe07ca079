//! Applies the events of a sitting.

use rhae_protocol::{SittingId, StudyEvent, StudyLimits, StudyRecord};

use super::{Applied, WRONG_CHAIN};
use crate::clock::PlayClock;
use crate::state::{
    Assignment, AssignmentState, EndedAttempt, Exclusion, OpenAttempt, Sitting, SittingEnding,
    StudyState,
};

pub(super) fn on_sitting(state: &mut StudyState, id: &SittingId, record: &StudyRecord) -> Applied {
    let at_ms = record.at_ms;
    if let StudyEvent::SittingStarted {
        participant,
        site,
        seat,
        protocol,
        block,
    } = record.event.clone()
    {
        let person = state.participants.get(&participant);
        let stage = person.ok_or("the participant is unknown")?.stage;
        if !state.protocols.contains_key(&protocol) {
            return Err("the protocol is unknown");
        }
        let sitting = Sitting {
            participant,
            site,
            seat,
            protocol,
            block,
            stage,
            started_ms: at_ms,
            clock: PlayClock::new(at_ms),
            extension_ms: 0,
            assignments: Vec::new(),
            exclusions: Vec::new(),
            comments: Vec::new(),
            ending: None,
        };
        state.sittings.insert(id.clone(), sitting);
        return Ok(());
    }
    let sitting = state.sittings.get_mut(id).ok_or("the sitting is unknown")?;
    let limits = &state.protocols[&sitting.protocol].limits;
    apply_to_sitting(sitting, limits, at_ms, record.event.clone())
}

/// Applies an event to a sitting that exists.
pub(crate) fn apply_to_sitting(
    sitting: &mut Sitting,
    limits: &StudyLimits,
    at_ms: u64,
    event: StudyEvent,
) -> Applied {
    match event {
        StudyEvent::Heartbeat => sitting.clock.contact(at_ms),
        StudyEvent::Outage { from_ms } => sitting.clock.end_outage(limits, from_ms, at_ms),
        StudyEvent::Focus { hidden } => {
            sitting.clock.hidden = hidden;
            sitting.clock.contact(at_ms);
        }
        StudyEvent::PauseStarted => {
            sitting.clock.paused_since_ms = Some(at_ms);
            sitting.clock.contact(at_ms);
        }
        StudyEvent::PauseEnded => sitting.clock.end_pause(limits, at_ms),
        StudyEvent::Extended { seconds, .. } => sitting.extension_ms += seconds * 1000,
        StudyEvent::Commented { text } => sitting.comments.push(text),
        StudyEvent::SittingEnded {
            reason,
            clock_ms,
            note,
        } => {
            sitting.ending = Some(SittingEnding {
                reason,
                at_ms,
                clock_ms,
                note,
            });
        }
        StudyEvent::Excluded {
            exclusion,
            position,
            basis,
            evidence,
        } => sitting.exclusions.push(Exclusion {
            id: exclusion,
            position,
            basis,
            evidence,
            at_ms,
            undone: None,
        }),
        StudyEvent::ExclusionUndone {
            exclusion,
            by,
            reason,
        } => {
            let mut all = sitting.exclusions.iter_mut();
            let found = all.find(|one| one.id == exclusion);
            found.ok_or("the exclusion is unknown")?.undone = Some((by, reason));
        }
        event => return on_assignment(sitting, at_ms, event),
    }
    Ok(())
}

const NOT_STARTED: &str = "the attempt is not in progress";

fn on_assignment(sitting: &mut Sitting, at_ms: u64, event: StudyEvent) -> Applied {
    match event {
        StudyEvent::Reserved {
            position,
            environment,
        } => {
            if position != sitting.last_position() + 1 {
                return Err("positions must follow each other");
            }
            sitting.assignments.push(Assignment {
                environment,
                reserved_ms: at_ms,
                state: AssignmentState::Reserved,
                helped: None,
            });
        }
        StudyEvent::Released { position, reason } => {
            assignment(sitting, position)?.state = AssignmentState::Released(reason);
        }
        StudyEvent::AttemptStarted { position, play } => {
            let start_clock_ms = sitting.clock.at_contact(at_ms);
            assignment(sitting, position)?.state = AssignmentState::Started(OpenAttempt {
                play,
                started_ms: at_ms,
                start_clock_ms,
                prompts: 0,
            });
            sitting.clock.start(at_ms);
        }
        StudyEvent::Prompted { position, prompt } => {
            match &mut assignment(sitting, position)?.state {
                AssignmentState::Started(attempt) => attempt.prompts = prompt,
                _ => return Err(NOT_STARTED),
            }
        }
        StudyEvent::AttemptEnded {
            position,
            outcome,
            duration_ms,
            counts,
        } => {
            let assignment = assignment(sitting, position)?;
            let AssignmentState::Started(attempt) = &assignment.state else {
                return Err(NOT_STARTED);
            };
            assignment.state = AssignmentState::Ended(EndedAttempt {
                play: attempt.play.clone(),
                started_ms: attempt.started_ms,
                start_clock_ms: attempt.start_clock_ms,
                ended_ms: at_ms,
                outcome,
                duration_ms,
                counts,
            });
        }
        StudyEvent::Helped { position, by, .. } => {
            assignment(sitting, position)?.helped = Some(by);
        }
        _ => return Err(WRONG_CHAIN),
    }
    Ok(())
}

fn assignment(sitting: &mut Sitting, position: u32) -> Result<&mut Assignment, &'static str> {
    sitting
        .assignment_mut(position)
        .ok_or("the position is unknown")
}
