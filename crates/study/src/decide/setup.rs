//! Commands that set up and steer a study.

use std::collections::BTreeSet;

use rhae_protocol::{
    AttemptOutcome, EnvironmentVersion, ReleaseReason, StudyChain, StudyEvent, StudyProtocol,
    StudyStage,
};

use super::{Events, not_closed, on_study, require_phase, require_reason};
use crate::canonical::digest;
use crate::command::SetupCommand;
use crate::protocol_check::{MAX_AMOUNT_MINOR, check_protocol};
use crate::rejection::Rejection;
use crate::state::{AssignmentState, Member, StudyPhase, StudyState};

/// The least number of ended plays from which the share of valid plays is estimated.
const MIN_PLAYS_FOR_SHARE: u64 = 30;
/// The range of the estimated share, in tenths.
const SHARE_TENTHS: std::ops::RangeInclusive<u64> = 5..=10;

pub(super) fn decide(state: &StudyState, command: &SetupCommand) -> Result<Events, Rejection> {
    if let SetupCommand::Grant { .. } | SetupCommand::Revoke { .. } = command {
        return member(state, command);
    }
    not_closed(state)?;
    let event = match command {
        SetupCommand::SetProtocol(protocol) => {
            if !state.frozen.is_empty() {
                return Err(Rejection::Frozen);
            }
            StudyEvent::ProtocolDrafted {
                protocol: protocol.clone(),
            }
        }
        SetupCommand::Freeze => {
            if !state.frozen.is_empty() {
                return Err(Rejection::Frozen);
            }
            let (hash, protocol) = state.protocol().ok_or(Rejection::NoProtocol)?;
            valid(protocol)?;
            StudyEvent::Frozen {
                protocol: hash.clone(),
            }
        }
        SetupCommand::Amend { protocol, reason } => amend(state, protocol, reason)?,
        SetupCommand::Open => {
            require_phase(
                state,
                &[StudyPhase::Draft, StudyPhase::Paused],
                "a draft or a pause",
            )?;
            if state.frozen.is_empty() {
                return Err(Rejection::NotFrozen);
            }
            if state.environments.is_empty() {
                return Err(Rejection::EmptyPool);
            }
            StudyEvent::Opened
        }
        SetupCommand::Pause { reason } => {
            require_phase(state, &[StudyPhase::Open], "an open study")?;
            require_reason(reason)?;
            StudyEvent::Paused {
                reason: reason.clone(),
            }
        }
        SetupCommand::Close => {
            require_phase(
                state,
                &[StudyPhase::Open, StudyPhase::Paused],
                "an open study",
            )?;
            if let Some((id, _)) = state.sittings.iter().find(|(_, one)| one.is_open()) {
                return Err(Rejection::SittingOpen(id.clone()));
            }
            return Ok(close(state));
        }
        SetupCommand::WithdrawEnvironment {
            environment,
            reason,
        } => return withdraw(state, environment, reason),
        SetupCommand::EstimateShare => estimate_share(state)?,
        other => add_to_pool(state, other)?,
    };
    Ok(vec![on_study(event)])
}

/// Changes the members, which is also possible after the end of the study.
fn member(state: &StudyState, command: &SetupCommand) -> Result<Events, Rejection> {
    let event = match command.clone() {
        SetupCommand::Grant {
            member,
            role,
            environments,
            by,
        } => {
            let granted = Member { role, environments };
            if state.members.get(&member) == Some(&granted) {
                return Ok(Vec::new());
            }
            StudyEvent::MemberGranted {
                member,
                role,
                environments: granted.environments,
                by,
            }
        }
        SetupCommand::Revoke { member, by } => {
            if !state.members.contains_key(&member) {
                return Err(Rejection::UnknownMember(member));
            }
            StudyEvent::MemberRevoked { member, by }
        }
        _ => unreachable!("`decide` handles all other commands"),
    };
    Ok(vec![on_study(event)])
}

/// Closes the study. From then on, nothing is remembered of erased people.
fn close(state: &StudyState) -> Events {
    let mut events = vec![on_study(StudyEvent::Closed)];
    let remembered = state
        .erased
        .iter()
        .filter(|(_, person)| person.remembered.is_some());
    let participants: BTreeSet<_> = remembered.map(|(id, _)| id.clone()).collect();
    if !participants.is_empty() {
        events.push(on_study(StudyEvent::Forgotten { participants }));
    }
    events
}

fn valid(protocol: &StudyProtocol) -> Result<(), Rejection> {
    let violations = check_protocol(protocol);
    if violations.is_empty() {
        Ok(())
    } else {
        Err(Rejection::Protocol(violations))
    }
}

fn amend(
    state: &StudyState,
    protocol: &StudyProtocol,
    reason: &str,
) -> Result<StudyEvent, Rejection> {
    if state.frozen.is_empty() {
        return Err(Rejection::NotFrozen);
    }
    require_reason(reason)?;
    let (_, current) = state.protocol().ok_or(Rejection::NoProtocol)?;
    let expected = current.version + 1;
    if protocol.version != expected {
        return Err(Rejection::AmendmentVersion {
            found: protocol.version,
            expected,
        });
    }
    valid(protocol)?;
    Ok(StudyEvent::Amended {
        protocol: Box::new(protocol.clone()),
        hash: digest(protocol),
        reason: reason.to_owned(),
    })
}

/// Withdraws an environment and releases its reservations. Attempts in progress continue.
fn withdraw(
    state: &StudyState,
    environment: &EnvironmentVersion,
    reason: &str,
) -> Result<Events, Rejection> {
    require_reason(reason)?;
    let unknown = || Rejection::UnknownEnvironment(environment.clone());
    let pooled = state.environments.get(environment).ok_or_else(unknown)?;
    if pooled.withdrawn.is_some() {
        return Err(Rejection::EnvironmentWithdrawn(environment.clone()));
    }
    let mut events = vec![on_study(StudyEvent::EnvironmentWithdrawn {
        environment: environment.clone(),
        reason: reason.to_owned(),
    })];
    for (id, sitting) in &state.sittings {
        let Some((position, assignment)) = sitting.current() else {
            continue;
        };
        if assignment.environment == *environment && assignment.state == AssignmentState::Reserved {
            events.push((
                StudyChain::Sitting(id.clone()),
                StudyEvent::Released {
                    position,
                    reason: ReleaseReason::EnvironmentWithdrawn,
                },
            ));
        }
    }
    Ok(events)
}

/// Estimates the share of plays that become valid from all ended live plays.
fn estimate_share(state: &StudyState) -> Result<StudyEvent, Rejection> {
    let (_, protocol) = state.protocol().ok_or(Rejection::NoProtocol)?;
    let (mut counted, mut ended) = (0, 0);
    let live = state.sittings.values();
    for sitting in live.filter(|sitting| sitting.stage == StudyStage::Live) {
        for (position, _, attempt) in sitting.ended() {
            // A person who withdrew says nothing about the other people.
            if attempt.outcome == AttemptOutcome::Withdrawn {
                continue;
            }
            ended += 1;
            let valid = attempt.standing(protocol.attempt_rule).is_valid();
            counted += u64::from(valid && !sitting.is_excluded(position));
        }
    }
    let tenths = if ended < MIN_PLAYS_FOR_SHARE {
        u64::from(state.share_tenths)
    } else {
        let rounded = (20 * counted + ended) / (2 * ended);
        rounded.clamp(*SHARE_TENTHS.start(), *SHARE_TENTHS.end())
    };
    Ok(StudyEvent::ShareEstimated {
        tenths: u32::try_from(tenths).unwrap_or(10),
        counted,
        ended,
    })
}

fn unique(taken: bool, name: &str) -> Result<(), Rejection> {
    if taken {
        return Err(Rejection::Duplicate(name.to_owned()));
    }
    Ok(())
}

/// Adds to the pool of environments.
fn add_to_pool(state: &StudyState, command: &SetupCommand) -> Result<StudyEvent, Rejection> {
    match command.clone() {
        SetupCommand::AddArm {
            arm,
            weight,
            max_participants,
        } => {
            unique(state.arms.contains_key(&arm), arm.as_str())?;
            if weight == 0 {
                return Err(Rejection::Amount("the weight of an arm must be above 0"));
            }
            Ok(StudyEvent::ArmAdded {
                arm,
                weight,
                max_participants,
            })
        }
        SetupCommand::AddEnvironment {
            environment,
            arm,
            levels,
            needs,
        } => {
            unique(
                state.environments.contains_key(&environment),
                environment.as_str(),
            )?;
            if !is_environment_version(&environment) {
                return Err(Rejection::EnvironmentId(environment));
            }
            if !state.arms.contains_key(&arm) {
                return Err(Rejection::UnknownArm(arm));
            }
            if levels == 0 {
                return Err(Rejection::Amount("an environment must have a level"));
            }
            Ok(StudyEvent::EnvironmentAdded {
                environment,
                arm,
                levels,
                needs,
            })
        }
        other => add_place(state, other),
    }
}

/// The maximum number of seats of a site.
const MAX_SEATS: u32 = 1000;

/// Adds a site, sets its recruiting platform, or adds a session to its calendar.
fn add_place(state: &StudyState, command: SetupCommand) -> Result<StudyEvent, Rejection> {
    match command {
        SetupCommand::AddSite {
            site,
            seats,
            languages,
            fee_minor,
        } => {
            unique(state.sites.contains_key(&site), site.as_str())?;
            if fee_minor.is_some_and(|fee| fee > MAX_AMOUNT_MINOR) {
                return Err(Rejection::Amount("the fee is too high"));
            }
            if seats > MAX_SEATS {
                return Err(Rejection::Amount("a site has at most 1000 seats"));
            }
            Ok(StudyEvent::SiteAdded {
                site,
                seats,
                languages,
                fee_minor,
            })
        }
        SetupCommand::SetRecruiter {
            site,
            recruiter,
            codes,
        } => {
            if !state.sites.contains_key(&site) {
                return Err(Rejection::UnknownSite(site));
            }
            Ok(StudyEvent::RecruiterSet {
                site,
                recruiter,
                codes,
            })
        }
        SetupCommand::ScheduleSession {
            session,
            site,
            starts_ms,
            capacity,
        } => {
            unique(state.sessions.contains_key(&session), session.as_str())?;
            let place = state.sites.get(&site);
            let place = place.ok_or_else(|| Rejection::UnknownSite(site.clone()))?;
            if capacity > place.seats {
                return Err(Rejection::Amount(
                    "the capacity exceeds the seats of the site",
                ));
            }
            Ok(StudyEvent::SessionScheduled {
                session,
                site,
                starts_ms,
                capacity,
            })
        }
        _ => unreachable!("`decide` handles all other commands"),
    }
}

/// Returns whether an id has the form `ab12-v1`: four lower-case letters or digits, a hyphen and a
/// version.
fn is_environment_version(environment: &EnvironmentVersion) -> bool {
    let Some((family, version)) = environment.as_str().split_once('-') else {
        return false;
    };
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    family.len() == 4
        && family.bytes().all(is_plain)
        && !version.is_empty()
        && version.bytes().all(is_plain)
}
