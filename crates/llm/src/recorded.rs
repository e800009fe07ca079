//! Recorded replies: one JSON object per line, with the fingerprint of the request and the reply.
//!
//! **Invariant:** a reply is synced to disk before the call returns it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::provider::Backend;
use crate::{LlmError, ProviderEntry, Reply, Request};

pub(crate) const REPLAY: ProviderEntry = ProviderEntry::local(
    "replay",
    "returns the replies stored in `file`, which the provider `record` wrote, without using the network",
    Backend::Replay,
);

pub(crate) const RECORD: ProviderEntry = ProviderEntry::local(
    "record",
    "calls the model named by `of` and appends every reply to `file`",
    Backend::Record,
);

#[derive(Serialize, Deserialize)]
struct Line {
    /// The fingerprint of the request.
    request: String,
    reply: Reply,
}

/// Loads the replies of a file by fingerprint. If a request occurs several times, the last reply
/// counts.
pub(crate) fn load(path: &Path) -> Result<BTreeMap<String, Reply>, LlmError> {
    let text = std::fs::read_to_string(path).map_err(|error| wrong(path, &error))?;
    Ok(parse(path, &text)?
        .into_iter()
        .map(|line| (line.request, line.reply))
        .collect())
}

fn parse(path: &Path, text: &str) -> Result<Vec<Line>, LlmError> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let read = |(index, line)| {
        serde_json::from_str(line)
            .map_err(|error| wrong(path, &format!("line {}: {error}", index + 1)))
    };
    lines.map(read).collect()
}

/// A file to which replies are appended.
pub(crate) struct Recorder {
    file: Mutex<File>,
}

impl Recorder {
    /// Opens or creates the file. A last line that a crash truncated is removed.
    pub(crate) fn open(path: &Path) -> Result<Self, LlmError> {
        let opened = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path);
        let mut file = opened.map_err(|error| wrong(path, &error))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|error| wrong(path, &error))?;
        let complete = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        // Do not append to a file that is not a recording.
        parse(path, &String::from_utf8_lossy(&bytes[..complete]))?;
        file.set_len(complete as u64)
            .map_err(|error| wrong(path, &error))?;
        Ok(Self {
            file: Mutex::new(file),
        })
    }

    /// Appends a reply and syncs the file. If that fails, for example because the disk is full, the
    /// incomplete line is removed, so that later replies do not continue it.
    pub(crate) fn add(&self, request: &Request, reply: &Reply) -> Result<(), String> {
        let line = Line {
            request: request.fingerprint(),
            reply: reply.clone(),
        };
        let mut text = serde_json::to_vec(&line).map_err(|error| error.to_string())?;
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let before = file.metadata().map(|metadata| metadata.len());
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        if let (Err(_), Ok(before)) = (&written, before) {
            // The first error is reported. A line that cannot be removed ends at the next start.
            let _ = file.set_len(before);
        }
        written.map_err(|error| format!("cannot record the answer: {error}"))
    }
}

fn wrong(path: &Path, reason: &dyn std::fmt::Display) -> LlmError {
    LlmError::Recording {
        path: path.display().to_string(),
        reason: reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_answers_survive_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answers.jsonl");
        let (request, reply) = (
            Request::text("a"),
            Reply {
                text: "b\n\"c\"".to_owned(),
                ..Reply::default()
            },
        );
        Recorder::open(&path)
            .unwrap()
            .add(&request, &reply)
            .unwrap();
        // A crash in the middle of a line, and of a character.
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"request\":\"\xc3")
            .unwrap();
        Recorder::open(&path)
            .unwrap()
            .add(&Request::text("x"), &reply)
            .unwrap();
        let answers = load(&path).unwrap();
        assert_eq!(answers.len(), 2);
        assert_eq!(answers[&request.fingerprint()], reply);
        std::fs::write(&path, "{}\n").unwrap();
        assert!(load(&path).unwrap_err().to_string().contains("line 1"));
        assert!(
            Recorder::open(&path).is_err(),
            "a file that is not a recording is not appended to"
        );
    }
}
