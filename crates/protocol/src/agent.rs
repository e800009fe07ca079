//! The protocol of an agent that runs in its own process: JSON objects, one per line, on standard
//! input and standard output.

use rhae_engine::{Action, ActionKind, ActionSet, Frame, PlayState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::{InvalidAction, action_from};
use crate::{Details, Ending, WireFrames, frames_to_wire};

/// A line that Rhae writes to the standard input of an agent's process.
///
/// The process receives one [`Hello`](Self::Hello), then an [`Observation`](Self::Observation) each
/// time that Rhae needs an action and, unless the play is aborted, one [`End`](Self::End). It
/// answers each observation with one [`AgentReply`].
///
/// # Examples
///
/// ```
/// use rhae_protocol::{AgentMessage, Ending};
///
/// let line = r#"{"type":"hello","protocol":1,"seed":7}"#;
/// let message: AgentMessage = serde_json::from_str(line)?;
/// assert_eq!(message, AgentMessage::Hello { protocol: AgentMessage::PROTOCOL, seed: 7 });
///
/// let line = r#"{"type":"end","reason":"won"}"#;
/// let message: AgentMessage = serde_json::from_str(line)?;
/// assert_eq!(message, AgentMessage::End { reason: Ending::Won });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum AgentMessage {
    /// The first line.
    Hello {
        /// The version of this protocol, see [`AgentMessage::PROTOCOL`].
        protocol: u32,
        /// A seed that the agent may use to behave reproducibly.
        seed: u64,
    },
    /// The result of the last action. The agent replies with one action.
    Observation {
        /// One frame or an animation, the settled frame last: `frame[t][y][x]`.
        frame: WireFrames,
        /// `NOT_FINISHED`, `WIN` or `GAME_OVER`. After `GAME_OVER` only RESET has an effect.
        state: String,
        levels_completed: u8,
        /// The number of levels of the environment.
        win_levels: u8,
        /// The ids of the actions that the environment offers.
        available_actions: Vec<u8>,
        /// Whether the last command restarted the game at its first level.
        full_reset: bool,
    },
    /// The play has ended. The process should exit.
    End {
        /// Why the play ended: `won`, `budget`, `stopped` or `failed`.
        reason: Ending,
    },
}

impl AgentMessage {
    /// The version of this protocol.
    pub const PROTOCOL: u32 = 1;

    /// Creates an [`Observation`](Self::Observation). `levels` holds the number of completed levels
    /// and the number of all levels.
    pub fn observation(
        frames: &[Frame],
        state: PlayState,
        levels: (u8, u8),
        available: ActionSet,
        full_reset: bool,
    ) -> Self {
        Self::Observation {
            frame: frames_to_wire(frames),
            state: state.name().to_owned(),
            levels_completed: levels.0,
            win_levels: levels.1,
            available_actions: available.iter().map(ActionKind::id).collect(),
            full_reset,
        }
    }
}

/// A line that an agent's process writes to its standard output.
///
/// # Examples
///
/// ```
/// use rhae_engine::Action;
/// use rhae_protocol::{AgentReply, ReplyError};
///
/// let (action, _) = AgentReply::parse(r#"{"action":"ACTION3"}"#)?;
/// assert_eq!(action, Action::Action3);
///
/// let (action, details) = AgentReply::parse(
///     r#"{"action":6,"x":12,"y":40,"reasoning":"the red block","cost_usd":0.002}"#,
/// )?;
/// assert_eq!(action, Action::Action6 { x: 12, y: 40 });
/// assert_eq!(details.cost_usd, Some(0.002));
///
/// assert_eq!(AgentReply::parse(r#"{"action":6}"#), Err(ReplyError::Coordinates));
/// # Ok::<(), ReplyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentReply {
    /// A name (`ACTION3`, `RESET`, in upper or lower case) or an id (3, 0).
    pub action: Value,
    /// The column of a click, from 0 to 63.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Value>,
    /// The row of a click, from 0 to 63.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<Value>,
    /// The agent's reasoning, as any JSON value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Value>,
    /// The model usage behind this action, with the field names of
    /// [`ModelUsage`](crate::ModelUsage).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// The cost of that usage in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// The reason why a line from an agent's process is not a valid reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// The line is not a JSON object with an `action`.
    #[error(
        "the agent wrote `{line}`, which is not a reply ({reason}): expected one object such as `{{\"action\":1}}` per line and no other output on standard output"
    )]
    Json {
        /// The first 60 characters of the line.
        line: String,
        reason: String,
    },
    /// `action` is neither the name nor the id of an action.
    #[error("`{0}` is not an action: expected `RESET`, `ACTION1` to `ACTION7`, or 0 to 7")]
    Action(String),
    /// A click has no coordinates, or they are not on the frame.
    #[error("ACTION6 needs `x` and `y`, integers from 0 to 63")]
    Coordinates,
}

fn integer(value: Option<&Value>) -> Option<i64> {
    value.and_then(Value::as_i64)
}

impl AgentReply {
    /// Parses a line into the action and the details that accompany it.
    ///
    /// # Errors
    ///
    /// Returns a [`ReplyError`] if the line is not a JSON object of the expected shape, names no
    /// action, or names a click without valid coordinates. The contents of `reasoning` and `usage`
    /// are not validated.
    pub fn parse(line: &str) -> Result<(Action, Details), ReplyError> {
        let reply: Self = serde_json::from_str(line).map_err(|error| ReplyError::Json {
            line: line.trim().chars().take(60).collect(),
            reason: error.to_string(),
        })?;
        let action = action_from(
            &reply.action,
            integer(reply.x.as_ref()),
            integer(reply.y.as_ref()),
        )
        .map_err(|invalid| match invalid {
            InvalidAction::Kind => ReplyError::Action(reply.action.to_string()),
            InvalidAction::Coordinates => ReplyError::Coordinates,
        })?;
        Ok((
            action,
            Details {
                t_ms: None,
                reasoning: reply.reasoning,
                usage: reply.usage,
                cost_usd: reply.cost_usd,
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ids_are_accepted() {
        let action = |line: &str| AgentReply::parse(line).map(|(action, _)| action);
        assert_eq!(action(r#"{"action":"ACTION3"}"#), Ok(Action::Action3));
        assert_eq!(action(r#"{"action":"reset"}"#), Ok(Action::Reset));
        assert_eq!(action(r#"{"action":7}"#), Ok(Action::Action7));
        assert_eq!(
            action(r#"{"action":6,"x":63,"y":0}"#),
            Ok(Action::Action6 { x: 63, y: 0 })
        );
    }

    #[test]
    fn invalid_replies_are_rejected_with_a_reason() {
        assert_eq!(
            AgentReply::parse(r#"{"action":6,"x":64,"y":0}"#),
            Err(ReplyError::Coordinates)
        );
        assert_eq!(
            AgentReply::parse(r#"{"action":6}"#),
            Err(ReplyError::Coordinates)
        );
        assert_eq!(
            AgentReply::parse(r#"{"action":"JUMP"}"#),
            Err(ReplyError::Action("\"JUMP\"".to_owned()))
        );
        assert_eq!(
            AgentReply::parse(r#"{"action":6,"x":1.5,"y":2}"#),
            Err(ReplyError::Coordinates)
        );
        assert!(
            AgentReply::parse("loading...")
                .unwrap_err()
                .to_string()
                .contains("`loading...`, which is not a reply")
        );
    }

    #[test]
    fn reasoning_usage_and_cost_are_kept() {
        let (_, details) = AgentReply::parse(
            r#"{"action":1,"reasoning":{"why":"probe"},"usage":{"tokens":5},"cost_usd":0.25}"#,
        )
        .unwrap();
        assert_eq!(details.reasoning, Some(serde_json::json!({"why": "probe"})));
        assert_eq!(details.cost_usd, Some(0.25));
    }
}
