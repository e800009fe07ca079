//! What a participant sees, computed from the state of the study.
//!
//! **Invariant:** no id, title or version of an environment leaves this module, except the play,
//! whose frame the caller adds.

use rhae_protocol::{
    AttemptOutcome, CompletionView, ConsentView, FeeView, ParticipantId, SittingClock, SittingEnd,
    SittingId, SittingStep, SittingView, StudyProtocol, StudyStage,
};
use rhae_study::{
    AssignmentState, Consent, Moment, Participant, Sitting, Study, StudyPhase, StudyState,
    completion, text_digest,
};

/// A view, and the play whose frame belongs to it.
pub(super) struct Viewed {
    pub(super) view: SittingView,
    pub(super) play: Option<String>,
}

/// The language of the consent text if the participant asks for none that exists.
const DEFAULT_LANGUAGE: &str = "en";

/// Returns a view of a link that belongs to no person: of a recruiting site, or of a free seat.
pub(super) fn shared_view(state: &StudyState, step: SittingStep, seat: Option<u32>) -> SittingView {
    let protocol = state.protocol().map(|(_, protocol)| protocol);
    SittingView {
        step,
        title: state.title.clone(),
        kiosk: seat.is_some(),
        seat,
        languages: protocol
            .map(|protocol| protocol.consent.keys().cloned().collect())
            .unwrap_or_default(),
        sitting_minutes: protocol.map(|protocol| protocol.limits.sitting_s / 60),
        fee: None,
        consent: None,
        questions: None,
        environment: None,
        finished: 0,
        last_outcome: None,
        clock: None,
        frame: None,
        end: None,
        completion: None,
        receipt: None,
    }
}

/// Returns what a participant sees.
pub(super) fn sitting_view(
    study: &Study,
    id: &ParticipantId,
    language: Option<&str>,
    moment: impl Fn(&SittingId) -> Moment,
) -> Viewed {
    let state = study.state();
    let Some(person) = state.participants.get(id) else {
        let view = shared_view(state, SittingStep::Erased, None);
        return Viewed { view, play: None };
    };
    let sittings = || state.sittings_of(id);
    let sitting = sittings()
        .find(|(_, one)| one.is_open())
        .or_else(|| sittings().max_by_key(|(_, one)| one.started_ms));
    let protocol = match sitting {
        Some((_, sitting)) => Some(state.protocol_of(sitting)),
        None => state.protocol().map(|(_, protocol)| protocol),
    };
    let step = step(state, person, protocol, sitting.map(|(_, sitting)| sitting));
    let mut view = SittingView {
        fee: protocol.map(|protocol| fee(state, person, protocol)),
        receipt: person.withdrawn.as_ref().map(|one| one.receipt.clone()),
        seat: person.checked_in.as_ref().map(|(_, seat)| *seat),
        ..shared_view(state, step, None)
    };
    if let Some(protocol) = protocol {
        match step {
            SittingStep::Consent => view.consent = consent(protocol, language),
            SittingStep::About => view.questions = Some(protocol.demographics.clone()),
            _ => {}
        }
    }
    if let Some((id, sitting)) = sitting {
        view.finished = u32::try_from(sitting.ended().count()).unwrap_or(u32::MAX);
        view.last_outcome = last_outcome(sitting);
        view.seat = sitting.seat.or(view.seat);
        if sitting.is_open() {
            view.environment = sitting.current().map(|(position, _)| position);
            view.clock = clock(study, id, sitting, moment(id));
        } else {
            view.end = end(state, id, sitting);
        }
    }
    view.completion = completed(state, person, id);
    let attempt = sitting.and_then(|(_, sitting)| sitting.open_attempt());
    let play = attempt.filter(|_| step == SittingStep::Environment);
    Viewed {
        play: play.map(|(_, _, attempt)| attempt.play.clone()),
        view,
    }
}

fn step(
    state: &StudyState,
    person: &Participant,
    protocol: Option<&StudyProtocol>,
    sitting: Option<&Sitting>,
) -> SittingStep {
    if person.withdrawn.is_some() {
        return SittingStep::Withdrawn;
    }
    if let Some(sitting) = sitting {
        return match sitting.current() {
            _ if !sitting.is_open() => SittingStep::Ended,
            _ if sitting.clock.paused_since_ms.is_some() => SittingStep::Paused,
            Some((_, one)) if one.state == AssignmentState::Reserved => SittingStep::Ready,
            Some(_) => SittingStep::Environment,
            None => SittingStep::Between,
        };
    }
    if person.consent == Some(Consent::Declined) {
        return SittingStep::Declined;
    }
    let is_open = match person.stage {
        StudyStage::Live => state.phase == StudyPhase::Open,
        StudyStage::Test | StudyStage::Pilot => state.phase != StudyPhase::Closed,
    };
    let Some(protocol) = protocol.filter(|_| is_open) else {
        return SittingStep::Unavailable;
    };
    let is_current = match &person.consent {
        Some(Consent::Given { text, language, .. }) => {
            let current = protocol.consent.get(language);
            current.is_some_and(|current| text_digest(&current.text) == *text)
        }
        _ => false,
    };
    if !is_current {
        SittingStep::Consent
    } else if person.answers.is_empty() && !protocol.demographics.is_empty() {
        SittingStep::About
    } else if person.devices.is_none() {
        SittingStep::Check
    } else {
        SittingStep::Between
    }
}

fn fee(state: &StudyState, person: &Participant, protocol: &StudyProtocol) -> FeeView {
    let site = state.sites.get(&person.site);
    let of_site = site.and_then(|site| site.fee_minor);
    FeeView {
        amount_minor: of_site.unwrap_or(protocol.money.fee_minor),
        currency: protocol.money.currency.clone(),
    }
}

fn consent(protocol: &StudyProtocol, language: Option<&str>) -> Option<ConsentView> {
    let texts = &protocol.consent;
    let wanted = language.and_then(|language| texts.get_key_value(language));
    let (language, text) = wanted
        .or_else(|| texts.get_key_value(DEFAULT_LANGUAGE))
        .or_else(|| texts.first_key_value())?;
    Some(ConsentView {
        language: language.clone(),
        version: text.version,
        text: text.text.clone(),
        hash: text_digest(&text.text),
    })
}

fn last_outcome(sitting: &Sitting) -> Option<AttemptOutcome> {
    let ended = sitting.ended().last();
    ended.map(|(_, _, attempt)| attempt.outcome)
}

fn clock(study: &Study, id: &SittingId, sitting: &Sitting, moment: Moment) -> Option<SittingClock> {
    let reading = study.clock(moment, id)?;
    let limits = &study.state().protocol_of(sitting).limits;
    let current_ms = sitting
        .clock
        .paused_since_ms
        .map_or(0, |since| moment.now_ms.saturating_sub(since));
    let used_ms = sitting.clock.pause_used_ms + current_ms;
    Some(SittingClock {
        now_ms: moment.now_ms,
        sitting_ms: reading.sitting_ms,
        remaining_ms: reading.remaining_ms,
        attempt_ms: reading.attempt_ms,
        hard_ms: limits.hard_s * 1000,
        prompts_ms: limits.prompts_s.iter().map(|at_s| at_s * 1000).collect(),
        stopped: reading.stopped,
        pause_left_ms: (limits.pause_total_s * 1000).saturating_sub(used_ms),
    })
}

fn end(state: &StudyState, id: &SittingId, sitting: &Sitting) -> Option<SittingEnd> {
    let ending = sitting.ending.as_ref()?;
    let amount = |item: &str| {
        let key = rhae_protocol::PaymentKey(format!("{id}/{item}"));
        state
            .ledger
            .get(&key)
            .map_or(0, |entry| entry.line.amount_minor)
    };
    let solved = sitting
        .ended()
        .filter(|(_, _, attempt)| attempt.outcome == AttemptOutcome::Solved);
    let (fee_minor, bonus_minor) = (amount("fee"), amount("bonus"));
    Some(SittingEnd {
        reason: ending.reason,
        solved: u32::try_from(solved.count()).unwrap_or(u32::MAX),
        fee_minor,
        bonus_minor,
        total_minor: fee_minor + bonus_minor,
        currency: state.protocol_of(sitting).money.currency.clone(),
    })
}

fn completed(
    state: &StudyState,
    person: &Participant,
    id: &ParticipantId,
) -> Option<CompletionView> {
    let kind = completion(state, id)?;
    let site = state.sites.get(&person.site);
    let recruiter = site.and_then(|site| site.recruiter.as_ref());
    let code = recruiter.and_then(|recruiter| recruiter.codes.get(&kind));
    Some(CompletionView {
        kind,
        code: code.map(|code| code.code.clone()),
        redirect: code.and_then(|code| code.redirect.clone()),
    })
}
