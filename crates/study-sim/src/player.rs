//! A simulated person at the pages of the study: which request comes next, and when.
//!
//! *Invariant:* what a player does depends only on the person, on the environments that the server
//! assigns, and on the simulated time. The player never looks at the database.

mod incidents;
mod playing;

use rhae_protocol::{ParticipantId, PersonalLink, SittingStep, SittingView};
use serde_json::{Value, json};

pub(crate) use incidents::Incidents;
pub(crate) use playing::PlayedAttempt;
use playing::Playing;

use crate::SimulationError;
use crate::alias::{alias_number, shipped};
use crate::chance::Chance;
use crate::clock::Turn;
use crate::http::{Http, ParticipantRequest};
use crate::person::{Circumstances, Fate, INCIDENTS, Intent, PLAN, Person, difficulty};
use crate::plan::plan_play;
use crate::research::Researcher;

const SITTING: &str = "/api/sitting";
const COMMANDS: &str = "/api/sitting/commands";
/// The page reports its presence after this time without another request.
const CONTACT_MS: u64 = 8_000;
/// The time that reading the consent text and answering the questions takes.
const READING_MS: f64 = 120_000.0;
/// The time from one environment to the next.
const BETWEEN_MS: (f64, f64) = (25_000.0, 20_000.0);
/// The time from the reservation of an environment to its first frame.
const READY_MS: u64 = 3_000;
/// The range of a pause.
const PAUSE_MS: (f64, f64) = (60_000.0, 360_000.0);

/// A person who takes part in the study.
pub(crate) struct Player {
    pub(crate) person: Person,
    pub(crate) participant: ParticipantId,
    seed: u64,
    token: String,
    chance: Chance,
    phase: Phase,
    /// The number of environments that the person has only looked at.
    skipped: u32,
    first_frame_ms: Option<u64>,
    last_contact_ms: u64,
    /// Until when the browser is closed after a crash.
    offline_until_ms: Option<u64>,
    pub(crate) incidents: Incidents,
    /// Whether the data of the person was deleted.
    pub(crate) erased: bool,
    /// The attempts, with the actions that the server has acknowledged.
    pub(crate) attempts: Vec<PlayedAttempt>,
}

/// Where a person is.
enum Phase {
    Arriving {
        at_ms: u64,
    },
    /// Before the request for the next environment.
    Between {
        until_ms: u64,
    },
    Paused {
        until_ms: u64,
    },
    Ready {
        until_ms: u64,
        playing: Box<Playing>,
    },
    Playing(Box<Playing>),
    Gone,
}

/// What players need at a turn.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) http: &'a Http,
    pub(crate) now_ms: u64,
}

impl Player {
    pub(crate) fn new(seed: u64, person: Person, link: &PersonalLink, at_ms: u64) -> Self {
        let token = link.path.rsplit('/').next().unwrap_or_default();
        Self {
            participant: link.participant.clone(),
            seed,
            token: token.to_owned(),
            chance: person.chance(INCIDENTS, 0),
            person,
            phase: Phase::Arriving { at_ms },
            skipped: 0,
            first_frame_ms: None,
            last_contact_ms: at_ms,
            offline_until_ms: None,
            incidents: Incidents::default(),
            erased: false,
            attempts: Vec::new(),
        }
    }

    /// Returns when the person does something next; `None` after the end.
    pub(crate) fn next_turn(&self) -> Option<(u64, Turn)> {
        if let Some(until_ms) = self.offline_until_ms {
            return Some((until_ms, Turn::Play));
        }
        let (at_ms, turn) = match &self.phase {
            Phase::Arriving { at_ms } => (*at_ms, Turn::Command),
            Phase::Between { until_ms }
            | Phase::Paused { until_ms }
            | Phase::Ready { until_ms, .. } => (*until_ms, Turn::Command),
            Phase::Playing(playing) => playing.next_turn(),
            Phase::Gone => return None,
        };
        let contact = (self.last_contact_ms + CONTACT_MS, Turn::Play);
        // Before the first frame no clock runs, and there may be no sitting to report to.
        let next = match self.first_frame_ms {
            Some(_) => (at_ms, turn).min(contact),
            None => (at_ms, turn),
        };
        match self.fate_ms() {
            Some(fate_ms) if fate_ms <= next.0 => Some((fate_ms, Turn::Command)),
            _ => Some(next),
        }
    }

    /// Returns when the person ends the participation.
    fn fate_ms(&self) -> Option<u64> {
        let first_ms = self.first_frame_ms?;
        match self.person.fate {
            Fate::Stays => None,
            Fate::Leaves(after_ms)
            | Fate::Vanishes(after_ms)
            | Fate::WithdrawsKeepingData(after_ms)
            | Fate::WithdrawsDeletingData(after_ms) => Some(first_ms + after_ms),
        }
    }

    /// Takes actions, or reports the presence of the person.
    pub(crate) fn play(&mut self, around: Surroundings<'_>) -> Result<(), SimulationError> {
        if self.offline_until_ms.take().is_none() {
            if self.take_steps(around, Turn::Play)? {
                return Ok(());
            }
            let view = self.command(around, &json!({"command": "contact"}))?;
            return self.follow(around, &view);
        }
        let view = self.view(around)?;
        self.follow(around, &view)
    }

    /// Returns whether an action is due that affects no other person.
    pub(crate) fn is_about_to_act(&self, now_ms: u64) -> bool {
        let Phase::Playing(playing) = &self.phase else {
            return false;
        };
        self.offline_until_ms.is_none() && playing.has_step(now_ms, Turn::Play)
    }

    /// Reports the presence of the person without looking at the response.
    pub(crate) fn report_presence(
        &mut self,
        around: Surroundings<'_>,
    ) -> Result<(), SimulationError> {
        self.send(around, &json!({"command": "contact"})).map(drop)
    }

    /// Takes the actions that are due. Returns whether there were any.
    fn take_steps(
        &mut self,
        around: Surroundings<'_>,
        turn: Turn,
    ) -> Result<bool, SimulationError> {
        let Phase::Playing(playing) = &mut self.phase else {
            return Ok(false);
        };
        if !playing.has_step(around.now_ms, turn) {
            return Ok(false);
        }
        self.last_contact_ms = around.now_ms;
        let taken = playing.take_steps(
            around,
            turn,
            &self.token,
            &self.person,
            &mut self.chance,
            &mut self.incidents,
        )?;
        self.offline_until_ms = taken.offline_until_ms;
        if taken.must_look {
            let view = self.view(around)?;
            self.follow(around, &view)?;
        }
        Ok(true)
    }

    /// Does what changes the study: arrives, asks for an environment, starts it, leaves it, pauses,
    /// or ends the participation.
    pub(crate) fn act(
        &mut self,
        around: Surroundings<'_>,
        researcher: &Researcher<'_>,
    ) -> Result<(), SimulationError> {
        if self
            .fate_ms()
            .is_some_and(|fate_ms| fate_ms <= around.now_ms)
        {
            return self.meet_fate(around);
        }
        match &self.phase {
            Phase::Arriving { .. } => self.arrive(around),
            Phase::Between { .. } => self.ask_for_environment(around, researcher),
            Phase::Paused { .. } => {
                let view = self.command(around, &json!({"command": "resume"}))?;
                self.follow(around, &view)
            }
            Phase::Ready { .. } => self.start(around),
            Phase::Playing(playing) if playing.leaves_at(around.now_ms) => {
                let number = playing.number();
                let command = json!({"command": "leave", "environment": number});
                let view = self.command(around, &command)?;
                self.follow(around, &view)
            }
            // The last action of a solved environment.
            Phase::Playing(_) => {
                self.take_steps(around, Turn::Command)?;
                let view = self.view(around)?;
                self.follow(around, &view)
            }
            Phase::Gone => Ok(()),
        }
    }

    fn arrive(&mut self, around: Surroundings<'_>) -> Result<(), SimulationError> {
        let view = self.view(around)?;
        let consent = view.consent.ok_or_else(|| unexpected("no consent text"))?;
        let agree = json!({
            "command": "consent",
            "language": consent.language,
            "text": consent.hash,
            "publish_replays": self.chance.happens(0.8),
            "later_contact": self.chance.happens(0.5),
        });
        let view = self.command(around, &agree)?;
        let mut answers = serde_json::Map::new();
        for question in view.questions.unwrap_or_default() {
            let band = self.chance.index(question.bands.len());
            answers.insert(question.id, question.bands[band].clone().into());
        }
        self.command(around, &json!({"command": "describe", "answers": answers}))?;
        let devices = json!({
            "command": "check_device",
            "keyboard": true,
            "pointer": true,
            "colours_distinguished": self.chance.happens(0.95),
        });
        self.command(around, &devices)?;
        let reading_ms = READING_MS * self.chance.between(0.5, 1.5);
        let until_ms = around.now_ms + reading_ms as u64;
        self.phase = Phase::Between { until_ms };
        Ok(())
    }

    fn ask_for_environment(
        &mut self,
        around: Surroundings<'_>,
        researcher: &Researcher<'_>,
    ) -> Result<(), SimulationError> {
        let view = self.command(around, &json!({"command": "next"}))?;
        let (SittingStep::Ready, Some(number)) = (view.step, view.environment) else {
            return self.follow(around, &view);
        };
        let id = researcher.environment_of(&self.participant)?;
        let environment = alias_number(&id).ok_or_else(|| unexpected("an unknown environment"))?;
        let intended = self.person.intend(Circumstances {
            position: number,
            sitting_ms: view.clock.as_ref().map_or(0, |clock| clock.sitting_ms),
            difficulty: difficulty(self.seed, environment),
            skipped: self.skipped,
        });
        self.skipped += u32::from(intended.intent == Intent::Skip);
        let mut chance = self.person.chance(PLAN, number);
        let plan = plan_play(shipped(environment), intended, &mut chance);
        self.phase = Phase::Ready {
            until_ms: around.now_ms + READY_MS,
            playing: Box::new(Playing::new(number, plan)),
        };
        Ok(())
    }

    fn start(&mut self, around: Surroundings<'_>) -> Result<(), SimulationError> {
        let Phase::Ready { playing, .. } = std::mem::replace(&mut self.phase, Phase::Gone) else {
            return Ok(());
        };
        let command = json!({"command": "start", "environment": playing.number()});
        let view = self.command(around, &command)?;
        if view.step != SittingStep::Environment {
            return self.follow(around, &view);
        }
        self.first_frame_ms.get_or_insert(around.now_ms);
        self.phase = Phase::Playing(Box::new(playing.started(around.now_ms)));
        Ok(())
    }

    fn meet_fate(&mut self, around: Surroundings<'_>) -> Result<(), SimulationError> {
        let command = match self.person.fate {
            Fate::Stays => return Ok(()),
            Fate::Vanishes(_) => {
                self.leave_phase();
                self.phase = Phase::Gone;
                return Ok(());
            }
            Fate::Leaves(_) => json!({"command": "finish"}),
            Fate::WithdrawsKeepingData(_) => json!({"command": "withdraw", "data": "keep"}),
            Fate::WithdrawsDeletingData(_) => json!({"command": "withdraw", "data": "delete"}),
        };
        let view = self.command(around, &command)?;
        self.follow(around, &view)
    }

    /// Continues where the server says that the person is.
    fn follow(
        &mut self,
        around: Surroundings<'_>,
        view: &SittingView,
    ) -> Result<(), SimulationError> {
        match (view.step, &self.phase) {
            (SittingStep::Environment, Phase::Playing(playing)) => {
                if !playing.agrees_with(view) {
                    self.incidents.wrong_responses += 1;
                }
            }
            (SittingStep::Ready, Phase::Ready { .. })
            | (SittingStep::Between, Phase::Between { .. })
            | (SittingStep::Paused, Phase::Paused { .. }) => {}
            (SittingStep::Between, Phase::Playing(_)) => {
                self.leave_phase();
                return self.rest(around);
            }
            (SittingStep::Between, _) => self.wait(around),
            (SittingStep::Ended | SittingStep::Withdrawn | SittingStep::Erased, _) => {
                self.leave_phase();
                self.erased = view.step == SittingStep::Erased;
                self.phase = Phase::Gone;
                if view.step == SittingStep::Ended && view.completion.is_none() {
                    return Err(unexpected("a sitting ended without a completion"));
                }
            }
            (step, _) => return Err(unexpected(&format!("the step {step:?}"))),
        }
        Ok(())
    }

    /// Keeps what was acknowledged of the attempt in progress.
    fn leave_phase(&mut self) {
        if let Phase::Playing(playing) = std::mem::replace(&mut self.phase, Phase::Gone) {
            self.attempts.push(playing.played());
        }
    }

    /// Pauses, or waits for the next environment.
    fn rest(&mut self, around: Surroundings<'_>) -> Result<(), SimulationError> {
        if !self.chance.happens(self.person.pauses) {
            self.wait(around);
            return Ok(());
        }
        let length_ms = self.chance.between(PAUSE_MS.0, PAUSE_MS.1) as u64;
        let response = self.send(around, &json!({"command": "pause"}))?;
        // The pauses of the sitting may be used up, or its time.
        self.phase = Phase::Between {
            until_ms: around.now_ms,
        };
        if response.status == 409 {
            self.wait(around);
            return Ok(());
        }
        let view: SittingView = response.parse(COMMANDS)?;
        if view.step == SittingStep::Paused {
            self.incidents.pauses += 1;
            let until_ms = around.now_ms + length_ms;
            self.phase = Phase::Paused { until_ms };
            self.last_contact_ms = until_ms;
            return Ok(());
        }
        self.follow(around, &view)
    }

    fn wait(&mut self, around: Surroundings<'_>) {
        let (least, mean) = BETWEEN_MS;
        let until_ms = around.now_ms + (least + self.chance.exponential(mean)) as u64;
        self.phase = Phase::Between { until_ms };
    }

    fn view(&mut self, around: Surroundings<'_>) -> Result<SittingView, SimulationError> {
        self.last_contact_ms = around.now_ms;
        let request = ParticipantRequest {
            path: SITTING,
            token: &self.token,
            person: self.person.number,
            idempotency_key: None,
            body: None,
        };
        around.http.participate(request)?.parse(SITTING)
    }

    /// Sends a command. Sometimes the person clicks twice.
    fn command(
        &mut self,
        around: Surroundings<'_>,
        command: &Value,
    ) -> Result<SittingView, SimulationError> {
        let view = self.send(around, command)?.parse(COMMANDS)?;
        if self.chance.happens(self.person.double_clicks) {
            self.incidents.double_clicks += 1;
            self.send(around, command)?;
        }
        Ok(view)
    }

    fn send(
        &mut self,
        around: Surroundings<'_>,
        command: &Value,
    ) -> Result<crate::http::Response, SimulationError> {
        self.last_contact_ms = around.now_ms;
        around.http.participate(ParticipantRequest {
            path: COMMANDS,
            token: &self.token,
            person: self.person.number,
            idempotency_key: None,
            body: Some(&command.to_string()),
        })
    }
}

fn unexpected(found: &str) -> SimulationError {
    SimulationError::Unexpected {
        path: SITTING.to_owned(),
        reason: found.to_owned(),
    }
}
