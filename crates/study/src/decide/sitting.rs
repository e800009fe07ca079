//! Commands of a sitting, apart from its attempts.

use std::borrow::Cow;

use rhae_protocol::{
    ParticipantId, SittingEndReason, SittingId, StudyChain, StudyEvent, StudyStage,
};

use super::attempt::{end_attempt, expired_reservations, start_attempt};
use super::closing::{Ending, closing_events, end_sitting};
use super::person::check_consent_text;
use super::{Events, not_closed, person, require_phase, sitting as find_sitting};
use crate::assignment::next_environment;
use crate::clock::{ClockReading, Moment, millis, read_clock};
use crate::command::{EndRequest, SittingCommand};
use crate::rejection::Rejection;
use crate::state::{AssignmentState, Consent, Sitting, StudyPhase, StudyState};

/// A contact is written to the log if the last one in the log is older than this.
const HEARTBEAT_MS: u64 = 60_000;
/// The maximum number of comments on a sitting.
const MAX_COMMENTS: usize = 20;

/// An open sitting at the moment of a command.
pub(super) struct Opened<'a> {
    pub(super) state: &'a StudyState,
    pub(super) id: &'a SittingId,
    pub(super) sitting: &'a Sitting,
    pub(super) moment: Moment,
    pub(super) reading: ClockReading,
}

impl<'a> Opened<'a> {
    pub(super) fn find(
        state: &'a StudyState,
        id: &'a SittingId,
        moment: Moment,
    ) -> Result<Self, Rejection> {
        let sitting = find_sitting(state, id)?;
        if !sitting.is_open() {
            return Err(Rejection::SittingEnded);
        }
        let limits = &state.protocol_of(sitting).limits;
        Ok(Self {
            state,
            id,
            sitting,
            moment,
            reading: read_clock(sitting, limits, moment),
        })
    }

    pub(super) fn on_chain(&self, event: StudyEvent) -> (StudyChain, StudyEvent) {
        (StudyChain::Sitting(self.id.clone()), event)
    }

    /// Returns the event by which the contact becomes part of the log: the end of an outage, or a
    /// heartbeat if the last one is old. After a limit, contact changes nothing.
    pub(super) fn touch(&self) -> Events {
        if self.reading.limit.is_some() {
            return Vec::new();
        }
        let limits = &self.state.protocol_of(self.sitting).limits;
        let clock = &self.sitting.clock;
        let now_ms = self.moment.now_ms;
        if clock.outage_ms(limits, self.moment, now_ms) > 0 {
            let from_ms = clock.contact_base_ms(limits, self.moment);
            return vec![self.on_chain(StudyEvent::Outage { from_ms })];
        }
        if now_ms.saturating_sub(clock.last_contact_ms) >= HEARTBEAT_MS {
            return vec![self.on_chain(StudyEvent::Heartbeat)];
        }
        Vec::new()
    }

    pub(super) fn before_limit(&self) -> Result<(), Rejection> {
        match self.reading.limit {
            Some(limit) => Err(Rejection::LimitReached(limit)),
            None => Ok(()),
        }
    }
}

pub(super) fn start(
    state: &StudyState,
    id: &SittingId,
    participant: &ParticipantId,
    seat: Option<u32>,
) -> Result<Events, Rejection> {
    not_closed(state)?;
    let found = person(state, participant)?;
    if found.withdrawn.is_some() {
        return Err(Rejection::Withdrawn);
    }
    if found.stage == StudyStage::Live {
        require_phase(state, &[StudyPhase::Open], "an open study")?;
    }
    let erased = state
        .erased
        .values()
        .any(|person| person.sittings.contains(id));
    if state.sittings.contains_key(id) || erased {
        return Err(Rejection::Duplicate(id.to_string()));
    }
    let Some(Consent::Given { text, language, .. }) = &found.consent else {
        return Err(Rejection::NoConsent);
    };
    check_consent_text(state, text, language)?;
    let (protocol_hash, protocol) = state.protocol().ok_or(Rejection::NoProtocol)?;
    let mut had = 0;
    for (earlier, sitting) in state.sittings_of(participant) {
        if sitting.is_open() {
            return Err(Rejection::SittingOpen(earlier.clone()));
        }
        had += 1;
    }
    if had >= protocol.sittings_per_person {
        return Err(Rejection::NoSittingLeft(protocol.sittings_per_person));
    }
    let same_site = |one: &&Sitting| one.site == found.site;
    if let Some(seat) = seat {
        let seats = state.sites.get(&found.site).map_or(0, |site| site.seats);
        let mut open = state.sittings.values().filter(|one| one.is_open());
        if seat == 0 || seat > seats || open.any(|one| same_site(&one) && one.seat == Some(seat)) {
            return Err(Rejection::Seat(seat));
        }
    }
    let same_stage = state
        .sittings
        .values()
        .filter(|one| one.stage == found.stage);
    let event = StudyEvent::SittingStarted {
        participant: participant.clone(),
        site: found.site.clone(),
        seat,
        protocol: protocol_hash.clone(),
        block: same_stage.map(|one| one.block + 1).max().unwrap_or(0),
    };
    Ok(vec![(StudyChain::Sitting(id.clone()), event)])
}

pub(super) fn decide(
    state: &StudyState,
    moment: Moment,
    id: &SittingId,
    command: &SittingCommand,
) -> Result<Events, Rejection> {
    if let SittingCommand::Comment { text } = command {
        // A comment is also possible after the end.
        let sitting = find_sitting(state, id)?;
        let person = state.participants.get(&sitting.participant);
        if person.is_some_and(|person| person.withdrawn.is_some()) {
            return Err(Rejection::Withdrawn);
        }
        if sitting.comments.contains(text) {
            return Ok(Vec::new());
        }
        if sitting.comments.len() >= MAX_COMMENTS {
            return Err(Rejection::Amount("a sitting has at most 20 comments"));
        }
        let comment = StudyEvent::Commented { text: text.clone() };
        return Ok(vec![(StudyChain::Sitting(id.clone()), comment)]);
    }
    let opened = Opened::find(state, id, moment)?;
    match command {
        SittingCommand::Start { .. } | SittingCommand::Comment { .. } => {
            unreachable!("handled before")
        }
        SittingCommand::Next => next(&opened),
        SittingCommand::StartAttempt { play } => start_attempt(&opened, play),
        SittingCommand::Prompt => Ok(prompts(&opened)),
        SittingCommand::Contact => {
            opened.before_limit()?;
            Ok(opened.touch())
        }
        SittingCommand::SetFocus { hidden } => {
            opened.before_limit()?;
            let mut events = opened.touch();
            if opened.sitting.clock.hidden != *hidden {
                events.push(opened.on_chain(StudyEvent::Focus { hidden: *hidden }));
            }
            Ok(events)
        }
        SittingCommand::StartPause => start_pause(&opened),
        SittingCommand::EndPause => {
            if opened.sitting.clock.paused_since_ms.is_none() {
                return Err(Rejection::NotPaused);
            }
            opened.before_limit()?;
            let mut events = opened.touch();
            events.push(opened.on_chain(StudyEvent::PauseEnded));
            Ok(events)
        }
        SittingCommand::EndAttempt { leave, counts } => end_attempt(&opened, *leave, counts),
        SittingCommand::End { request, counts } => {
            let ending = match request {
                EndRequest::Participant => Ending::Participant,
                EndRequest::Staff { by, reason } => {
                    super::require_reason(reason)?;
                    Ending::Staff(format!("{by}: {reason}"))
                }
                EndRequest::Due => Ending::Due,
            };
            end_sitting(state, moment, id, &ending, counts.as_ref())
        }
    }
}

/// Reserves the next environment, or ends the sitting.
fn next(opened: &Opened<'_>) -> Result<Events, Rejection> {
    let (state, sitting) = (opened.state, opened.sitting);
    if sitting.open_attempt().is_some() {
        opened.before_limit()?;
        return Ok(opened.touch());
    }
    if opened.reading.limit.is_some() {
        return end_sitting(state, opened.moment, opened.id, &Ending::Due, None);
    }
    if sitting.clock.paused_since_ms.is_some() {
        return Err(Rejection::AlreadyPaused);
    }
    if sitting.stage == StudyStage::Live {
        require_phase(state, &[StudyPhase::Open], "an open study")?;
    }
    let mut events = opened.touch();
    if sitting.current().is_some() {
        return Ok(events);
    }
    // Reservations of other sittings that have expired make their environments available.
    let released = expired_reservations(state, opened.moment.now_ms);
    let limits = &state.protocol_of(sitting).limits;
    let too_late = opened.reading.remaining_ms < millis(limits.min_remaining_s);
    let chosen = if too_late {
        None
    } else {
        let after = release(state, &released);
        next_environment(&after, opened.id, sitting, opened.reading)
    };
    events.extend(released);
    match chosen {
        Some(environment) => events.push(opened.on_chain(StudyEvent::Reserved {
            position: sitting.last_position() + 1,
            environment,
        })),
        None => {
            let reason = if too_late {
                SittingEndReason::TimeUp
            } else {
                SittingEndReason::NothingLeft
            };
            events.extend(closing_events(opened, Vec::new(), reason, None)?);
        }
    }
    Ok(events)
}

/// Returns the state after reservations were released. It is copied only if there are any.
fn release<'a>(state: &'a StudyState, released: &Events) -> Cow<'a, StudyState> {
    let mut state = Cow::Borrowed(state);
    for (chain, event) in released {
        if let (StudyChain::Sitting(id), StudyEvent::Released { position, reason }) = (chain, event)
            && let Some(sitting) = state.to_mut().sittings.get_mut(id)
            && let Some(assignment) = sitting.assignment_mut(*position)
        {
            assignment.state = AssignmentState::Released(*reason);
        }
    }
    state
}

fn start_pause(opened: &Opened<'_>) -> Result<Events, Rejection> {
    opened.before_limit()?;
    let (clock, limits) = (
        &opened.sitting.clock,
        &opened.state.protocol_of(opened.sitting).limits,
    );
    if opened.sitting.open_attempt().is_some() {
        return Err(Rejection::AttemptOpen);
    }
    if clock.paused_since_ms.is_some() {
        return Err(Rejection::AlreadyPaused);
    }
    if clock.pause_used_ms >= millis(limits.pause_total_s) {
        return Err(Rejection::NoPauseLeft);
    }
    let mut events = opened.touch();
    events.push(opened.on_chain(StudyEvent::PauseStarted));
    Ok(events)
}

/// Returns an event for each prompt to conclude that is due and was not shown.
fn prompts(opened: &Opened<'_>) -> Events {
    let limits = &opened.state.protocol_of(opened.sitting).limits;
    let (Some((position, _, attempt)), Some(clock_ms)) =
        (opened.sitting.open_attempt(), opened.reading.attempt_ms)
    else {
        return Vec::new();
    };
    (1..)
        .zip(&limits.prompts_s)
        .filter(|&(prompt, &at_s)| prompt > attempt.prompts && clock_ms >= millis(at_s))
        .map(|(prompt, _)| opened.on_chain(StudyEvent::Prompted { position, prompt }))
        .collect()
}
