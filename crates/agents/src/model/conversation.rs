//! The conversation of a play, as long as the model can take.
//!
//! Lengths are in the provider's tokens: its own count of each request says what our estimate is off by. The oldest exchanges are dropped
//! first, a question with its answer; the system prompt and the newest question always stay.

use std::collections::VecDeque;

use rhae_llm::{Reply, Request, Turn, estimate_tokens};

/// A question and its answer.
struct Exchange {
    question: Turn,
    answer: Option<Turn>,
    /// Our estimate of both.
    estimate: u64,
    /// Tokens of reasoning that are sent back, as the provider counted them.
    reasoning_tokens: u64,
}

pub(super) struct Conversation {
    exchanges: VecDeque<Exchange>,
    most_tokens: u64,
    keep_reasoning: bool,
    /// The provider's tokens for each of our estimated ones.
    ratio: f64,
}

impl Conversation {
    pub(super) fn new(most_tokens: u64, keep_reasoning: bool) -> Self {
        Self {
            exchanges: VecDeque::new(),
            most_tokens,
            keep_reasoning,
            ratio: 1.0,
        }
    }

    /// Adds a question; one without an answer is replaced.
    pub(super) fn show(&mut self, text: &str) {
        if self
            .exchanges
            .back()
            .is_some_and(|last| last.answer.is_none())
        {
            self.exchanges.pop_back();
        }
        let estimate = estimate_tokens(text);
        self.exchanges.push_back(Exchange {
            question: Turn::user(text),
            answer: None,
            estimate,
            reasoning_tokens: 0,
        });
    }

    /// Adds the answer to the last question.
    pub(super) fn answer(&mut self, reply: &Reply) {
        if let Some(last) = self.exchanges.back_mut() {
            last.estimate += estimate_tokens(&reply.text);
            if self.keep_reasoning {
                last.reasoning_tokens = reply.usage.map_or(0, |usage| usage.reasoning_tokens);
            }
            last.answer = Some(Turn {
                kept: reply.kept.clone(),
                ..Turn::assistant(&reply.text)
            });
        }
    }

    /// The request that continues it, after dropping what is too old to fit.
    pub(super) fn request(&mut self, system: &str, sample: u32) -> Request {
        while self.tokens(system) > self.most_tokens as f64 && self.exchanges.len() > 1 {
            self.exchanges.pop_front();
        }
        let turns = self
            .exchanges
            .iter()
            .flat_map(|exchange| [Some(exchange.question.clone()), exchange.answer.clone()])
            .flatten();
        Request {
            system: Some(system.to_owned()),
            turns: turns.collect(),
            sample,
            keep_reasoning: self.keep_reasoning,
        }
    }

    /// Learns from the provider's count of a request.
    pub(super) fn measure(&mut self, request: &Request, input_tokens: u64) {
        let reasoning: u64 = self
            .exchanges
            .iter()
            .filter(|exchange| exchange.answer.is_some())
            .map(|exchange| exchange.reasoning_tokens)
            .sum();
        let estimate = request.estimated_tokens();
        if estimate > 0 && input_tokens > reasoning {
            self.ratio = (input_tokens - reasoning) as f64 / estimate as f64;
        }
    }

    /// Drops the older half; false if there is nothing to drop.
    pub(super) fn cut(&mut self) -> bool {
        let half = self.exchanges.len() / 2;
        self.exchanges.drain(..half);
        half > 0
    }

    /// About how many tokens the provider will count.
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
    fn the_oldest_exchanges_are_dropped_by_the_providers_count() {
        let mut conversation = Conversation::new(100, false);
        for number in 0..4 {
            conversation.show(&format!("q{number} {}", "word ".repeat(9)));
            conversation.request("system", 0);
            conversation.answer(&reply(&format!("a{number}")));
        }
        conversation.show("last");
        let request = conversation.request("system", 0);
        assert_eq!(request.turns.len(), 9, "all of it fits by our estimate");
        // The provider counts three times as many.
        conversation.measure(&request, 3 * request.estimated_tokens());
        let request = conversation.request("system", 0);
        assert_eq!(request.turns.len(), 5, "{request:?}");
        assert!(texts(&request)[0].starts_with("q2") && texts(&request)[4] == "last");
        assert_eq!(request.system.as_deref(), Some("system"));
    }

    #[test]
    fn the_newest_question_always_stays() {
        let mut conversation = Conversation::new(1, false);
        conversation.show(&"word ".repeat(1000));
        assert_eq!(conversation.request("system", 0).turns.len(), 1);
        assert!(!conversation.cut());
        conversation.show("other");
        assert_eq!(
            texts(&conversation.request("system", 0)),
            ["other"],
            "a question without an answer is replaced"
        );
    }

    #[test]
    fn reasoning_that_is_sent_back_counts() {
        let mut conversation = Conversation::new(100, true);
        for number in 0..3 {
            conversation.show(&format!("q{number}"));
            let usage = Usage {
                reasoning_tokens: 60,
                ..Usage::default()
            };
            conversation.answer(&Reply {
                usage: Some(usage),
                kept: vec![serde_json::json!({"sealed": number})],
                ..reply("a")
            });
        }
        conversation.show("last");
        let request = conversation.request("system", 0);
        assert_eq!(texts(&request), ["q2", "a", "last"]);
        assert!(request.keep_reasoning && request.turns[1].kept.len() == 1);
    }
}
