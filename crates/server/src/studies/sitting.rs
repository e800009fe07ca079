//! What participants do.
//!
//! Every request can be repeated: a request whose effect has already happened returns the current
//! view.

use rhae_engine::PlayState;
use rhae_protocol::{
    CompactResponse, Devices, ParticipantId, SittingId, SittingRequest, SittingStep, SittingView,
    StudyId, WithdrawnData,
};
use rhae_store::{Owner, PlayId};
use rhae_study::{
    AssignmentState, Command, EndRequest, PersonCommand, Rejection, SittingCommand, Study,
    StudyState,
};
use rhae_study_service::{StudyError, erase_person};

use super::attempt::Leaving;
use super::link::{LinkTarget, LinkToken};
use super::view::{Viewed, sitting_view};
use super::{Studies, for_participant, owner_of};
use crate::ApiError;

/// The longest comment of a participant, in bytes.
const MAX_COMMENT_BYTES: usize = 4000;
/// The number of digits of a receipt.
const RECEIPT_BYTES: usize = 5;

/// The person who uses a link.
pub(super) struct Visitor {
    pub(super) study: StudyId,
    pub(super) participant: ParticipantId,
    pub(super) owner: Owner,
    /// The seat, if the link belongs to one.
    seat: Option<u32>,
}

/// The newest sitting of a participant.
#[derive(Default)]
struct Latest {
    open: Option<SittingId>,
    any: Option<SittingId>,
    /// How many sittings the participant had.
    count: usize,
    seat: Option<u32>,
    withdrawn: bool,
}

impl Studies {
    /// Finds the person who uses a link.
    pub(super) async fn visitor(&self, token: &LinkToken) -> Result<Visitor, ApiError> {
        let (visitor, ()) = self.visitor_with(token, |_, _| ()).await?;
        Ok(visitor)
    }

    /// Finds the person who uses a link, and what `read` finds in the study at the same moment.
    pub(super) async fn visitor_with<T>(
        &self,
        token: &LinkToken,
        read: impl FnOnce(&Study, &ParticipantId) -> T,
    ) -> Result<(Visitor, T), ApiError> {
        let found = self.resolve_with(token, |study, target| {
            let (participant, seat) = match target {
                LinkTarget::Person(participant) => (participant, None),
                LinkTarget::Seat(seat, Some(participant)) => (participant, Some(*seat)),
                LinkTarget::Seat(_, None) | LinkTarget::Arrivals(_) => return None,
            };
            Some((participant.clone(), seat, read(study, participant)))
        });
        let (study, _, found) = found.await?;
        let (participant, seat, found) = found.ok_or_else(|| {
            let reason = "this link belongs to no participant at the moment";
            ApiError::StudyRejected(reason.to_owned())
        })?;
        let visitor = Visitor {
            owner: owner_of(&study, &participant),
            study,
            participant,
            seat,
        };
        Ok((visitor, found))
    }

    /// Returns what the holder of a link sees. The request is a contact.
    pub(crate) async fn view(
        &self,
        token: &LinkToken,
        language: Option<&str>,
    ) -> Result<SittingView, ApiError> {
        let (study, target) = self.resolve(token).await?;
        let (step, seat) = match target {
            LinkTarget::Arrivals(_) => (SittingStep::Arrival, None),
            LinkTarget::Seat(seat, None) => (SittingStep::SeatFree, Some(seat)),
            LinkTarget::Person(_) | LinkTarget::Seat(_, Some(_)) => {
                let visitor = self.visitor(token).await?;
                self.touch(&visitor).await?;
                return self.view_of(&visitor, language).await;
            }
        };
        self.read(&study, |one| {
            super::view::shared_view(one.state(), step, seat)
        })
        .await
    }

    /// Executes a request of a participant and returns what the participant sees then.
    pub(crate) async fn request(
        &self,
        token: &LinkToken,
        request: SittingRequest,
    ) -> Result<SittingView, ApiError> {
        let visitor = self.visitor(token).await?;
        if let SittingRequest::Withdraw { data } = request {
            let receipt = self.withdraw(&visitor, data).await?;
            let view = self.view_of(&visitor, None).await?;
            return Ok(SittingView { receipt, ..view });
        }
        self.touch(&visitor).await?;
        self.execute_request(&visitor, request).await?;
        self.view_of(&visitor, None).await
    }

    async fn execute_request(
        &self,
        visitor: &Visitor,
        request: SittingRequest,
    ) -> Result<(), ApiError> {
        let person = match request {
            SittingRequest::Consent {
                language,
                text,
                publish_replays,
                later_contact,
            } => PersonCommand::Consent {
                text,
                language,
                publish_replays,
                later_contact,
            },
            SittingRequest::Decline => PersonCommand::DeclineConsent,
            SittingRequest::Describe { answers } => PersonCommand::Describe { answers },
            SittingRequest::CheckDevice {
                keyboard,
                pointer,
                colours_distinguished,
            } => PersonCommand::CheckDevice {
                devices: Devices { keyboard, pointer },
                colours_distinguished,
            },
            other => return self.in_sitting(visitor, other).await,
        };
        let command = Command::Person(visitor.participant.clone(), person);
        let done = self.execute(&visitor.study, &command).await;
        done.map(drop).map_err(for_participant)
    }

    async fn in_sitting(&self, visitor: &Visitor, request: SittingRequest) -> Result<(), ApiError> {
        let latest = self.latest(visitor).await?;
        if let SittingRequest::Comment { text } = request {
            if text.len() > MAX_COMMENT_BYTES {
                return Err(ApiError::TooLong {
                    field: "text",
                    max: MAX_COMMENT_BYTES,
                });
            }
            let sitting = latest.any.ok_or_else(not_started)?;
            let comment = SittingCommand::Comment { text };
            let done = self
                .sitting_command(&visitor.study, &sitting, comment)
                .await;
            return done.map_err(for_participant);
        }
        if request == SittingRequest::Next && latest.any.is_none() {
            self.start_sitting(visitor, &latest).await?;
        }
        let latest = self.latest(visitor).await?;
        let Some(sitting) = latest.open else {
            // After the end, a repeated request shows the end.
            return latest.any.map(drop).ok_or_else(not_started);
        };
        let study = &visitor.study;
        let command = match request {
            SittingRequest::Next => SittingCommand::Next,
            SittingRequest::Start { environment } => {
                return self.start(visitor, &sitting, environment).await;
            }
            SittingRequest::Contact {
                hidden: Some(hidden),
            } => SittingCommand::SetFocus { hidden },
            SittingRequest::Leave { environment } => {
                let current = |state: &StudyState| {
                    let sitting = state.sittings.get(&sitting)?;
                    Some(sitting.open_attempt()?.0)
                };
                if self.read(study, |one| current(one.state())).await? == Some(environment) {
                    self.end_attempt(study, &sitting, Leaving::Choice).await?;
                }
                return Ok(());
            }
            SittingRequest::Pause => SittingCommand::StartPause,
            SittingRequest::Resume => SittingCommand::EndPause,
            SittingRequest::Finish => return self.finish(study, &sitting).await,
            // The contact was recorded before.
            _ => return Ok(()),
        };
        match self.sitting_command(study, &sitting, command).await {
            // A double click.
            Err(StudyError::Rejected(Rejection::NotPaused | Rejection::SittingEnded)) => Ok(()),
            Err(StudyError::Rejected(Rejection::LimitReached(_))) => {
                self.settle_sitting(study, &sitting).await
            }
            done => done.map_err(for_participant),
        }
    }

    /// Ends a sitting at the participant's request.
    async fn finish(&self, study: &StudyId, sitting: &SittingId) -> Result<(), ApiError> {
        let (play, counts) = self.final_counts(study, sitting).await?.unzip();
        let request = EndRequest::Participant;
        let end = SittingCommand::End { request, counts };
        let command = Command::Sitting(sitting.clone(), end);
        let done = self.execute_counted(study, sitting, play.as_deref(), &command);
        match done.await {
            // A double click.
            Ok(_) | Err(StudyError::Rejected(Rejection::SittingEnded)) => Ok(()),
            Err(StudyError::Rejected(Rejection::LimitReached(_))) => {
                self.settle_sitting(study, sitting).await
            }
            Err(error) => Err(for_participant(error)),
        }
    }

    async fn start_sitting(&self, visitor: &Visitor, latest: &Latest) -> Result<(), ApiError> {
        let sitting = SittingId(format!("{}-{}", visitor.participant, latest.count + 1));
        let start = SittingCommand::Start {
            participant: visitor.participant.clone(),
            seat: visitor.seat.or(latest.seat),
        };
        match self.sitting_command(&visitor.study, &sitting, start).await {
            // A double click.
            Err(StudyError::Rejected(Rejection::SittingOpen(_) | Rejection::Duplicate(_))) => {}
            done => done.map_err(for_participant)?,
        }
        self.remember_contact(&sitting, self.now_ms());
        Ok(())
    }

    /// Starts the attempt at the reserved environment.
    async fn start(
        &self,
        visitor: &Visitor,
        sitting: &SittingId,
        environment: u32,
    ) -> Result<(), ApiError> {
        let current = |state: &StudyState| {
            let (position, assignment) = state.sittings.get(sitting)?.current()?;
            let started = matches!(assignment.state, AssignmentState::Started(_));
            Some((position, started, assignment.environment.to_string()))
        };
        let found = self
            .read(&visitor.study, |one| current(one.state()))
            .await?;
        match found {
            Some((position, false, game)) if position == environment => {
                let play = self.open_play(visitor, sitting, (position, &game)).await?;
                let play = play.to_string();
                let start = SittingCommand::StartAttempt { play };
                let done = self.sitting_command(&visitor.study, sitting, start).await;
                done.map_err(for_participant)
            }
            // A double click, also after the end of the environment.
            Some((position, true, _)) if position >= environment => Ok(()),
            Some(_) => Err(ApiError::StudyLimitReached),
            None => Ok(()),
        }
    }

    /// Ends the participation and returns the receipt. After the deletion of the data, nothing
    /// remains but its effect.
    async fn withdraw(
        &self,
        visitor: &Visitor,
        data: WithdrawnData,
    ) -> Result<Option<String>, ApiError> {
        let (study, participant) = (&visitor.study, &visitor.participant);
        let latest = self.latest(visitor).await?;
        if !latest.withdrawn {
            let counted = match &latest.open {
                Some(sitting) => self.final_counts(study, sitting).await?,
                None => None,
            };
            let (play, counts) = counted.unzip();
            let withdraw = PersonCommand::Withdraw {
                data,
                receipt: new_receipt()?,
                counts,
            };
            let command = Command::Person(participant.clone(), withdraw);
            let done = match &latest.open {
                Some(sitting) => {
                    let play = play.as_deref();
                    self.execute_counted(study, sitting, play, &command).await
                }
                None => self.execute(study, &command).await,
            };
            match done {
                // A double click.
                Ok(_)
                | Err(StudyError::Rejected(
                    Rejection::Withdrawn | Rejection::UnknownParticipant(_),
                )) => {}
                Err(error) => return Err(for_participant(error)),
            }
            if let Some(sitting) = &latest.open {
                self.forget_contact(sitting);
            }
        }
        let receipt = self
            .read(study, |one| {
                let person = one.state().participants.get(participant)?;
                Some(person.withdrawn.as_ref()?.receipt.clone())
            })
            .await?;
        if data == WithdrawnData::Delete && receipt.is_some() {
            match self.erase(study, participant).await {
                // A double click.
                Ok(_) | Err(ApiError::StudyItem(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(receipt)
    }

    /// Removes the records, plays and contact data of a person.
    pub(super) async fn erase(
        &self,
        study: &StudyId,
        participant: &ParticipantId,
    ) -> Result<usize, ApiError> {
        let records = match &self.identities {
            Some(identities) => {
                let moment = rhae_study::Moment::at(self.now_ms());
                let identities = identities.store.as_ref();
                erase_person(self.service()?, identities, study, moment, participant).await
            }
            None => {
                let command = Command::Erase(participant.clone());
                self.execute(study, &command).await
            }
        };
        match records {
            Ok(records) => Ok(records.len()),
            Err(error) => Err(error.into()),
        }
    }

    /// Remembers the contact with a participant. If the last one was long ago, the log learns of it
    /// first, and what has become due in the meantime is executed.
    async fn touch(&self, visitor: &Visitor) -> Result<(), ApiError> {
        let Some(sitting) = self.latest(visitor).await?.open else {
            return Ok(());
        };
        self.settle_sitting(&visitor.study, &sitting).await?;
        let contact = SittingCommand::Contact;
        match self
            .sitting_command(&visitor.study, &sitting, contact)
            .await
        {
            Ok(()) => self.remember_contact(&sitting, self.now_ms()),
            // The sitting has ended.
            Err(StudyError::Rejected(_)) => self.forget_contact(&sitting),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn latest(&self, visitor: &Visitor) -> Result<Latest, ApiError> {
        self.read(&visitor.study, |one| {
            let state = one.state();
            let sittings = state.sittings_of(&visitor.participant);
            let mut latest = Latest::default();
            for (id, sitting) in sittings {
                latest.count += 1;
                latest.any = Some(id.clone());
                if sitting.is_open() {
                    latest.open = Some(id.clone());
                }
            }
            match state.participants.get(&visitor.participant) {
                Some(person) => {
                    latest.withdrawn = person.withdrawn.is_some();
                    latest.seat = person.checked_in.as_ref().map(|(_, seat)| *seat);
                }
                None => latest.withdrawn = true,
            }
            latest
        })
        .await
    }

    /// Returns what a participant sees now.
    async fn view_of(
        &self,
        visitor: &Visitor,
        language: Option<&str>,
    ) -> Result<SittingView, ApiError> {
        let viewed = self.viewed(visitor, language).await?;
        let Some(play) = viewed.play else {
            return Ok(viewed.view);
        };
        let frame = self.frame(&play).await?;
        if frame.state != PlayState::Win {
            return Ok(SittingView {
                frame: Some(frame),
                ..viewed.view
            });
        }
        // The server was stopped between the last action and the end of the attempt.
        if let Some(sitting) = self.latest(visitor).await?.open {
            self.end_attempt(&visitor.study, &sitting, Leaving::Due)
                .await?;
        }
        Ok(self.viewed(visitor, language).await?.view)
    }

    async fn viewed(&self, visitor: &Visitor, language: Option<&str>) -> Result<Viewed, ApiError> {
        let contact_ms = |sitting: &SittingId| self.moment(sitting);
        self.read(&visitor.study, |one| {
            let kiosk = visitor.seat.is_some();
            let mut viewed = sitting_view(one, &visitor.participant, language, contact_ms);
            viewed.view.kiosk = kiosk;
            viewed.view.seat = viewed.view.seat.or(visitor.seat);
            viewed
        })
        .await
    }

    async fn frame(&self, play: &str) -> Result<CompactResponse, ApiError> {
        let missing = || ApiError::Failed("the play of a participant is missing".to_owned());
        let id: PlayId = play.parse().map_err(|_| missing())?;
        let stored = self.plays.store().play(id).await?.ok_or_else(missing)?;
        let (mut frame, _) = self.plays.current_state(&stored).await?;
        frame.guid.clear();
        Ok(frame)
    }
}

fn not_started() -> ApiError {
    ApiError::StudyRejected("the sitting has not started".to_owned())
}

fn new_receipt() -> Result<String, ApiError> {
    let mut random = [0; RECEIPT_BYTES];
    getrandom::fill(&mut random).map_err(|error| ApiError::Failed(error.to_string()))?;
    Ok(format!("W-{}", hex::encode(random)))
}
