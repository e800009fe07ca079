//! The log of a play's calls: one JSON object a line, appended and synced.
//!
//! A line `sent` comes before each request, a line `ended` after it, with the whole answer. A `sent` without an `ended` was under way when
//! the process died.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rhae_llm::{Attempt, Reply, Sending};
use rhae_protocol::Spent;
use serde::{Deserialize, Serialize};

/// How the name of a log ends.
pub const LOG_ENDING: &str = ".model.jsonl";

/// Where the log of a play is, given its recording.
pub fn log_path(recording: &Path) -> PathBuf {
    recording.with_extension(&LOG_ENDING[1..])
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Sent {
        /// The fingerprint of what is asked.
        request: String,
        #[serde(flatten)]
        sending: Sending,
    },
    Ended {
        request: String,
        #[serde(flatten)]
        attempt: Box<Attempt>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<Box<Reply>>,
    },
}

/// A call of an earlier process.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Past {
    request: String,
    pub(super) spent: Spent,
    pub(super) reply: Option<Reply>,
}

/// An open log.
pub(super) struct Log {
    file: File,
    past: VecDeque<Past>,
}

impl Log {
    /// Opens a log and reads what it holds. A last line that was cut off by a crash is removed.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("`{}`: {error}", path.display());
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(path)
            .map_err(failed)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |end| end + 1);
        let past =
            calls(&bytes[..whole]).map_err(|reason| format!("`{}`: {reason}", path.display()))?;
        file.set_len(whole as u64).map_err(failed)?;
        Ok(Self { file, past })
    }

    /// The next call of an earlier process, which must be of this request.
    pub(super) fn past(&mut self, request: &str) -> Result<Option<Past>, String> {
        match self.past.pop_front() {
            Some(past) if past.request != request => Err(
                "the log of this play holds the answer to another question: the model's settings or the environment have changed"
                    .to_owned(),
            ),
            past => Ok(past),
        }
    }

    pub(super) fn sent(&mut self, request: &str, sending: &Sending) -> Result<(), String> {
        self.append(&Line::Sent {
            request: request.to_owned(),
            sending: sending.clone(),
        })
    }

    pub(super) fn ended(
        &mut self,
        request: &str,
        attempt: &Attempt,
        reply: Option<&Reply>,
    ) -> Result<(), String> {
        self.append(&Line::Ended {
            request: request.to_owned(),
            attempt: Box::new(attempt.clone()),
            reply: reply.cloned().map(Box::new),
        })
    }

    fn append(&mut self, line: &Line) -> Result<(), String> {
        let mut text = serde_json::to_vec(line).map_err(|error| error.to_string())?;
        text.push(b'\n');
        let written = self
            .file
            .write_all(&text)
            .and_then(|()| self.file.sync_data());
        written
            .map_err(|error| format!("the log of the model's answers cannot be written: {error}"))
    }
}

/// What all calls of a log consumed.
pub fn spent_in(path: &Path) -> Result<Spent, String> {
    Ok(Log::open(path)?.past.iter().map(|past| past.spent).sum())
}

/// What a request consumed.
pub(super) fn spent(attempt: &Attempt) -> Spent {
    let usage = attempt.usage.unwrap_or_default();
    let unknown = attempt.failure.as_ref().map_or(
        attempt.usage.is_none(),
        rhae_llm::Failure::may_have_consumed,
    );
    Spent {
        calls: 1,
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cost_usd: attempt.cost_usd,
        uncounted: u64::from(unknown),
    }
}

/// The calls of a log, each with all its requests.
fn calls(bytes: &[u8]) -> Result<VecDeque<Past>, String> {
    let mut calls: VecDeque<Past> = VecDeque::new();
    let mut open: Option<String> = None;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let line: Line =
            serde_json::from_slice(line).map_err(|error| format!("line {}: {error}", index + 1))?;
        let (Line::Sent { request, .. } | Line::Ended { request, .. }) = &line;
        // A question that was answered and is asked again is another call.
        if calls
            .back()
            .is_none_or(|last| last.request != *request || last.reply.is_some())
        {
            calls.push_back(Past {
                request: request.clone(),
                ..Past::default()
            });
        }
        let call = calls.back_mut().expect("a call was pushed above");
        match line {
            Line::Sent { sending, .. } => {
                // The one before was under way when the process died.
                call.spent += in_flight(open.replace(sending.id).is_some());
            }
            Line::Ended { attempt, reply, .. } => {
                open = None;
                call.spent += spent(&attempt);
                call.reply = reply.map(|reply| *reply);
            }
        }
    }
    if let (Some(last), true) = (calls.back_mut(), open.is_some()) {
        last.spent += in_flight(true);
    }
    Ok(calls)
}

/// A request of which nobody knows what it consumed.
fn in_flight(was: bool) -> Spent {
    Spent {
        calls: u64::from(was),
        uncounted: u64::from(was),
        ..Spent::default()
    }
}

#[cfg(test)]
mod tests {
    use rhae_llm::Usage;

    use super::*;

    fn sending(id: &str) -> Sending {
        Sending {
            id: id.to_owned(),
            number: 1,
        }
    }

    fn attempt(id: &str, tokens: u64) -> Attempt {
        let usage = Usage {
            input_tokens: tokens,
            output_tokens: 1,
            ..Usage::default()
        };
        Attempt {
            id: id.to_owned(),
            number: 1,
            ms: 5,
            usage: Some(usage),
            cost_usd: Some(0.5),
            failure: None,
        }
    }

    #[test]
    fn what_was_paid_for_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = log_path(&folder.path().join("1-ab12-v1.jsonl"));
        assert!(
            path.ends_with("1-ab12-v1.model.jsonl"),
            "{}",
            path.display()
        );
        let reply = Reply {
            text: "ACTION1".to_owned(),
            ..Reply::default()
        };
        let mut log = Log::open(&path).unwrap();
        log.sent("one", &sending("a")).unwrap();
        log.ended("one", &attempt("a", 10), None).unwrap();
        log.sent("one", &sending("b")).unwrap();
        log.ended("one", &attempt("b", 20), Some(&reply)).unwrap();
        log.sent("two", &sending("c")).unwrap();
        drop(log);
        // A crash in the middle of a line.
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"event\":\"en\xc3")
            .unwrap();
        let mut log = Log::open(&path).unwrap();
        let first = log.past("one").unwrap().unwrap();
        assert_eq!(
            (
                first.spent.calls,
                first.spent.input_tokens,
                first.spent.cost_usd
            ),
            (2, 30, Some(1.0))
        );
        assert_eq!(first.reply, Some(reply.clone()));
        // The second was under way; it is asked again, in the same call.
        log.sent("two", &sending("d")).unwrap();
        log.ended("two", &attempt("d", 5), Some(&reply)).unwrap();
        let mut log = Log::open(&path).unwrap();
        assert!(log.past("other").is_err());
        let mut log2 = Log::open(&path).unwrap();
        log2.past("one").unwrap();
        let second = log2.past("two").unwrap().unwrap();
        assert_eq!(
            (
                second.spent.calls,
                second.spent.uncounted,
                second.spent.input_tokens
            ),
            (2, 1, 5)
        );
        assert_eq!(log2.past("three").unwrap(), None);
        assert_eq!(spent_in(&path).unwrap().calls, 4);
        std::fs::write(&path, "{}\n").unwrap();
        assert!(Log::open(&path).err().unwrap().contains("line 1"));
    }
}
