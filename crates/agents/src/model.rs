//! A language model as a player, under the rules of the official leaderboard: no harness.
//!
//! The model is given the one system prompt of the ARC-AGI-3 paper (section 4.3.1), what a client sees, and the names of the actions;
//! nothing else: no tools, no hints, no memory but the conversation. It takes one action a call. What the official agent lacks is
//! around that: a log that every paid answer survives in (`log`), a limit on what is spent (`purse`), a context that is
//! limited in the provider's own tokens (`conversation`).
//!
//! **Invariant:** every request is in the log before it is sent, and its answer is before it is acted on; so a play that is begun again
//! takes the answers that were paid for from the log, and sends a request only where the log ends.

mod conversation;
mod log;
mod observation;
mod purse;
mod reading;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rhae_engine::{Action, PlayState};
use rhae_llm::{
    Attempt, Cancel, Failure, FailureKind, Finish, Halt, Model, Reply, Request, Sending, Watch,
};
use rhae_protocol::{Details, Spent};
use serde_json::json;

pub use log::{LOG_ENDING, log_path, spent_in};
pub use purse::Purse;

use crate::{Agent, AgentError, Decision, Stopper, View};
use conversation::Conversation;
use log::Log;
use observation::{Offer, observation};

/// The system prompt of the paper, section 4.3.1.
pub const SYSTEM_PROMPT: &str = "You are playing a game. Your goal is to win. Reply with the exact action you want to take. The final action in your reply will be executed next turn. Your entire reply will be carried to the next turn.";

/// How long a conversation may be where nobody says so, in tokens.
pub const CONTEXT_TOKENS: u64 = 175_000;

/// How often a model is asked again for a reply that names an action.
const MORE_TRIES: u32 = 3;
/// How often a conversation is cut because the provider says that it is too long.
const MOST_CUTS: u32 = 8;
/// The most characters of a reply, and of the reasoning behind it, that go into a recording. The log has all of it.
const MOST_CHARACTERS: usize = 12_000;

/// What all plays of a model share.
pub struct ModelPlayer {
    /// The model.
    pub model: Arc<Model>,
    /// Whether the provider's reasoning is sent back with the conversation. The official setting is not to.
    pub keep_reasoning: bool,
    /// How long a conversation may be, in tokens as the provider counts them.
    pub context_tokens: u64,
    /// What may be spent, and what was.
    pub purse: Purse,
}

impl fmt::Debug for ModelPlayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model:{}", self.model.name())
    }
}

/// One play of a model.
pub struct ModelAgent {
    player: Arc<ModelPlayer>,
    cancel: Cancel,
    log: Log,
    conversation: Conversation,
    /// The first sample's number, which keeps repeats apart in recordings of answers.
    first_sample: u32,
    /// What has been shown and not been answered yet.
    unanswered: String,
    levels_completed: u8,
    /// Whether the last command was RESET.
    was_reset: bool,
    /// What was consumed since the last decision.
    spent: Spent,
}

impl ModelAgent {
    /// An agent whose log is in a file; what the file holds is played first.
    pub fn start(player: &Arc<ModelPlayer>, seed: u64, log: &Path) -> Result<Self, AgentError> {
        Ok(Self {
            player: Arc::clone(player),
            cancel: Cancel::default(),
            log: Log::open(log).map_err(AgentError::Failed)?,
            conversation: Conversation::new(player.context_tokens, player.keep_reasoning),
            first_sample: u32::try_from(seed % (1 << 24)).unwrap_or(0) << 6,
            unanswered: String::new(),
            levels_completed: 0,
            was_reset: true,
            spent: Spent::default(),
        })
    }

    /// Asks until a reply names an action.
    fn decide(&mut self, offer: Offer) -> Result<(Action, Reply), AgentError> {
        let mut cuts = 0;
        let mut tries = 0;
        loop {
            let request = self
                .conversation
                .request(SYSTEM_PROMPT, self.first_sample + tries);
            let problem = match self.ask(&request)? {
                Ok(reply) => {
                    if let Some(usage) = &reply.usage {
                        self.conversation.measure(&request, usage.input_tokens);
                    }
                    match reading::action(&reply.text, offer) {
                        Some(action) => return Ok((action, reply)),
                        None => format!(
                            "the model named no action that is offered; its reply {}",
                            shown(&reply)
                        ),
                    }
                }
                Err(failure)
                    if is_too_long(&failure) && cuts < MOST_CUTS && self.conversation.cut() =>
                {
                    cuts += 1;
                    continue;
                }
                Err(failure) if failure.kind == FailureKind::TimedOut => failure.message,
                Err(failure) => return Err(error_of(failure)),
            };
            if tries == MORE_TRIES {
                return Err(AgentError::Failed(format!(
                    "{problem} (asked {} times)",
                    tries + 1
                )));
            }
            tries += 1;
        }
    }

    /// One call: out of the log if it is there, and otherwise of the model.
    fn ask(&mut self, request: &Request) -> Result<Result<Reply, Failure>, AgentError> {
        let fingerprint = request.fingerprint();
        if let Some(past) = self.log.past(&fingerprint).map_err(AgentError::Failed)? {
            self.spent += past.spent;
            if let Some(reply) = past.reply {
                return Ok(Ok(reply));
            }
        }
        let mut watch = Bookkeeping {
            log: &mut self.log,
            purse: &self.player.purse,
            fingerprint: &fingerprint,
            spent: Spent::default(),
        };
        let reply = self
            .player
            .model
            .ask(request, &self.cancel, None, &mut watch)
            .reply;
        self.spent += watch.spent;
        Ok(reply)
    }
}

impl Agent for ModelAgent {
    fn act(&mut self, view: &View<'_>) -> Result<Decision, AgentError> {
        let new_level = view.levels_completed > self.levels_completed;
        self.levels_completed = view.levels_completed;
        let offer = Offer {
            actions: view.available,
            reset: !self.was_reset,
        };
        if !self.unanswered.is_empty() {
            self.unanswered.push_str("\n\n");
        }
        self.unanswered
            .push_str(&observation(view, new_level, offer));
        if view.state == PlayState::GameOver {
            // Nothing else does anything, so the model is not asked.
            self.was_reset = true;
            return Ok(Action::Reset.into());
        }
        self.conversation.show(&self.unanswered);
        let (action, reply) = self.decide(offer)?;
        self.conversation.answer(&reply);
        self.unanswered.clear();
        self.was_reset = action == Action::Reset;
        let reasoning = json!({"output": short(&reply.text), "reasoning": reply.reasoning.as_deref().map(short)});
        Ok(Decision {
            action,
            details: Details {
                reasoning: Some(reasoning),
                ..self.leftover()
            },
        })
    }

    fn leftover(&mut self) -> Details {
        let spent = std::mem::take(&mut self.spent);
        let usage = serde_json::to_value(spent)
            .ok()
            .filter(|_| spent != Spent::default());
        Details {
            usage,
            cost_usd: spent.cost_usd,
            ..Details::default()
        }
    }

    fn stopper(&self) -> Option<Stopper> {
        let cancel = self.cancel.clone();
        Some(Box::new(move || cancel.cancel()))
    }
}

/// Writes every request down, counts it, and lets none pass if the money is spent.
struct Bookkeeping<'a> {
    log: &'a mut Log,
    purse: &'a Purse,
    fingerprint: &'a str,
    spent: Spent,
}

impl Watch for Bookkeeping<'_> {
    fn before(&mut self, sending: &Sending) -> Result<(), Halt> {
        self.purse.check().map_err(Halt)?;
        self.log.sent(self.fingerprint, sending).map_err(Halt)
    }

    fn after(&mut self, attempt: &Attempt, reply: Option<&Reply>) -> Result<(), Halt> {
        let spent = log::spent(attempt);
        self.spent += spent;
        self.purse.add(spent);
        self.log
            .ended(self.fingerprint, attempt, reply)
            .map_err(Halt)
    }
}

/// A play that a call fails in has failed, unless the fault is not its own: then it is left, and can be gone on with.
fn error_of(failure: Failure) -> AgentError {
    let all = failure.concerns_every_call();
    if all || failure.may_be_repeated() {
        AgentError::Interrupted {
            reason: failure.message,
            all,
        }
    } else {
        AgentError::Failed(failure.message)
    }
}

/// Whether the provider says that the conversation is longer than the model can take.
fn is_too_long(failure: &Failure) -> bool {
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

/// A reply that names no action, for people.
fn shown(reply: &Reply) -> String {
    match &reply.finish {
        Finish::Refused(why) => format!("was a refusal: {why}"),
        Finish::Length if reply.text.trim().is_empty() => {
            "was cut off by the limit of output tokens before it began".to_owned()
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

fn short(text: &str) -> String {
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
