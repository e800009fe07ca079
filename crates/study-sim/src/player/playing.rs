//! An attempt in progress: the planned actions, sent one after the other.

use rhae_engine::Action;
use rhae_protocol::{CompactResponse, SittingView};
use serde_json::json;

use super::{Incidents, Surroundings};
use crate::SimulationError;
use crate::chance::Chance;
use crate::clock::Turn;
use crate::http::ParticipantRequest;
use crate::person::Person;
use crate::plan::{PlannedStep, PlayPlan};

/// How long a browser is closed after a crash.
const OFFLINE_MS: (f64, f64) = (5_000.0, 180_000.0);

/// The actions of an attempt that the server has acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlayedAttempt {
    /// The number of the environment in the sitting.
    pub(crate) number: u32,
    pub(crate) actions: Vec<Action>,
}

/// An attempt with its plan.
pub(crate) struct Playing {
    number: u32,
    plan: PlayPlan,
    /// The time of the first frame, plus the time for which the browser was closed.
    start_ms: u64,
    /// The number of acknowledged actions.
    done: usize,
}

/// What follows from a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlayTurn {
    pub(crate) offline_until_ms: Option<u64>,
    /// Whether the page must ask where the person is: after a reload, or when an action was refused.
    pub(crate) must_look: bool,
}

impl Playing {
    pub(crate) const fn new(number: u32, plan: PlayPlan) -> Self {
        Self {
            number,
            plan,
            start_ms: 0,
            done: 0,
        }
    }

    pub(crate) fn started(self, now_ms: u64) -> Self {
        Self {
            start_ms: now_ms,
            ..self
        }
    }

    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn played(&self) -> PlayedAttempt {
        let done = &self.plan.steps[..self.done];
        PlayedAttempt {
            number: self.number,
            actions: done.iter().map(|step| step.action).collect(),
        }
    }

    /// Returns when the next action is due, or the person leaves. An action that solves the
    /// environment changes the study.
    pub(crate) fn next_turn(&self) -> (u64, Turn) {
        let Some(step) = self.plan.steps.get(self.done) else {
            // A person who neither solves nor leaves waits for the limit.
            let leaves_ms = self
                .plan
                .leaves_ms
                .map_or(u64::MAX, |at| self.start_ms + at);
            return (leaves_ms, Turn::Command);
        };
        let turn = if self.solves(self.done) {
            Turn::Command
        } else {
            Turn::Play
        };
        (self.start_ms + step.at_ms, turn)
    }

    /// Returns whether an action is due that the kind of turn allows.
    pub(crate) fn has_step(&self, now_ms: u64, turn: Turn) -> bool {
        let step = self.plan.steps.get(self.done);
        step.is_some_and(|step| self.start_ms + step.at_ms <= now_ms)
            && (turn == Turn::Command || !self.solves(self.done))
    }

    /// Returns whether the person leaves the environment now.
    pub(crate) fn leaves_at(&self, now_ms: u64) -> bool {
        self.done == self.plan.steps.len()
            && self
                .plan
                .leaves_ms
                .is_some_and(|at| self.start_ms + at <= now_ms)
    }

    /// Returns whether the page shows what the acknowledged actions lead to.
    pub(crate) fn agrees_with(&self, view: &SittingView) -> bool {
        let Some(frame) = &view.frame else {
            return false;
        };
        view.environment == Some(self.number)
            && match self.done.checked_sub(1) {
                Some(last) => is_predicted(&self.plan.steps[last], frame),
                None => frame.levels_completed == 0,
            }
    }

    /// Takes the actions that are due. The one that solves the environment needs a turn of its own.
    pub(crate) fn take_steps(
        &mut self,
        around: Surroundings<'_>,
        turn: Turn,
        token: &str,
        person: &Person,
        chance: &mut Chance,
        incidents: &mut Incidents,
    ) -> Result<PlayTurn, SimulationError> {
        let first = self.done;
        while self.has_step(around.now_ms, turn) {
            if self.done > first && self.solves(self.done) {
                break;
            }
            let step = self.plan.steps[self.done];
            let key = format!("{}-{}-{}", person.number, self.number, self.done);
            let (path, body) = self.request(step.action);
            let request = ParticipantRequest {
                path: &path,
                token,
                person: person.number,
                idempotency_key: Some(&key),
                body: Some(&body),
            };
            if chance.happens(person.lost_responses) {
                incidents.lost_responses += 1;
                around.http.send_without_response(request);
            }
            let response = around.http.participate(request)?;
            if response.status == 409 {
                return Ok(PlayTurn {
                    must_look: true,
                    ..PlayTurn::default()
                });
            }
            if chance.happens(person.double_clicks) {
                incidents.double_clicks += 1;
                let again = around.http.participate(request)?;
                incidents.wrong_responses += u64::from(again != response);
            }
            let frame: CompactResponse = response.parse(&path)?;
            incidents.wrong_responses += u64::from(!is_predicted(&step, &frame) || !frame.counted);
            self.done += 1;
            if chance.happens(person.crashes) {
                incidents.crashes += 1;
                let offline_ms = chance.between(OFFLINE_MS.0, OFFLINE_MS.1) as u64;
                self.start_ms += offline_ms;
                return Ok(PlayTurn {
                    offline_until_ms: Some(around.now_ms + offline_ms),
                    must_look: false,
                });
            }
            if chance.happens(person.reloads) {
                incidents.reloads += 1;
                return Ok(PlayTurn {
                    must_look: true,
                    ..PlayTurn::default()
                });
            }
        }
        Ok(PlayTurn::default())
    }

    fn solves(&self, step: usize) -> bool {
        self.plan.steps[step].state == rhae_engine::PlayState::Win
    }

    fn request(&self, action: Action) -> (String, String) {
        let path = format!("/api/sitting/actions/{}", action.kind().name());
        let body = match action {
            Action::Action6 { x, y } => json!({"environment": self.number, "x": x, "y": y}),
            _ => json!({"environment": self.number}),
        };
        (path, body.to_string())
    }
}

fn is_predicted(step: &PlannedStep, frame: &CompactResponse) -> bool {
    frame.state == step.state && frame.levels_completed == step.levels_completed
}
