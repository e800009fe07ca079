//! The conversation of a play, limited to the context of the model.
//!
//! Lengths are measured in the provider's tokens. They are estimated locally, and the token count
//! that the provider reports for each request calibrates the estimate. The oldest exchanges are
//! dropped first, each observation with its reply. The system prompt and the newest observation are
//! never dropped.

use std::collections::VecDeque;

use rhae_llm::{Reply, Request, Turn, estimate_tokens};

/// An observation and the model's reply.
struct Exchange {
    observation: Turn,
    reply: Option<Turn>,
    /// The estimated tokens of both.
    estimate: u64,
    /// The tokens of reasoning that are sent back, as counted by the provider.
    reasoning_tokens: u64,
}

pub(super) struct Conversation {
    exchanges: VecDeque<Exchange>,
    max_tokens: u64,
    keep_reasoning: bool,
    /// The provider's tokens per estimated token.
    ratio: f64,
}

impl Conversation {
    pub(super) fn new(max_tokens: u64, keep_reasoning: bool) -> Self {
        Self {
            exchanges: VecDeque::new(),
            max_tokens,
            keep_reasoning,
            ratio: 1.0,
        }
    }

    /// Adds an observation. If the last observation has no reply, the new one replaces it.
    pub(super) fn push_observation(&mut self, text: &str) {
        if self
            .exchanges
            .back()
            .is_some_and(|last| last.reply.is_none())
        {
            self.exchanges.pop_back();
        }
        let estimate = estimate_tokens(text);
        self.exchanges.push_back(Exchange {
            observation: Turn::user(text),
            reply: None,
            estimate,
            reasoning_tokens: 0,
        });
    }

    /// Adds the reply to the last observation.
    pub(super) fn push_reply(&mut self, reply: &Reply) {
        if let Some(last) = self.exchanges.back_mut() {
            last.estimate += estimate_tokens(&reply.text);
            if self.keep_reasoning {
                last.reasoning_tokens = reply.usage.map_or(0, |usage| usage.reasoning_tokens);
            }
            last.reply = Some(Turn {
                reasoning_items: reply.reasoning_items.clone(),
                ..Turn::assistant(&reply.text)
            });
        }
    }

    /// Returns the next request, after dropping the oldest exchanges that do not fit.
    pub(super) fn request(&mut self, system: &str, sample: u32) -> Request {
        while self.tokens(system) > self.max_tokens as f64 && self.exchanges.len() > 1 {
            self.exchanges.pop_front();
        }
        let turns = self
            .exchanges
            .iter()
            .flat_map(|exchange| [Some(exchange.observation.clone()), exchange.reply.clone()])
            .flatten();
        Request {
            system: Some(system.to_owned()),
            turns: turns.collect(),
            sample,
            keep_reasoning: self.keep_reasoning,
            ..Request::default()
        }
    }

    /// Calibrates the estimate with the provider's count of a request.
    pub(super) fn calibrate(&mut self, request: &Request, input_tokens: u64) {
        let reasoning: u64 = self
            .exchanges
            .iter()
            .filter(|exchange| exchange.reply.is_some())
            .map(|exchange| exchange.reasoning_tokens)
            .sum();
        let estimate = request.estimated_tokens();
        if estimate > 0 && input_tokens > reasoning {
            self.ratio = (input_tokens - reasoning) as f64 / estimate as f64;
        }
    }

    /// Drops the older half of the exchanges. Returns false if there is nothing to drop.
    pub(super) fn drop_older_half(&mut self) -> bool {
        let half = self.exchanges.len() / 2;
        self.exchanges.drain(..half);
        half > 0
    }

    /// Returns the estimated number of tokens that the provider will count.
    fn tokens(&self, system: &str) -> f64 {
        let estimate: u64 = estimate_tokens(system)
            + self
                .exchanges
                .iter()
                .map(|exchange| exchange.estimate)
                .sum::<u64>();
        let reasoning: u64 = self
            .exchanges
            .iter()
            .map(|exchange| exchange.reasoning_tokens)
            .sum();
        estimate as f64 * self.ratio + reasoning as f64
    }
}

#[cfg(test)]
mod tests {
    use rhae_llm::Usage;

    use super::*;

    fn reply(text: &str) -> Reply {
        Reply {
            text: text.to_owned(),
            ..Reply::default()
        }
    }

    fn texts(request: &Request) -> Vec<String> {
        request
            .turns
            .iter()
            .map(|turn| format!("{:?}", turn.parts[0]))
            .map(|text| text.split('"').nth(1).unwrap().to_owned())
            .collect()
    }

    #[test]
    fn oldest_exchanges_are_dropped_by_the_providers_count() {
        let mut conversation = Conversation::new(100, false);
        for number in 0..4 {
            conversation.push_observation(&format!("q{number} {}", "word ".repeat(9)));
            conversation.request("system", 0);
            conversation.push_reply(&reply(&format!("a{number}")));
        }
        conversation.push_observation("last");
        let request = conversation.request("system", 0);
        assert_eq!(request.turns.len(), 9, "everything fits by the estimate");
        // The provider counts three times as many.
        conversation.calibrate(&request, 3 * request.estimated_tokens());
        let request = conversation.request("system", 0);
        assert_eq!(request.turns.len(), 5, "{request:?}");
        assert!(texts(&request)[0].starts_with("q2") && texts(&request)[4] == "last");
        assert_eq!(request.system.as_deref(), Some("system"));
    }

    #[test]
    fn newest_observation_is_never_dropped() {
        let mut conversation = Conversation::new(1, false);
        conversation.push_observation(&"word ".repeat(1000));
        assert_eq!(conversation.request("system", 0).turns.len(), 1);
        assert!(!conversation.drop_older_half());
        conversation.push_observation("other");
        assert_eq!(
            texts(&conversation.request("system", 0)),
            ["other"],
            "an observation without a reply is replaced"
        );
    }

    #[test]
    fn reasoning_that_is_sent_back_counts_towards_the_limit() {
        let mut conversation = Conversation::new(100, true);
        for number in 0..3 {
            conversation.push_observation(&format!("q{number}"));
            let usage = Usage {
                reasoning_tokens: 60,
                ..Usage::default()
            };
            conversation.push_reply(&Reply {
                usage: Some(usage),
                reasoning_items: vec![serde_json::json!({"sealed": number})],
                ..reply("a")
            });
        }
        conversation.push_observation("last");
        let request = conversation.request("system", 0);
        assert_eq!(texts(&request), ["q2", "a", "last"]);
        assert!(request.keep_reasoning && request.turns[1].reasoning_items.len() == 1);
    }
}
