//! The reasoning of actions as text, and how much of it a page contains.
//!
//! Agents with a model store their requests with the reasoning ([`TracedRequest`]). The text lists what
//! the agent believes first, and then each request with its size, its cost and its calls of tools.

use rhae_protocol::{
    SENT_USAGE, TRACED_REQUESTS, TRACED_REQUESTS_LEFT_OUT, TracedCall, TracedRequest, sent_usage,
};
use serde_json::{Map, Value};

use crate::Film;
use crate::result::grouped;

/// The field with the size of the conversation, which viewers show separately.
const CONTEXT_TOKENS: &str = "context_tokens";

/// Returns the reasoning of an action as text: a string unchanged, the requests of an agent as
/// sections, and any other JSON value indented.
///
/// ```
/// use rhae_report::reasoning_text;
/// use serde_json::json;
///
/// let reasoning = json!({
///     "plan": "go up",
///     "requests": [{"text": "I look.", "calls": [{"tool": "look", "input": "{}", "output": "a wall"}]}],
/// });
/// let text = reasoning_text(&reasoning);
/// assert_eq!(text, "PLAN\ngo up\n\nREQUEST 1 OF 1\nReply: I look.\n\nCALL OF look\n{}\n→ a wall");
/// ```
pub fn reasoning_text(reasoning: &Value) -> String {
    match reasoning {
        Value::String(text) => text.clone(),
        Value::Object(fields) => match requests(fields) {
            Some(requests) => sections(fields, &requests),
            None if sent_usage(reasoning).is_some() => {
                let mut fields = fields.clone();
                fields.remove(SENT_USAGE);
                if fields.is_empty() {
                    return String::new();
                }
                format!("{:#}", Value::Object(fields))
            }
            None => format!("{reasoning:#}"),
        },
        other => format!("{other:#}"),
    }
}

/// Returns the size of the conversation that an agent recorded with an action: that of its last
/// request.
pub fn context_tokens(reasoning: &Value) -> Option<u64> {
    let fields = reasoning.as_object()?;
    let requests = requests(fields).unwrap_or_default();
    let last = requests.iter().rev().find_map(|one| one.context_tokens);
    last.or_else(|| fields.get(CONTEXT_TOKENS).and_then(Value::as_u64))
}

fn requests(fields: &Map<String, Value>) -> Option<Vec<TracedRequest>> {
    let list = fields.get(TRACED_REQUESTS)?;
    serde_json::from_value(list.clone()).ok()
}

fn sections(fields: &Map<String, Value>, requests: &[TracedRequest]) -> String {
    let shown_elsewhere = [
        CONTEXT_TOKENS,
        SENT_USAGE,
        TRACED_REQUESTS,
        TRACED_REQUESTS_LEFT_OUT,
    ];
    let mut sections: Vec<String> = fields
        .iter()
        .filter(|(name, value)| !shown_elsewhere.contains(&name.as_str()) && !is_empty(value))
        .map(|(name, value)| {
            let title = name.replace('_', " ").to_uppercase();
            format!("{title}\n{}", reasoning_text(value))
        })
        .collect();
    let left_out = fields.get(TRACED_REQUESTS_LEFT_OUT).and_then(Value::as_u64);
    if let Some(left_out) = left_out {
        let note = format!("{left_out} earlier requests are only in the model log");
        sections.push(note);
    }
    // A continuation has only calls, whose request belongs to an earlier action.
    let is_request = |one: &&TracedRequest| one.context_tokens.is_some() || one.text.is_some();
    let count = requests.iter().filter(is_request).count();
    let mut number = 0;
    for request in requests {
        if is_request(&request) {
            number += 1;
            sections.push(request_section(request, number, count));
        }
        let agent = request.agent.as_deref();
        sections.extend(request.calls.iter().map(|call| call_section(call, agent)));
    }
    sections.join("\n\n")
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn request_section(request: &TracedRequest, number: usize, count: usize) -> String {
    let mut facts = Vec::new();
    facts.extend(request.agent.clone());
    let tokens = |tokens: u64, of: &str| format!("{} tokens {of}", grouped(tokens));
    facts.extend(
        request
            .context_tokens
            .map(|count| tokens(count, "in context")),
    );
    facts.extend(
        request
            .output_tokens
            .map(|count| tokens(count, "of output")),
    );
    facts.extend(request.cost_usd.map(|usd| format!("{usd:.4} USD")));
    let mut section = format!("REQUEST {number} OF {count}");
    if !facts.is_empty() {
        section.push_str(&format!(" ({})", facts.join(", ")));
    }
    let texts = [("Reasoning", &request.reasoning), ("Reply", &request.text)];
    for (name, text) in texts {
        if let Some(text) = text {
            section.push_str(&format!("\n{name}: {text}"));
        }
    }
    section
}

fn call_section(call: &TracedCall, agent: Option<&str>) -> String {
    let by = agent.map_or_else(String::new, |agent| format!(" BY {agent}"));
    let mut section = format!("CALL OF {}{by}", call.tool);
    if let Some(input) = &call.input {
        section.push_str(&format!("\n{}", input.trim_end()));
    }
    let kind = if call.is_error { "error: " } else { "" };
    match &call.output {
        Some(output) => section.push_str(&format!("\n→ {kind}{}", output.trim_end())),
        None => section.push_str("\n→ this action"),
    }
    section
}

/// Returns the reasoning of each moment for a page that has room for `max_bytes` of it. If there is
/// more, the longest texts are shortened, all to the same length.
pub(crate) fn bounded_reasoning(film: &Film, max_bytes: usize) -> Vec<(usize, String)> {
    let moments = film.moments.iter().enumerate();
    let texts: Vec<(usize, &str)> = moments
        .filter_map(|(index, moment)| Some((index, moment.reasoning.as_deref()?)))
        .collect();
    let longest = longest_that_fits(texts.iter().map(|(_, text)| text.len()), max_bytes);
    let bounded = |(index, text): (usize, &str)| {
        if text.len() <= longest {
            return (index, text.to_owned());
        }
        let end = text.floor_char_boundary(longest);
        let note = "… [shortened here; the recording has the whole text]";
        (index, format!("{}{note}", &text[..end]))
    };
    texts.into_iter().map(bounded).collect()
}

/// Returns the largest length to which texts can be shortened so that their sum is at most `max`.
fn longest_that_fits(lengths: impl Iterator<Item = usize>, max: usize) -> usize {
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let mut left = max;
    for (index, &length) in lengths.iter().enumerate() {
        let share = left / (lengths.len() - index);
        if length > share {
            return share;
        }
        left -= length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::film::tests::walking_square;

    #[test]
    fn requests_are_sections_with_their_calls() {
        let reasoning = json!({
            "world_model": "a wall",
            "empty": "",
            "context_tokens": 5,
            "requests_left_out": 3,
            "requests": [
                {"agent": "solver-1", "calls": [{"tool": "act", "output": "done\n", "is_error": true}]},
                {"context_tokens": 12_345, "output_tokens": 90, "cost_usd": 0.25, "reasoning": "hm",
                 "text": "go", "calls": [{"tool": "python", "input": "1 + 1"}]},
            ],
        });
        let expected = "WORLD MODEL\na wall\n\n3 earlier requests are only in the model log\n\n\
            CALL OF act BY solver-1\n→ error: done\n\n\
            REQUEST 1 OF 1 (12,345 tokens in context, 90 tokens of output, 0.2500 USD)\nReasoning: hm\nReply: go\n\n\
            CALL OF python\n1 + 1\n→ this action";
        assert_eq!(reasoning_text(&reasoning), expected);
        assert_eq!(context_tokens(&reasoning), Some(12_345));
        assert_eq!(context_tokens(&json!({"context_tokens": 5})), Some(5));
        assert_eq!(context_tokens(&json!("text")), None);
    }

    #[test]
    fn usage_that_was_sent_to_a_server_is_not_text() {
        let usage = json!({"calls": 1, "cost_usd": 0.5});
        let text = reasoning_text(&json!({"output": "up", "spent": usage}));
        assert_eq!(text, "{\n  \"output\": \"up\"\n}");
        assert_eq!(reasoning_text(&json!({"spent": usage})), "");
        let sent = json!({"spent": usage, "shortened": "texts are shortened", "requests": []});
        assert_eq!(reasoning_text(&sent), "SHORTENED\ntexts are shortened");
        assert_eq!(reasoning_text(&json!({"spent": 3})), "{\n  \"spent\": 3\n}");
    }

    #[test]
    fn other_reasoning_is_shown_as_it_is() {
        assert_eq!(reasoning_text(&json!("go left")), "go left");
        assert_eq!(reasoning_text(&json!({"plan": 1})), "{\n  \"plan\": 1\n}");
        let foreign = json!({"requests": "none"});
        assert_eq!(reasoning_text(&foreign), "{\n  \"requests\": \"none\"\n}");
    }

    #[test]
    fn reasoning_of_a_page_is_bounded() {
        let mut film = walking_square(1);
        for (index, moment) in film.moments.iter_mut().enumerate() {
            moment.reasoning = (index > 0).then(|| "ä".repeat(100 * index));
        }
        let all = bounded_reasoning(&film, 1 << 20);
        assert_eq!(all.len(), 6);
        assert_eq!(all[5].1.len(), 1200);
        let some = bounded_reasoning(&film, 2_601);
        assert_eq!((some[0].1.len(), some[1].1.len()), (200, 400));
        assert!(some[5].1.contains("[shortened here"));
        let kept = |text: &str| text.split('…').next().unwrap().len();
        let total: usize = some.iter().map(|(_, text)| kept(text)).sum();
        assert!((2_500..=2_601).contains(&total), "{total}");
        assert_eq!(longest_that_fits([5, 5].into_iter(), 0), 0);
    }
}
