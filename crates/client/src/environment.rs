//! A play on a server, behind the same interface as a local one.
//!
//! **Invariant:** an action is sent a second time only after it is known that the first did not arrive. A server says that by itself,
//! or takes idempotency keys, or its card shows that nothing was counted; where none of these tells, the play ends.

use std::sync::Arc;

use rhae_engine::{
    Action, Environment, EnvironmentError, FrameBuffer, GameInfo, Observation, PlayState,
};
use serde_json::{Value, json};

use crate::answer::FrameAnswer;
use crate::link::{Failure, Line};
use crate::server::{Repeat, error};
use crate::{Card, ClientError};

/// A play on a server.
pub struct RemoteEnvironment {
    card: Arc<Card>,
    info: GameInfo,
    guid: String,
    seen: Observation,
    /// Whether an action was taken since the last level change or RESET: else a RESET starts the game anew.
    acted: bool,
    /// Actions that the server must have counted for this play.
    counted: u64,
}

impl RemoteEnvironment {
    /// Opens a play on a card. If the answer is lost, another is opened: the first stays on the card without an action, and an
    /// environment's score is that of its best play. In a competition there is no second.
    pub(crate) fn open(card: Arc<Card>, info: &GameInfo) -> Result<Self, EnvironmentError> {
        let body = json!({"card_id": card.id(), "game_id": info.id.as_str()});
        let path = "/api/cmd/RESET";
        let repeat = if card.is_competition() {
            Repeat::WithKey
        } else {
            Repeat::Harmlessly
        };
        let answer = card
            .server()
            .post(Line::Plays, path, &body, repeat)
            .and_then(|answer| read(path, &answer));
        let answer = answer.map_err(|error| failed(&error))?;
        let mut info = info.clone();
        info.actions = answer.available;
        let guid = answer.guid.clone();
        let mut seen = observation(Action::Reset, &answer);
        (seen.full_reset, seen.counted, seen.changed) = (true, false, true);
        Ok(Self {
            card,
            info,
            guid,
            seen,
            acted: false,
            counted: 0,
        })
    }

    /// The server's id for the play.
    pub fn guid(&self) -> &str {
        &self.guid
    }

    /// Whether a RESET now starts the whole game anew; in a competition it then does nothing.
    fn reset_starts_anew(&self) -> bool {
        !self.acted || self.seen.state == PlayState::Win
    }

    /// Sends a command until it was carried out exactly once, or until that can no longer be made sure of.
    fn command(&self, action: Action) -> Result<FrameAnswer, ClientError> {
        let path = format!("/api/cmd/{}", action.kind().name());
        let mut body = json!({"game_id": self.info.id.as_str(), "guid": self.guid});
        if let Action::Action6 { x, y } = action {
            (body["x"], body["y"]) = (x.into(), y.into());
        }
        // To start anew once more changes nothing that counts.
        let repeat = if action == Action::Reset && self.reset_starts_anew() {
            Repeat::Harmlessly
        } else {
            Repeat::WithKey
        };
        let mut unsure = false;
        for _ in 0..self.card.server().patience().attempts {
            let failure = match self.send(&path, &body, repeat) {
                Ok(answer) => {
                    if unsure {
                        self.make_sure_of_one(&path)?;
                    }
                    return read(&path, &answer);
                }
                Err(failure) => failure,
            };
            let (reason, pending) = match failure {
                Failure::Lost { reason, pending } => (reason, pending),
                // A gateway that speaks for a server does not know either.
                Failure::Status {
                    status: status @ 502..=504,
                    ..
                } => (format!("a gateway answered with {status}"), false),
                failure => return Err(error(&path, failure)),
            };
            self.make_sure_of_none(&path, &reason, pending)?;
            unsure = true;
        }
        Err(ClientError::NoAnswer {
            path,
            reason: "no attempt arrived".to_owned(),
        })
    }

    fn send(&self, path: &str, body: &Value, repeat: Repeat) -> Result<Vec<u8>, Failure> {
        self.card
            .server()
            .call(Line::Plays, path, Some(body), repeat)
    }

    /// Goes on only if the command whose answer is missing was not carried out and will not be.
    fn make_sure_of_none(
        &self,
        path: &str,
        reason: &str,
        pending: bool,
    ) -> Result<(), ClientError> {
        let unsure = |known: &str| {
            Err(ClientError::Unsure {
                path: path.to_owned(),
                reason: format!("{reason}, and {known}"),
            })
        };
        if self.card.is_competition() {
            return unsure("the card of a competition does not show whether it was counted");
        }
        // What was under way when the connection ended needs a moment to be counted.
        let first = self.card.server().patience().first_pause;
        for pause in [first, first * 2, first * 4] {
            if !self.card.server().wait(pause) {
                return unsure("the run was given up");
            }
            match self.counted_there() {
                Ok(Some(counted)) if counted == self.counted => {}
                Ok(Some(_)) => return unsure("the server counted it, but what it showed is lost"),
                Ok(None) => return unsure("the card does not show the play"),
                Err(error) => return unsure(&format!("the card cannot be read ({error})")),
            }
        }
        if pending {
            unsure("it may still be waiting to be carried out")
        } else {
            Ok(())
        }
    }

    /// After a command was sent again: if the first did arrive after all, the play must not go on.
    fn make_sure_of_one(&self, path: &str) -> Result<(), ClientError> {
        match self.counted_there()? {
            Some(counted) if counted > self.counted + 1 => Err(ClientError::Unsure {
                path: path.to_owned(),
                reason: "an earlier attempt arrived late and was counted as well".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn counted_there(&self) -> Result<Option<u64>, ClientError> {
        self.card.read().map(|card| card.actions(&self.guid))
    }
}

impl Environment for RemoteEnvironment {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        &self.seen
    }

    fn waits(&self) -> bool {
        true
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        if action != Action::Reset && self.seen.state != PlayState::NotFinished {
            // The server would refuse it.
            let settled = self.seen.settled().clone();
            self.seen.frames.set(&[settled]);
            self.seen.action = action;
            (self.seen.full_reset, self.seen.counted, self.seen.changed) = (false, false, false);
            return Ok(&self.seen);
        }
        let anew = action == Action::Reset && self.reset_starts_anew();
        let answer = self.command(action).map_err(|error| failed(&error))?;
        if answer.guid != self.guid {
            return Err(EnvironmentError::Failed(
                "the server answered for another play".to_owned(),
            ));
        }
        if answer.win_levels != self.seen.win_levels {
            return Err(EnvironmentError::Failed(
                "the server changed the number of levels".to_owned(),
            ));
        }
        // The official server never says that it started anew; its rule does.
        let full_reset = answer.full_reset || anew && !self.card.is_competition();
        let mut seen = observation(action, &answer);
        (seen.full_reset, seen.counted) = (full_reset, !full_reset && !anew);
        // What cannot be seen from outside is taken not to be there.
        seen.changed = full_reset
            || seen.settled() != self.seen.settled()
            || seen.state != self.seen.state
            || seen.levels_completed != self.seen.levels_completed;
        if seen.counted || full_reset {
            self.acted =
                action != Action::Reset && seen.levels_completed == self.seen.levels_completed;
        }
        self.counted += u64::from(seen.counted);
        self.seen = seen;
        Ok(&self.seen)
    }
}

fn read(path: &str, answer: &[u8]) -> Result<FrameAnswer, ClientError> {
    FrameAnswer::read(answer).map_err(|reason| ClientError::BadAnswer {
        path: path.to_owned(),
        reason,
    })
}

/// What was seen; what is counted is for the caller to say.
fn observation(action: Action, answer: &FrameAnswer) -> Observation {
    let mut frames = FrameBuffer::with_capacity(answer.frames.len());
    frames.set(&answer.frames);
    Observation {
        action,
        frames,
        state: answer.state,
        levels_completed: answer.levels_completed,
        win_levels: answer.win_levels,
        available: answer.available,
        full_reset: answer.full_reset,
        counted: true,
        changed: true,
    }
}

fn failed(error: &ClientError) -> EnvironmentError {
    EnvironmentError::Failed(error.to_string())
}
