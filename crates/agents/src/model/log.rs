//! The log of a play's model calls: one JSON object per line, appended and synced.
//!
//! A call may need several transmissions because of retries. The agent writes a `sent` line before
//! each transmission, and an `ended` line with its usage and, if it succeeded, the complete reply
//! afterwards. A `sent` line without an `ended` line marks a transmission that was in flight when
//! the process died.
//!
//! An `effect` line stores what else determines later requests, for example the output of a tool.
//!
//! The lines of conversations that run at the same time are mixed. The fingerprints and keys of each
//! begin with the name of its branch (see [`branch_prefix`]).

use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rhae_llm::{Attempt, AttemptStart, CostBound, Reply, SpendGuard};
use rhae_protocol::ModelUsage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_log::{CallLog, DIFFERENT_REQUEST, LoggedCall, branch_of, branch_prefix};

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

impl Logged {
    /// Returns the fingerprint or the key.
    fn name(&self) -> &str {
        match self {
            Self::Call(call) => &call.request,
            Self::Effect { key, .. } => key,
        }
    }
}

/// An open log, and the calls and effects of earlier processes that the agent has not yet repeated.
pub(super) struct Log {
    file: Arc<Mutex<File>>,
    /// Stores the lines elsewhere too, see [`SpendGuard::keep`].
    keeper: Arc<dyn SpendGuard>,
    /// What precedes the fingerprints and keys of this branch.
    prefix: String,
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
        Ok(Self {
            file: Arc::new(Mutex::new(file)),
            keeper: Arc::new(()),
            prefix: String::new(),
            logged,
        })
    }

    /// Passes every line that is appended to [`SpendGuard::keep`].
    pub(super) fn kept_by(self, keeper: Arc<dyn SpendGuard>) -> Self {
        Self { keeper, ..self }
    }

    /// Returns a fingerprint or key as it is in the file.
    fn in_file(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn append(&self, line: &Line) -> Result<(), String> {
        let mut text = serde_json::to_vec(line).map_err(|error| error.to_string())?;
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        written
            .map_err(|error| error.to_string())
            // The lock also keeps the order of the lines there.
            .and_then(|()| {
                let line = String::from_utf8_lossy(&text);
                self.keeper.keep(line.trim_end())
            })
            .map_err(|error| format!("cannot write the log of the model's answers: {error}"))
    }
}

impl CallLog for Log {
    fn next_call(&mut self, request: &str) -> Result<Option<LoggedCall>, String> {
        match self.logged.pop_front() {
            None => Ok(None),
            Some(Logged::Call(call)) if call.request == self.in_file(request) => Ok(Some(*call)),
            Some(_) => Err(DIFFERENT_REQUEST.to_owned()),
        }
    }

    fn next_effect(&mut self, key: &str) -> Result<Option<Value>, String> {
        match self.logged.pop_front() {
            None => Ok(None),
            Some(Logged::Effect { key: logged, value }) if logged == self.in_file(key) => {
                Ok(Some(value))
            }
            Some(_) => Err(DIFFERENT_REQUEST.to_owned()),
        }
    }

    fn effect(&mut self, key: &str, value: &Value) -> Result<(), String> {
        self.append(&Line::Effect {
            key: self.in_file(key),
            value: value.clone(),
        })
    }

    fn branch<'a>(&mut self, name: &str) -> Box<dyn CallLog + 'a>
    where
        Self: 'a,
    {
        let prefix = branch_prefix(&self.prefix, name);
        let is_inside = |logged: &Logged| logged.name().starts_with(&prefix);
        let all = std::mem::take(&mut self.logged);
        let (inside, outside) = all.into_iter().partition(is_inside);
        self.logged = outside;
        Box::new(Self {
            file: Arc::clone(&self.file),
            keeper: Arc::clone(&self.keeper),
            prefix,
            logged: inside,
        })
    }

    fn sent(
        &mut self,
        request: &str,
        start: &AttemptStart,
        worst: &CostBound,
    ) -> Result<(), String> {
        self.append(&Line::Sent {
            request: self.in_file(request),
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
            request: self.in_file(request),
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

/// The state of a branch while its lines are read.
#[derive(Default)]
struct Branch {
    /// The position of its last call, unless an effect follows it.
    last: Option<usize>,
    /// The worst case of its transmission that has not ended yet.
    open: Option<Option<f64>>,
}

/// Groups the lines of a log into calls and effects. The lines of one branch are in order.
fn grouped(bytes: &[u8]) -> Result<VecDeque<Logged>, String> {
    let mut grouped: Vec<Logged> = Vec::new();
    let mut branches: BTreeMap<String, Branch> = BTreeMap::new();
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let line: Line =
            serde_json::from_slice(line).map_err(|error| format!("line {}: {error}", index + 1))?;
        let name = match &line {
            Line::Sent { request: name, .. }
            | Line::Ended { request: name, .. }
            | Line::Effect { key: name, .. } => name.clone(),
        };
        let branch = branches.entry(branch_of(&name).to_owned()).or_default();
        if let Line::Effect { key, value } = line {
            branch.last = None;
            grouped.push(Logged::Effect { key, value });
            continue;
        }
        // The same request after an answer starts another call.
        let continued = branch.last.filter(|&last| {
            matches!(&grouped[last], Logged::Call(call) if call.request == name && call.reply.is_none())
        });
        let at = continued.unwrap_or_else(|| {
            grouped.push(Logged::Call(Box::new(LoggedCall {
                request: name,
                ..LoggedCall::default()
            })));
            grouped.len() - 1
        });
        branch.last = Some(at);
        let Logged::Call(call) = &mut grouped[at] else {
            continue;
        };
        match line {
            Line::Sent { max_cost_usd, .. } => {
                // A transmission that is still open was in flight when the process died.
                if let Some(max_cost_usd) = branch.open.replace(max_cost_usd) {
                    call.spent += in_flight(max_cost_usd);
                }
            }
            Line::Ended { attempt, reply, .. } => {
                call.spent += spent(&attempt, branch.open.take().flatten());
                call.reply = reply.map(|reply| *reply);
            }
            Line::Effect { .. } => {}
        }
    }
    for branch in branches.into_values() {
        let last = branch.last.and_then(|last| grouped.get_mut(last));
        if let (Some(Logged::Call(call)), Some(max_cost_usd)) = (last, branch.open) {
            call.spent += in_flight(max_cost_usd);
        }
    }
    Ok(grouped.into())
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
    fn branches_keep_their_own_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("play.model.jsonl");
        let reply = |text: &str| Reply {
            text: text.to_owned(),
            ..Reply::default()
        };
        let mut log = Log::open(&path).unwrap();
        let (mut one, mut two) = (log.branch("1.0"), log.branch("1.1"));
        one.sent("same", &start("a"), &worst()).unwrap();
        two.sent("same", &start("b"), &worst()).unwrap();
        two.ended("same", &attempt("b", 2), &worst(), Some(&reply("two")))
            .unwrap();
        let mut inner = two.branch("1.0");
        inner.effect("code", &serde_json::json!(5)).unwrap();
        one.ended("same", &attempt("a", 1), &worst(), Some(&reply("one")))
            .unwrap();
        two.sent("next", &start("c"), &worst()).unwrap();
        one.sent("next", &start("d"), &worst()).unwrap();
        one.ended("next", &attempt("d", 4), &worst(), Some(&reply("three")))
            .unwrap();
        drop((one, two, inner, log));
        // The branches are opened in another order.
        let mut log = Log::open(&path).unwrap();
        let (mut two, mut one) = (log.branch("1.1"), log.branch("1.0"));
        let first = one.next_call("same").unwrap().unwrap();
        assert_eq!(
            (first.reply, first.spent.input_tokens),
            (Some(reply("one")), 1)
        );
        let third = one.next_call("next").unwrap().unwrap();
        assert_eq!(
            (third.reply, third.spent.uncounted),
            (Some(reply("three")), 0)
        );
        let second = two.next_call("same").unwrap().unwrap();
        assert_eq!(
            (second.reply, second.spent.input_tokens),
            (Some(reply("two")), 2)
        );
        // The request of the second branch was in flight.
        let mut inner = two.branch("1.0");
        assert_eq!(
            inner.next_effect("code").unwrap(),
            Some(serde_json::json!(5))
        );
        let lost = two.next_call("next").unwrap().unwrap();
        assert_eq!(
            (lost.reply, lost.spent.possibly_paid_usd),
            (None, Some(0.75))
        );
        assert_eq!(log.next_call("other").unwrap(), None);
        let total = spent_in_log(&path).unwrap();
        assert_eq!((total.calls, total.uncounted), (4, 1));
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
