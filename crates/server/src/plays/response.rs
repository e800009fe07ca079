//! The responses to commands: the official JSON, and the compact form for web pages.

use rhae_engine::{Action, Frame};
use rhae_protocol::{CompactResponse, FrameResponse, ObservationView};
use rhae_session::PlayStep;

use super::command::{Command, ResponseForm};

/// Serialises a response; `action` is `None` for the RESET that opened the play.
pub(super) fn frame_response(
    answer: &PlayStep<'_>,
    command: &Command,
    guid: &str,
    action: Option<Action>,
) -> Vec<u8> {
    if command.form != ResponseForm::Official {
        let guid = match command.form {
            ResponseForm::Anonymous => "",
            ResponseForm::Official | ResponseForm::Compact => guid,
        };
        let answer = compact_response(answer, answer.frames, guid, action.unwrap_or(Action::Reset));
        return serde_json::to_vec(&answer).expect("a struct of plain fields serialises to JSON");
    }
    let body = FrameResponse {
        game_id: &command.game_id,
        guid,
        frames: answer.frames,
        state: answer.outcome.state,
        levels_completed: answer.outcome.levels_completed,
        win_levels: answer.observation.win_levels,
        full_reset: answer.outcome.full_reset,
        available: answer.observation.available,
        action,
        reasoning: command.reasoning.as_ref(),
    };
    body.to_json()
}

/// Builds the response for a web page, with the frames in packed form.
pub(super) fn compact_response(
    answer: &PlayStep<'_>,
    frames: &[Frame],
    guid: &str,
    action: Action,
) -> CompactResponse {
    let shown = ObservationView {
        action,
        frames,
        state: answer.outcome.state,
        levels_completed: answer.outcome.levels_completed,
        changed: answer.outcome.changed,
        counted: answer.outcome.counted,
        full_reset: answer.outcome.full_reset,
    };
    CompactResponse::new(
        guid,
        shown,
        answer.observation.win_levels,
        answer.observation.available,
    )
}
