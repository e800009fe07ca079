//! Decides on commands: validates them against the state and returns the events they cause.
//!
//! *Invariant:* the functions of this module change nothing. What they return always applies.

mod attempt;
mod closing;
mod person;
mod review;
mod setup;
mod sitting;

use rhae_protocol::{ParticipantId, SittingId, StudyChain, StudyEvent};

use crate::clock::Moment;
use crate::command::{Command, SittingCommand};
use crate::rejection::Rejection;
use crate::state::{Participant, Sitting, StudyPhase, StudyState};

/// Events with the chains to which they belong.
pub(crate) type Events = Vec<(StudyChain, StudyEvent)>;

pub(crate) fn decide(
    state: &StudyState,
    moment: Moment,
    command: &Command,
) -> Result<Events, Rejection> {
    match command {
        Command::Setup(command) => setup::decide(state, command),
        Command::Person(id, command) => person::decide(state, moment, id, command),
        Command::Sitting(id, SittingCommand::Start { participant, seat }) => {
            sitting::start(state, id, participant, *seat)
        }
        Command::Sitting(id, command) => sitting::decide(state, moment, id, command),
        Command::Review(id, command) => review::decide(state, id, command),
        Command::Money(command) => review::money(state, command),
        Command::Publish(file) => review::publish(state, file),
        Command::Erase(participant) => review::erase(state, participant),
    }
}

fn on_study(event: StudyEvent) -> (StudyChain, StudyEvent) {
    (StudyChain::Study, event)
}

fn person<'a>(state: &'a StudyState, id: &ParticipantId) -> Result<&'a Participant, Rejection> {
    let unknown = || Rejection::UnknownParticipant(id.clone());
    state.participants.get(id).ok_or_else(unknown)
}

fn sitting<'a>(state: &'a StudyState, id: &SittingId) -> Result<&'a Sitting, Rejection> {
    let unknown = || Rejection::UnknownSitting(id.clone());
    state.sittings.get(id).ok_or_else(unknown)
}

fn require_phase(
    state: &StudyState,
    allowed: &[StudyPhase],
    expected: &'static str,
) -> Result<(), Rejection> {
    if allowed.contains(&state.phase) {
        Ok(())
    } else {
        Err(Rejection::Phase {
            found: state.phase.name(),
            expected,
        })
    }
}

fn not_closed(state: &StudyState) -> Result<(), Rejection> {
    let allowed = [StudyPhase::Draft, StudyPhase::Open, StudyPhase::Paused];
    require_phase(state, &allowed, "a study that is not closed")
}

fn require_reason(reason: &str) -> Result<(), Rejection> {
    if reason.trim().is_empty() {
        return Err(Rejection::NoReason);
    }
    Ok(())
}
