//! What the server must do because time has passed: prompts, the ends of attempts and sittings, the
//! daily estimate of the share of valid plays, and the removal of contact data.

use std::sync::PoisonError;

use rhae_protocol::{SittingId, StudyId};
use rhae_study::{
    Command, EndRequest, Obligation, Rejection, SetupCommand, SittingCommand, StudyPhase,
    obligations,
};
use rhae_study_service::{StudyError, remove_expired_contacts};

use super::Studies;
use super::attempt::Leaving;
use crate::ApiError;

/// The time between two estimates.
const ESTIMATE_INTERVAL_MS: u64 = 24 * 60 * 60 * 1000;
/// The time between two removals of contact data.
const REMOVAL_INTERVAL_MS: u64 = 24 * 60 * 60 * 1000;
/// How many obligations of a sitting are executed together: the last prompt, the end of its attempt
/// and its own end, with room for commands that another server executes first.
const MAX_OBLIGATIONS: usize = 8;

impl Studies {
    /// Executes everything that is due in all studies. A study or a sitting that fails does not stop
    /// the others; the last error is returned.
    pub(crate) async fn settle(&self) -> Result<(), ApiError> {
        let Ok(service) = self.service() else {
            return Ok(());
        };
        let mut result = Ok(());
        for study in service.list().await? {
            if let Err(error) = self.settle_study(&study).await {
                result = Err(error);
            }
        }
        result
    }

    async fn settle_study(&self, study: &StudyId) -> Result<(), ApiError> {
        let due: Vec<SittingId> = self
            .read(study, |one| {
                let state = one.state();
                let sittings = state.sittings.iter().filter(|(_, one)| one.is_open());
                let due = sittings.filter(|(id, _)| {
                    let moment = self.moment(id);
                    obligations(state, id, moment).is_some()
                });
                due.map(|(id, _)| id.clone()).collect()
            })
            .await?;
        let mut result = Ok(());
        for sitting in due {
            if let Err(error) = self.settle_sitting(study, &sitting).await {
                result = Err(error);
            }
        }
        self.estimate_share(study).await?;
        self.remove_contacts(study).await?;
        result
    }

    /// Removes once a day the contact data whose time has passed.
    async fn remove_contacts(&self, study: &StudyId) -> Result<(), ApiError> {
        let (Some(service), Some(identities)) = (&self.service, &self.identities) else {
            return Ok(());
        };
        let now_ms = self.now_ms();
        {
            let removals = self.removals.lock();
            let mut removals = removals.unwrap_or_else(PoisonError::into_inner);
            let last_ms = removals.get(study).copied();
            if last_ms.is_some_and(|last_ms| now_ms < last_ms + REMOVAL_INTERVAL_MS) {
                return Ok(());
            }
            removals.insert(study.clone(), now_ms);
        }
        let store = identities.store.as_ref();
        remove_expired_contacts(service, store, study, now_ms).await?;
        Ok(())
    }

    /// Executes what is due in one sitting.
    pub(super) async fn settle_sitting(
        &self,
        study: &StudyId,
        sitting: &SittingId,
    ) -> Result<(), ApiError> {
        for _ in 0..MAX_OBLIGATIONS {
            let due = self
                .read(study, |one| {
                    obligations(one.state(), sitting, self.moment(sitting))
                })
                .await?;
            let done = match due {
                None => return Ok(()),
                Some(Obligation::Prompt) => {
                    self.sitting_command(study, sitting, SittingCommand::Prompt)
                }
                Some(Obligation::EndAttempt(_)) => {
                    self.end_attempt(study, sitting, Leaving::Due).await?;
                    continue;
                }
                Some(Obligation::EndSitting(_)) => {
                    let end = SittingCommand::End {
                        request: EndRequest::Due,
                        counts: None,
                    };
                    self.sitting_command(study, sitting, end)
                }
            };
            match done.await {
                // Another request or server was first.
                Ok(()) | Err(StudyError::Rejected(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Executes a command of a sitting.
    pub(super) async fn sitting_command(
        &self,
        study: &StudyId,
        sitting: &SittingId,
        command: SittingCommand,
    ) -> Result<(), StudyError> {
        let command = Command::Sitting(sitting.clone(), command);
        self.execute(study, &command).await.map(drop)
    }

    /// Estimates once a day which share of plays becomes valid.
    async fn estimate_share(&self, study: &StudyId) -> Result<(), ApiError> {
        let now_ms = self.now_ms();
        let is_due = {
            let estimates = self.estimates.lock();
            let mut estimates = estimates.unwrap_or_else(PoisonError::into_inner);
            let last_ms = estimates.entry(study.clone()).or_insert(now_ms);
            let is_due = now_ms >= *last_ms + ESTIMATE_INTERVAL_MS;
            if is_due {
                *last_ms = now_ms;
            }
            is_due
        };
        let is_open = |phase| phase == StudyPhase::Open;
        if !is_due || !self.read(study, |one| is_open(one.state().phase)).await? {
            return Ok(());
        }
        let command = Command::Setup(SetupCommand::EstimateShare);
        match self.execute(study, &command).await {
            Ok(_) | Err(StudyError::Rejected(Rejection::NoProtocol | Rejection::Phase { .. })) => {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}
