//! The log of a play's model calls: one JSON object per line, appended and synced.
//!
//! A call may need several transmissions because of retries. The agent writes a `sent` line before
//! each transmission, and an `ended` line with its usage and, if it succeeded, the complete reply
//! afterwards. A `sent` line without an `ended` line marks a transmission that was in flight when
//! the process died.
//!
//! An `effect` line stores what else determines later requests, for example the output of a tool.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rhae_llm::{Attempt, AttemptStart, CostBound, Reply};
use rhae_protocol::ModelUsage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_log::{CallLog, DIFFERENT_REQUEST, LoggedCall};

/// The suffix of the file name of a log.
pub const LOG_SUFFIX: &str = ".model.jsonl";

/// Returns the path of a play's log, next to its recording.
///
/// # Examples
///
/// ```
/// use std::path::Path;
///
/// let log = rhae_agents::log_path(Path::new("recordings/1-kq19-v1.jsonl"));
/// assert_eq!(log, Path::new("recordings/1-kq19-v1.model.jsonl"));
/// ```
pub fn log_path(recording: &Path) -> PathBuf {
    recording.with_extension(&LOG_SUFFIX[1..])
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Sent {
        /// The fingerprint of the request.
        request: String,
        #[serde(flatten)]
        start: AttemptStart,
        /// The worst case of the cost of this transmission; absent if it has no bound.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_cost_usd: Option<f64>,
    },
    Ended {
        request: String,
        #[serde(flatten)]
        attempt: Box<Attempt>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply: Option<Box<Reply>>,
    },
    Effect {
        /// Identifies what the agent did.
        key: String,
        value: Value,
    },
}

/// A call or an effect of an earlier process.
#[derive(Debug, PartialEq)]
enum Logged {
    Call(Box<LoggedCall>),
    Effect { key: String, value: Value },
}

/// An open log, and the calls and effects of earlier processes that the agent has not yet repeated.
pub(super) struct Log {
    file: File,
    logged: VecDeque<Logged>,
}

impl Log {
    /// Opens or creates a log and reads its calls. A last line that a crash truncated is removed, so
    /// the caller must have locked the run.
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
        let (complete, logged) = complete_lines(path, &bytes)?;
        file.set_len(complete as u64).map_err(failed)?;
        Ok(Self { file, logged })
    }

    fn append(&mut self, line: &Line) -> Result<(), String> {
        let mut text = serde_json::to_vec(line).map_err(|error| error.to_string())?;
        text.push(b'\n');
        let written = self
            .file
            .write_all(&text)
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| format!("cannot write the log of the model's answers: {error}"))
    }
}

impl CallLog for Log {
    fn next_call(&mut self, request: &str) -> Result<Option<LoggedCall>, String> {
        match self.logged.pop_front() {
            None => Ok(None),
            Some(Logged::Call(call)) if call.request == request => Ok(Some(*call)),
            Some(_) => Err(DIFFERENT_REQUEST.to_owned()),
        }
    }

    fn next_effect(&mut self, key: &str) -> Result<Option<Value>, String> {
        match self.logged.pop_front() {
            None => Ok(None),
            Some(Logged::Effect { key: logged, value }) if logged == key => Ok(Some(value)),
            Some(_) => Err(DIFFERENT_REQUEST.to_owned()),
        }
    }

    fn effect(&mut self, key: &str, value: &Value) -> Result<(), String> {
        self.append(&Line::Effect {
            key: key.to_owned(),
            value: value.clone(),
        })
    }

    fn sent(
        &mut self,
        request: &str,
        start: &AttemptStart,
        worst: &CostBound,
    ) -> Result<(), String> {
        self.append(&Line::Sent {
            request: request.to_owned(),
            start: start.clone(),
            max_cost_usd: worst.usd(),
        })
    }

    fn ended(
        &mut self,
        request: &str,
        attempt: &Attempt,
        _worst: &CostBound,
        reply: Option<&Reply>,
    ) -> Result<(), String> {
        self.append(&Line::Ended {
            request: request.to_owned(),
            attempt: Box::new(attempt.clone()),
            reply: reply.cloned().map(Box::new),
        })
    }
}

/// Returns the total usage of all calls in a log. The log is only read, so that another process may
/// write to it at the same time; a last line that is incomplete is ignored.
///
/// # Errors
///
/// Returns a message if the log cannot be read.
pub fn spent_in_log(path: &Path) -> Result<ModelUsage, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let (_, logged) = complete_lines(path, &bytes)?;
    let spent = |logged: &Logged| match logged {
        Logged::Call(call) => call.spent,
        Logged::Effect { .. } => ModelUsage::default(),
    };
    Ok(logged.iter().map(spent).sum())
}

/// Parses the complete lines of a log. Returns their length in bytes and their content.
fn complete_lines(path: &Path, bytes: &[u8]) -> Result<(usize, VecDeque<Logged>), String> {
    let complete = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    let logged =
        grouped(&bytes[..complete]).map_err(|reason| format!("`{}`: {reason}", path.display()))?;
    Ok((complete, logged))
}

/// Returns the usage of one transmission. If it is not fully known, the rest of the worst case
/// counts as possibly paid.
pub(super) fn spent(attempt: &Attempt, max_cost_usd: Option<f64>) -> ModelUsage {
    let usage = attempt.usage.unwrap_or_default();
    let is_uncounted = attempt.is_uncounted();
    let possibly_paid_usd = max_cost_usd
        .filter(|_| is_uncounted)
        .map(|max| (max - attempt.cost_usd.unwrap_or(0.0)).max(0.0));
    ModelUsage {
        calls: 1,
        input_tokens: usage.input_tokens,
        cached_tokens: usage.cached_tokens,
        output_tokens: usage.output_tokens,
        reasoning_tokens: usage.reasoning_tokens,
        cost_usd: attempt.cost_usd,
        uncounted: u64::from(is_uncounted),
        possibly_paid_usd,
    }
}

/// Groups the lines of a log into calls and effects.
fn grouped(bytes: &[u8]) -> Result<VecDeque<Logged>, String> {
    let mut grouped: VecDeque<Logged> = VecDeque::new();
    // The worst case of the transmission that has not ended yet.
    let mut open: Option<Option<f64>> = None;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let line: Line =
            serde_json::from_slice(line).map_err(|error| format!("line {}: {error}", index + 1))?;
        let request = match &line {
            Line::Sent { request, .. } | Line::Ended { request, .. } => request.clone(),
            Line::Effect { key, value } => {
                let (key, value) = (key.clone(), value.clone());
                grouped.push_back(Logged::Effect { key, value });
                continue;
            }
        };
        // The same request after an answer starts another call.
        let continues = matches!(grouped.back(), Some(Logged::Call(last)) if last.request == request && last.reply.is_none());
        if !continues {
            grouped.push_back(Logged::Call(Box::new(LoggedCall {
                request,
                ..LoggedCall::default()
            })));
        }
        let Some(Logged::Call(call)) = grouped.back_mut() else {
            continue;
        };
        match line {
            Line::Sent { max_cost_usd, .. } => {
                // A transmission that is still open was in flight when the process died.
                if let Some(max_cost_usd) = open.replace(max_cost_usd) {
                    call.spent += in_flight(max_cost_usd);
                }
            }
            Line::Ended { attempt, reply, .. } => {
                call.spent += spent(&attempt, open.take().flatten());
                call.reply = reply.map(|reply| *reply);
            }
            Line::Effect { .. } => {}
        }
    }
    if let (Some(Logged::Call(last)), Some(max_cost_usd)) = (grouped.back_mut(), open) {
        last.spent += in_flight(max_cost_usd);
    }
    Ok(grouped)
}

/// Returns the usage of a transmission that was in flight when the process died. All of its worst
/// case counts as possibly paid.
fn in_flight(max_cost_usd: Option<f64>) -> ModelUsage {
    ModelUsage {
        calls: 1,
        uncounted: 1,
        possibly_paid_usd: max_cost_usd,
        ..ModelUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use rhae_llm::{UnboundedReason, Usage};

    use super::*;

    fn start(id: &str) -> AttemptStart {
        AttemptStart {
            id: id.to_owned(),
            number: 1,
        }
    }

    fn worst() -> CostBound {
        CostBound {
            usd: Ok(0.75),
            ..CostBound::unbounded(UnboundedReason::NoPrices)
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
    fn logged_calls_survive_a_crash() {
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
        log.sent("one", &start("a"), &worst()).unwrap();
        log.ended("one", &attempt("a", 10), &worst(), None).unwrap();
        log.sent("one", &start("b"), &worst()).unwrap();
        log.ended("one", &attempt("b", 20), &worst(), Some(&reply))
            .unwrap();
        log.sent("two", &start("c"), &worst()).unwrap();
        drop(log);
        // A crash in the middle of a line.
        OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"{\"event\":\"en\xc3")
            .unwrap();
        let mut log = Log::open(&path).unwrap();
        let first = log.next_call("one").unwrap().unwrap();
        assert_eq!(
            (
                first.spent.calls,
                first.spent.input_tokens,
                first.spent.cost_usd
            ),
            (2, 30, Some(1.0))
        );
        assert_eq!(first.reply, Some(reply.clone()));
        // The second request was in flight. It is sent again within the same call.
        log.sent("two", &start("d"), &worst()).unwrap();
        log.ended("two", &attempt("d", 5), &worst(), Some(&reply))
            .unwrap();
        let mut log = Log::open(&path).unwrap();
        assert!(log.next_call("other").is_err());
        let mut log2 = Log::open(&path).unwrap();
        log2.next_call("one").unwrap();
        let second = log2.next_call("two").unwrap().unwrap();
        assert_eq!(
            (
                second.spent.calls,
                second.spent.uncounted,
                second.spent.input_tokens,
                second.spent.possibly_paid_usd
            ),
            (2, 1, 5, Some(0.75))
        );
        assert_eq!(log2.next_call("three").unwrap(), None);
        assert_eq!(spent_in_log(&path).unwrap().calls, 4);
        std::fs::write(&path, "{}\n").unwrap();
        assert!(Log::open(&path).err().unwrap().contains("line 1"));
    }

    #[test]
    fn effects_are_repeated_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("play.model.jsonl");
        let reply = Reply::default();
        let mut log = Log::open(&path).unwrap();
        log.effect("python 1", &serde_json::json!({"output": "3"}))
            .unwrap();
        log.sent("one", &start("a"), &worst()).unwrap();
        log.ended("one", &attempt("a", 10), &worst(), Some(&reply))
            .unwrap();
        log.effect("python 2", &Value::Null).unwrap();
        let mut log = Log::open(&path).unwrap();
        assert_eq!(
            log.next_effect("python 1").unwrap(),
            Some(serde_json::json!({"output": "3"}))
        );
        assert_eq!(log.next_call("one").unwrap().unwrap().reply, Some(reply));
        assert!(log.next_effect("python 9").is_err(), "another effect");
        assert_eq!(log.next_effect("python 3").unwrap(), None);
        let mut log = Log::open(&path).unwrap();
        assert!(log.next_call("one").is_err(), "an effect comes first");
        assert_eq!(spent_in_log(&path).unwrap().calls, 1);
    }

    #[test]
    fn summing_up_a_log_does_not_change_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("play.model.jsonl");
        assert!(spent_in_log(&path).is_err());
        assert!(!path.exists(), "the log is not created");
        let mut log = Log::open(&path).unwrap();
        log.sent("one", &start("a"), &worst()).unwrap();
        // Another process is writing a line.
        let text = std::fs::read(&path).unwrap();
        let writing = [&text[..], b"{\"event\":\"en"].concat();
        std::fs::write(&path, &writing).unwrap();
        assert_eq!(spent_in_log(&path).unwrap().possibly_paid_usd, Some(0.75));
        assert_eq!(std::fs::read(&path).unwrap(), writing);
    }
}
