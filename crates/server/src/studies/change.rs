//! What researchers change in a study.

use rhae_engine::GameInfo;
use rhae_protocol::{
    NewStudyBody, PaymentItem, PaymentLine, SiteId, SittingId, StudyChange, StudyId, StudyRecord,
    StudyRequest, StudyRole,
};
use rhae_store::KeyId;
use rhae_study::{
    Command, EndRequest, Moment, MoneyCommand, Permission, PersonCommand, Preset, ReviewCommand,
    SetupCommand, SittingCommand,
};
use rhae_study_service::{
    MAIN_ARM, NewSite, NewStudy, StudyError, add_environment, confirm_batch, create_study,
    event_kinds, exclusion_target, publish_baselines, send_batch,
};

use super::{Membership, Studies};
use crate::ApiError;
use crate::access::Caller;

/// The site of a study that names none.
const ONLINE: &str = "online";

/// The permission that a request needs.
pub(crate) trait NeededPermission {
    fn needed(&self) -> Permission;
}

impl NeededPermission for StudyRequest {
    fn needed(&self) -> Permission {
        match self {
            Self::SetProtocol { .. }
            | Self::Freeze
            | Self::Amend { .. }
            | Self::Open
            | Self::Pause { .. }
            | Self::Close => Permission::ChangeProtocol,
            Self::AddEnvironment { .. }
            | Self::WithdrawEnvironment { .. }
            | Self::AddSite { .. }
            | Self::ScheduleSession { .. }
            | Self::SetRecruiter { .. } => Permission::ManagePool,
            Self::Book { .. }
            | Self::CheckIn { .. }
            | Self::Extend { .. }
            | Self::EndSitting { .. } => Permission::RunSittings,
            Self::Exclude { .. } | Self::Undo { .. } | Self::MarkHelped { .. } => {
                Permission::Review
            }
            Self::PublishBaselines => Permission::PublishBaselines,
            Self::SendPayments { .. } | Self::ConfirmPayments { .. } | Self::Adjust { .. } => {
                Permission::Pay
            }
            Self::Erase { .. } => Permission::Erase,
            Self::Grant { .. } | Self::Revoke { .. } => Permission::ManageMembers,
        }
    }
}

impl Studies {
    /// Creates a study as a draft. The key that creates it becomes its owner.
    pub(crate) async fn create(
        &self,
        caller: &Caller,
        body: NewStudyBody,
    ) -> Result<StudyId, ApiError> {
        if caller.visitor {
            return Err(ApiError::NoStudies);
        }
        let preset = match &body.preset {
            None => Preset::Rhae1,
            Some(name) => name.parse().map_err(|_| ApiError::Field {
                field: "preset",
                expected: "`paper` or `rhae-1`",
            })?,
        };
        let mut protocol = preset.protocol();
        for (language, text) in body.consent {
            let entry =
                protocol
                    .consent
                    .entry(language)
                    .or_insert_with(|| rhae_protocol::ConsentText {
                        version: 1,
                        text: String::new(),
                    });
            entry.text = text;
        }
        protocol
            .consent
            .retain(|_, consent| !consent.text.is_empty());
        let environments = body.environments.iter();
        let environments = environments.map(|name| self.environment(caller, name).cloned());
        let mut sites: Vec<NewSite> = body
            .sites
            .into_iter()
            .map(|one| NewSite {
                site: one.site,
                seats: one.seats,
            })
            .collect();
        if sites.is_empty() {
            sites.push(NewSite {
                site: SiteId::from(ONLINE),
                seats: 0,
            });
        }
        let new = NewStudy {
            id: StudyId(body.id),
            title: body.title,
            seed: body.seed,
            protocol,
            environments: environments.collect::<Result<_, _>>()?,
            sites,
        };
        let moment = Moment::at(self.now_ms());
        create_study(self.service()?, moment, &new).await?;
        if let Some(key) = caller.key {
            let grant = SetupCommand::Grant {
                member: key.to_string(),
                role: StudyRole::Owner,
                environments: Default::default(),
                by: key.to_string(),
            };
            self.execute(&new.id, &Command::Setup(grant)).await?;
        }
        Ok(new.id)
    }

    fn environment(&self, caller: &Caller, name: &str) -> Result<&GameInfo, ApiError> {
        let found = self.games.find(caller, name);
        found.ok_or_else(|| ApiError::NoSuchGame(name.to_owned()))
    }

    /// Executes a request of a member, whose permission the caller has checked.
    pub(crate) async fn change(
        &self,
        caller: &Caller,
        member: &Membership,
        request: StudyRequest,
    ) -> Result<StudyChange, ApiError> {
        let study = &member.study;
        let records = match request {
            StudyRequest::Erase { participant } => {
                self.erase(study, &participant).await?;
                return self.changed(study, vec!["erased".to_owned()]).await;
            }
            StudyRequest::EndSitting { sitting, reason } => {
                self.end_by_staff(study, &sitting, &member.by, reason)
                    .await?
            }
            StudyRequest::PublishBaselines => {
                let moment = Moment::at(self.now_ms());
                publish_baselines(self.service()?, study, moment).await?;
                return self
                    .changed(study, vec!["baselines_published".to_owned()])
                    .await;
            }
            StudyRequest::SendPayments { batch } => {
                let moment = Moment::at(self.now_ms());
                send_batch(self.service()?, study, moment, &batch).await?
            }
            StudyRequest::ConfirmPayments { batch } => {
                let moment = Moment::at(self.now_ms());
                confirm_batch(self.service()?, study, moment, &batch).await?
            }
            other => {
                let command = self.command(caller, member, other).await?;
                self.execute(study, &command).await?
            }
        };
        self.changed(study, event_kinds(&records)).await
    }

    async fn changed(&self, study: &StudyId, events: Vec<String>) -> Result<StudyChange, ApiError> {
        Ok(StudyChange {
            study: study.clone(),
            events,
            records: self.read(study, |one| one.last_seq()).await?,
        })
    }

    async fn end_by_staff(
        &self,
        study: &StudyId,
        sitting: &SittingId,
        by: &str,
        reason: String,
    ) -> Result<Vec<StudyRecord>, ApiError> {
        if reason.trim().is_empty() {
            return Err(StudyError::Rejected(rhae_study::Rejection::NoReason).into());
        }
        let (play, counts) = self.final_counts(study, sitting).await?.unzip();
        let end = SittingCommand::End {
            request: EndRequest::Staff {
                by: by.to_owned(),
                reason,
            },
            counts,
        };
        let command = Command::Sitting(sitting.clone(), end);
        let play = play.as_deref();
        let records = self.execute_counted(study, sitting, play, &command).await?;
        self.forget_contact(sitting);
        Ok(records)
    }

    /// Translates a request into a command.
    async fn command(
        &self,
        caller: &Caller,
        member: &Membership,
        request: StudyRequest,
    ) -> Result<Command, ApiError> {
        let by = member.by.clone();
        Ok(match request {
            StudyRequest::Book {
                participant,
                session,
            } => Command::Person(participant, PersonCommand::Book { session }),
            StudyRequest::CheckIn {
                participant,
                session,
                seat,
            } => Command::Person(participant, PersonCommand::CheckIn { session, seat }),
            StudyRequest::Adjust {
                key,
                participant,
                amount_minor,
                note,
            } => {
                let protocol = |study: &rhae_study::Study| {
                    let (_, protocol) = study.state().protocol()?;
                    Some(protocol.money.currency.clone())
                };
                let currency = self.read(&member.study, protocol).await?;
                Command::Money(MoneyCommand::Adjust(PaymentLine {
                    key,
                    participant,
                    item: PaymentItem::Adjustment,
                    amount_minor,
                    currency: currency.unwrap_or_default(),
                    note,
                }))
            }
            StudyRequest::Exclude { .. }
            | StudyRequest::Undo { .. }
            | StudyRequest::MarkHelped { .. }
            | StudyRequest::Extend { .. } => self.review(&member.study, by, request).await?,
            other => Command::Setup(self.setup(caller, by, other)?),
        })
    }

    async fn review(
        &self,
        study: &StudyId,
        by: String,
        request: StudyRequest,
    ) -> Result<Command, ApiError> {
        Ok(match request {
            StudyRequest::Exclude {
                sitting,
                position,
                reason,
                evidence,
            } => {
                let target = self
                    .read(study, |one| {
                        exclusion_target(one.state(), Some(sitting.as_str()), None)
                    })
                    .await?;
                let (sitting, exclusion) = target.map_err(StudyError::Rejected)?;
                let exclude = ReviewCommand::Exclude {
                    exclusion,
                    position,
                    by,
                    reason,
                    evidence,
                };
                Command::Review(sitting, exclude)
            }
            StudyRequest::Undo { exclusion, reason } => {
                let target = self
                    .read(study, |one| {
                        exclusion_target(one.state(), None, Some(exclusion.as_str()))
                    })
                    .await?;
                let (sitting, exclusion) = target.map_err(StudyError::Rejected)?;
                let undo = ReviewCommand::Undo {
                    exclusion,
                    by,
                    reason,
                };
                Command::Review(sitting, undo)
            }
            StudyRequest::MarkHelped {
                sitting,
                position,
                reason,
            } => {
                let helped = ReviewCommand::MarkHelped {
                    position,
                    by,
                    reason,
                };
                Command::Review(sitting, helped)
            }
            StudyRequest::Extend {
                sitting,
                seconds,
                reason,
            } => {
                let extend = ReviewCommand::Extend {
                    seconds,
                    by,
                    reason,
                };
                Command::Review(sitting, extend)
            }
            _ => unreachable!("`command` handles all other requests"),
        })
    }

    fn setup(
        &self,
        caller: &Caller,
        by: String,
        request: StudyRequest,
    ) -> Result<SetupCommand, ApiError> {
        Ok(match request {
            StudyRequest::SetProtocol { protocol } => SetupCommand::SetProtocol(protocol),
            StudyRequest::Freeze => SetupCommand::Freeze,
            StudyRequest::Amend { protocol, reason } => SetupCommand::Amend { protocol, reason },
            StudyRequest::Open => SetupCommand::Open,
            StudyRequest::Pause { reason } => SetupCommand::Pause { reason },
            StudyRequest::Close => SetupCommand::Close,
            StudyRequest::AddEnvironment { environment } => {
                let info = self.environment(caller, &environment)?;
                add_environment(info, &MAIN_ARM.into())
            }
            StudyRequest::WithdrawEnvironment {
                environment,
                reason,
            } => SetupCommand::WithdrawEnvironment {
                environment,
                reason,
            },
            StudyRequest::AddSite {
                site,
                seats,
                fee_minor,
            } => SetupCommand::AddSite {
                site,
                seats,
                languages: Default::default(),
                fee_minor,
            },
            StudyRequest::ScheduleSession {
                session,
                site,
                starts_ms,
                capacity,
            } => SetupCommand::ScheduleSession {
                session,
                site,
                starts_ms,
                capacity,
            },
            StudyRequest::SetRecruiter {
                site,
                recruiter,
                codes,
            } => {
                let redirects = codes.values().filter_map(|code| code.redirect.as_deref());
                for redirect in redirects {
                    if !redirect.starts_with("https://") {
                        return Err(ApiError::Field {
                            field: "redirect",
                            expected: "an address that begins with `https://`",
                        });
                    }
                }
                SetupCommand::SetRecruiter {
                    site,
                    recruiter,
                    codes,
                }
            }
            StudyRequest::Grant {
                key,
                role,
                environments,
            } => {
                let valid = key.parse::<KeyId>();
                valid.map_err(|_| ApiError::Field {
                    field: "key",
                    expected: "the id of an API key: 16 hexadecimal digits",
                })?;
                SetupCommand::Grant {
                    member: key,
                    role,
                    environments,
                    by,
                }
            }
            StudyRequest::Revoke { key } => SetupCommand::Revoke { member: key, by },
            _ => unreachable!("`command` handles all other requests"),
        })
    }
}
