//! The human studies of the server.
//!
//! `link` resolves the tokens of links, `sitting` executes what participants do, `attempt` drives
//! their plays, `view` computes what they see, `due` executes what time demands, `arrival` enrols
//! people, `change` executes what researchers do, and `archive` exports.
//!
//! **Invariant:** the play of a participant belongs to an owner that no API key has, so it can be
//! read only through the study.
//!
//! **Invariant:** the card of a play is closed before its counts are taken, so no server can append
//! an action that is not counted.

mod archive;
mod arrival;
mod attempt;
mod change;
mod due;
mod link;
mod member;
mod sitting;
mod view;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rhae_protocol::{ParticipantId, SittingId, StudyId, StudyRecord};
use rhae_store::{IdentityStore, Owner, StoreError, StudyStore};
use rhae_study::{Command, Moment, Rejection, Study};
use rhae_study_service::{IdentityKey, StudyError, StudyService};
use sha2::{Digest, Sha256};

pub(crate) use archive::export_archive;
pub(crate) use attempt::ActionRequest;
pub(crate) use change::NeededPermission;
pub(crate) use link::LinkToken;
pub(crate) use member::Membership;

use crate::games::Games;
use crate::plays::Plays;
use crate::{ApiError, Clock};

/// The first half of the owners of participants. The owners of API keys are hashes, so that none
/// begins like this.
const PARTICIPANT_MARK: &[u8; 16] = b"rhae participant";

/// The contact data of participants, and the key that encrypts it. Links for recruiting platforms
/// and seats need the key as well.
#[derive(Clone)]
pub struct Identities {
    pub store: Arc<dyn IdentityStore>,
    pub key: Arc<IdentityKey>,
}

/// The human studies of a server.
pub(crate) struct Studies {
    /// `None` if the server has no studies.
    service: Option<StudyService>,
    store: Option<Arc<dyn StudyStore>>,
    identities: Option<Identities>,
    clock: Arc<dyn Clock>,
    games: Arc<Games>,
    plays: Arc<Plays>,
    /// The last contact with the participants of open sittings.
    contacts: Mutex<HashMap<SittingId, u64>>,
    /// The studies by the first part of the tokens of their links.
    tags: Mutex<BTreeMap<String, StudyId>>,
    /// When this server last estimated the share of valid plays of a study.
    estimates: Mutex<BTreeMap<StudyId, u64>>,
    /// When this server last removed contact data whose time has passed.
    removals: Mutex<BTreeMap<StudyId, u64>>,
}

/// Whether the cards and plays of this owner belong to a participant of a study.
pub(crate) fn is_participant(owner: Owner) -> bool {
    owner.0.starts_with(PARTICIPANT_MARK)
}

/// Returns the owner of the plays of a participant.
fn owner_of(study: &StudyId, participant: &ParticipantId) -> Owner {
    let hash = Sha256::new()
        .chain_update(study.as_str())
        .chain_update([0])
        .chain_update(participant.as_str())
        .finalize();
    let mut owner = [0; 32];
    owner[..16].copy_from_slice(PARTICIPANT_MARK);
    owner[16..].copy_from_slice(&hash[..16]);
    Owner(owner)
}

impl Studies {
    pub(crate) fn new(
        store: Option<(Arc<dyn StudyStore>, Option<Identities>)>,
        clock: Arc<dyn Clock>,
        games: Arc<Games>,
        plays: Arc<Plays>,
    ) -> Self {
        let (store, identities) = store.unzip();
        Self {
            service: store.clone().map(StudyService::new),
            store,
            identities: identities.flatten(),
            clock,
            games,
            plays,
            contacts: Mutex::default(),
            tags: Mutex::default(),
            estimates: Mutex::default(),
            removals: Mutex::default(),
        }
    }

    /// Returns the service again with other environments or plays, as when a server is assembled.
    pub(crate) fn rebuilt(&self, games: &Arc<Games>, plays: &Arc<Plays>) -> Self {
        let store = self.store.clone().map(|one| (one, self.identities.clone()));
        let clock = Arc::clone(&self.clock);
        Self::new(store, clock, Arc::clone(games), Arc::clone(plays))
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    pub(crate) const fn plays(&self) -> &Arc<Plays> {
        &self.plays
    }

    pub(crate) const fn games(&self) -> &Arc<Games> {
        &self.games
    }

    /// Returns the studies, if the server has any.
    pub(crate) fn service(&self) -> Result<&StudyService, ApiError> {
        self.service.as_ref().ok_or(ApiError::NoSuchPath)
    }

    /// Passes the newest state of a study to a function.
    pub(crate) async fn read<T>(
        &self,
        study: &StudyId,
        read: impl FnOnce(&Study) -> T,
    ) -> Result<T, ApiError> {
        Ok(self.service()?.read(study, read).await?)
    }

    /// Executes a command now. Commands of a sitting know the last contact.
    async fn execute(
        &self,
        study: &StudyId,
        command: &Command,
    ) -> Result<Vec<StudyRecord>, StudyError> {
        let service = self.service.as_ref();
        let service = service.ok_or_else(|| StudyError::Unknown(study.clone()))?;
        let moment = match command {
            Command::Sitting(sitting, _) => self.moment(sitting),
            _ => Moment::at(self.clock.now_ms()),
        };
        service.execute(study, moment, command).await
    }

    /// Returns the current time with the last contact that this server remembers.
    fn moment(&self, sitting: &SittingId) -> Moment {
        Moment {
            now_ms: self.clock.now_ms(),
            contact_ms: self.contact_ms(sitting),
        }
    }

    pub(crate) fn contact_ms(&self, sitting: &SittingId) -> Option<u64> {
        let contacts = self.contacts.lock();
        let contacts = contacts.unwrap_or_else(PoisonError::into_inner);
        contacts.get(sitting).copied()
    }

    /// Remembers a contact.
    fn remember_contact(&self, sitting: &SittingId, at_ms: u64) {
        let contacts = self.contacts.lock();
        let mut contacts = contacts.unwrap_or_else(PoisonError::into_inner);
        contacts.insert(sitting.clone(), at_ms);
    }

    /// Forgets the contacts of sittings that have ended.
    fn forget_contact(&self, sitting: &SittingId) {
        let contacts = self.contacts.lock();
        let mut contacts = contacts.unwrap_or_else(PoisonError::into_inner);
        contacts.remove(sitting);
    }
}

/// Converts the errors of a study for researchers, who may see ids of environments.
impl From<StudyError> for ApiError {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Store(error) => error.into(),
            StudyError::Rejected(Rejection::LimitReached(_)) => Self::StudyLimitReached,
            StudyError::Rejected(
                rejection @ (Rejection::UnknownParticipant(_)
                | Rejection::UnknownSitting(_)
                | Rejection::UnknownExclusion(_)
                | Rejection::UnknownPayment(_)
                | Rejection::UnknownSite(_)
                | Rejection::UnknownSession(_)
                | Rejection::UnknownMember(_)
                | Rejection::UnknownEnvironment(_)),
            ) => Self::StudyItem(rejection.to_string()),
            StudyError::Rejected(rejection) => Self::StudyRejected(rejection.to_string()),
            StudyError::Unknown(study) => Self::NoSuchStudy(study.to_string()),
            StudyError::Exists(_) | StudyError::Unchanged(_) | StudyError::Batch(_) => {
                Self::StudyRejected(error.to_string())
            }
            StudyError::Id(_) => Self::Field {
                field: "id",
                expected: "1 to 40 lower-case letters, digits and hyphens",
            },
            StudyError::Contended(_) => {
                Self::Unavailable(StoreError::Unavailable(error.to_string()))
            }
            StudyError::Log { .. } | StudyError::File { .. } => Self::Failed(error.to_string()),
        }
    }
}

/// Converts a refusal for a participant, who must not see ids of environments.
fn for_participant(error: StudyError) -> ApiError {
    match error {
        StudyError::Rejected(
            Rejection::FamilySeen(_)
            | Rejection::EnvironmentWithdrawn(_)
            | Rejection::UnknownEnvironment(_)
            | Rejection::EnvironmentId(_),
        ) => ApiError::StudyRejected("this environment is not available".to_owned()),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_of_participants_are_marked_and_distinct() {
        let one = owner_of(&"lab".into(), &"p1".into());
        assert!(is_participant(one));
        assert_ne!(one, owner_of(&"lab".into(), &"p2".into()));
        assert_ne!(one, owner_of(&"lab2".into(), &"p1".into()));
        assert!(!is_participant(Owner([7; 32])));
    }

    #[test]
    fn refusal_tells_a_participant_no_environment() {
        let seen = StudyError::Rejected(Rejection::FamilySeen("ab12".to_owned()));
        assert!(!for_participant(seen).to_string().contains("ab12"));
    }
}
