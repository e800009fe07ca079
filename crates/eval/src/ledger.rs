//! The state of a run, computed from its journal: answered attempts, usage and requests in flight.

use std::collections::BTreeMap;

use rhae_protocol::{EvalAnswer, EvalEnd, EvalFailureKind, EvalLine, EvalTarget, EvalUsage};
use serde_json::Value;

/// The state of a run according to its journal.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The attempts that need no further request, by set, task, test (from 0) and attempt (from 1).
    pub closed_attempts: BTreeMap<(String, String, usize, usize), ClosedAttempt>,
    /// The requests, by number.
    pub requests: BTreeMap<u64, RequestRecord>,
    /// What happened in the conversations about targets that are still open.
    conversations: BTreeMap<EvalTarget, Vec<ConversationEvent>>,
    /// The usage of requests that have ended.
    closed: EvalUsage,
    /// The total working time of processes that have ended, in milliseconds.
    pub ms: u64,
    /// The number of processes that worked on the run.
    pub processes: usize,
    /// The reason why the last process ended; `None` if it was killed or is still running.
    pub ended: Option<EvalEnd>,
    /// The start of the first process and the time of the last line, in milliseconds since 1970.
    pub started_ms: Option<u64>,
    pub last_ms: Option<u64>,
    /// The start of the current process and the time of its last line, in milliseconds since 1970.
    current_process: Option<(u64, u64)>,
}

/// An event of a conversation, which a resumed run repeats.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ConversationEvent {
    /// The reply to the request with this fingerprint.
    Reply(String, Value),
    /// An effect with its key.
    Effect(String, Value),
}

/// An attempt that is answered or has failed permanently.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedAttempt {
    /// The number of the request that closed the attempt.
    pub request: u64,
}

/// A request and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestRecord {
    /// The requested tests and attempts.
    pub target: EvalTarget,
    /// The outcome; `None` if the request is in flight, or was in flight when its process ended.
    pub outcome: Option<RequestOutcome>,
    /// The duration in milliseconds.
    pub ms: u64,
    /// The known usage.
    pub spent: EvalUsage,
    /// The transmissions without a result in the journal.
    pub open_transmissions: Vec<OpenTransmission>,
}

impl RequestRecord {
    /// Returns the record of a request that was sent and has no outcome yet.
    fn in_flight(target: EvalTarget) -> Self {
        Self {
            target,
            outcome: None,
            ms: 0,
            spent: EvalUsage::default(),
            open_transmissions: Vec::new(),
        }
    }
}

/// A transmission that is in flight, or was in flight when its process ended.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenTransmission {
    pub id: String,
    /// The worst case of its cost in US dollars, and of its tokens; 0 if it has no bound.
    pub max_cost_usd: f64,
    pub max_tokens: u64,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestOutcome {
    Answer(EvalAnswer),
    /// A failure: its kind, its message, and whether it is permanent. A permanent failure closes
    /// the attempts.
    Failure(EvalFailureKind, String, bool),
}

impl Ledger {
    /// Computes the state from the lines of a journal.
    pub fn from_lines(lines: &[EvalLine]) -> Self {
        let mut ledger = Self::default();
        lines.iter().for_each(|line| ledger.add(line));
        ledger
    }

    /// Updates the state with one more line.
    pub fn add(&mut self, line: &EvalLine) {
        match line {
            EvalLine::Started { at_ms, .. } => self.start_process(*at_ms),
            EvalLine::Sent {
                request,
                at_ms,
                target,
            } => {
                self.advance_clock(*at_ms);
                self.requests
                    .insert(*request, RequestRecord::in_flight(target.clone()));
            }
            EvalLine::Try { at_ms, .. }
            | EvalLine::TryFailed { at_ms, .. }
            | EvalLine::Reply { at_ms, .. }
            | EvalLine::Effect { at_ms, .. } => {
                self.advance_clock(*at_ms);
                self.add_transmission(line);
            }
            EvalLine::Answered {
                request,
                at_ms,
                ms,
                target,
                answer,
                spent,
            } => {
                self.end(
                    *request,
                    *at_ms,
                    *ms,
                    target,
                    RequestOutcome::Answer(answer.clone()),
                    spent,
                );
            }
            EvalLine::Failed {
                request,
                at_ms,
                ms,
                target,
                kind,
                message,
                lasting,
                spent,
            } => {
                let outcome = RequestOutcome::Failure(*kind, message.clone(), *lasting);
                self.end(*request, *at_ms, *ms, target, outcome, spent);
            }
            EvalLine::Ended { at_ms, reason } => {
                self.advance_clock(*at_ms);
                self.close_process();
                self.ended = Some(reason.clone());
            }
        }
    }

    /// Applies a line about a transmission or a conversation of a request in flight.
    fn add_transmission(&mut self, line: &EvalLine) {
        match line {
            EvalLine::Try {
                request,
                id,
                max_cost_usd,
                max_tokens,
                ..
            } => {
                if let Some(record) = self.requests.get_mut(request) {
                    record.open_transmissions.push(OpenTransmission {
                        id: id.clone(),
                        max_cost_usd: max_cost_usd.unwrap_or(0.0),
                        max_tokens: max_tokens.unwrap_or(0),
                    });
                }
            }
            EvalLine::TryFailed {
                request, id, spent, ..
            } => {
                if let Some(record) = self.requests.get_mut(request) {
                    record.open_transmissions.retain(|open| open.id != *id);
                    record.spent.add(spent);
                }
            }
            EvalLine::Reply {
                request,
                id,
                fingerprint,
                reply,
                spent,
                ..
            } => {
                if let Some(record) = self.requests.get_mut(request) {
                    record.open_transmissions.retain(|open| open.id != *id);
                    record.spent.add(spent);
                }
                let event = ConversationEvent::Reply(fingerprint.clone(), reply.clone());
                self.add_event(*request, event);
            }
            EvalLine::Effect {
                request,
                key,
                value,
                ..
            } => {
                self.add_event(
                    *request,
                    ConversationEvent::Effect(key.clone(), value.clone()),
                );
            }
            _ => {}
        }
    }

    fn end(
        &mut self,
        request: u64,
        at_ms: u64,
        ms: u64,
        target: &EvalTarget,
        outcome: RequestOutcome,
        spent: &EvalUsage,
    ) {
        self.advance_clock(at_ms);
        // The usage of a request includes that of all its transmissions.
        self.closed.add(spent);
        let closes = matches!(
            outcome,
            RequestOutcome::Answer(_) | RequestOutcome::Failure(_, _, true)
        );
        let record = RequestRecord {
            target: target.clone(),
            outcome: Some(outcome),
            ms,
            spent: *spent,
            open_transmissions: Vec::new(),
        };
        self.requests.insert(request, record);
        if !closes {
            return;
        }
        // A conversation that failed can be continued with `--retry-failed`.
        if self.is_answer(request) {
            self.conversations.remove(target);
        }
        for &test in &target.tests {
            for &attempt in &target.attempts {
                let key = (target.set.clone(), target.task.clone(), test, attempt);
                // If an attempt has several answers, the first one counts. An answer takes
                // precedence over a failure.
                if !self
                    .closed_attempts
                    .get(&key)
                    .is_some_and(|closed| self.is_answer(closed.request))
                {
                    self.closed_attempts.insert(key, ClosedAttempt { request });
                }
            }
        }
    }

    fn add_event(&mut self, request: u64, event: ConversationEvent) {
        if let Some(record) = self.requests.get(&request) {
            let target = record.target.clone();
            self.conversations.entry(target).or_default().push(event);
        }
    }

    /// Returns what happened in the conversation about a target that is still open.
    pub(crate) fn conversation(&self, target: &EvalTarget) -> Vec<ConversationEvent> {
        self.conversations.get(target).cloned().unwrap_or_default()
    }

    fn is_answer(&self, request: u64) -> bool {
        matches!(
            self.requests
                .get(&request)
                .and_then(|record| record.outcome.as_ref()),
            Some(RequestOutcome::Answer(_))
        )
    }

    /// Returns whether an attempt needs no further request.
    pub(crate) fn is_done(
        &self,
        target: &EvalTarget,
        test: usize,
        attempt: usize,
        retry_failed: bool,
    ) -> bool {
        let slot =
            self.closed_attempts
                .get(&(target.set.clone(), target.task.clone(), test, attempt));
        slot.is_some_and(|slot| !retry_failed || self.is_answer(slot.request))
    }

    /// Returns the requests without an outcome. They are in flight, or were in flight when their
    /// process ended.
    pub fn in_flight(&self) -> impl Iterator<Item = (u64, &RequestRecord)> {
        self.requests
            .iter()
            .filter(|(_, record)| record.outcome.is_none())
            .map(|(&number, record)| (number, record))
    }

    /// Returns the known usage. Transmissions in flight count at their worst case as possibly paid.
    pub fn spent(&self) -> EvalUsage {
        let mut all = self.known();
        for open in self
            .in_flight()
            .flat_map(|(_, record)| &record.open_transmissions)
        {
            all.possibly_paid_usd += open.max_cost_usd;
            all.possibly_used_tokens = all.possibly_used_tokens.saturating_add(open.max_tokens);
        }
        all
    }

    /// Returns the known usage, including that of failed transmissions of requests in flight.
    pub(crate) fn known(&self) -> EvalUsage {
        let mut all = self.closed;
        self.in_flight()
            .for_each(|(_, record)| all.add(&record.spent));
        all
    }

    /// Returns the number of the next request.
    pub(crate) fn next_request(&self) -> u64 {
        self.requests
            .last_key_value()
            .map_or(1, |(last, _)| last + 1)
    }

    /// Returns the total working time in seconds. For a process that has not journalled its end,
    /// the time up to its last line counts.
    pub fn seconds(&self) -> f64 {
        let current = self
            .current_process
            .map_or(0, |(started, last)| last.saturating_sub(started));
        (self.ms + current) as f64 / 1000.0
    }

    fn start_process(&mut self, at_ms: u64) {
        self.close_process();
        self.current_process = Some((at_ms, at_ms));
        self.started_ms.get_or_insert(at_ms);
        self.last_ms = Some(at_ms);
        self.processes += 1;
        self.ended = None;
    }

    fn advance_clock(&mut self, at_ms: u64) {
        self.last_ms = self.last_ms.max(Some(at_ms));
        if let Some((_, last)) = &mut self.current_process {
            *last = (*last).max(at_ms);
        }
    }

    fn close_process(&mut self) {
        if let Some((started, last)) = self.current_process.take() {
            self.ms += last.saturating_sub(started);
        }
    }
}

#[cfg(test)]
mod tests {
    use rhae_protocol::EvalLimits;

    use super::*;

    fn target() -> EvalTarget {
        EvalTarget {
            set: "s".to_owned(),
            task: "t".to_owned(),
            tests: vec![0],
            attempts: vec![1],
        }
    }

    fn spent(input_tokens: u64) -> EvalUsage {
        EvalUsage {
            input_tokens,
            cost_usd: input_tokens as f64,
            ..EvalUsage::default()
        }
    }

    fn started(at_ms: u64) -> EvalLine {
        EvalLine::Started {
            at_ms,
            resumed: at_ms > 0,
            limits: EvalLimits::default(),
        }
    }

    #[test]
    fn request_in_flight_keeps_its_known_usage() {
        let sent = |request| EvalLine::Sent {
            request,
            at_ms: 10,
            target: target(),
        };
        let one = |id: &str| EvalLine::Try {
            request: 1,
            id: id.to_owned(),
            at_ms: 11,
            max_cost_usd: Some(7.0),
            max_tokens: Some(70),
        };
        let failed = EvalLine::TryFailed {
            request: 1,
            id: "a".to_owned(),
            at_ms: 12,
            message: String::new(),
            spent: spent(5),
        };
        let mut lines = vec![started(0), sent(1), one("a"), failed, one("b")];
        let killed = Ledger::from_lines(&lines);
        assert_eq!(
            (
                killed.spent().input_tokens,
                killed.in_flight().count(),
                killed.next_request()
            ),
            (5, 1, 2)
        );
        let open = &killed.in_flight().next().unwrap().1.open_transmissions;
        assert!(open.len() == 1 && open[0].id == "b");
        // The open transmission counts at its worst case.
        let usage = killed.spent();
        assert_eq!(
            (
                usage.cost_usd,
                usage.possibly_paid_usd,
                usage.possibly_used_tokens
            ),
            (5.0, 7.0, 70)
        );
        assert!(!killed.is_done(&target(), 0, 1, false));
        // The usage of a request includes that of its failed transmissions.
        let answer = EvalAnswer {
            text: Some("x".to_owned()),
            ..EvalAnswer::default()
        };
        lines.push(EvalLine::Answered {
            request: 1,
            at_ms: 30,
            ms: 20,
            target: target(),
            answer,
            spent: spent(12),
        });
        let done = Ledger::from_lines(&lines);
        assert_eq!(
            (
                done.spent().input_tokens,
                done.spent().cost_usd,
                done.spent().possibly_paid_usd,
                done.in_flight().count()
            ),
            (12, 12.0, 0.0, 0)
        );
        assert!(done.is_done(&target(), 0, 1, true));
    }

    #[test]
    fn time_is_summed_over_processes_and_failures_can_be_retried() {
        let failed = |request, lasting| EvalLine::Failed {
            request,
            at_ms: 2500,
            ms: 1,
            target: target(),
            kind: EvalFailureKind::Lost,
            message: String::new(),
            lasting,
            spent: spent(1),
        };
        let mut lines = vec![started(1000), failed(1, false)];
        assert!(!Ledger::from_lines(&lines).is_done(&target(), 0, 1, false));
        lines.extend([
            started(9000),
            failed(2, true),
            EvalLine::Ended {
                at_ms: 9500,
                reason: EvalEnd::Finished,
            },
        ]);
        let ledger = Ledger::from_lines(&lines);
        assert_eq!(
            (
                ledger.seconds(),
                ledger.processes,
                ledger.spent().input_tokens
            ),
            (2.0, 2, 2)
        );
        assert!(ledger.is_done(&target(), 0, 1, false) && !ledger.is_done(&target(), 0, 1, true));
    }

    #[test]
    fn conversation_is_kept_until_it_is_answered() {
        let sent = |request| EvalLine::Sent {
            request,
            at_ms: 1,
            target: target(),
        };
        let start = |request, id: &str| EvalLine::Try {
            request,
            id: id.to_owned(),
            at_ms: 2,
            max_cost_usd: Some(7.0),
            max_tokens: Some(70),
        };
        let reply = |request, id: &str| EvalLine::Reply {
            request,
            id: id.to_owned(),
            at_ms: 3,
            fingerprint: format!("print of {id}"),
            reply: Value::from(id),
            spent: spent(5),
        };
        let effect = EvalLine::Effect {
            request: 1,
            at_ms: 4,
            key: "javascript 1".to_owned(),
            value: Value::Null,
        };
        let mut lines = vec![
            started(0),
            sent(1),
            start(1, "a"),
            reply(1, "a"),
            effect,
            start(1, "b"),
        ];
        let killed = Ledger::from_lines(&lines);
        let events = [
            ConversationEvent::Reply("print of a".to_owned(), Value::from("a")),
            ConversationEvent::Effect("javascript 1".to_owned(), Value::Null),
        ];
        assert_eq!(killed.conversation(&target()), events);
        // The transmission in flight is possibly paid, the answered one is known.
        let usage = killed.spent();
        assert_eq!((usage.input_tokens, usage.possibly_paid_usd), (5, 7.0));
        // The resumed conversation counts only what it sends itself.
        lines.extend([started(10), sent(2), start(2, "c"), reply(2, "c")]);
        assert_eq!(
            Ledger::from_lines(&lines).conversation(&target()).len(),
            3,
            "the conversation grows over processes"
        );
        lines.push(EvalLine::Answered {
            request: 2,
            at_ms: 12,
            ms: 1,
            target: target(),
            answer: EvalAnswer::default(),
            spent: spent(5),
        });
        let done = Ledger::from_lines(&lines);
        assert_eq!(done.conversation(&target()), []);
        assert_eq!(
            (done.spent().input_tokens, done.spent().possibly_paid_usd),
            (10, 7.0)
        );
    }
}
