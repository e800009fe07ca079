//! Parsing of untrusted responses.
//!
//! Frames are parsed cell by cell into their final place, so a list that is too long or too deep is
//! rejected at the first excess element.

use std::cmp::Reverse;
use std::fmt;

use rhae_engine::{
    ActionKind, ActionSet, Baseline, BaselineSource, Frame, GameId, GameInfo, PlayState, SIZE,
};
use serde::de::{DeserializeSeed, Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::transport::sanitize;

const MAX_GAMES: usize = 10_000;
const MAX_LEVELS: usize = 254;
/// The official engine produces at most this many frames per action.
const MAX_FRAMES: usize = 1001;

/// The response to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FrameResponse {
    pub(crate) guid: String,
    pub(crate) frames: Vec<Frame>,
    pub(crate) state: PlayState,
    pub(crate) levels_completed: u8,
    pub(crate) win_levels: u8,
    pub(crate) available: ActionSet,
    pub(crate) full_reset: bool,
}

impl FrameResponse {
    /// Parses a response. The error is a description of the fault.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Wire {
            guid: String,
            frame: Frames,
            state: String,
            levels_completed: u8,
            win_levels: u8,
            available_actions: Vec<u8>,
            #[serde(default)]
            full_reset: Option<bool>,
        }
        let wire: Wire =
            serde_json::from_slice(bytes).map_err(|error| sanitize(&error.to_string()))?;
        let state = PlayState::from_name(&wire.state).ok_or_else(|| {
            format!(
                "its `state` is `{}`, expected NOT_FINISHED, WIN or GAME_OVER",
                sanitize(&wire.state)
            )
        })?;
        if wire.guid.is_empty() || wire.guid.len() > 100 {
            return Err("its `guid` is empty or too long".to_owned());
        }
        if usize::from(wire.win_levels) > MAX_LEVELS || wire.levels_completed > wire.win_levels {
            return Err(format!(
                "its `levels_completed` is {} and its `win_levels` {}, which is impossible",
                wire.levels_completed, wire.win_levels
            ));
        }
        let kind = |id: u8| {
            ActionKind::from_id(id).ok_or_else(|| format!("its `available_actions` contain {id}"))
        };
        let available = wire
            .available_actions
            .into_iter()
            .map(kind)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            guid: wire.guid,
            frames: wire.frame.0,
            state,
            levels_completed: wire.levels_completed,
            win_levels: wire.win_levels,
            // RESET is always available and not part of the set.
            available: available
                .into_iter()
                .filter(|&kind| kind != ActionKind::Reset)
                .collect(),
            full_reset: wire.full_reset.unwrap_or(false),
        })
    }
}

/// Parses a list of environments. Also returns the number of skipped entries: those with ids that
/// are not of the form `ab12-v1`, and duplicates.
pub(crate) fn parse_games(bytes: &[u8]) -> Result<(Vec<GameInfo>, usize), String> {
    let entries: Vec<Value> =
        serde_json::from_slice(bytes).map_err(|error| sanitize(&error.to_string()))?;
    if entries.len() > MAX_GAMES {
        return Err(format!(
            "it lists {} environments, more than {MAX_GAMES}",
            entries.len()
        ));
    }
    let mut games: Vec<GameInfo> = Vec::new();
    for entry in &entries {
        if let Some(info) = parse_game(entry)?
            && !games.iter().any(|other| other.id == info.id)
        {
            games.push(info);
        }
    }
    let skipped_games = entries.len() - games.len();
    Ok((games, skipped_games))
}

fn parse_game(entry: &Value) -> Result<Option<GameInfo>, String> {
    let Some(id) = entry["game_id"]
        .as_str()
        .and_then(|id| id.parse::<GameId>().ok())
    else {
        return Ok(None);
    };
    let invalid = |field: &str| format!("the `{field}` of `{id}` cannot be read");
    let list = |field: &str| match &entry[field] {
        Value::Null => Ok(&[][..]),
        Value::Array(list) if list.len() <= MAX_LEVELS => Ok(list.as_slice()),
        _ => Err(invalid(field)),
    };
    let sources = list("baseline_source")?;
    let baseline = |(index, value): (usize, &Value)| {
        let actions = value
            .as_u64()
            .and_then(|count| u32::try_from(count).ok())
            .ok_or_else(|| invalid("baseline_actions"))?;
        // The API's documentation describes baselines as those of humans, so that is the default.
        let named = sources.get(index).and_then(Value::as_str);
        let source = named.and_then(BaselineSource::parse);
        let source = source.unwrap_or(BaselineSource::Humans);
        Ok(Baseline { actions, source })
    };
    Ok(Some(GameInfo {
        title: entry["title"]
            .as_str()
            .map_or_else(|| id.base().to_owned(), sanitize),
        baselines: list("baseline_actions")?
            .iter()
            .enumerate()
            .map(baseline)
            .collect::<Result<_, String>>()?,
        // The available actions become known when a play is opened.
        actions: ActionSet::EMPTY,
        tags: list("tags")?
            .iter()
            .filter_map(Value::as_str)
            .map(sanitize)
            .collect(),
        frames_per_second: entry["default_fps"]
            .as_u64()
            .and_then(|fps| u8::try_from(fps).ok())
            .unwrap_or(10)
            .max(1),
        seeded: false,
        // The game runs on the server, so the class that implements it is irrelevant here.
        class_name: None,
        levels: None,
        source_digest: None,
        id,
    }))
}

/// Finds an environment by its full id. For an id without a version, returns the version that is
/// listed last.
pub(crate) fn find<'a>(games: &'a [GameInfo], name: &str) -> Option<&'a GameInfo> {
    let name = name.to_ascii_lowercase();
    games
        .iter()
        .find(|info| info.id.as_str() == name)
        .or_else(|| games.iter().rfind(|info| info.id.base() == name))
}

/// Returns the id that shares the longest prefix with `name`, if this prefix has at least two
/// characters.
pub(crate) fn nearest(games: &[GameInfo], name: &str) -> Option<String> {
    let common = |info: &&GameInfo| {
        info.id
            .as_str()
            .bytes()
            .zip(name.bytes())
            .take_while(|(a, b)| a == b)
            .count()
    };
    games
        .iter()
        .min_by_key(|info| Reverse(common(info)))
        .filter(|info| common(info) >= 2)
        .map(|info| info.id.to_string())
}

/// 1 to 1,001 frames of 64 rows of 64 cells. A cell is a signed byte, as in the official engine:
/// games may show values that are not colours.
struct Frames(Vec<Frame>);

impl<'de> Deserialize<'de> for Frames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FramesVisitor)
    }
}

struct FramesVisitor;

impl<'de> Visitor<'de> for FramesVisitor {
    type Value = Frames;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of frames")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Frames, A::Error> {
        let mut frames = Vec::new();
        loop {
            let mut frame = Frame::filled(0);
            let number = frames.len() + 1;
            if number > MAX_FRAMES {
                return match list.next_element::<IgnoredAny>()? {
                    Some(_) => Err(Error::custom(format!(
                        "there are more than {MAX_FRAMES} frames"
                    ))),
                    None => Ok(Frames(frames)),
                };
            }
            if list
                .next_element_seed(Rows {
                    frame: &mut frame,
                    number,
                })?
                .is_none()
            {
                break;
            }
            frames.push(frame);
        }
        if frames.is_empty() {
            Err(Error::custom("there is no frame"))
        } else {
            Ok(Frames(frames))
        }
    }
}

/// Parses rows into `frame`.
struct Rows<'a> {
    frame: &'a mut Frame,
    number: usize,
}

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of 64 rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { frame, number } = self;
        let mut rows = frame.cells_mut().chunks_exact_mut(SIZE).enumerate();
        for (index, row) in rows.by_ref() {
            if list
                .next_element_seed(Cells {
                    row,
                    position: (number, index + 1),
                })?
                .is_none()
            {
                return Err(Error::custom(format!(
                    "frame {number} has {index} rows, expected 64"
                )));
            }
        }
        match list.next_element::<IgnoredAny>()? {
            Some(_) => Err(Error::custom(format!(
                "frame {number} has more than 64 rows"
            ))),
            None => Ok(()),
        }
    }
}

/// Parses cells into `row`.
struct Cells<'a> {
    row: &'a mut [u8],
    /// The numbers of the frame and the row, starting with 1.
    position: (usize, usize),
}

impl<'de> DeserializeSeed<'de> for Cells<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of 64 cells")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let (frame, row) = self.position;
        for (index, cell) in self.row.iter_mut().enumerate() {
            *cell = match list.next_element::<i64>()? {
                Some(color) => i8::try_from(color).map(i8::cast_unsigned).map_err(|_| {
                    Error::custom(format!(
                        "row {row} of frame {frame} has a cell of {color}, expected -128 to 127"
                    ))
                })?,
                None => {
                    return Err(Error::custom(format!(
                        "row {row} of frame {frame} has {index} cells, expected 64"
                    )));
                }
            };
        }
        match list.next_element::<IgnoredAny>()? {
            Some(_) => Err(Error::custom(format!(
                "row {row} of frame {frame} has more than 64 cells"
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
