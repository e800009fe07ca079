//! The provider `mock`: canned replies without a network.

use crate::provider::Backend;
use crate::{Finish, Part, ProviderEntry, Reply, Request, Role, Usage, estimate_tokens};

pub(crate) const ENTRY: ProviderEntry = ProviderEntry::local(
    "mock",
    "returns the configured `replies` without using the network",
    Backend::Mock,
);

/// Returns the reply to a request. It depends on the request alone: the index is the number of
/// earlier replies in the conversation plus the sample, modulo the number of replies.
pub(crate) fn reply(replies: &[String], request: &Request) -> Reply {
    let replied = request
        .turns
        .iter()
        .filter(|turn| turn.role == Role::Assistant)
        .count();
    let index = replied.saturating_add(request.sample as usize) % replies.len().max(1);
    let text = replies.get(index).cloned().unwrap_or_default();
    let output_tokens = estimate_tokens(&text);
    let parts = request.turns.iter().flat_map(|turn| &turn.parts);
    // An image counts by the length of its base64 text, so that the count covers the whole request.
    let of = |part: &Part| match part {
        Part::Text { text } | Part::Image { base64: text, .. } => estimate_tokens(text),
        Part::ToolCall(call) => estimate_tokens(&call.arguments_text()),
        Part::ToolResult(result) => estimate_tokens(&result.output),
    };
    let input_tokens =
        request.system.as_deref().map_or(0, estimate_tokens) + parts.map(of).sum::<u64>();
    let usage = Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    };
    Reply {
        text,
        finish: Finish::Done,
        usage: Some(usage),
        model: "mock".to_owned(),
        ..Reply::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Turn;

    #[test]
    fn reply_is_chosen_by_turn_and_sample() {
        let replies = ["a".to_owned(), "b".to_owned()];
        let text = |request: &Request| reply(&replies, request).text;
        let mut request = Request::text("go");
        assert_eq!(text(&request), "a");
        assert_eq!(
            text(&Request {
                sample: 1,
                ..request.clone()
            }),
            "b"
        );
        request
            .turns
            .extend([Turn::assistant("a"), Turn::user("on")]);
        assert_eq!(text(&request), "b");
        assert_eq!(reply(&replies, &request).usage.unwrap().input_tokens, 3);
    }
}
