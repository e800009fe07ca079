//! Prepared answers: an ordinary provider that needs no network.

use crate::{Finish, Part, Reply, Request, Role, Usage, estimate_tokens};

/// What the mock says. The answer depends on the request alone: on how often the model has spoken in it, and on its sample.
pub(crate) fn reply(replies: &[String], request: &Request) -> Reply {
    let spoken = request
        .turns
        .iter()
        .filter(|turn| turn.role == Role::Assistant)
        .count();
    let index = spoken.saturating_add(request.sample as usize) % replies.len().max(1);
    let text = replies.get(index).cloned().unwrap_or_default();
    let output_tokens = estimate_tokens(&text);
    let parts = request.turns.iter().flat_map(|turn| &turn.parts);
    // A picture is as long as its text, so that the counts depend on all that is asked.
    let of = |part: &Part| match part {
        Part::Text { text } | Part::Image { base64: text, .. } => estimate_tokens(text),
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
    fn answers_follow_turns_and_samples() {
        let replies = ["a".to_owned(), "b".to_owned()];
        let said = |request: &Request| reply(&replies, request).text;
        let mut request = Request::text("go");
        assert_eq!(said(&request), "a");
        assert_eq!(
            said(&Request {
                sample: 1,
                ..request.clone()
            }),
            "b"
        );
        request
            .turns
            .extend([Turn::assistant("a"), Turn::user("on")]);
        assert_eq!(said(&request), "b");
        assert_eq!(reply(&replies, &request).usage.unwrap().input_tokens, 3);
    }
}
