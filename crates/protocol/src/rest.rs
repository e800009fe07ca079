//! REST bodies about environments and commands, in the official shape.
//!
//! A frame has 4,096 cells, and serialising it dominates the cost of a response. The cells are
//! therefore not formatted one by one: a precomputed table holds the JSON text of every pair of
//! colours.

use rhae_engine::{Action, ActionKind, ActionSet, Frame, GameInfo, PlayState, SIZE};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::current_level;

/// An environment in the list of environments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct GameListing {
    /// Id of the environment with its version.
    pub game_id: String,
    /// Public title.
    pub title: String,
    /// Tags for filtering lists.
    pub tags: Vec<String>,
    /// Baseline of each level.
    pub baseline_actions: Vec<u32>,
    /// Source of each baseline.
    pub baseline_source: Vec<String>,
    /// Speed of animations in frames per second.
    pub default_fps: u8,
    /// Name of the class in the Python source, if the environment has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_name: Option<String>,
    /// SHA-256 digest of the source of a hosted game, as it is played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_digest: Option<String>,
    /// Present and true if the source on disk has changed since the server read it. The server plays
    /// the source that it read until it is restarted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_changed: Option<bool>,
}

impl From<&GameInfo> for GameListing {
    fn from(info: &GameInfo) -> Self {
        Self {
            game_id: info.id.to_string(),
            title: info.title.clone(),
            tags: info.tags.clone(),
            baseline_actions: info
                .baselines
                .iter()
                .map(|baseline| baseline.actions)
                .collect(),
            baseline_source: info
                .baselines
                .iter()
                .map(|baseline| baseline.source.to_string())
                .collect(),
            default_fps: info.frames_per_second,
            class_name: info.class_name.clone(),
            source_digest: info.source_digest.clone(),
            source_changed: None,
        }
    }
}

/// The schema of the response to a command. [`FrameResponse`] writes the response itself.
#[derive(ToSchema)]
#[schema(description = "The response to a command: the observation and the state of the play.")]
pub struct FrameBody {
    /// Id of the environment as the client named it.
    pub game_id: String,
    /// Id of the play.
    pub guid: String,
    /// `NOT_FINISHED`, `WIN` or `GAME_OVER`.
    pub state: String,
    /// Number of completed levels.
    pub levels_completed: u8,
    /// Number of levels of the environment.
    pub win_levels: u8,
    /// Number of the current level, from 1.
    pub level: u8,
    /// Whether the command restarted the game at its first level.
    pub full_reset: bool,
    /// Ids of the actions that the environment offers.
    pub available_actions: Vec<u8>,
    /// The command to which this is the response.
    pub action_input: ActionBody,
    /// Frames in order, the settled one last: `frame[t][y][x]` with cells from 0 to 15.
    pub frame: Vec<Vec<Vec<i8>>>,
}

/// A command, repeated in its response.
#[derive(ToSchema)]
pub struct ActionBody {
    /// 0 for RESET, 1 to 7 for the actions.
    pub id: u8,
    /// Id of the environment and, for a click, its column `x` and row `y`.
    pub data: Value,
    /// Reasoning that the agent sent with the command.
    pub reasoning: Option<Value>,
}

/// The response to a command.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, ActionSet, Frame, PlayState};
/// use rhae_protocol::FrameResponse;
///
/// let response = FrameResponse {
///     game_id: "ab12-v1",
///     guid: "9f0c",
///     frames: &[Frame::filled(5)],
///     state: PlayState::NotFinished,
///     levels_completed: 0,
///     win_levels: 8,
///     full_reset: false,
///     available: ActionSet::ARROWS,
///     action: Some(Action::Action6 { x: 3, y: 9 }),
///     reasoning: None,
/// };
/// let json: serde_json::Value = serde_json::from_slice(&response.to_json())?;
/// assert_eq!(json["action_input"]["data"]["x"], 3);
/// assert_eq!(json["available_actions"], serde_json::json!([1, 2, 3, 4]));
/// assert_eq!(json["frame"][0][63][63], 5);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FrameResponse<'a> {
    /// The id of the environment as the client named it.
    pub game_id: &'a str,
    /// The id of the play.
    pub guid: &'a str,
    /// One frame or an animation, the settled frame last.
    pub frames: &'a [Frame],
    /// The state of the play after the command.
    pub state: PlayState,
    pub levels_completed: u8,
    /// The number of levels of the environment.
    pub win_levels: u8,
    /// Whether the command restarted the game at its first level.
    pub full_reset: bool,
    /// The actions that the environment offers.
    pub available: ActionSet,
    /// The command; `None` for the RESET that opened the play.
    pub action: Option<Action>,
    /// The reasoning that the agent sent with the command.
    pub reasoning: Option<&'a Value>,
}

impl FrameResponse<'_> {
    /// Serialises the response as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        #[derive(Serialize)]
        struct Input<'a> {
            id: u8,
            data: Value,
            reasoning: Option<&'a Value>,
        }
        /// All fields except the frames.
        #[derive(Serialize)]
        struct Head<'a> {
            game_id: &'a str,
            guid: &'a str,
            state: &'static str,
            levels_completed: u8,
            win_levels: u8,
            level: u8,
            full_reset: bool,
            available_actions: Vec<u8>,
            action_input: Input<'a>,
        }
        let data = match self.action {
            None => serde_json::json!({}),
            Some(Action::Action6 { x, y }) => {
                serde_json::json!({"game_id": self.game_id, "x": x, "y": y})
            }
            Some(_) => serde_json::json!({"game_id": self.game_id}),
        };
        let head = Head {
            game_id: self.game_id,
            guid: self.guid,
            state: self.state.name(),
            levels_completed: self.levels_completed,
            win_levels: self.win_levels,
            level: current_level(self.levels_completed, self.win_levels),
            full_reset: self.full_reset,
            available_actions: self.available.iter().map(ActionKind::id).collect(),
            action_input: Input {
                id: self.action.map_or(0, |action| action.kind().id()),
                data,
                reasoning: self.reasoning,
            },
        };
        let mut json = Vec::with_capacity(1024 + self.frames.len() * 12 * 1024);
        serde_json::to_writer(&mut json, &head).expect("plain fields can be written to memory");
        json.pop();
        json.extend_from_slice(b",\"frame\":");
        write_frames(&mut json, self.frames);
        json.push(b'}');
        json
    }
}

/// Writes frames as nested lists.
pub(crate) fn write_frames(json: &mut Vec<u8>, frames: &[Frame]) {
    json.push(b'[');
    for (index, frame) in frames.iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        write_frame(json, frame);
    }
    json.push(b']');
}

/// The JSON text of two cells, each followed by a comma. The last byte holds the length.
type Pair = [u8; 8];

/// The text of every pair of colours. The upper four bits of the index are the first cell, the
/// lower four bits the second.
const PAIRS: [Pair; 256] = {
    let mut pairs = [[0; 8]; 256];
    let mut index = 0;
    while index < 256 {
        let mut length = 0;
        let cells = [index / 16, index % 16];
        let mut which = 0;
        while which < 2 {
            if cells[which] >= 10 {
                pairs[index][length] = b'1';
                length += 1;
            }
            pairs[index][length] = b'0' + (cells[which] % 10) as u8;
            pairs[index][length + 1] = b',';
            length += 2;
            which += 1;
        }
        pairs[index][7] = length as u8;
        index += 1;
    }
    pairs
};

fn write_frame(json: &mut Vec<u8>, frame: &Frame) {
    // A loop without branches, which the compiler vectorises.
    if frame.cells().iter().fold(0, |all, cell| all | cell) > 15 {
        // Hosted games may show cells that are not colours. They are written as signed bytes, as in
        // the official engine.
        let rows: Vec<Vec<i8>> = frame
            .rows()
            .map(|row| row.iter().map(|cell| cell.cast_signed()).collect())
            .collect();
        serde_json::to_writer(json, &rows).expect("numbers can be written to memory");
        return;
    }
    let mut line = [0; 1 + 3 * SIZE + size_of::<Pair>()];
    line[0] = b'[';
    json.push(b'[');
    for row in frame.rows() {
        let mut end = 1;
        for cells in row.chunks_exact(2) {
            let pair = PAIRS[usize::from(cells[0] << 4 | cells[1])];
            line[end..end + pair.len()].copy_from_slice(&pair);
            end += usize::from(pair[7]);
        }
        line[end - 1] = b']';
        json.extend_from_slice(&line[..end]);
        json.push(b',');
    }
    json.pop();
    json.push(b']');
}

#[cfg(test)]
mod tests {
    use rhae_engine::CELLS;

    use super::*;
    use crate::frames_to_wire;

    fn response(frames: &[Frame], action: Option<Action>) -> Value {
        let response = FrameResponse {
            game_id: "ab12",
            guid: "9f0c",
            frames,
            state: PlayState::NotFinished,
            levels_completed: 2,
            win_levels: 8,
            full_reset: false,
            available: ActionSet::ARROWS,
            action,
            reasoning: Some(&Value::from("why \"not\"")),
        };
        serde_json::from_slice(&response.to_json()).unwrap()
    }

    #[test]
    fn every_pair_of_cells_is_serialised_as_numbers() {
        let mut cells = [0; CELLS];
        for (index, cell) in cells.iter_mut().enumerate() {
            let pair = index / 2 % 256;
            *cell = (if index % 2 == 0 { pair / 16 } else { pair % 16 }) as u8;
        }
        let mut odd = Frame::filled(15);
        odd.set(5, 6, 16);
        odd.set(6, 6, 255);
        let frames = [
            Frame::from_cells(cells),
            Frame::filled(15),
            odd,
            Frame::filled(0),
        ];
        assert_eq!(
            response(&frames, None)["frame"],
            serde_json::to_value(frames_to_wire(&frames)).unwrap()
        );
    }

    #[test]
    fn response_has_exactly_the_fields_of_its_schema() {
        use utoipa::PartialSchema;
        let described = |schema| {
            serde_json::to_value(schema).unwrap()["properties"]
                .as_object()
                .unwrap()
                .len()
        };
        let response = response(&[Frame::filled(1)], None);
        let schema = serde_json::to_value(FrameBody::schema()).unwrap();
        assert_eq!(
            described(FrameBody::schema()),
            response.as_object().unwrap().len()
        );
        assert!(
            response
                .as_object()
                .unwrap()
                .keys()
                .all(|field| schema["properties"].get(field).is_some()),
            "{schema}"
        );
        assert_eq!(
            described(ActionBody::schema()),
            response["action_input"].as_object().unwrap().len()
        );
    }

    #[test]
    fn response_has_the_fields_that_the_official_client_reads() {
        let click = response(&[Frame::filled(1)], Some(Action::Action6 { x: 3, y: 9 }));
        assert_eq!(
            click["action_input"],
            serde_json::json!({"id": 6, "data": {"game_id": "ab12", "x": 3, "y": 9}, "reasoning": "why \"not\""})
        );
        assert_eq!(
            (&click["state"], &click["guid"], &click["level"]),
            (&"NOT_FINISHED".into(), &"9f0c".into(), &3.into())
        );
        assert_eq!(click["available_actions"], serde_json::json!([1, 2, 3, 4]));
        assert_eq!(
            response(&[Frame::filled(1)], None)["action_input"]["data"],
            serde_json::json!({})
        );
    }
}
