use rhae_llm::{ToolCall, Usage};
use serde_json::json;

use super::*;

/// The text of a turn: its parts, joined.
fn text(turn: &Turn) -> String {
    let part = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::Image { .. } => "image".to_owned(),
        Part::ToolCall(call) => format!("call {}", call.id),
        Part::ToolResult(result) => format!("result {}", result.id),
    };
    turn.parts.iter().map(part).collect::<Vec<_>>().join("+")
}

fn reply(text: &str, input_tokens: u64) -> Reply {
    let usage = Usage {
        input_tokens,
        output_tokens: 10,
        ..Usage::default()
    };
    Reply {
        text: text.to_owned(),
        usage: Some(usage),
        ..Reply::default()
    }
}

fn calling(id: &str, input_tokens: u64) -> Reply {
    Reply {
        tool_calls: vec![ToolCall {
            id: id.to_owned(),
            name: "t".to_owned(),
            arguments: json!({}),
        }],
        ..reply("", input_tokens)
    }
}

fn result(id: &str) -> ToolResult {
    ToolResult {
        id: id.to_owned(),
        name: "t".to_owned(),
        output: "word ".repeat(20),
        is_error: false,
    }
}

fn conversation(max_tokens: u64) -> Conversation {
    Conversation::new(
        "system".to_owned(),
        Vec::new(),
        true,
        TrimPolicy::new(max_tokens),
    )
}

#[test]
fn requests_extend_the_previous_one_until_turns_are_removed() {
    let mut conversation = conversation(2_000);
    let mut previous: Vec<Turn> = Vec::new();
    let mut removals_seen = 0;
    for number in 0..60 {
        conversation.push_user(vec![Part::text(format!("{number} {}", "word ".repeat(60)))]);
        let request = conversation.request(0);
        if conversation.removals() == removals_seen {
            assert_eq!(
                request.turns[..previous.len()],
                previous[..],
                "the earlier request is a prefix"
            );
        }
        removals_seen = conversation.removals();
        assert!(conversation.tokens() <= 2_000);
        // The provider counts twice as many tokens as the estimate.
        let counted = 2 * request.estimated_tokens();
        previous = request.turns;
        conversation.push_reply(&reply("yes", counted));
    }
    // About 250 tokens per exchange, 900 of which are removed at once.
    let removals = conversation.removals();
    assert!((5..=20).contains(&removals), "{removals}");
}

#[test]
fn size_is_what_the_provider_reported() {
    let mut conversation = conversation(10_000);
    conversation.push_user(vec![Part::text("hello")]);
    conversation.request(0);
    conversation.push_reply(&reply("hi", 500));
    assert_eq!(conversation.tokens(), 510);
    conversation.push_user(vec![Part::text("again")]);
    assert!(conversation.tokens() > 510);
}

#[test]
fn reasoning_that_is_not_sent_back_does_not_count() {
    let usage = Usage {
        input_tokens: 100,
        output_tokens: 50,
        reasoning_tokens: 40,
        ..Usage::default()
    };
    let thinking = Reply {
        usage: Some(usage),
        reasoning_items: vec![json!({"sealed": 1})],
        ..reply("a", 0)
    };
    for (keep, expected) in [(true, 150), (false, 110)] {
        let mut conversation =
            Conversation::new(String::new(), Vec::new(), keep, TrimPolicy::new(1000));
        conversation.push_user(vec![Part::text("q")]);
        conversation.push_reply(&thinking);
        assert_eq!(conversation.tokens(), expected);
        let request = conversation.request(0);
        assert_eq!(request.turns[1].reasoning_items.is_empty(), !keep);
    }
}

#[test]
fn result_is_never_separated_from_its_call() {
    let mut conversation = conversation(400);
    conversation.set_reminder("The goal is to win.".to_owned());
    conversation.push_user(vec![Part::text("start")]);
    for number in 0..30 {
        let request = conversation.request(0);
        let first = text(&request.turns[0]);
        assert!(!first.contains("result"), "{first}");
        if conversation.removals() > 0 {
            assert!(first.contains(REMOVED) && first.contains("The goal is to win."));
            assert_eq!(request.turns[1].role, Role::Assistant);
        }
        let id = number.to_string();
        conversation.push_reply(&calling(&id, request.estimated_tokens()));
        conversation.push_results(vec![result(&id)]);
    }
    assert!(conversation.removals() > 1);
    let last = conversation.request(0).turns;
    assert_eq!(text(&last[last.len() - 1]), "result 29");
}

#[test]
fn newest_exchange_remains() {
    let mut conversation = conversation(1);
    conversation.push_user(vec![Part::text("word ".repeat(500))]);
    assert_eq!(conversation.request(0).turns.len(), 1);
    assert!(!conversation.remove_older_half());
    conversation.push_reply(&calling("a", 1000));
    conversation.push_results(vec![result("a")]);
    let turns = conversation.request(0).turns;
    let texts: Vec<String> = turns.iter().map(text).collect();
    assert_eq!(texts, [REMOVED, "call a", "result a"]);
}

#[test]
fn consecutive_turns_of_the_user_are_joined() {
    let mut conversation = conversation(1000);
    conversation.push_user(vec![Part::text("a")]);
    conversation.push_user(vec![Part::text("b")]);
    let request = conversation.request(3);
    assert_eq!(
        (text(&request.turns[0]).as_str(), request.sample),
        ("a+b", 3)
    );
    conversation.push_reply(&reply("", 10));
    assert_eq!(text(&conversation.request(0).turns[1]), "(no text)");
}
