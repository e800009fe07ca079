//! One play over standard input and output, in the protocol of `rhae run --agent-cmd`.

use std::io::{self, BufRead, Write};

use rhae_agents::{Agent, AgentError, View};
use rhae_engine::{Action, ActionKind, ActionSet, PlayState};
use rhae_protocol::{AgentMessage, AgentReply, FrameShapeError, frames_from_wire};
use serde_json::Value;

/// The reason why a play cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot read or write a message: {0}")]
    Io(#[from] io::Error),
    #[error("a line is not a message of the agent protocol: {0}")]
    Json(#[from] serde_json::Error),
    #[error(
        "the protocol has version {found}, expected {}",
        AgentMessage::PROTOCOL
    )]
    Version { found: u32 },
    #[error("an observation came before `hello`")]
    NoHello,
    #[error("an observation has no frame")]
    NoFrame,
    #[error(transparent)]
    Frame(#[from] FrameShapeError),
    #[error("`{0}` is not a state: expected `NOT_FINISHED`, `WIN` or `GAME_OVER`")]
    State(String),
    #[error(transparent)]
    Agent(#[from] AgentError),
}

/// Plays until the input ends or says that the play has ended. `build` creates the agent from the
/// seed of the `hello` message.
///
/// # Errors
///
/// Returns a [`ServeError`] if the input is not a play, or if the agent returns no action. The
/// protocol has no message for that, so the process ends.
pub fn serve(
    input: impl BufRead,
    mut output: impl Write,
    build: impl FnOnce(u64) -> Box<dyn Agent>,
) -> Result<(), ServeError> {
    let (mut build, mut agent) = (Some(build), None);
    for line in input.lines() {
        match serde_json::from_str(&line?)? {
            AgentMessage::Hello { protocol, seed } => {
                if protocol != AgentMessage::PROTOCOL {
                    return Err(ServeError::Version { found: protocol });
                }
                agent = agent.or_else(|| build.take().map(|build| build(seed)));
            }
            AgentMessage::Observation {
                frame,
                state,
                levels_completed,
                win_levels,
                available_actions,
                full_reset,
            } => {
                let agent = agent.as_mut().ok_or(ServeError::NoHello)?;
                let frames = frames_from_wire(&frame)?;
                if frames.is_empty() {
                    return Err(ServeError::NoFrame);
                }
                let view = View {
                    frames: &frames,
                    state: PlayState::from_name(&state).ok_or(ServeError::State(state))?,
                    levels_completed,
                    win_levels,
                    available: offered(&available_actions),
                    full_reset,
                };
                let action = agent.act(&view)?.action;
                let mut reply = serde_json::to_vec(&reply(action))?;
                reply.push(b'\n');
                output.write_all(&reply)?;
                output.flush()?;
            }
            AgentMessage::End { .. } => break,
        }
    }
    Ok(())
}

/// Returns the set of the actions with these ids. An unknown id is ignored, because the agent could
/// not use it.
fn offered(ids: &[u8]) -> ActionSet {
    ids.iter()
        .filter_map(|&id| ActionKind::from_id(id))
        .collect()
}

fn reply(action: Action) -> AgentReply {
    let (x, y) = match action {
        Action::Action6 { x, y } => (Some(Value::from(x)), Some(Value::from(y))),
        _ => (None, None),
    };
    AgentReply {
        action: Value::from(action.kind().name()),
        x,
        y,
        ..AgentReply::default()
    }
}

#[cfg(test)]
mod tests {
    use rhae_agents::Decision;
    use rhae_engine::Frame;

    use super::*;

    /// Clicks at the seed, and stops at a lost level.
    struct Clicker(u8);

    impl Agent for Clicker {
        fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
            if view.state == PlayState::GameOver {
                return Err(AgentError::Stuck("lost".to_owned()));
            }
            assert!(view.available.contains(ActionKind::Action6));
            let (x, y) = (self.0, view.settled().get(0, 0));
            Ok(Action::Action6 { x, y }.into())
        }
    }

    fn play(lines: &[String]) -> (Result<(), ServeError>, String) {
        let mut output = Vec::new();
        let input = lines.join("\n");
        let result = serve(input.as_bytes(), &mut output, |seed| {
            Box::new(Clicker(seed as u8))
        });
        (result, String::from_utf8(output).unwrap())
    }

    fn hello() -> String {
        r#"{"type":"hello","protocol":1,"seed":7}"#.to_owned()
    }

    fn observation(state: PlayState) -> String {
        let message = AgentMessage::observation(
            &[Frame::filled(3)],
            state,
            (0, 2),
            ActionSet::of(&[ActionKind::Action6]),
            true,
        );
        serde_json::to_string(&message).unwrap()
    }

    #[test]
    fn each_observation_gets_one_reply_until_the_end() {
        let seen = observation(PlayState::NotFinished);
        let end = r#"{"type":"end","reason":"budget"}"#.to_owned();
        let (result, output) = play(&[hello(), seen.clone(), seen.clone(), end, seen]);
        assert!(result.is_ok(), "{result:?}");
        let line = "{\"action\":\"ACTION6\",\"x\":7,\"y\":3}\n";
        assert_eq!(output, line.repeat(2));
        let (action, _) = AgentReply::parse(line).unwrap();
        assert_eq!(action, Action::Action6 { x: 7, y: 3 });
    }

    #[test]
    fn agent_without_an_action_ends_the_play_with_its_reason() {
        let (result, output) = play(&[hello(), observation(PlayState::GameOver)]);
        assert_eq!(result.unwrap_err().to_string(), "lost");
        assert_eq!(output, "");
    }

    #[test]
    fn other_input_is_rejected() {
        let seen = observation(PlayState::NotFinished);
        let reason = |lines: &[String]| play(lines).0.unwrap_err().to_string();
        assert_eq!(
            reason(&[seen.clone()]),
            "an observation came before `hello`"
        );
        let version = hello().replace("\"protocol\":1", "\"protocol\":9");
        assert_eq!(reason(&[version]), "the protocol has version 9, expected 1");
        let state = seen.replace("NOT_FINISHED", "LOST");
        assert!(reason(&[hello(), state]).starts_with("`LOST` is not a state"));
        assert!(reason(&["{}".to_owned()]).starts_with("a line is not a message"));
    }
}
