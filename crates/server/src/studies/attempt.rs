//! The plays of participants: opening one, executing an action, and ending one.

use rhae_engine::{Action, PlayState};
use rhae_protocol::{ParticipantId, PlayCounts, SittingId, StudyId, StudyRecord};
use rhae_store::{CardId, IdempotencyKey, PlayId};
use rhae_study::{OpenAttempt, Rejection, Sitting, SittingCommand, Study};
use rhae_study_service::{CountError, StudyError, count_play};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::link::LinkToken;
use super::sitting::Visitor;
use super::{Studies, for_participant};
use crate::ApiError;
use crate::access::Caller;
use crate::blocking::blocking;
use crate::plays::{Command, PlayTarget, ResponseForm};

/// A contact is written to the log if the last one in the log is older than this.
const LOGGED_CONTACT_MS: u64 = 60_000;

/// An action of a participant.
pub(crate) struct ActionRequest {
    pub(crate) action: Action,
    /// The number of the environment in the sitting.
    pub(crate) environment: u32,
}

/// Why an attempt ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// The participant leaves the environment.
    Choice,
    /// All levels are completed, or a limit was reached.
    Due,
}

/// The state after a command, as far as the server looks at its own response.
#[derive(Deserialize)]
struct PlayedState {
    state: String,
}

/// An attempt that accepts actions.
struct Playable {
    sitting: SittingId,
    game: String,
    play: String,
    is_over: bool,
    /// Whether the log must learn of the contact before the action.
    is_quiet: bool,
}

impl Studies {
    /// Executes an action of a participant and returns the body of the response. A repeated request
    /// gets its first response again.
    pub(crate) async fn act(
        &self,
        token: &LinkToken,
        request: ActionRequest,
        key: impl FnOnce(rhae_store::Owner) -> Result<Option<IdempotencyKey>, ApiError>,
    ) -> Result<Vec<u8>, ApiError> {
        let found = self.visitor_with(token, |study, participant| {
            self.playable(study, participant, request.environment)
        });
        let (visitor, found) = found.await?;
        let study = &visitor.study;
        let key = key(visitor.owner)?;
        let mut command = Command {
            action: request.action,
            game_id: String::new(),
            reasoning: None,
            form: ResponseForm::Anonymous,
        };
        let Some(attempt) = found.filter(|attempt| !attempt.is_over) else {
            // The action may have been executed before the attempt ended.
            let refused = ApiError::StudyLimitReached;
            return self.plays.recover_response(key, &command, refused).await;
        };
        let now_ms = self.now_ms();
        if attempt.is_quiet {
            let contact = SittingCommand::Contact;
            let done = self.sitting_command(study, &attempt.sitting, contact);
            done.await.map_err(for_participant)?;
        }
        self.remember_contact(&attempt.sitting, now_ms);
        command.game_id = attempt.game;
        let target = PlayTarget {
            guid: Some(attempt.play),
            card: None,
        };
        let caller = Caller::of_participant(visitor.owner);
        let body = match self.plays.execute(&caller, &target, &command, key).await {
            // Another request closed the play in the meantime.
            Err(ApiError::NoSuchPlay { .. }) => {
                self.end_attempt(study, &attempt.sitting, Leaving::Choice)
                    .await?;
                return Err(ApiError::StudyLimitReached);
            }
            done => done?,
        };
        let played = serde_json::from_slice::<PlayedState>(&body);
        if played.is_ok_and(|played| played.state == PlayState::Win.name()) {
            self.end_attempt(study, &attempt.sitting, Leaving::Due)
                .await?;
        }
        Ok(body)
    }

    /// Finds the attempt in progress, if it is the one that the participant means.
    fn playable(
        &self,
        study: &Study,
        participant: &ParticipantId,
        environment: u32,
    ) -> Option<Playable> {
        let state = study.state();
        let mut sittings = state.sittings_of(participant);
        let (id, sitting) = sittings.find(|(_, one)| one.is_open())?;
        let (position, assignment, attempt) = sitting.open_attempt()?;
        if position != environment {
            return None;
        }
        let moment = self.moment(id);
        let reading = study.clock(moment, id)?;
        let since_ms = moment.now_ms.saturating_sub(sitting.clock.last_contact_ms);
        Some(Playable {
            sitting: id.clone(),
            game: assignment.environment.to_string(),
            play: attempt.play.clone(),
            is_over: reading.limit.is_some(),
            is_quiet: reading.stopped || since_ms >= LOGGED_CONTACT_MS,
        })
    }

    /// Opens the play of a reserved environment. Repeating it returns the same play.
    pub(super) async fn open_play(
        &self,
        visitor: &Visitor,
        sitting: &SittingId,
        (position, game): (u32, &str),
    ) -> Result<PlayId, ApiError> {
        let id = |purpose: &str| {
            let hash = Sha256::new()
                .chain_update(purpose)
                .chain_update(visitor.study.as_str())
                .chain_update([0])
                .chain_update(sitting.as_str())
                .chain_update(position.to_be_bytes())
                .finalize();
            let mut bytes = [0; 16];
            bytes.copy_from_slice(&hash[..16]);
            uuid::Builder::from_custom_bytes(bytes).into_uuid()
        };
        let ids: (CardId, PlayId) = (CardId(id("study card ")), PlayId(id("study play ")));
        let caller = Caller::of_participant(visitor.owner);
        // The message names no environment, because the participant reads it.
        let missing = || ApiError::Failed("an assigned environment is not served".to_owned());
        let info = self.games.find(&caller, game).ok_or_else(missing)?;
        self.plays
            .open_private(visitor.owner, &info.id, ids)
            .await?;
        Ok(ids.1)
    }

    /// Ends the attempt in progress, if there is one: closes its play, counts it, and records the
    /// end.
    pub(super) async fn end_attempt(
        &self,
        study: &StudyId,
        sitting: &SittingId,
        leaving: Leaving,
    ) -> Result<(), ApiError> {
        let Some((play, counts)) = self.final_counts(study, sitting).await? else {
            return Ok(());
        };
        let leave = leaving == Leaving::Choice;
        let end = SittingCommand::EndAttempt { leave, counts };
        let command = rhae_study::Command::Sitting(sitting.clone(), end);
        let done = self.execute_counted(study, sitting, Some(&play), &command);
        match done.await {
            // Repeating the command would not help.
            Err(StudyError::Rejected(Rejection::Counts(reason))) => {
                return Err(ApiError::Failed(format!(
                    "the counts of the play `{play}` are refused: {reason}"
                )));
            }
            // Another request or server was first.
            Ok(_) | Err(StudyError::Rejected(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let is_open = |one: &Sitting| one.is_open();
        let sittings = self
            .read(study, |one| {
                one.state().sittings.get(sitting).is_some_and(is_open)
            })
            .await?;
        if !sittings {
            self.forget_contact(sitting);
        }
        Ok(())
    }

    /// Executes a command with the counts of a play, unless another attempt has begun since the play
    /// was counted.
    pub(super) async fn execute_counted(
        &self,
        study: &StudyId,
        sitting: &SittingId,
        play: Option<&str>,
        command: &rhae_study::Command,
    ) -> Result<Vec<StudyRecord>, StudyError> {
        let service = self.service.as_ref();
        let service = service.ok_or_else(|| StudyError::Unknown(study.clone()))?;
        let make = |one: &Study| {
            let open = one.state().sittings.get(sitting);
            let open = open.and_then(|sitting| sitting.open_attempt());
            match (open, play) {
                (Some((_, _, attempt)), Some(play)) if attempt.play != play => {
                    Err(Rejection::NoCounts)
                }
                _ => Ok(command.clone()),
            }
        };
        service
            .execute_with(study, self.moment(sitting), make)
            .await
    }

    /// Closes the play of the attempt in progress permanently and counts it. Returns the play with
    /// its counts, or `None` without an attempt.
    pub(super) async fn final_counts(
        &self,
        study: &StudyId,
        sitting: &SittingId,
    ) -> Result<Option<(String, PlayCounts)>, ApiError> {
        let open = |study: &Study| {
            let sitting = study.state().sittings.get(sitting)?;
            let (_, _, attempt) = sitting.open_attempt()?;
            Some((sitting.clone(), attempt.clone()))
        };
        let Some((found, attempt)) = self.read(study, open).await? else {
            return Ok(None);
        };
        let play: PlayId = attempt
            .play
            .parse()
            .map_err(|error: uuid::Error| ApiError::Failed(error.to_string()))?;
        self.plays.close_private(play).await?;
        let name = attempt.play.clone();
        let counts = self.count(found, attempt).await;
        match counts {
            Ok(counts) => Ok(Some((name, counts))),
            Err(CountError::Store(error)) => Err(error.into()),
            Err(error) => Err(ApiError::Failed(error.to_string())),
        }
    }

    async fn count(
        &self,
        sitting: Sitting,
        attempt: OpenAttempt,
    ) -> Result<PlayCounts, CountError> {
        if !self.games.has_hosted() {
            let catalog = self.games.catalog().as_ref();
            let store = self.plays.store();
            return count_play(store, catalog, &attempt.play, &sitting, attempt.started_ms).await;
        }
        // Hosted games block while they replay.
        let (plays, games) = (self.plays.clone(), self.games.clone());
        let runtime = tokio::runtime::Handle::current();
        let play = attempt.play.clone();
        let counted = blocking(move || {
            let catalog = games.catalog().as_ref();
            let started_ms = attempt.started_ms;
            let counting = count_play(plays.store(), catalog, &attempt.play, &sitting, started_ms);
            runtime.block_on(counting)
        });
        counted.await.unwrap_or(Err(CountError::UnknownPlay(play)))
    }
}
