//! An agent that asks a language model, under the rules of the official leaderboard.
//!
//! The model receives the system prompt of the ARC-AGI-3 paper (section 4.3.1), the observations
//! and the names of the offered actions. It gets no tools, no hints and no memory except the
//! conversation, and it takes one action per call. Three modules add features that the official
//! agent does not have:
//!
//! * `logged_calls` stores every answer, so that no answer is paid for twice.
//! * The spend guard of [`ModelPlayer`] covers the worst case of each request before it is sent.
//! * `conversation` limits the context in the provider's own tokens.
//!
//! **Invariant:** every request is in the log before it is sent, and every answer is in the log
//! before it is used. A restarted play takes its answers from the log and sends requests only after
//! the log ends.

mod call_log;
mod conversation;
mod log;
mod logged_calls;
mod observation;
mod reading;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rhae_engine::{Action, PlayState};
use rhae_llm::{FailureKind, Finish, Model, Reply, Request, SpendGuard};
use rhae_protocol::Details;
use serde_json::json;

pub use call_log::{CallLog, DIFFERENT_REQUEST, LoggedCall, branch_of, branch_prefix};
pub use log::{LOG_SUFFIX, log_path, spent_in_log};
pub use logged_calls::{LoggedCalls, error_of_failure, is_context_overflow, usage_details};

use crate::random::nothing_offered;
use crate::registry::{AgentEntry, Constructor};
use crate::{AbortHandle, Agent, AgentError, Decision, RequestProfiles, View};
use conversation::Conversation;
use observation::{AllowedActions, observation};

pub(crate) const ENTRY: AgentEntry = AgentEntry {
    name: "model",
    form: "model:NAME",
    summary: "asks a language model for each action, under the rules of the official leaderboard",
    constructor: Constructor::FromArgument,
};

/// The system prompt of the ARC-AGI-3 paper, section 4.3.1.
pub const SYSTEM_PROMPT: &str = "You are playing a game. Your goal is to win. Reply with the exact action you want to take. The final action in your reply will be executed next turn. Your entire reply will be carried to the next turn.";

/// The default limit of a conversation, in tokens.
pub const CONTEXT_TOKENS: u64 = 175_000;

/// The maximum number of additional requests for one decision after replies that name no offered
/// action, or after timeouts.
const MAX_RETRIES: u32 = 3;
/// The maximum number of times that one decision shortens the conversation because the provider
/// rejects it as too long.
const MAX_CONTEXT_CUTS: u32 = 8;
/// The maximum number of characters of a reply, and of its reasoning, in a recording. The log
/// stores the full text.
const MAX_RECORDED_CHARS: usize = 12_000;

/// The settings and limits that all plays of a model share.
pub struct ModelPlayer {
    pub model: Arc<Model>,
    /// Whether the provider's reasoning is sent back with the conversation. The official agent does
    /// not send it.
    pub keep_reasoning: bool,
    /// The limit of a conversation, in tokens as the provider counts them.
    pub context_tokens: u64,
    /// The spend limit of the run; `Arc::new(())` for none.
    pub spend_guard: Arc<dyn SpendGuard>,
    /// The time limit of one request, retries included.
    pub request_timeout: Option<Duration>,
}

impl ModelPlayer {
    /// Returns the same player under another spend limit.
    #[must_use]
    pub fn with_spend_guard(&self, spend_guard: Arc<dyn SpendGuard>) -> Self {
        Self {
            model: Arc::clone(&self.model),
            spend_guard,
            ..*self
        }
    }

    /// What [`ModelAgent`] assumes about its requests: one for each action, which adds an observation
    /// of one frame or several.
    pub const PROFILES: RequestProfiles =
        RequestProfiles::new([1.0, 1.0, 1.2], [5_000, 9_000, 20_000], [50, 800, 6_000]);

    /// Returns the request that an agent with this seed sends first in a play that starts with
    /// `view`. Its worst case decides whether a spend limit is large enough to start.
    pub fn first_request(&self, seed: u64, view: &View<'_>) -> Request {
        let allowed = AllowedActions {
            actions: view.available,
            reset: false,
        };
        let mut conversation = Conversation::new(self.context_tokens, self.keep_reasoning);
        conversation.push_observation(&observation(view, view.levels_completed > 0, allowed));
        conversation.request(SYSTEM_PROMPT, first_sample(seed))
    }
}

impl fmt::Debug for ModelPlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model:{}", self.model.name())
    }
}

/// An agent that asks a language model for each action. One instance plays one play.
pub struct ModelAgent {
    calls: LoggedCalls<'static>,
    conversation: Conversation,
    /// The sample number of the first request of each decision. Each retry uses the next number.
    /// The number depends on the seed, so that recorded answers of different repeats can be
    /// distinguished.
    first_sample: u32,
    /// The observations since the model's last answer.
    unanswered: String,
    levels_completed: u8,
    /// Whether the last command was RESET.
    was_reset: bool,
}

impl ModelAgent {
    /// Creates an agent with the log file `log`. If the file exists, the agent first repeats the
    /// answers in it without sending requests.
    ///
    /// # Errors
    ///
    /// Returns [`AgentError::Failed`] if the log cannot be opened or read.
    pub fn start(player: &Arc<ModelPlayer>, seed: u64, log: &Path) -> Result<Self, AgentError> {
        Ok(Self {
            calls: LoggedCalls::open(player, log)?,
            conversation: Conversation::new(player.context_tokens, player.keep_reasoning),
            first_sample: first_sample(seed),
            unanswered: String::new(),
            levels_completed: 0,
            was_reset: true,
        })
    }

    /// Asks the model until a reply names an allowed action, with at most [`MAX_RETRIES`] retries.
    fn decide(&mut self, allowed: AllowedActions) -> Result<(Action, Reply), AgentError> {
        let mut cuts = 0;
        let mut retries = 0;
        loop {
            let request = self
                .conversation
                .request(SYSTEM_PROMPT, self.first_sample + retries);
            let problem = match self.calls.ask(&request)? {
                Ok(reply) => {
                    if let Some(usage) = &reply.usage {
                        self.conversation.calibrate(&request, usage.input_tokens);
                    }
                    match reading::action(&reply.text, allowed) {
                        Some(action) => return Ok((action, reply)),
                        None => format!(
                            "the model named no offered action; its reply {}",
                            describe(&reply)
                        ),
                    }
                }
                Err(failure)
                    if is_context_overflow(&failure)
                        && cuts < MAX_CONTEXT_CUTS
                        && self.conversation.drop_older_half() =>
                {
                    cuts += 1;
                    continue;
                }
                Err(failure) if failure.kind == FailureKind::TimedOut => failure.message,
                Err(failure) => return Err(error_of_failure(failure)),
            };
            if retries == MAX_RETRIES {
                return Err(AgentError::Failed(format!(
                    "{problem} (asked {} times)",
                    retries + 1
                )));
            }
            retries += 1;
        }
    }
}

impl Agent for ModelAgent {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        let new_level = view.levels_completed > self.levels_completed;
        self.levels_completed = view.levels_completed;
        let allowed = AllowedActions {
            actions: view.available,
            reset: !self.was_reset,
        };
        if !self.unanswered.is_empty() {
            self.unanswered.push_str("\n\n");
        }
        self.unanswered
            .push_str(&observation(view, new_level, allowed));
        let is_lost = view.state == PlayState::GameOver;
        if view.available.is_empty() && self.was_reset && !is_lost {
            return Err(nothing_offered());
        }
        if is_lost || view.available.is_empty() {
            // Only RESET has an effect after a loss, and only RESET is possible if no action is
            // offered, so the agent chooses it without asking the model.
            self.was_reset = true;
            return Ok(Action::Reset.into());
        }
        self.conversation.push_observation(&self.unanswered);
        let (action, reply) = self.decide(allowed)?;
        self.conversation.push_reply(&reply);
        self.unanswered.clear();
        self.was_reset = action == Action::Reset;
        let reasoning = json!({"output": short(&reply.text), "reasoning": reply.reasoning.as_deref().map(short)});
        Ok(Decision {
            action,
            details: Details {
                reasoning: Some(reasoning),
                ..self.unreported_usage()
            },
        })
    }

    fn unreported_usage(&mut self) -> Details {
        usage_details(self.calls.take_spent())
    }

    fn abort_handle(&self) -> Option<AbortHandle> {
        let cancel = self.calls.cancel_token().clone();
        Some(Box::new(move || cancel.cancel()))
    }
}

/// Returns the sample number of the first request of each decision.
fn first_sample(seed: u64) -> u32 {
    u32::try_from(seed % (1 << 24)).unwrap_or(0) << 6
}

/// Describes a reply without an offered action, for an error message.
fn describe(reply: &Reply) -> String {
    match &reply.finish {
        Finish::Refused(why) => format!("was a refusal: {why}"),
        Finish::Length if reply.text.trim().is_empty() => {
            "reached the limit of output tokens before any text".to_owned()
        }
        _ if reply.text.trim().is_empty() => "was empty".to_owned(),
        _ => format!(
            "was `{}`",
            reply
                .text
                .trim()
                .chars()
                .take(200)
                .map(|letter| if letter.is_control() { ' ' } else { letter })
                .collect::<String>()
        ),
    }
}

/// Shortens a text to [`MAX_RECORDED_CHARS`].
fn short(text: &str) -> String {
    match text.char_indices().nth(MAX_RECORDED_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
