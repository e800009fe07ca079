//! The completion code that a participant of a recruiting platform gets.
//!
//! *Invariant:* a code is available only when everything is in the log, so that a redirect cannot
//! lose data.

use rhae_protocol::{ParticipantId, SittingEndReason};

use crate::state::{Consent, StudyState};

pub use rhae_protocol::CompletionKind as Completion;

/// Returns the completion of a participant; `None` while something is still open.
pub fn completion(state: &StudyState, id: &ParticipantId) -> Option<Completion> {
    let person = state.participants.get(id)?;
    let mut sittings = state.sittings_of(id).map(|(_, sitting)| sitting).peekable();
    if sittings.peek().is_none() {
        return (person.consent == Some(Consent::Declined)).then_some(Completion::NoConsent);
    }
    let mut completion: Option<Completion> = None;
    for sitting in sittings {
        // `None` ends the function: an open sitting has no completion.
        let ending = sitting.ending.as_ref()?;
        let started = sitting.started().next().is_some();
        let this = match ending.reason {
            SittingEndReason::Lost => Completion::Technical,
            SittingEndReason::NothingLeft if !started => Completion::ScreenedOut,
            _ => Completion::Complete,
        };
        // One complete sitting is enough.
        completion = Some(completion.map_or(this, |other| other.min(this)));
    }
    completion
}
