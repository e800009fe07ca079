//! The journal of a run as the log of a conversation.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rhae_agents::{AgentError, CallLog, DIFFERENT_REQUEST, LoggedCall, branch_prefix};
use rhae_llm::{Attempt, AttemptStart, CostBound, Reply};
use rhae_protocol::{EvalFailureKind, EvalUsage};
use serde_json::Value;

use super::model::transmission_usage;
use super::{RequestContext, SolverFailure};
use crate::ledger::ConversationEvent;

/// What a conversation has spent in this process, and whether it was halted by its time limit. The
/// solver reads it after the conversation.
#[derive(Default)]
pub(super) struct Spending {
    usage: Mutex<EvalUsage>,
    expired: AtomicBool,
}

impl Spending {
    pub(super) fn usage(&self) -> EvalUsage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the request expired while it waited for a limit.
    pub(super) fn is_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }
}

/// The log of one conversation. Replies of earlier processes are returned before anything is sent.
pub(super) struct ConversationLog<'a> {
    context: &'a RequestContext<'a>,
    spending: &'a Spending,
    /// What precedes the fingerprints and keys of this branch of the conversation.
    prefix: String,
    earlier: VecDeque<ConversationEvent>,
}

impl<'a> ConversationLog<'a> {
    pub(super) fn new(context: &'a RequestContext<'a>, spending: &'a Spending) -> Self {
        Self {
            context,
            spending,
            prefix: String::new(),
            earlier: context.earlier.clone().into(),
        }
    }

    /// Returns a fingerprint or key as it is in the journal.
    fn in_journal(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }
}

impl CallLog for ConversationLog<'_> {
    fn next_call(&mut self, request: &str) -> Result<Option<LoggedCall>, String> {
        // A request that failed has no reply in the journal. It is sent again, and fails again, before
        // the conversation continues with the next reply.
        let is_next = matches!(
            self.earlier.front(),
            Some(ConversationEvent::Reply(fingerprint, _)) if *fingerprint == self.in_journal(request)
        );
        if !is_next {
            return Ok(None);
        }
        let Some(ConversationEvent::Reply(request, reply)) = self.earlier.pop_front() else {
            return Ok(None);
        };
        let reply: Reply = serde_json::from_value(reply)
            .map_err(|error| format!("a reply in the journal cannot be read: {error}"))?;
        Ok(Some(LoggedCall {
            request,
            reply: Some(reply),
            // What was spent is in the journal already.
            ..LoggedCall::default()
        }))
    }

    fn next_effect(&mut self, key: &str) -> Result<Option<Value>, String> {
        match self.earlier.pop_front() {
            None => Ok(None),
            Some(ConversationEvent::Effect(logged, value)) if logged == self.in_journal(key) => {
                Ok(Some(value))
            }
            Some(_) => Err(DIFFERENT_REQUEST.to_owned()),
        }
    }

    fn effect(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let key = self.in_journal(key);
        self.context.log.effect(self.context.request, &key, value)
    }

    fn branch<'b>(&mut self, name: &str) -> Box<dyn CallLog + 'b>
    where
        Self: 'b,
    {
        let prefix = branch_prefix(&self.prefix, name);
        let is_inside = |event: &ConversationEvent| match event {
            ConversationEvent::Reply(name, _) | ConversationEvent::Effect(name, _) => {
                name.starts_with(&prefix)
            }
        };
        let all = std::mem::take(&mut self.earlier);
        let (inside, outside) = all.into_iter().partition(is_inside);
        self.earlier = outside;
        Box::new(Self {
            context: self.context,
            spending: self.spending,
            prefix,
            earlier: inside,
        })
    }

    fn sent(
        &mut self,
        _request: &str,
        start: &AttemptStart,
        worst: &CostBound,
    ) -> Result<(), String> {
        let expired = || self.context.expired().is_some();
        let admitted = self.context.log.admit(&expired).and_then(|()| {
            let reserved = self.context.reserve(&start.id, worst);
            reserved.map_err(|refusal| refusal.to_string())
        });
        if admitted.is_err() && expired() {
            self.spending.expired.store(true, Ordering::Relaxed);
        }
        admitted
    }

    fn ended(
        &mut self,
        request: &str,
        attempt: &Attempt,
        worst: &CostBound,
        reply: Option<&Reply>,
    ) -> Result<(), String> {
        self.context.settle(worst, attempt);
        let spent = transmission_usage(attempt, worst);
        self.spending
            .usage
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(&spent);
        let number = self.context.request;
        match reply {
            Some(reply) => {
                let reply = serde_json::to_value(reply).map_err(|error| error.to_string())?;
                let log = self.context.log;
                log.replied(
                    number,
                    &attempt.id,
                    &self.in_journal(request),
                    reply,
                    &spent,
                )
            }
            None => {
                let failure = attempt.failure.as_ref();
                let message = failure.map_or("no answer", |failure| failure.message.as_str());
                self.context.failed(&attempt.id, message, &spent)
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let timeout = self.context.request_timeout;
        let timeout = timeout.map(|timeout: Duration| Instant::now() + timeout);
        let deadline = self.context.deadline.map(|(deadline, _)| deadline);
        [timeout, deadline].into_iter().flatten().min()
    }
}

/// Converts the error of a conversation. `expired` means that it was halted because its time was up
/// while it waited for a limit.
pub(super) fn failed(
    error: AgentError,
    context: &RequestContext<'_>,
    expired: bool,
) -> SolverFailure {
    let (kind, message, ends_run) = match error {
        AgentError::Interrupted { reason, all_plays } if all_plays => {
            (EvalFailureKind::Stopped, reason, !expired)
        }
        AgentError::Interrupted { reason, .. } => (EvalFailureKind::Status, reason, false),
        AgentError::Stopped => {
            let message = "the run was stopped".to_owned();
            (EvalFailureKind::Stopped, message, false)
        }
        error => (EvalFailureKind::Garbled, error.to_string(), false),
    };
    SolverFailure {
        kind: context.expired().unwrap_or(kind),
        message,
        ends_run,
    }
}
