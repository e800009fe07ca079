//! A play on a server, behind the same interface as a local one.
//!
//! **Invariant:** an action is sent again only if this cannot execute it twice: the server said
//! that it was not executed, it carries an idempotency key that the server supports, or the card
//! shows that it was not counted. Otherwise the play ends.

use std::sync::Arc;

use rhae_engine::{
    Action, Environment, EnvironmentError, FrameBuffer, GameInfo, Observation, PlayState,
};
use serde_json::{Value, json};

use crate::response::FrameResponse;
use crate::server::{RetrySafety, error};
use crate::transport::{Channel, Failure};
use crate::{Card, ClientError};

/// The maximum size of the reasoning of a command in the official API.
const MAX_REASONING_BYTES: usize = 16 * 1024;

/// A play on a server, created by [`Card::play`].
///
/// It implements [`Environment`], so agents and runs use it like a local game. Each action is one
/// request, which blocks the calling thread. After an error the play must not be continued, because
/// the outcome of the last action may be unknown.
pub struct RemoteEnvironment {
    card: Arc<Card>,
    info: GameInfo,
    guid: String,
    latest: Observation,
    /// Whether an action was taken since the last level change or RESET. If not, a RESET restarts
    /// the game instead of the level.
    acted: bool,
    /// The number of actions that the server must have counted for this play.
    counted: u64,
    /// The reasoning of the next command.
    reasoning: Option<Value>,
    /// The maximum size of reasoning in bytes; 0 once the server has rejected some.
    max_reasoning_bytes: usize,
}

impl RemoteEnvironment {
    /// Opens a play on a card.
    ///
    /// If the response is lost and the server does not support idempotency keys, another play is
    /// opened. The first one stays on the card without actions, which does no harm: the score of an
    /// environment is that of its best play. In a competition a second play is not allowed, so the
    /// request is repeated only with an idempotency key.
    pub(crate) fn open(card: Arc<Card>, info: &GameInfo) -> Result<Self, EnvironmentError> {
        let body = json!({"card_id": card.id(), "game_id": info.id.as_str()});
        let path = "/api/cmd/RESET";
        let safety = if card.is_competition() {
            RetrySafety::RequireKey
        } else {
            RetrySafety::PreferKey
        };
        let response = card
            .server()
            .post(Channel::Plays, path, &body, safety)
            .and_then(|response| parse(path, &response));
        let response = response.map_err(|error| failed(&error))?;
        let mut info = info.clone();
        info.actions = response.available;
        let guid = response.guid.clone();
        let mut latest = observation(Action::Reset, &response);
        (latest.full_reset, latest.counted, latest.changed) = (true, false, true);
        Ok(Self {
            card,
            info,
            guid,
            latest,
            acted: false,
            counted: 0,
            reasoning: None,
            max_reasoning_bytes: MAX_REASONING_BYTES,
        })
    }

    /// Returns the server's id for the play.
    pub fn guid(&self) -> &str {
        &self.guid
    }

    /// Returns whether a RESET would restart the game rather than the level. In a competition such
    /// a RESET has no effect.
    fn reset_restarts_game(&self) -> bool {
        !self.acted || self.latest.state == PlayState::Win
    }

    /// Sends a command, several times if necessary, until the server has executed it exactly once.
    /// Fails if that can no longer be guaranteed.
    fn command(&mut self, action: Action) -> Result<FrameResponse, ClientError> {
        let path = format!("/api/cmd/{}", action.kind().name());
        let mut body = json!({"game_id": self.info.id.as_str(), "guid": self.guid});
        if let Action::Action6 { x, y } = action {
            (body["x"], body["y"]) = (x.into(), y.into());
        }
        let reasoning = self.reasoning.take();
        let has_reasoning = reasoning.is_some();
        if let Some(reasoning) = reasoning {
            body["reasoning"] = reasoning;
        }
        let response = self.command_with(action, &path, &body);
        // A server may have a lower limit. A command that it rejects was not executed.
        if has_reasoning
            && matches!(
                response,
                Err(ClientError::Rejected {
                    status: 400 | 413,
                    ..
                })
            )
        {
            self.max_reasoning_bytes = 0;
            body.as_object_mut().map(|body| body.remove("reasoning"));
            return self.command_with(action, &path, &body);
        }
        response
    }

    fn command_with(
        &self,
        action: Action,
        path: &str,
        body: &Value,
    ) -> Result<FrameResponse, ClientError> {
        // Restarting the game twice has the same effect as restarting it once.
        let safety = if action == Action::Reset && self.reset_restarts_game() {
            RetrySafety::PreferKey
        } else {
            RetrySafety::RequireKey
        };
        let mut resent = false;
        for _ in 0..self.card.server().retry_policy().max_attempts {
            let failure = match self.send(path, body, safety) {
                Ok(response) => {
                    if resent {
                        self.confirm_executed_once(path)?;
                    }
                    return parse(path, &response);
                }
                Err(failure) => failure,
            };
            let (reason, pending) = match failure {
                Failure::Lost { reason, pending } => (reason, pending),
                // A gateway does not know whether the server executed the command.
                Failure::Status {
                    status: status @ 502..=504,
                    ..
                } => (format!("a gateway responded with status {status}"), false),
                failure => return Err(error(path, failure)),
            };
            self.confirm_not_executed(path, &reason, pending)?;
            resent = true;
        }
        Err(ClientError::NoResponse {
            path: path.to_owned(),
            reason: "no attempt reached it".to_owned(),
        })
    }

    fn send(&self, path: &str, body: &Value, safety: RetrySafety) -> Result<Vec<u8>, Failure> {
        self.card
            .server()
            .call(Channel::Plays, path, Some(body), safety)
    }

    /// Returns `Ok` only if the command whose response is missing was not executed and will not be.
    fn confirm_not_executed(
        &self,
        path: &str,
        reason: &str,
        pending: bool,
    ) -> Result<(), ClientError> {
        let unknown = |detail: &str| {
            Err(ClientError::OutcomeUnknown {
                path: path.to_owned(),
                reason: format!("{reason}, and {detail}"),
            })
        };
        if self.card.is_competition() {
            return unknown(
                "the card of a competition does not show whether the action was counted",
            );
        }
        // If the request was in flight when the connection ended, the server may need a moment to
        // count it.
        let first = self.card.server().retry_policy().initial_backoff;
        for pause in [first, first * 2, first * 4] {
            if !self.card.server().wait(pause) {
                return unknown("the run was cancelled");
            }
            match self.server_count() {
                Ok(Some(counted)) if counted == self.counted => {}
                Ok(Some(_)) => {
                    return unknown("the server counted the action, but its frames are lost");
                }
                Ok(None) => return unknown("the card does not list the play"),
                Err(error) => return unknown(&format!("the card cannot be read ({error})")),
            }
        }
        if pending {
            unknown("the server may still execute it")
        } else {
            Ok(())
        }
    }

    /// Checks after a resent command that the first attempt did not arrive late. If it did, the
    /// play must end.
    fn confirm_executed_once(&self, path: &str) -> Result<(), ClientError> {
        match self.server_count()? {
            Some(counted) if counted > self.counted + 1 => Err(ClientError::OutcomeUnknown {
                path: path.to_owned(),
                reason: "an earlier attempt arrived late and was counted too".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    fn server_count(&self) -> Result<Option<u64>, ClientError> {
        self.card.read().map(|card| card.actions(&self.guid))
    }
}

impl Environment for RemoteEnvironment {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        &self.latest
    }

    fn may_block(&self) -> bool {
        true
    }

    fn max_reasoning_bytes(&self) -> usize {
        self.max_reasoning_bytes
    }

    fn set_reasoning(&mut self, json: Option<String>) {
        self.reasoning = json.and_then(|json| serde_json::from_str(&json).ok());
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        if action != Action::Reset && self.latest.state != PlayState::NotFinished {
            // The play has ended, and the server would reject the action.
            let settled = self.latest.settled().clone();
            self.latest.frames.set(&[settled]);
            self.latest.action = action;
            (
                self.latest.full_reset,
                self.latest.counted,
                self.latest.changed,
            ) = (false, false, false);
            return Ok(&self.latest);
        }
        let restarts = action == Action::Reset && self.reset_restarts_game();
        let response = self.command(action).map_err(|error| failed(&error))?;
        if response.guid != self.guid {
            return Err(EnvironmentError::Failed(
                "the server responded for another play".to_owned(),
            ));
        }
        if response.win_levels != self.latest.win_levels {
            return Err(EnvironmentError::Failed(
                "the server changed the number of levels".to_owned(),
            ));
        }
        // The official server does not report full resets, so they are derived from its rule for
        // RESET.
        let full_reset = response.full_reset || restarts && !self.card.is_competition();
        let mut latest = observation(action, &response);
        (latest.full_reset, latest.counted) = (full_reset, !full_reset && !restarts);
        // A change that is not visible in the settled frame, the state or the number of levels
        // cannot be detected here, so it counts as no change.
        latest.changed = full_reset
            || latest.settled() != self.latest.settled()
            || latest.state != self.latest.state
            || latest.levels_completed != self.latest.levels_completed;
        if latest.counted || full_reset {
            self.acted =
                action != Action::Reset && latest.levels_completed == self.latest.levels_completed;
        }
        self.counted += u64::from(latest.counted);
        self.latest = latest;
        Ok(&self.latest)
    }
}

fn parse(path: &str, response: &[u8]) -> Result<FrameResponse, ClientError> {
    FrameResponse::parse(response).map_err(|reason| ClientError::InvalidResponse {
        path: path.to_owned(),
        reason,
    })
}

/// Converts a response. The caller sets `full_reset`, `counted` and `changed`.
fn observation(action: Action, response: &FrameResponse) -> Observation {
    let mut frames = FrameBuffer::with_capacity(response.frames.len());
    frames.set(&response.frames);
    Observation {
        action,
        frames,
        state: response.state,
        levels_completed: response.levels_completed,
        win_levels: response.win_levels,
        available: response.available,
        full_reset: response.full_reset,
        counted: true,
        changed: true,
    }
}

fn failed(error: &ClientError) -> EnvironmentError {
    EnvironmentError::Failed(error.to_string())
}
