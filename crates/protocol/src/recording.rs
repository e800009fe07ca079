//! Recordings of plays: our own action log, and the two formats of the official tools.
//!
//! Our own format is one JSON object a line. The header comes first; then one line for each observation, the opening RESET
//! included, with the command and the hash of the frames it gave, but no frames: a replay gives those back, and the
//! hash proves that it did. A closing line says why the play ended; a file without it was cut off.

mod foreign;
mod own;

use rhae_engine::{Action, ActionSet, Frame, GameId, PlayState};
use serde_json::Value;
use serde_json::error::Category;

pub use foreign::ToolkitLine;
pub use own::{FORMAT, FORMAT_VERSION, RecordingWriter};

/// Which format a recording has or is to be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our own action log.
    Rhae,
    /// The official toolkit's: action names, full frames.
    Toolkit,
    /// The agents repository's: action numbers, full frames.
    Agents,
}

impl Format {
    /// The name in flags and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rhae => "rhae",
            Self::Toolkit => "toolkit",
            Self::Agents => "agents",
        }
    }
}

/// A recorded play in memory, whatever format it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The format it was read from.
    pub format: Format,
    /// What was played, by whom.
    pub header: Header,
    /// One entry for each observation, the opening RESET first.
    pub entries: Vec<Entry>,
    /// Why it ended; `None` if the recording was cut off or its format does not say.
    pub ending: Option<Ending>,
}

/// What was played, by whom, with which software.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The environment with its version.
    pub game_id: GameId,
    /// The environment's seed.
    pub seed: u64,
    /// The player's name.
    pub agent: String,
    /// The player's own seed, if it has one.
    pub agent_seed: Option<u64>,
    /// What made the recording.
    pub software: String,
    /// The id of the play.
    pub guid: Option<String>,
    /// What RESET was allowed to do.
    pub resets: ResetRule,
    /// How many levels the environment has.
    pub win_levels: u8,
    /// The actions that it offers.
    pub available: ActionSet,
}

/// What RESET may do in a play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetRule {
    /// As in the official engine: the level; or the whole game after a win, or if nothing was done since the last change.
    #[default]
    Official,
    /// As in competitions: only levels. Where the official rule would start a new game, nothing happens and nothing is counted.
    LevelsOnly,
}

impl ResetRule {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Official => "official",
            Self::LevelsOnly => "levels-only",
        }
    }
}

/// One observation and the command that led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The command.
    pub action: Action,
    /// The fingerprint of the frames that it gave ([`Frame::hash_all`]).
    pub hash: u64,
    /// The frames themselves, where the format carries them.
    pub frames: Option<Vec<Frame>>,
    /// Where the play stood afterwards.
    pub state: PlayState,
    /// Levels completed afterwards.
    pub levels_completed: u8,
    /// Whether the command started the game anew.
    pub full_reset: bool,
    /// Whether it counted as an action.
    pub counted: bool,
    /// Whether it changed the state; `None` where the format does not say.
    pub changed: Option<bool>,
    /// What the player added, outside the hash.
    pub details: Details,
}

/// What a player may say beside an action. None of it influences the play.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Milliseconds since the play began.
    pub t_ms: Option<u64>,
    /// Why the action was taken, in any form.
    pub reasoning: Option<Value>,
    /// What a model consumed, as its provider reported it.
    pub usage: Option<Value>,
    /// What that cost.
    pub cost_usd: Option<f64>,
}

/// Why a play ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All levels were completed.
    Won,
    /// The budget of actions was used up.
    Budget,
    /// The player stopped by its own will.
    Stopped,
    /// The player failed: it crashed, hung or broke the protocol.
    Failed(String),
}

impl Ending {
    /// The name in files.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Budget => "budget",
            Self::Stopped => "stopped",
            Self::Failed(_) => "failed",
        }
    }
}

/// Why a text is not a recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// There is nothing in it.
    #[error("the recording is empty")]
    Empty,
    /// A line cannot be read.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// Our own format, but another version of it.
    #[error(
        "line 1: the recording has format version {found}, and this software reads version {FORMAT_VERSION}"
    )]
    Version {
        /// The version found.
        found: String,
    },
    /// The text is neither our own format nor one of the official tools'.
    #[error(
        "line 1: this is not a recording: expected a header with `\"format\":\"{FORMAT}\"`, or a line with `data.action_input`"
    )]
    Unknown,
    /// What should be written lacks something that the format needs.
    #[error(
        "cannot write the {format} format: entry {entry} has no frames; replay the recording first"
    )]
    NoFrames {
        /// The format asked for.
        format: &'static str,
        /// Which entry, from 1.
        entry: usize,
    },
}

impl RecordingError {
    fn line(line: usize, reason: impl Into<String>) -> Self {
        Self::Line {
            line,
            reason: reason.into(),
        }
    }
}

impl Recording {
    /// Reads a recording in whichever format it is.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let lines: Vec<(usize, &str)> = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim().is_empty())
            .collect();
        let &(number, first) = lines.first().ok_or(RecordingError::Empty)?;
        let first: Value = serde_json::from_str(first)
            .map_err(|error| RecordingError::line(number, json_reason(&error)))?;
        if first.get("format").and_then(Value::as_str) == Some(FORMAT) {
            own::parse(&lines)
        } else if first.get("data").is_some() {
            foreign::parse(&lines)
        } else {
            Err(RecordingError::Unknown)
        }
    }

    /// Writes the recording in a format.
    pub fn to_text(&self, format: Format) -> Result<String, RecordingError> {
        match format {
            Format::Rhae => Ok(own::to_text(self)),
            Format::Toolkit | Format::Agents => foreign::to_text(self, format),
        }
    }
}

/// What serde_json says, without its own line number, which would count within our line.
fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(reason, _)| reason);
    match error.classify() {
        Category::Eof => format!("the line is cut off ({text})"),
        Category::Syntax => format!("not valid JSON: {text}"),
        Category::Data | Category::Io => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
