//! Reading and writing the recordings of the official tools: one observation with all its frames
//! per line.
//!
//! The toolkit writes the names of actions, and the agents repository writes their numbers.
//! Otherwise the two formats are the same. Lines without an observation (token counts, and the
//! scorecard at the end of the agents repository's files) are skipped.

use rhae_engine::{Action, ActionKind, ActionSet, Frame, GameId, PlayState};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Details, Entry, Format, Header, Recording, RecordingError, ResetRule, json_reason,
    unknown_state,
};
use crate::action::{InvalidAction, action_from};
use crate::rest::write_frames;
use crate::{WireFrames, frames_from_wire, rfc3339_utc};

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    data: Value,
}

#[derive(Deserialize)]
struct Observation {
    game_id: String,
    state: String,
    #[serde(alias = "score")]
    levels_completed: u8,
    #[serde(default, alias = "win_score")]
    win_levels: u8,
    #[serde(default)]
    available_actions: Vec<u8>,
    action_input: ActionInput,
    #[serde(default)]
    guid: Option<String>,
    #[serde(default)]
    full_reset: bool,
    #[serde(default)]
    frame: WireFrames,
}

#[derive(Deserialize)]
struct ActionInput {
    id: Value,
    #[serde(default)]
    data: Value,
    #[serde(default)]
    reasoning: Option<Value>,
}

pub(super) fn parse(lines: &[(usize, &str)]) -> Result<Recording, RecordingError> {
    let mut recording: Option<Recording> = None;
    for &(number, line) in lines {
        let error = |reason: String| RecordingError::line(number, reason);
        let line: Line = serde_json::from_str(line).map_err(|found| error(json_reason(&found)))?;
        if line.data.get("action_input").is_none() {
            continue;
        }
        let seen: Observation =
            serde_json::from_value(line.data).map_err(|found| error(json_reason(&found)))?;
        let game_id: GameId = seen
            .game_id
            .parse()
            .map_err(|found: rhae_engine::GameIdError| error(found.to_string()))?;
        let format = if seen.action_input.id.is_string() {
            Format::Toolkit
        } else {
            Format::Agents
        };
        let recording = recording.get_or_insert_with(|| Recording {
            format,
            header: Header {
                game_id: game_id.clone(),
                seed: 0,
                agent: "unknown".to_owned(),
                agent_seed: None,
                software: format!("unknown ({} format)", format.name()),
                guid: seen.guid.clone(),
                win_levels: seen.win_levels,
                resets: ResetRule::Official,
                available: seen
                    .available_actions
                    .iter()
                    .copied()
                    .filter_map(ActionKind::from_id)
                    .collect(),
                source_digest: None,
            },
            entries: Vec::new(),
            ending: None,
            message: None,
        });
        if game_id != recording.header.game_id {
            return Err(error(format!(
                "the environment changes from `{}` to `{game_id}`",
                recording.header.game_id
            )));
        }
        if let Some(entry) = parse_entry(seen, recording.entries.last()).map_err(error)? {
            recording.entries.push(entry);
        }
    }
    let recording = recording.ok_or(RecordingError::Unknown)?;
    if recording.entries.is_empty() {
        Err(RecordingError::Unknown)
    } else {
        Ok(recording)
    }
}

/// Converts an observation to an entry; `None` for a command after the end of the game, which the
/// official tools record without frames.
fn parse_entry(seen: Observation, before: Option<&Entry>) -> Result<Option<Entry>, String> {
    if seen.frame.is_empty() {
        let ended = before.is_some_and(|before| before.state != PlayState::NotFinished);
        return if ended {
            Ok(None)
        } else {
            Err("the observation has no frames, so it cannot be compared with a replay".to_owned())
        };
    }
    let action = parse_action(&seen.action_input)?;
    let frames = frames_from_wire(&seen.frame).map_err(|error| error.to_string())?;
    let state = match seen.state.as_str() {
        "NOT_PLAYED" | "NOT_STARTED" => PlayState::NotFinished,
        name => PlayState::from_name(name).ok_or_else(|| unknown_state(name))?,
    };
    // The agents repository omits the flag, but the opening RESET of a recording always starts the
    // game from its first level.
    let full_reset = seen.full_reset || (before.is_none() && action == Action::Reset);
    Ok(Some(Entry {
        action,
        hash: Frame::hash_all(&frames),
        frames: Some(frames),
        state,
        levels_completed: seen.levels_completed,
        full_reset,
        counted: !full_reset,
        changed: None,
        details: Details {
            reasoning: seen.action_input.reasoning,
            ..Details::default()
        },
    }))
}

fn parse_action(input: &ActionInput) -> Result<Action, String> {
    let coordinate = |name: &str| input.data.get(name).and_then(Value::as_i64);
    action_from(&input.id, coordinate("x"), coordinate("y")).map_err(|invalid| match invalid {
        InvalidAction::Kind => format!("`{}` is not an action", input.id),
        InvalidAction::Coordinates => "ACTION6 needs `x` and `y` from 0 to 63".to_owned(),
    })
}

/// One line of a recording in the format of the official toolkit.
#[derive(Clone, Copy, Debug)]
pub struct ToolkitLine<'a> {
    pub game_id: &'a GameId,
    /// The id of the play.
    pub guid: Option<&'a str>,
    /// The number of levels of the environment.
    pub win_levels: u8,
    /// The actions that the environment offers.
    pub available: ActionSet,
    /// The observation. Its own frames are ignored in favour of `frames`.
    pub entry: &'a Entry,
    pub frames: &'a [Frame],
    /// The Unix time of the observation in milliseconds.
    pub at_ms: u64,
}

impl ToolkitLine<'_> {
    /// Returns whether the official formats can represent an entry. They cannot represent a command
    /// that had no effect because of the reset rule or because the play had ended.
    pub const fn is_representable(entry: &Entry) -> bool {
        entry.counted || entry.full_reset
    }

    /// Serialises the line, including the line break.
    pub fn to_json(&self) -> Vec<u8> {
        self.write(Format::Toolkit)
    }

    fn write(&self, format: Format) -> Vec<u8> {
        let entry = self.entry;
        let kind = entry.action.kind();
        let id = if format == Format::Toolkit {
            json!(kind.name())
        } else {
            json!(kind.id())
        };
        let data = match entry.action {
            Action::Action6 { x, y } => json!({ "x": x, "y": y }),
            _ => json!({}),
        };
        let available: Vec<u8> = self.available.iter().map(ActionKind::id).collect();
        let observation = json!({
            "game_id": self.game_id.as_str(),
            "state": entry.state.name(),
            "levels_completed": entry.levels_completed,
            "win_levels": self.win_levels,
            "action_input": { "id": id, "data": data, "reasoning": entry.details.reasoning },
            "guid": self.guid,
            "full_reset": entry.full_reset,
            "available_actions": available,
        });
        let mut line = json!({ "timestamp": timestamp(self.at_ms), "data": observation })
            .to_string()
            .into_bytes();
        // Remove the closing braces of both objects, so that the frames can be appended as the last
        // field of the inner object.
        line.truncate(line.len() - 2);
        line.extend_from_slice(b",\"frame\":");
        write_frames(&mut line, self.frames);
        line.extend_from_slice(b"}}\n");
        line
    }
}

pub(super) fn to_text(recording: &Recording, format: Format) -> Result<String, RecordingError> {
    let mut text = String::new();
    let header = &recording.header;
    for (index, entry) in recording
        .entries
        .iter()
        .enumerate()
        .filter(|(_, entry)| ToolkitLine::is_representable(entry))
    {
        let frames = entry.frames.as_ref().ok_or(RecordingError::NoFrames {
            format: format.name(),
            entry: index + 1,
        })?;
        let line = ToolkitLine {
            game_id: &header.game_id,
            guid: header.guid.as_deref(),
            win_levels: header.win_levels,
            available: header.available,
            entry,
            frames,
            at_ms: entry.details.t_ms.unwrap_or(0),
        };
        text.push_str(&String::from_utf8_lossy(&line.write(format)));
    }
    Ok(text)
}

/// Formats a time as the official tools do, with microseconds and an offset.
fn timestamp(unix_ms: u64) -> String {
    rfc3339_utc(unix_ms).replace('Z', "000+00:00")
}
