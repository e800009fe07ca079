//! The end of a sitting: its attempt in progress, its pay, and its exclusion for low effort.

use rhae_protocol::{
    AttemptOutcome, ExclusionBasis, ExclusionId, PlayCounts, ReleaseReason, SittingEndReason,
    SittingId, StudyEvent,
};

use super::attempt::{check_counts, ended_event};
use super::sitting::Opened;
use super::{Events, on_study};
use crate::clock::{Limit, Moment, millis};
use crate::fold::apply_to_sitting;
use crate::low_effort::{EffortVerdict, LOW_EFFORT, sitting_effort};
use crate::pay::{sitting_lines, solved_count};
use crate::rejection::Rejection;
use crate::state::StudyState;

/// What ends a sitting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Participant,
    Staff(String),
    Due,
    Withdrawal,
}

impl Ending {
    const fn outcome(&self) -> AttemptOutcome {
        match self {
            Self::Participant => AttemptOutcome::Left,
            Self::Staff(_) | Self::Due => AttemptOutcome::SittingEnd,
            Self::Withdrawal => AttemptOutcome::Withdrawn,
        }
    }

    const fn reason(&self) -> SittingEndReason {
        match self {
            Self::Participant => SittingEndReason::Left,
            Self::Staff(_) => SittingEndReason::Staff,
            Self::Due => SittingEndReason::TimeUp,
            Self::Withdrawal => SittingEndReason::Withdrawn,
        }
    }
}

/// Ends a sitting together with its attempt in progress.
pub(super) fn end_sitting(
    state: &StudyState,
    moment: Moment,
    id: &SittingId,
    ending: &Ending,
    counts: Option<&PlayCounts>,
) -> Result<Events, Rejection> {
    let opened = Opened::find(state, id, moment)?;
    let limit = opened.reading.limit;
    let limit_end = limit.and_then(Limit::sitting_end);
    if *ending == Ending::Due && limit_end.is_none() {
        return Err(Rejection::NotDue);
    }
    let mut events = opened.touch();
    match opened.sitting.current() {
        Some((position, assignment)) if opened.sitting.open_attempt().is_some() => {
            let counts = counts.ok_or(Rejection::NoCounts)?;
            check_counts(state, &assignment.environment, counts)?;
            let outcome = limit.map_or(ending.outcome(), Limit::outcome);
            events.push(ended_event(&opened, position, outcome, counts));
        }
        Some((position, _)) => events.push(opened.on_chain(StudyEvent::Released {
            position,
            reason: ReleaseReason::SittingEnded,
        })),
        None => {}
    }
    let limits = &state.protocol_of(opened.sitting).limits;
    // Without an attempt in progress, a participant who would not get another environment has
    // completed the sitting.
    let is_over = opened.sitting.open_attempt().is_none()
        && opened.reading.remaining_ms < millis(limits.min_remaining_s);
    let reason = match limit_end {
        Some(reason) => reason,
        None if is_over && *ending == Ending::Participant => SittingEndReason::TimeUp,
        None => ending.reason(),
    };
    let note = match ending {
        Ending::Staff(note) => Some(note.clone()),
        _ => None,
    };
    closing_events(&opened, events, reason, note)
}

/// Adds the events that close a sitting: its end, its pay, and its exclusion for low effort.
pub(super) fn closing_events(
    opened: &Opened<'_>,
    mut events: Events,
    reason: SittingEndReason,
    note: Option<String>,
) -> Result<Events, Rejection> {
    events.push(opened.on_chain(StudyEvent::SittingEnded {
        reason,
        clock_ms: opened.reading.sitting_ms,
        note,
    }));
    let protocol = opened.state.protocol_of(opened.sitting);
    let mut after = opened.sitting.clone();
    for (_, event) in &events {
        apply_to_sitting(
            &mut after,
            &protocol.limits,
            opened.moment.now_ms,
            event.clone(),
        )
        .expect("the events of a sitting apply to it");
    }
    if let Some(ending) = &after.ending {
        let solved = solved_count(&after);
        let lines = sitting_lines(opened.state, opened.id, &after, ending, solved);
        let due = lines
            .into_iter()
            .map(|line| on_study(StudyEvent::PaymentDue { line }));
        events.extend(due);
    }
    let finding = sitting_effort(&protocol.low_effort, &after);
    if finding.verdict == EffortVerdict::Excluded {
        let version = protocol.low_effort.version;
        events.push(opened.on_chain(StudyEvent::Excluded {
            exclusion: ExclusionId(format!("{}/{LOW_EFFORT}-{version}", opened.id)),
            position: None,
            basis: ExclusionBasis::Rule {
                id: LOW_EFFORT.to_owned(),
                version,
            },
            evidence: finding.evidence(),
        }));
    }
    Ok(events)
}
