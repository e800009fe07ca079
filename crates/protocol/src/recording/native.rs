//! Reading and writing the action log, the recording format of Rhae.

use std::io::{self, Write};

use rhae_engine::{Action, ActionKind, GameIdError, PlayState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Details, Entry, Format, Header, Recording, RecordingError, ResetRule, json_reason,
    unknown_state,
};
use crate::Ending;

/// The value of `format` in the header of an action log.
pub const FORMAT: &str = "rhae-recording";
/// The version of the action log that this software reads and writes.
pub const FORMAT_VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct HeaderLine {
    format: String,
    version: u64,
    game_id: String,
    seed: u64,
    agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_seed: Option<u64>,
    software: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    guid: Option<String>,
    resets: String,
    win_levels: u8,
    available_actions: Vec<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source_digest: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine {
    action: String,
    hash: String,
    levels: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(default, skip_serializing_if = "is_false")]
    full_reset: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    uncounted: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    unchanged: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    t_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndLine {
    end: Ending,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// Writes an action log line by line while a play is in progress.
///
/// The output is not flushed between lines; see [`flush`](Self::flush).
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, ActionSet, Frame, PlayState};
/// use rhae_protocol::{Details, Ending, Entry, Header, Recording, RecordingWriter, ResetRule};
///
/// let header = Header {
///     game_id: "ab12-v1".parse()?,
///     seed: 0,
///     agent: "example".to_owned(),
///     agent_seed: None,
///     software: rhae_protocol::SOFTWARE.to_owned(),
///     guid: None,
///     resets: ResetRule::Official,
///     win_levels: 2,
///     available: ActionSet::ARROWS,
///     source_digest: None,
/// };
/// let opening = Entry {
///     action: Action::Reset,
///     hash: Frame::hash_all(&[Frame::filled(5)]),
///     frames: None,
///     state: PlayState::NotFinished,
///     levels_completed: 0,
///     full_reset: true,
///     counted: false,
///     changed: Some(true),
///     details: Details::default(),
/// };
///
/// let mut writer = RecordingWriter::new(Vec::new(), &header)?;
/// writer.entry(&opening)?;
/// let bytes = writer.end(&Ending::Stopped, None)?;
///
/// let recording = Recording::parse(std::str::from_utf8(&bytes)?)?;
/// assert_eq!(recording.header, header);
/// assert_eq!(recording.entries, [opening]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RecordingWriter<W: Write> {
    out: W,
}

impl<W: Write> RecordingWriter<W> {
    /// Creates a writer and writes the header line.
    ///
    /// # Errors
    ///
    /// This method and the others return an error if writing to `out` fails.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let line = HeaderLine {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            game_id: header.game_id.to_string(),
            seed: header.seed,
            agent: header.agent.clone(),
            agent_seed: header.agent_seed,
            software: header.software.clone(),
            guid: header.guid.clone(),
            resets: header.resets.name().to_owned(),
            win_levels: header.win_levels,
            available_actions: header.available.iter().map(ActionKind::id).collect(),
            source_digest: header.source_digest.clone(),
        };
        write_line(&mut out, &line)?;
        Ok(Self { out })
    }

    /// Writes the line of an observation.
    pub fn entry(&mut self, entry: &Entry) -> io::Result<()> {
        let details = entry.details.clone();
        let line = EntryLine {
            action: entry.action.to_string(),
            hash: format!("{:016x}", entry.hash),
            levels: entry.levels_completed,
            state: (entry.state != PlayState::NotFinished).then(|| entry.state.name().to_owned()),
            full_reset: entry.full_reset,
            uncounted: !entry.counted && !entry.full_reset,
            unchanged: entry.changed == Some(false),
            t_ms: details.t_ms,
            reasoning: details.reasoning,
            usage: details.usage,
            cost_usd: details.cost_usd,
        };
        write_line(&mut self.out, &line)
    }

    /// Writes the closing line, flushes and returns the output. `message` is the error of a play
    /// that failed.
    pub fn end(mut self, ending: &Ending, message: Option<&str>) -> io::Result<W> {
        let line = EndLine {
            end: ending.clone(),
            message: message.map(str::to_owned),
        };
        write_line(&mut self.out, &line)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Flushes the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(line).map_err(io::Error::other)?;
    text.push(b'\n');
    out.write_all(&text)
}

pub(super) fn to_text(recording: &Recording) -> String {
    let text = (|| {
        let mut writer = RecordingWriter::new(Vec::new(), &recording.header)?;
        for entry in &recording.entries {
            writer.entry(entry)?;
        }
        match &recording.ending {
            Some(ending) => writer.end(ending, recording.message.as_deref()),
            None => Ok(writer.out),
        }
    })();
    let bytes: Vec<u8> = text.expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

pub(super) fn parse(lines: &[(usize, &str)]) -> Result<Recording, RecordingError> {
    let (&(number, first), rest) = lines.split_first().ok_or(RecordingError::Empty)?;
    let header = parse_header(number, first)?;
    let mut entries = Vec::with_capacity(rest.len());
    let mut end: Option<EndLine> = None;
    for &(number, line) in rest {
        if end.is_some() {
            return Err(RecordingError::line(
                number,
                "there are lines after the closing line",
            ));
        }
        // Only the closing line has the key `end`. Any other line is parsed once, as an entry.
        match parse_end(number, line) {
            Some(line) => end = Some(line?),
            None => entries.push(parse_entry(number, line)?),
        }
    }
    match entries.first() {
        Some(entry) if entry.action != Action::Reset => Err(RecordingError::line(
            number + 1,
            "the first action must be RESET (`0`)",
        )),
        Some(_) => {
            let (ending, message) = end.map(|line| (line.end, line.message)).unzip();
            Ok(Recording {
                format: Format::Rhae,
                header,
                entries,
                ending,
                message: message.flatten(),
            })
        }
        None => Err(RecordingError::line(
            number,
            "the recording has a header but no observation",
        )),
    }
}

fn parse_header(number: usize, line: &str) -> Result<Header, RecordingError> {
    // The version is checked first, because another version may have other fields.
    let value: Value = serde_json::from_str(line)
        .map_err(|error| RecordingError::line(number, json_reason(&error)))?;
    match value.get("version") {
        Some(version) if version.as_u64() == Some(FORMAT_VERSION) => {}
        Some(found) => {
            return Err(RecordingError::Version {
                found: found.to_string(),
            });
        }
        None => return Err(RecordingError::line(number, "the header has no `version`")),
    }
    let header: HeaderLine = serde_json::from_value(value)
        .map_err(|error| RecordingError::line(number, json_reason(&error)))?;
    Ok(Header {
        game_id: header
            .game_id
            .parse()
            .map_err(|error: GameIdError| RecordingError::line(number, error.to_string()))?,
        seed: header.seed,
        agent: header.agent,
        agent_seed: header.agent_seed,
        software: header.software,
        guid: header.guid,
        resets: [ResetRule::Official, ResetRule::LevelsOnly]
            .into_iter()
            .find(|rule| rule.name() == header.resets)
            .ok_or_else(|| {
                RecordingError::line(
                    number,
                    format!(
                        "`{}` is not a reset rule: expected `official` or `levels-only`",
                        header.resets
                    ),
                )
            })?,
        win_levels: header.win_levels,
        available: header
            .available_actions
            .into_iter()
            .filter_map(ActionKind::from_id)
            .collect(),
        source_digest: header.source_digest,
    })
}

fn parse_entry(number: usize, line: &str) -> Result<Entry, RecordingError> {
    let error = |reason: String| RecordingError::line(number, reason);
    let line: EntryLine = serde_json::from_str(line).map_err(|found| error(json_reason(&found)))?;
    let state = match line.state.as_deref() {
        None => PlayState::NotFinished,
        Some(name) => PlayState::from_name(name).ok_or_else(|| error(unknown_state(name)))?,
    };
    let well_formed =
        line.hash.len() == 16 && line.hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = u64::from_str_radix(&line.hash, 16)
        .ok()
        .filter(|_| well_formed);
    Ok(Entry {
        action: line
            .action
            .parse()
            .map_err(|found: rhae_engine::ParseActionError| error(found.to_string()))?,
        hash: hash.ok_or_else(|| {
            error(format!(
                "`{}` is not a hash of 16 hexadecimal digits",
                line.hash
            ))
        })?,
        frames: None,
        state,
        levels_completed: line.levels,
        full_reset: line.full_reset,
        counted: !line.uncounted && !line.full_reset,
        changed: Some(!line.unchanged),
        details: Details {
            t_ms: line.t_ms,
            reasoning: line.reasoning,
            usage: line.usage,
            cost_usd: line.cost_usd,
        },
    })
}

/// Parses the closing line; `None` if the line is not one.
fn parse_end(number: usize, line: &str) -> Option<Result<EndLine, RecordingError>> {
    if !line.contains("\"end\"") {
        return None;
    }
    let line: EndLine = serde_json::from_str(line).ok()?;
    Some(if line.end.closes_recording() {
        Ok(line)
    } else {
        Err(RecordingError::line(
            number,
            format!(
                "`{}` is not an ending: expected `won`, `budget`, `timeout`, `stopped`, `failed` or `environment failed`",
                line.end
            ),
        ))
    })
}
