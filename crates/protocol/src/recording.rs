//! Recordings of plays: the action log of Rhae, and the two formats of the official tools.
//!
//! The action log has one JSON object per line. The first line is the header. Then follows one line
//! for each observation, starting with that of the opening RESET. Such a line holds the command and
//! the hash of the resulting frames. The log contains no frames: a replay reproduces them, and the
//! hashes show whether they are the same. A closing line says why the play ended. A recording
//! without a closing line is incomplete, for example because the run was interrupted.

mod native;
mod official;

use rhae_engine::{Action, ActionSet, Frame, GameId, PlayState};
use serde_json::Value;
use serde_json::error::Category;

use crate::Ending;

pub use native::{FORMAT, FORMAT_VERSION, RecordingWriter};
pub use official::ToolkitLine;

/// The file format of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The action log: commands and hashes, no frames.
    Rhae,
    /// The format of the official toolkit: action names and full frames.
    Toolkit,
    /// The format of the official agents repository: action numbers and full frames.
    Agents,
}

impl Format {
    /// Returns the name that flags and messages use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rhae => "rhae",
            Self::Toolkit => "toolkit",
            Self::Agents => "agents",
        }
    }
}

/// A recorded play in memory, independent of its file format.
///
/// # Examples
///
/// The official formats carry frames. A recording that has them can be written in every format:
///
/// ```
/// use rhae_protocol::{Format, Recording};
///
/// let frame = serde_json::to_string(&vec![vec![vec![5; 64]; 64]])?;
/// let text = format!(
///     r#"{{"timestamp":"2026-11-15T10:00:00.000000+00:00","data":{{"game_id":"ab12-v1",
///     "state":"NOT_FINISHED","levels_completed":0,"win_levels":2,"action_input":{{"id":"RESET",
///     "data":{{}},"reasoning":null}},"guid":"9f0c","full_reset":true,"available_actions":[1,2],
///     "frame":{frame}}}}}"#
/// )
/// .replace('\n', "");
///
/// let recording = Recording::parse(&text)?;
/// assert_eq!(recording.format, Format::Toolkit);
/// assert_eq!(recording.entries[0].frames.as_ref().map(Vec::len), Some(1));
///
/// let log = recording.to_text(Format::Rhae)?;
/// assert_eq!(log.lines().count(), 2);
/// assert_eq!(Recording::parse(&log)?.entries[0].hash, recording.entries[0].hash);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// The format from which the recording was read.
    pub format: Format,
    pub header: Header,
    /// One entry for each observation. The first is the opening RESET, which recordings of the
    /// official agents repository may omit.
    pub entries: Vec<Entry>,
    /// Why the play ended; `None` if the recording is incomplete or its format does not record the
    /// ending.
    pub ending: Option<Ending>,
    /// The error of the agent or of the environment, if the play failed.
    pub message: Option<String>,
}

/// The header of a recording: the environment, the agent and the software.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    pub game_id: GameId,
    /// The seed of the environment.
    pub seed: u64,
    /// The name of the agent, which may be a person.
    pub agent: String,
    /// The seed of the agent, if it has one.
    pub agent_seed: Option<u64>,
    /// The name and version of the software that made the recording.
    pub software: String,
    /// The id of the play.
    pub guid: Option<String>,
    /// The reset rule of the play.
    pub resets: ResetRule,
    /// The number of levels of the environment.
    pub win_levels: u8,
    /// The actions that the environment offers.
    pub available: ActionSet,
    /// The SHA-256 digest of the source of a hosted game, in hexadecimal. A replay requires the same
    /// source. `None` for a native game, and for recordings that do not state it.
    pub source_digest: Option<String>,
}

/// The rule that decides what RESET does in a play.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResetRule {
    /// The rule of the official engine: RESET restarts the level. It restarts the whole game after
    /// a win, or if no action was taken since the last RESET or level change.
    #[default]
    Official,
    /// The rule of competitions: RESET only restarts levels. A RESET that would restart the whole
    /// game under the official rule has no effect and is not counted.
    LevelsOnly,
}

impl ResetRule {
    /// Returns the name that recordings use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Official => "official",
            Self::LevelsOnly => "levels-only",
        }
    }
}

/// One entry of a log: a command and its observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub action: Action,
    /// The hash of the observation's frames ([`Frame::hash_all`]).
    pub hash: u64,
    /// The frames of the observation, if the format contains them.
    pub frames: Option<Vec<Frame>>,
    /// The state of the play after the command.
    pub state: PlayState,
    /// The number of completed levels after the command.
    pub levels_completed: u8,
    /// Whether the command restarted the game at its first level.
    pub full_reset: bool,
    /// Whether the command counted as an action.
    pub counted: bool,
    /// Whether the command changed the state; `None` if the format does not record it.
    pub changed: Option<bool>,
    /// Notes about the action, mostly from the agent. They are not part of the hash.
    pub details: Details,
}

/// Notes about an action, mostly from the agent. They do not influence the play.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Milliseconds since the start of the play, measured by the program that runs the agent.
    pub t_ms: Option<u64>,
    /// The agent's reasoning, as any JSON value.
    pub reasoning: Option<Value>,
    /// The model usage as the agent reported it; see [`ModelUsage`](crate::ModelUsage).
    pub usage: Option<Value>,
    /// The cost of that usage in US dollars.
    pub cost_usd: Option<f64>,
}

/// The reason why a text is not a recording, or why a recording cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The text is empty.
    #[error("the recording is empty")]
    Empty,
    /// A line cannot be parsed.
    #[error("line {line}: {reason}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        reason: String,
    },
    /// The text is an action log of another version.
    #[error(
        "line 1: the recording has format version {found}, and this software reads version {FORMAT_VERSION}"
    )]
    Version { found: String },
    /// The text is neither an action log nor in a format of the official tools.
    #[error(
        "line 1: this is not a recording: expected a header with `\"format\":\"{FORMAT}\"`, or a line with `data.action_input`"
    )]
    Unknown,
    /// An official format needs frames, and an entry has none.
    #[error(
        "cannot write the {format} format: entry {entry} has no frames; replay the recording first"
    )]
    NoFrames {
        /// The name of the requested format.
        format: &'static str,
        /// The number of the entry, from 1.
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
    /// Returns the error of a play that failed, because of its agent or its environment.
    pub fn failure(&self) -> Option<&str> {
        let failed = self.ending.as_ref().is_some_and(Ending::is_failure);
        failed.then(|| self.message.as_deref().unwrap_or_default())
    }

    /// Parses a recording in any of the three formats.
    ///
    /// # Errors
    ///
    /// Returns a [`RecordingError`] that names the first line that cannot be parsed. The closing
    /// line may be missing, but every line that is present must be complete.
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
            native::parse(&lines)
        } else if first.get("data").is_some() {
            official::parse(&lines)
        } else {
            Err(RecordingError::Unknown)
        }
    }

    /// Writes the recording in `format`.
    ///
    /// # Errors
    ///
    /// Returns [`RecordingError::NoFrames`] if `format` is one of the official formats and an entry
    /// has no frames.
    pub fn to_text(&self, format: Format) -> Result<String, RecordingError> {
        match format {
            Format::Rhae => Ok(native::to_text(self)),
            Format::Toolkit | Format::Agents => official::to_text(self, format),
        }
    }
}

/// Returns the message of a serde_json error without its position. Each line of a recording is
/// parsed separately, so serde_json's line number is always 1.
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

pub(crate) fn unknown_state(name: &str) -> String {
    format!("`{name}` is not a state: expected `NOT_FINISHED`, `WIN` or `GAME_OVER`")
}

#[cfg(test)]
mod tests;
