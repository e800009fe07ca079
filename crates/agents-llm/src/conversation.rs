//! A conversation with a model, limited to a context, with a declared policy for what is removed.
//!
//! **Invariant:** turns are only appended, and removed only from the front in large steps. What is
//! sent is therefore an extension of what was sent before, which the provider has in its prompt
//! cache, except after a removal.
//!
//! **Invariant:** a conversation never starts with the result of a tool whose call was removed.

use rhae_llm::{Part, Reply, Request, Role, Tool, ToolResult, Turn, estimate_tokens};

/// The tokens that an image counts until the provider reports the size of a request.
const ESTIMATED_IMAGE_TOKENS: u64 = 1000;
/// The first turn of a conversation whose older turns were removed.
const REMOVED: &str = "The older part of this conversation was removed to save space.";

/// When turns are removed from the front of a conversation, and how many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrimPolicy {
    /// The conversation is shortened before it exceeds this many tokens.
    pub max_tokens: u64,
    /// The part of `max_tokens` that remains, in percent. A small part is removed rarely, so that
    /// most requests read the prompt cache.
    pub keep_percent: u64,
}

impl TrimPolicy {
    /// Creates a policy that keeps 55 percent of the context.
    pub const fn new(max_tokens: u64) -> Self {
        Self {
            max_tokens,
            keep_percent: 55,
        }
    }

    fn target(self) -> u64 {
        self.max_tokens.saturating_mul(self.keep_percent) / 100
    }
}

/// A conversation: the system prompt, the tools and the turns.
pub struct Conversation {
    system: String,
    tools: Vec<Tool>,
    keep_reasoning: bool,
    policy: TrimPolicy,
    turns: Vec<SizedTurn>,
    /// The turn before `turns` if older turns were removed.
    head: Option<SizedTurn>,
    /// What the model must still know after a removal.
    reminder: String,
    /// The provider's tokens per estimated token.
    ratio: f64,
    /// The tokens of the system prompt, the tools and the first turns, as the provider counted them.
    counted: Option<Counted>,
    /// How often older turns were removed.
    removals: u32,
}

struct SizedTurn {
    turn: Turn,
    estimate: u64,
}

#[derive(Clone, Copy)]
struct Counted {
    turns: usize,
    tokens: u64,
}

impl Conversation {
    pub fn new(system: String, tools: Vec<Tool>, keep_reasoning: bool, policy: TrimPolicy) -> Self {
        Self {
            system,
            tools,
            keep_reasoning,
            policy,
            turns: Vec::new(),
            head: None,
            reminder: String::new(),
            ratio: 1.0,
            counted: None,
            removals: 0,
        }
    }

    /// Sets the text that replaces removed turns, in addition to the note that they were removed. It
    /// is used by the next removal, so that it does not change what was already sent.
    pub fn set_reminder(&mut self, reminder: String) {
        self.reminder = reminder;
    }

    /// Adds a turn of the user.
    pub fn push_user(&mut self, parts: Vec<Part>) {
        // Providers expect alternating turns.
        if let Some(last) = self.turns.last_mut()
            && last.turn.role == Role::User
        {
            last.estimate += parts.iter().map(estimate).sum::<u64>();
            last.turn.parts.extend(parts);
            let turns = self.turns.len();
            self.counted = self.counted.filter(|counted| counted.turns < turns);
            return;
        }
        self.push(Turn {
            role: Role::User,
            parts,
            reasoning_items: Vec::new(),
        });
    }

    /// Adds the results of tools, in the order of their calls.
    pub fn push_results(&mut self, results: Vec<ToolResult>) {
        self.push_user(results.into_iter().map(Part::ToolResult).collect());
    }

    /// Adds the reply to a request that [`request`](Self::request) returned.
    pub fn push_reply(&mut self, reply: &Reply) {
        if let Some(usage) = &reply.usage {
            self.calibrate(usage.input_tokens);
            let kept = if self.keep_reasoning {
                0
            } else {
                usage.reasoning_tokens
            };
            self.counted = Some(Counted {
                turns: self.turns.len() + 1,
                tokens: usage
                    .input_tokens
                    .saturating_add(usage.output_tokens)
                    .saturating_sub(kept),
            });
        }
        let mut turn = reply.to_turn();
        if !self.keep_reasoning {
            turn.reasoning_items.clear();
        }
        if turn.parts.is_empty() {
            // Providers reject turns without content.
            turn.parts.push(Part::text("(no text)"));
        }
        self.push(turn);
    }

    /// Returns the next request. If the conversation would exceed its limit, older turns are removed
    /// first.
    pub fn request(&mut self, sample: u32) -> Request {
        if self.tokens() > self.policy.max_tokens {
            self.remove_until(self.policy.target());
        }
        let turns = self.head.iter().chain(&self.turns);
        Request {
            system: Some(self.system.clone()),
            tools: self.tools.clone(),
            turns: turns.map(|sized| sized.turn.clone()).collect(),
            sample,
            keep_reasoning: self.keep_reasoning,
        }
    }

    /// Removes the older half, because the provider rejected the conversation as too long. Returns
    /// false if nothing can be removed.
    pub fn remove_older_half(&mut self) -> bool {
        let before = self.turns.len();
        self.remove_until(self.tokens() / 2);
        self.turns.len() < before
    }

    /// Returns the number of tokens that the provider will count for the next request: what it
    /// reported last, and an estimate of what was added since.
    pub fn tokens(&self) -> u64 {
        let scaled = |estimate: u64| (estimate as f64 * self.ratio).ceil() as u64;
        match self.counted {
            Some(counted) => {
                let added = self.turns[counted.turns.min(self.turns.len())..].iter();
                counted.tokens + scaled(added.map(|turn| turn.estimate).sum())
            }
            None => scaled(self.estimate()),
        }
    }

    /// Returns how often older turns were removed.
    pub fn removals(&self) -> u32 {
        self.removals
    }

    fn push(&mut self, turn: Turn) {
        let estimate = turn.parts.iter().map(estimate).sum();
        self.turns.push(SizedTurn { turn, estimate });
    }

    /// Returns the estimated tokens of everything that is sent.
    fn estimate(&self) -> u64 {
        let of_tool = |tool: &Tool| {
            estimate_tokens(&tool.description) + estimate_tokens(&tool.parameters.to_string())
        };
        estimate_tokens(&self.system)
            + self.tools.iter().map(of_tool).sum::<u64>()
            + self
                .head
                .iter()
                .chain(&self.turns)
                .map(|turn| turn.estimate)
                .sum::<u64>()
    }

    /// Adjusts the estimate to the provider's count of the last request.
    fn calibrate(&mut self, input_tokens: u64) {
        let estimate = self.estimate();
        if estimate > 0 && input_tokens > 0 {
            self.ratio = input_tokens as f64 / estimate as f64;
        }
    }

    /// Removes turns from the front until at most `target` tokens remain. The newest turns, from the
    /// last turn of the model on, always remain.
    fn remove_until(&mut self, target: u64) {
        let mut remaining = self.tokens();
        let mut cut = 0;
        let last_model_turn = self
            .turns
            .iter()
            .rposition(|turn| turn.turn.role == Role::Assistant)
            .unwrap_or(0);
        for (index, turn) in self.turns.iter().enumerate().take(last_model_turn + 1) {
            if is_possible_start(&turn.turn) {
                cut = index;
                if remaining <= target {
                    break;
                }
            }
            let size = (turn.estimate as f64 * self.ratio) as u64;
            remaining = remaining.saturating_sub(size);
        }
        if cut == 0 {
            return;
        }
        self.turns.drain(..cut);
        self.counted = None;
        self.removals += 1;
        let text = if self.reminder.is_empty() {
            REMOVED.to_owned()
        } else {
            format!("{REMOVED}\n\n{}", self.reminder)
        };
        let starts_with_user = self.turns[0].turn.role == Role::User;
        if starts_with_user {
            // Two turns of the user in a row are not allowed, so the note becomes a part of the
            // first one.
            self.turns[0].estimate += estimate_tokens(&text);
            self.turns[0].turn.parts.insert(0, Part::text(text));
            self.head = None;
        } else {
            self.head = Some(SizedTurn {
                estimate: estimate_tokens(&text),
                turn: Turn::user(text),
            });
        }
    }
}

/// Returns whether a conversation may start with this turn: it does not contain the result of a
/// call in an earlier turn.
fn is_possible_start(turn: &Turn) -> bool {
    turn.parts
        .iter()
        .all(|part| !matches!(part, Part::ToolResult(_)))
}

fn estimate(part: &Part) -> u64 {
    match part {
        Part::Text { text } => estimate_tokens(text),
        Part::Image { .. } => ESTIMATED_IMAGE_TOKENS,
        Part::ToolCall(call) => estimate_tokens(&call.arguments.to_string()) + 8,
        Part::ToolResult(result) => estimate_tokens(&result.output) + 8,
    }
}

#[cfg(test)]
mod tests;
