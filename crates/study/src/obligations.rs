//! What the server must do because time has passed.
//!
//! The server asks for each open sitting with the last contact that it remembers, and issues the
//! commands. Until it has done so, [`Study::clock`](crate::Study::clock) already reports the limit,
//! and commands of the play are refused.

use rhae_protocol::{AttemptOutcome, SittingEndReason, SittingId};

use crate::clock::{Moment, millis, read_clock};
use crate::state::StudyState;

/// A command that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obligation {
    /// Show a prompt to conclude, and issue [`SittingCommand::Prompt`](crate::SittingCommand::Prompt).
    Prompt,
    /// Count the play, and issue [`SittingCommand::EndAttempt`](crate::SittingCommand::EndAttempt).
    EndAttempt(AttemptOutcome),
    /// Issue [`SittingCommand::End`](crate::SittingCommand::End).
    EndSitting(SittingEndReason),
}

/// Returns what is due in a sitting.
pub fn obligations(state: &StudyState, id: &SittingId, moment: Moment) -> Option<Obligation> {
    let sitting = state.sittings.get(id).filter(|sitting| sitting.is_open())?;
    let limits = &state.protocol_of(sitting).limits;
    let reading = read_clock(sitting, limits, moment);
    let attempt = sitting.open_attempt();
    match (reading.limit, attempt) {
        (Some(limit), Some(_)) => Some(Obligation::EndAttempt(limit.outcome())),
        (Some(limit), None) => limit.sitting_end().map(Obligation::EndSitting),
        (None, Some((_, _, attempt))) => {
            let clock_ms = reading.attempt_ms.unwrap_or(0);
            let due = limits
                .prompts_s
                .iter()
                .filter(|&&at_s| clock_ms >= millis(at_s))
                .count();
            let shown = usize::try_from(attempt.prompts).unwrap_or(usize::MAX);
            (due > shown).then_some(Obligation::Prompt)
        }
        (None, None) => None,
    }
}
