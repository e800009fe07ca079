//! What a journal says: which attempts are answered, what was spent, what was in flight.

use std::collections::BTreeMap;

use rhae_protocol::{EvalAnswer, EvalAsked, EvalLine, EvalSpent};

/// The sum of a journal.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The attempts, by set, task, test (from 0) and attempt (from 1).
    pub slots: BTreeMap<(String, String, usize, usize), Slot>,
    /// The requests, by number.
    pub requests: BTreeMap<u64, RequestRecord>,
    /// What requests that have ended spent.
    closed: EvalSpent,
    /// How long processes were at work, in milliseconds.
    pub ms: u64,
    /// How many processes were.
    pub processes: usize,
    /// How the last process ended, if it did in order.
    pub ended: Option<String>,
    /// When the process that is under way began, and its last line so far.
    since: Option<(u64, u64)>,
}

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The request that decided it.
    pub request: u64,
}

/// A request and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestRecord {
    /// What it asked for.
    pub asked: EvalAsked,
    /// What became of it; `None` if it was in flight when its process ended, or still is.
    pub given: Option<Given>,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// What it spent, as far as it is known.
    pub spent: EvalSpent,
    /// Its transmissions without an outcome in the journal.
    pub open_tries: Vec<String>,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// An answer.
    Answer(EvalAnswer),
    /// A failure: its kind, its message, and whether the attempts count as missing.
    Failure(String, String, bool),
}

impl Ledger {
    /// Sums up lines.
    pub fn of_lines(lines: &[EvalLine]) -> Self {
        let mut ledger = Self::default();
        lines.iter().for_each(|line| ledger.add(line));
        ledger
    }

    /// Adds a line.
    pub fn add(&mut self, line: &EvalLine) {
        match line {
            EvalLine::Begun { at_ms, .. } => {
                self.settle_time();
                self.since = Some((*at_ms, *at_ms));
                self.processes += 1;
                self.ended = None;
            }
            EvalLine::Sent {
                request,
                at_ms,
                asked,
            } => {
                self.seen(*at_ms);
                let record = RequestRecord {
                    asked: asked.clone(),
                    given: None,
                    ms: 0,
                    spent: EvalSpent::default(),
                    open_tries: Vec::new(),
                };
                self.requests.insert(*request, record);
            }
            EvalLine::Try { request, id, at_ms } => {
                self.seen(*at_ms);
                if let Some(record) = self.requests.get_mut(request) {
                    record.open_tries.push(id.clone());
                }
            }
            EvalLine::TryFailed {
                request,
                id,
                at_ms,
                spent,
                ..
            } => {
                self.seen(*at_ms);
                if let Some(record) = self.requests.get_mut(request) {
                    record.open_tries.retain(|open| open != id);
                    record.spent.add(spent);
                }
            }
            EvalLine::Answered {
                request,
                at_ms,
                ms,
                asked,
                answer,
                spent,
            } => {
                self.end(
                    *request,
                    *at_ms,
                    *ms,
                    asked,
                    Given::Answer(answer.clone()),
                    spent,
                );
            }
            EvalLine::Failed {
                request,
                at_ms,
                ms,
                asked,
                kind,
                message,
                lasting,
                spent,
            } => {
                let given = Given::Failure(kind.clone(), message.clone(), *lasting);
                self.end(*request, *at_ms, *ms, asked, given, spent);
            }
            EvalLine::Ended { at_ms, reason } => {
                self.seen(*at_ms);
                self.settle_time();
                self.ended = Some(reason.clone());
            }
        }
    }

    fn end(
        &mut self,
        request: u64,
        at_ms: u64,
        ms: u64,
        asked: &EvalAsked,
        given: Given,
        spent: &EvalSpent,
    ) {
        self.seen(at_ms);
        // The end of a request speaks for all its transmissions, those counted already included.
        self.closed.add(spent);
        let closes = matches!(given, Given::Answer(_) | Given::Failure(_, _, true));
        let record = RequestRecord {
            asked: asked.clone(),
            given: Some(given),
            ms,
            spent: *spent,
            open_tries: Vec::new(),
        };
        self.requests.insert(request, record);
        if !closes {
            return;
        }
        for &test in &asked.tests {
            for &attempt in &asked.attempts {
                let key = (asked.set.clone(), asked.task.clone(), test, attempt);
                // The first answer counts; an answer takes the place of a failure.
                if !self
                    .slots
                    .get(&key)
                    .is_some_and(|slot| self.is_answer(slot.request))
                {
                    self.slots.insert(key, Slot { request });
                }
            }
        }
    }

    fn is_answer(&self, request: u64) -> bool {
        matches!(
            self.requests
                .get(&request)
                .and_then(|record| record.given.as_ref()),
            Some(Given::Answer(_))
        )
    }

    /// Whether an attempt needs no request any more.
    pub(crate) fn is_done(
        &self,
        asked: &EvalAsked,
        test: usize,
        attempt: usize,
        retry_failed: bool,
    ) -> bool {
        let slot = self
            .slots
            .get(&(asked.set.clone(), asked.task.clone(), test, attempt));
        slot.is_some_and(|slot| !retry_failed || self.is_answer(slot.request))
    }

    /// The requests that were in flight when a process ended.
    pub fn in_flight(&self) -> impl Iterator<Item = (u64, &RequestRecord)> {
        self.requests
            .iter()
            .filter(|(_, record)| record.given.is_none())
            .map(|(&number, record)| (number, record))
    }

    /// All that was spent and is known, by what was in flight as well.
    pub fn spent(&self) -> EvalSpent {
        let mut all = self.closed;
        self.in_flight()
            .for_each(|(_, record)| all.add(&record.spent));
        all
    }

    /// The next request's number.
    pub(crate) fn next_request(&self) -> u64 {
        self.requests
            .last_key_value()
            .map_or(1, |(last, _)| last + 1)
    }

    /// Seconds that processes were at work, the current one up to its last line.
    pub fn seconds(&self) -> f64 {
        let current = self
            .since
            .map_or(0, |(begun, last)| last.saturating_sub(begun));
        (self.ms + current) as f64 / 1000.0
    }

    fn seen(&mut self, at_ms: u64) {
        if let Some((_, last)) = &mut self.since {
            *last = (*last).max(at_ms);
        }
    }

    fn settle_time(&mut self) {
        if let Some((begun, last)) = self.since.take() {
            self.ms += last.saturating_sub(begun);
        }
    }
}

#[cfg(test)]
mod tests {
    use rhae_protocol::EvalLimits;

    use super::*;

    fn asked() -> EvalAsked {
        EvalAsked {
            set: "s".to_owned(),
            task: "t".to_owned(),
            tests: vec![0],
            attempts: vec![1],
        }
    }

    fn spent(input_tokens: u64) -> EvalSpent {
        EvalSpent {
            input_tokens,
            cost_usd: input_tokens as f64,
            ..EvalSpent::default()
        }
    }

    fn begun(at_ms: u64) -> EvalLine {
        EvalLine::Begun {
            at_ms,
            resumed: at_ms > 0,
            limits: EvalLimits::default(),
        }
    }

    #[test]
    fn what_was_in_flight_keeps_what_is_known_of_it() {
        let sent = |request| EvalLine::Sent {
            request,
            at_ms: 10,
            asked: asked(),
        };
        let one = |id: &str| EvalLine::Try {
            request: 1,
            id: id.to_owned(),
            at_ms: 11,
        };
        let failed = EvalLine::TryFailed {
            request: 1,
            id: "a".to_owned(),
            at_ms: 12,
            message: String::new(),
            spent: spent(5),
        };
        let mut lines = vec![begun(0), sent(1), one("a"), failed, one("b")];
        let killed = Ledger::of_lines(&lines);
        assert_eq!(
            (
                killed.spent().input_tokens,
                killed.in_flight().count(),
                killed.next_request()
            ),
            (5, 1, 2)
        );
        assert_eq!(killed.in_flight().next().unwrap().1.open_tries, ["b"]);
        assert!(!killed.is_done(&asked(), 0, 1, false));
        // The end of a request includes its failed transmissions.
        let answer = EvalAnswer {
            text: Some("x".to_owned()),
            ..EvalAnswer::default()
        };
        lines.push(EvalLine::Answered {
            request: 1,
            at_ms: 30,
            ms: 20,
            asked: asked(),
            answer,
            spent: spent(12),
        });
        let done = Ledger::of_lines(&lines);
        assert_eq!(
            (
                done.spent().input_tokens,
                done.spent().cost_usd,
                done.in_flight().count()
            ),
            (12, 12.0, 0)
        );
        assert!(done.is_done(&asked(), 0, 1, true));
    }

    #[test]
    fn time_is_summed_over_processes_and_failures_can_be_repaired() {
        let failed = |request, lasting| EvalLine::Failed {
            request,
            at_ms: 2500,
            ms: 1,
            asked: asked(),
            kind: "lost".to_owned(),
            message: String::new(),
            lasting,
            spent: spent(1),
        };
        let mut lines = vec![begun(1000), failed(1, false)];
        assert!(!Ledger::of_lines(&lines).is_done(&asked(), 0, 1, false));
        lines.extend([
            begun(9000),
            failed(2, true),
            EvalLine::Ended {
                at_ms: 9500,
                reason: "finished".to_owned(),
            },
        ]);
        let ledger = Ledger::of_lines(&lines);
        assert_eq!(
            (
                ledger.seconds(),
                ledger.processes,
                ledger.spent().input_tokens
            ),
            (2.0, 2, 2)
        );
        assert!(ledger.is_done(&asked(), 0, 1, false) && !ledger.is_done(&asked(), 0, 1, true));
    }
}
