//! Calls of a model whose requests and answers are in a durable log.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rhae_llm::{
    Attempt, AttemptStart, CallObserver, CancelToken, CostBound, Failure, Halt, Model, Reply,
    Request, SpendGuard,
};
use rhae_protocol::{Details, ModelUsage};
use serde_json::Value;

use super::ModelPlayer;
use super::call_log::{CallLog, LoggedCall};
use super::log::{self, Log};
use crate::AgentError;

/// The calls of one play, with their log.
///
/// **Invariant:** every request is in the log before it is sent, and every answer is in the log
/// before it is returned. A restarted play takes its answers from the log, in the same order, and
/// sends requests only after the log ends. Conversations that run at the same time have branches of
/// the log, each with a separate order.
///
/// An agent whose requests depend on more than answers and observations, for example on the output
/// of a program, stores these effects in the same log: see [`next_effect`](Self::next_effect).
pub struct LoggedCalls<'log> {
    player: Arc<ModelPlayer>,
    cancel: CancelToken,
    log: Box<dyn CallLog + 'log>,
    /// The usage since [`take_spent`](Self::take_spent).
    spent: ModelUsage,
}

impl<'log> LoggedCalls<'log> {
    /// Opens or creates a log. The answers in it are returned before any request is sent.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Failed`] if the log cannot be opened or read.
    pub fn open(player: &Arc<ModelPlayer>, log: &Path) -> Result<Self, AgentError> {
        let log = Log::open(log).map_err(AgentError::Failed)?;
        let log = log.kept_by(Arc::clone(&player.spend_guard));
        Ok(Self::with_log(player, Box::new(log)))
    }

    /// Creates calls with another log. The answers in it are returned before any request is sent.
    pub fn with_log(player: &Arc<ModelPlayer>, log: Box<dyn CallLog + 'log>) -> Self {
        Self {
            player: Arc::clone(player),
            cancel: CancelToken::default(),
            log,
            spent: ModelUsage::default(),
        }
    }

    /// Creates the calls of one of several conversations that run at the same time. `name` is unique
    /// in these calls.
    #[must_use]
    pub fn branch(&mut self, name: &str) -> Self {
        Self {
            player: Arc::clone(&self.player),
            cancel: self.cancel.clone(),
            log: self.log.branch(name),
            spent: ModelUsage::default(),
        }
    }

    pub fn player(&self) -> &ModelPlayer {
        &self.player
    }

    /// Returns the token that cancels calls of this play.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Takes the answer to a request from the log, or asks the model if the log has none.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Failed`] if the log contains the answer to another request. A call that
    /// failed is a value, because an agent may react to it.
    pub fn ask(&mut self, request: &Request) -> Result<Result<Reply, Failure>, AgentError> {
        self.ask_model(None, request)
    }

    /// Like [`ask`](Self::ask), but asks another model than that of the play if one is given. The
    /// limits of the play apply to both.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ask`](Self::ask).
    pub fn ask_model(
        &mut self,
        model: Option<&Model>,
        request: &Request,
    ) -> Result<Result<Reply, Failure>, AgentError> {
        let model = model.unwrap_or(&self.player.model);
        let fingerprint = request.fingerprint();
        let logged = self.log.next_call(&fingerprint);
        if let Some(LoggedCall { spent, reply, .. }) = logged.map_err(AgentError::Failed)? {
            self.spent += spent;
            if let Some(reply) = reply {
                return Ok(Ok(reply));
            }
        }
        let timeout = self.player.request_timeout;
        let deadlines = [
            timeout.map(|timeout| Instant::now() + timeout),
            self.log.deadline(),
        ];
        let deadline = deadlines.into_iter().flatten().min();
        let mut recorder = CallRecorder {
            log: self.log.as_mut(),
            spend_guard: self.player.spend_guard.as_ref(),
            cancel: &self.cancel,
            worst: model.cost_bound(request),
            fingerprint: &fingerprint,
            spent: ModelUsage::default(),
        };
        let outcome = model.ask(request, &self.cancel, deadline, &mut recorder);
        self.spent += recorder.spent;
        Ok(outcome.reply)
    }

    /// Returns the next effect of an earlier process, or `None` after the last one. `key` identifies
    /// what the agent is about to do.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Failed`] if the earlier process did something else at this point.
    pub fn next_effect(&mut self, key: &str) -> Result<Option<Value>, AgentError> {
        self.log.next_effect(key).map_err(AgentError::Failed)
    }

    /// Stores an effect before the agent uses it.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Failed`] if the log cannot be written.
    pub fn record_effect(&mut self, key: &str, value: &Value) -> Result<(), AgentError> {
        self.log.effect(key, value).map_err(AgentError::Failed)
    }

    /// Returns the usage since the last call of this function.
    pub fn take_spent(&mut self) -> ModelUsage {
        std::mem::take(&mut self.spent)
    }
}

/// Returns the details of a decision that report this usage.
pub fn usage_details(spent: ModelUsage) -> Details {
    let usage = serde_json::to_value(spent)
        .ok()
        .filter(|_| spent != ModelUsage::default());
    Details {
        usage,
        cost_usd: spent.cost_usd,
        ..Details::default()
    }
}

/// Converts the failure of a call. The play fails if the request itself is at fault. Otherwise it
/// is interrupted, and it is repeated when the run is resumed.
pub fn error_of_failure(failure: Failure) -> AgentError {
    let all_plays = failure.affects_all_calls();
    if all_plays || failure.is_retryable() {
        AgentError::Interrupted {
            reason: failure.message,
            all_plays,
        }
    } else {
        AgentError::Failed(failure.message)
    }
}

/// Returns whether the provider rejected the conversation because it exceeds the model's context.
pub fn is_context_overflow(failure: &Failure) -> bool {
    let message = failure.message.to_lowercase();
    let names = [
        "context length",
        "context_length",
        "context window",
        "prompt is too long",
        "maximum context",
        "too many tokens",
        "input token count",
    ];
    matches!(failure.status, Some(400 | 413 | 422))
        && names.iter().any(|name| message.contains(name))
}

/// Reserves the worst case of every transmission, logs it, and settles the reservation.
struct CallRecorder<'a> {
    log: &'a mut dyn CallLog,
    spend_guard: &'a dyn SpendGuard,
    cancel: &'a CancelToken,
    worst: CostBound,
    fingerprint: &'a str,
    spent: ModelUsage,
}

impl CallObserver for CallRecorder<'_> {
    fn before(&mut self, start: &AttemptStart) -> Result<(), Halt> {
        self.spend_guard
            .reserve(&self.worst, &|| self.cancel.is_cancelled())
            .map_err(|refusal| Halt(refusal.to_string()))?;
        let logged = self.log.sent(self.fingerprint, start, &self.worst);
        logged.map_err(|reason| {
            self.spend_guard.settle(&self.worst, None);
            Halt(reason)
        })
    }

    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        self.spent += log::spent(attempt, self.worst.usd());
        self.spend_guard.settle(&self.worst, Some(attempt));
        self.log
            .ended(self.fingerprint, attempt, &self.worst, reply)
            .map_err(Halt)
    }
}
