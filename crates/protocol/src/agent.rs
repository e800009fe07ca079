//! The lines spoken with an agent that runs in a process of its own: JSON objects, one a line, on standard input and output.

use rhae_engine::{Action, ActionKind, ActionSet, Frame, PlayState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::{BadAction, action_from};
use crate::{Details, WireFrames, frames_to_wire};

/// What an agent's process is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum AgentMessage {
    /// Once, at the start.
    Hello {
        /// Version of these lines.
        protocol: u32,
        /// A seed that the agent may use to be reproducible.
        seed: u64,
    },
    /// What the last action led to; the agent answers with one action.
    Observation {
        /// One frame or an animation, the settled picture last: `frame[t][y][x]`.
        frame: WireFrames,
        /// `NOT_FINISHED`, `WIN` or `GAME_OVER`; after `GAME_OVER` only RESET does anything.
        state: String,
        /// Levels completed.
        levels_completed: u8,
        /// All levels.
        win_levels: u8,
        /// Ids of the offered actions.
        available_actions: Vec<u8>,
        /// Whether the game was started anew.
        full_reset: bool,
    },
    /// The play is over; the process should end.
    End {
        /// Why: `won`, `budget`, `stopped` or `failed`.
        reason: String,
    },
}

impl AgentMessage {
    /// The version of these lines.
    pub const PROTOCOL: u32 = 1;

    /// An observation as a message.
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

/// What an agent's process answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentReply {
    /// A name (`ACTION3`, `RESET`) or an id (3, 0).
    pub action: Value,
    /// Column of a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Value>,
    /// Row of a click.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<Value>,
    /// Why, in any form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Value>,
    /// What a model consumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// What that cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What is wrong with an agent's answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyError {
    /// Not a JSON object of the form.
    #[error(
        "the agent wrote `{line}`, which is not a reply ({reason}): expected one object such as `{{\"action\":1}}` a line, and nothing else on standard output"
    )]
    Json {
        /// The line, shortened.
        line: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Neither a name nor an id of an action.
    #[error("`{0}` is not an action: expected `RESET`, `ACTION1` to `ACTION7`, or 0 to 7")]
    Action(String),
    /// A click without a place on the frame.
    #[error("ACTION6 needs `x` and `y`, whole numbers from 0 to 63")]
    Place,
}

/// A coordinate, if it is a whole number.
fn whole(value: Option<&Value>) -> Option<i64> {
    value.and_then(Value::as_i64)
}

impl AgentReply {
    /// Reads a line of an agent's process.
    pub fn parse(line: &str) -> Result<(Action, Details), ReplyError> {
        let reply: Self = serde_json::from_str(line).map_err(|error| ReplyError::Json {
            line: line.trim().chars().take(60).collect(),
            reason: error.to_string(),
        })?;
        let action = action_from(
            &reply.action,
            whole(reply.x.as_ref()),
            whole(reply.y.as_ref()),
        )
        .map_err(|bad| match bad {
            BadAction::Kind => ReplyError::Action(reply.action.to_string()),
            BadAction::Place => ReplyError::Place,
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
    fn names_and_ids_are_both_taken() {
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
    fn bad_replies_say_what_is_wrong() {
        assert_eq!(
            AgentReply::parse(r#"{"action":6,"x":64,"y":0}"#),
            Err(ReplyError::Place)
        );
        assert_eq!(AgentReply::parse(r#"{"action":6}"#), Err(ReplyError::Place));
        assert_eq!(
            AgentReply::parse(r#"{"action":"JUMP"}"#),
            Err(ReplyError::Action("\"JUMP\"".to_owned()))
        );
        assert_eq!(
            AgentReply::parse(r#"{"action":6,"x":1.5,"y":2}"#),
            Err(ReplyError::Place)
        );
        assert!(
            AgentReply::parse("loading...")
                .unwrap_err()
                .to_string()
                .contains("`loading...`, which is not a reply")
        );
    }

    #[test]
    fn what_the_agent_adds_is_kept() {
        let (_, details) = AgentReply::parse(
            r#"{"action":1,"reasoning":{"why":"probe"},"usage":{"tokens":5},"cost_usd":0.25}"#,
        )
        .unwrap();
        assert_eq!(details.reasoning, Some(serde_json::json!({"why": "probe"})));
        assert_eq!(details.cost_usd, Some(0.25));
    }
}
