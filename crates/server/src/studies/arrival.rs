//! Enrolling people: by researchers, and by arriving from a recruiting platform.

use std::collections::{BTreeMap, BTreeSet};

use rhae_protocol::{
    ArrivalBody, ArrivalPath, NewParticipants, ParticipantId, PersonKey, PersonalLink, SiteId,
    StudyId, StudyStage,
};
use rhae_store::SealedIdentity;
use rhae_study::{Command, PersonCommand, Rejection, StudyState};
use rhae_study_service::{Contact, EXTERNAL_ID, StudyError};

use super::link::{LinkTarget, LinkToken};
use super::{Identities, Studies};
use crate::ApiError;

/// How many people one request may enrol.
const MAX_PEOPLE: usize = 1000;
/// The longest external id, in bytes.
const MAX_EXTERNAL_ID: usize = 200;
/// The source of people who come from no recruiting platform.
const PANEL: &str = "panel";

/// A person to be enrolled.
struct Newcomer<'a> {
    study: &'a StudyId,
    site: &'a SiteId,
    stage: StudyStage,
}

impl Studies {
    /// Enrols the person whom a recruiting platform sent, and returns the personal link. The same
    /// person always gets the same link.
    pub(crate) async fn arrive(&self, body: &ArrivalBody) -> Result<ArrivalPath, ApiError> {
        let link = LinkToken::parse(&body.link).ok_or(ApiError::NoSuchLink)?;
        let (study, LinkTarget::Arrivals(site)) = self.resolve(&link).await? else {
            return Err(ApiError::NoSuchLink);
        };
        let newcomer = Newcomer {
            study: &study,
            site: &site,
            stage: StudyStage::Live,
        };
        let mut contact = Contact::new();
        let references = [
            ("study_ref", &body.study_ref),
            ("session_ref", &body.session_ref),
        ];
        for (name, value) in references {
            if let Some(value) = value {
                contact.insert(name.to_owned(), checked(value)?.to_owned());
            }
        }
        let token = self
            .enrol_external(&newcomer, &body.external_id, contact)
            .await?;
        Ok(ArrivalPath { path: token.path() })
    }

    /// Enrols people and returns their personal links.
    pub(crate) async fn enrol(
        &self,
        study: &StudyId,
        new: &NewParticipants,
    ) -> Result<Vec<PersonalLink>, ApiError> {
        let count = usize::try_from(new.count).unwrap_or(usize::MAX);
        if count.saturating_add(new.external_ids.len()) > MAX_PEOPLE {
            return Err(ApiError::Field {
                field: "count",
                expected: "at most 1000 people together with `external_ids`",
            });
        }
        let newcomer = Newcomer {
            study,
            site: &new.site,
            stage: new.stage.unwrap_or(StudyStage::Live),
        };
        let mut links = Vec::new();
        for external_id in &new.external_ids {
            let token = self
                .enrol_external(&newcomer, external_id, Contact::new())
                .await?;
            links.push(PersonalLink {
                participant: token.participant(),
                path: token.path(),
                external_id: Some(external_id.clone()),
            });
        }
        for _ in 0..count {
            let token = LinkToken::generate(study)?;
            let participant = token.participant();
            let person_key = PersonKey(format!("link:{participant}"));
            self.enrol_one(&newcomer, &participant, person_key, PANEL)
                .await?;
            links.push(PersonalLink {
                participant,
                path: token.path(),
                external_id: None,
            });
        }
        Ok(links)
    }

    /// Enrols a person with an external id, unless that was done before.
    async fn enrol_external(
        &self,
        newcomer: &Newcomer<'_>,
        external_id: &str,
        mut contact: Contact,
    ) -> Result<LinkToken, ApiError> {
        let external_id = checked(external_id)?;
        let Identities { store, key } = self.identities.as_ref().ok_or(ApiError::NoIdentityKey)?;
        let (study, site) = (newcomer.study, newcomer.site);
        let source = self.read(study, |one| source_of(one.state(), site)).await?;
        let person_key = key.person_key(&source, external_id);
        let secret = key.link_secret(study, &["person", person_key.as_str()]);
        let token = LinkToken::new(study, &secret);
        let participant = token.participant();
        if !self
            .enrol_one(newcomer, &participant, person_key, &source)
            .await?
        {
            return Ok(token);
        }
        contact.insert(EXTERNAL_ID.to_owned(), external_id.to_owned());
        let failed = |error: rhae_study_service::IdentityError| ApiError::Failed(error.to_string());
        let identity = SealedIdentity {
            study: study.clone(),
            sealed: key.seal(study, &participant, &contact).map_err(failed)?,
            participant,
            stored_ms: self.now_ms(),
        };
        store.put_identity(identity).await?;
        Ok(token)
    }

    /// Enrols a person. Returns whether the person is new.
    async fn enrol_one(
        &self,
        newcomer: &Newcomer<'_>,
        participant: &ParticipantId,
        person_key: PersonKey,
        source: &str,
    ) -> Result<bool, ApiError> {
        let Newcomer { study, site, stage } = newcomer;
        let known = |state: &StudyState| {
            state.participants.contains_key(participant) || state.erased.contains_key(participant)
        };
        if self.read(study, |one| known(one.state())).await? {
            return Ok(false);
        }
        let enrol = PersonCommand::Enrol {
            families_seen: self.families_elsewhere(study, &person_key).await?,
            person_key,
            site: (*site).clone(),
            source: source.to_owned(),
            stage: *stage,
        };
        let command = Command::Person(participant.clone(), enrol);
        match self.execute(study, &command).await {
            Ok(_) => Ok(true),
            // A double click.
            Err(StudyError::Rejected(Rejection::Duplicate(_))) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the families of environments that a person has seen in other studies.
    async fn families_elsewhere(
        &self,
        study: &StudyId,
        person_key: &PersonKey,
    ) -> Result<BTreeSet<String>, ApiError> {
        let mut families = BTreeSet::new();
        for other in self.service()?.list().await? {
            if other == *study {
                continue;
            }
            let seen = self
                .read(&other, |one| families_of(one.state(), person_key))
                .await?;
            families.extend(seen);
        }
        Ok(families)
    }

    /// Returns the contact data of participants who are to be paid. Every look is recorded.
    pub(crate) async fn contacts_of(
        &self,
        study: &StudyId,
        people: impl Iterator<Item = ParticipantId>,
        by: &str,
    ) -> Result<BTreeMap<ParticipantId, Contact>, ApiError> {
        let Identities { store, key } = self.identities.as_ref().ok_or(ApiError::NoIdentityKey)?;
        let mut contacts = BTreeMap::new();
        for participant in people {
            let read = rhae_store::IdentityRead {
                study: study.clone(),
                participant: participant.clone(),
                by: by.to_owned(),
                reason: "payment list".to_owned(),
                at_ms: self.now_ms(),
            };
            let contact = rhae_study_service::read_contact(store.as_ref(), key, read).await;
            let contact = contact.map_err(|error| ApiError::Failed(error.to_string()))?;
            contacts.extend(contact.map(|contact| (participant, contact)));
        }
        Ok(contacts)
    }
}

/// Returns the name under which external ids of a site are known.
fn source_of(state: &StudyState, site: &SiteId) -> String {
    let site = state.sites.get(site);
    let recruiter = site.and_then(|site| site.recruiter.as_ref());
    recruiter.map_or_else(|| PANEL.to_owned(), |recruiter| recruiter.name.clone())
}

fn families_of(state: &StudyState, person_key: &PersonKey) -> BTreeSet<String> {
    let people = state.participants.iter();
    let known = people.filter(|(_, person)| person.person_key == *person_key);
    let mut families: BTreeSet<String> =
        known.flat_map(|(id, _)| state.families_seen(id)).collect();
    let remembered = state.erased.values();
    for (key, seen) in remembered.filter_map(|person| person.remembered.as_ref()) {
        if key == person_key {
            families.extend(seen.iter().cloned());
        }
    }
    families
}

fn checked(external_id: &str) -> Result<&str, ApiError> {
    let is_plain = |character: char| !character.is_control();
    let trimmed = external_id.trim();
    if (1..=MAX_EXTERNAL_ID).contains(&trimmed.len()) && trimmed.chars().all(is_plain) {
        return Ok(trimmed);
    }
    Err(ApiError::Field {
        field: "external_id",
        expected: "1 to 200 bytes without control characters",
    })
}
