//! The researcher of a simulated study: sets it up and reads its results through the REST API.

use rhae_protocol::{
    LiveSitting, NewParticipants, ParticipantId, PersonalLink, SittingRow, StudyChange,
    StudyOverview, StudyRequest, StudyResults, StudyVerification,
};
use serde_json::{Value, json};

use crate::SimulationError;
use crate::alias::alias;
use crate::http::Http;

/// The id of the study.
pub(crate) const STUDY: &str = "simulated";
const SITE: &str = "lab";
/// The number of people per request for links.
const MAX_LINKS: usize = 1000;

/// A researcher with access to everything.
pub(crate) struct Researcher<'a> {
    http: &'a Http,
}

impl<'a> Researcher<'a> {
    pub(crate) const fn new(http: &'a Http) -> Self {
        Self { http }
    }

    /// Creates and opens the study under the preset of the paper.
    pub(crate) fn open_study(&self, seed: u64, environments: u32) -> Result<(), SimulationError> {
        let ids: Vec<String> = (0..environments)
            .map(|number| alias(number).to_string())
            .collect();
        let body = json!({
            "id": STUDY,
            "title": "Simulated study",
            "preset": "paper",
            "seed": seed,
            "environments": ids,
            "consent": {"en": "You play unknown games for 90 minutes."},
            "sites": [{"site": SITE, "seats": 0}],
        });
        let _: StudyOverview = self.http.research("/api/studies", Some(&body))?;
        self.command(&StudyRequest::Freeze)?;
        self.command(&StudyRequest::Open)
    }

    /// Enrols people and returns their links in the order of their numbers.
    pub(crate) fn invite(&self, people: u32) -> Result<Vec<PersonalLink>, SimulationError> {
        let mut links = Vec::new();
        let names: Vec<String> = (0..people)
            .map(|number| format!("person-{number}"))
            .collect();
        for external_ids in names.chunks(MAX_LINKS) {
            let body = NewParticipants {
                site: SITE.into(),
                count: 0,
                external_ids: external_ids.to_vec(),
                stage: None,
            };
            let more: Vec<PersonalLink> = self.http.research(&path("participants"), Some(&body))?;
            links.extend(more);
        }
        Ok(links)
    }

    /// Returns the environment that a participant has reserved or plays.
    pub(crate) fn environment_of(
        &self,
        participant: &ParticipantId,
    ) -> Result<String, SimulationError> {
        let live: Vec<LiveSitting> = self.get("live")?;
        let sitting = live.into_iter().find(|one| one.participant == *participant);
        let environment = sitting.and_then(|sitting| sitting.environment);
        environment
            .map(|environment| environment.0)
            .ok_or_else(|| SimulationError::Unexpected {
                path: path("live"),
                reason: format!("the participant `{participant}` has no environment"),
            })
    }

    pub(crate) fn sittings(&self) -> Result<Vec<SittingRow>, SimulationError> {
        self.get("sittings")
    }

    pub(crate) fn results(&self) -> Result<StudyResults, SimulationError> {
        self.get("results")
    }

    pub(crate) fn verification(&self) -> Result<StudyVerification, SimulationError> {
        self.get("verification")
    }

    pub(crate) fn close_study(&self) -> Result<(), SimulationError> {
        self.command(&StudyRequest::Close)
    }

    fn command(&self, command: &StudyRequest) -> Result<(), SimulationError> {
        let _: StudyChange = self.http.research(&path("commands"), Some(command))?;
        Ok(())
    }

    fn get<T: serde::de::DeserializeOwned>(&self, part: &str) -> Result<T, SimulationError> {
        self.http.research(&path(part), None::<&Value>)
    }
}

fn path(part: &str) -> String {
    format!("/api/studies/{STUDY}/{part}")
}
