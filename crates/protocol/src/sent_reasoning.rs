//! The reasoning that a client sends to a server with an action.
//!
//! A recording stores the reasoning, the usage and the cost of an action separately. The API has only
//! one field, so the usage is added to the reasoning as [`SENT_USAGE`]. Servers limit the size of the
//! field. What exceeds the limit is shortened, and the field [`SHORTENED`] says so.

use serde_json::{Map, Value, json};

use crate::{Details, ModelUsage, TRACED_REQUESTS, TRACED_REQUESTS_LEFT_OUT};

/// The field of sent reasoning with the [`ModelUsage`] of the action.
pub const SENT_USAGE: &str = "spent";
/// The field of sent reasoning that says that texts are shortened.
const SHORTENED: &str = "shortened";
const SHORTENED_NOTE: &str =
    "texts are shortened here; the recording of the agent has more of them";
/// The lengths to which texts are shortened, one after the other, until they fit.
const LENGTHS: [usize; 6] = [1_000, 500, 250, 120, 60, 30];

/// Returns what a client sends as the reasoning of an action: an object or a string of at most
/// `max_bytes`. Returns `None` if the action has neither reasoning nor usage.
///
/// If the reasoning is too long, its texts are shortened, then its earliest requests are left out.
/// The usage and the size of the conversation always remain.
///
/// # Examples
///
/// ```
/// use rhae_protocol::{Details, sent_reasoning, sent_usage};
/// use serde_json::json;
///
/// let details = Details {
///     reasoning: Some(json!({"plan": "up".repeat(40_000)})),
///     usage: Some(json!({"input_tokens": 1200})),
///     ..Details::default()
/// };
/// let sent = sent_reasoning(&details, 16_384).unwrap();
/// assert!(sent.to_string().len() <= 16_384 && sent["shortened"].is_string());
/// assert_eq!(sent_usage(&sent).unwrap().input_tokens, 1200);
/// ```
pub fn sent_reasoning(details: &Details, max_bytes: usize) -> Option<Value> {
    let usage = ModelUsage::from_details(details);
    let mut fields = match (&details.reasoning, usage) {
        (None | Some(Value::Null), None) => return None,
        (Some(text @ Value::String(_)), None) if size(text) <= max_bytes => {
            return Some(text.clone());
        }
        (None | Some(Value::Null), _) => Map::new(),
        (Some(Value::Object(fields)), _) => fields.clone(),
        (Some(other), _) => Map::from_iter([("reason".to_owned(), other.clone())]),
    };
    if let Some(usage) = usage {
        fields.insert(SENT_USAGE.to_owned(), json!(usage));
    }
    let whole = Value::Object(fields);
    if size(&whole) <= max_bytes {
        return Some(whole);
    }
    let fits = |reasoning: &Value| size(reasoning) <= max_bytes;
    let mut shorter = whole.clone();
    shorter[SHORTENED] = SHORTENED_NOTE.into();
    for length in LENGTHS {
        shorten(&mut shorter, length);
        if fits(&shorter) {
            return Some(shorter);
        }
    }
    while leave_out_request(&mut shorter) {
        if fits(&shorter) {
            return Some(shorter);
        }
    }
    let mut least = json!({SHORTENED: SHORTENED_NOTE});
    for field in [SENT_USAGE, CONTEXT_TOKENS] {
        if let Some(value) = whole.get(field) {
            least[field] = value.clone();
        }
    }
    let requests = whole.get(TRACED_REQUESTS).and_then(Value::as_array);
    let contexts = requests.into_iter().flatten().rev();
    let last = contexts.filter_map(|request| request.get(CONTEXT_TOKENS)?.as_u64());
    if let Some(tokens) = last.into_iter().next() {
        least[CONTEXT_TOKENS] = tokens.into();
    }
    fits(&least).then_some(least)
}

/// The field of reasoning, and of a traced request, with the size of the conversation.
const CONTEXT_TOKENS: &str = "context_tokens";

/// Returns the usage in reasoning that a client has sent. Clients write it, so it is unverified.
pub fn sent_usage(reasoning: &Value) -> Option<ModelUsage> {
    let usage = reasoning.get(SENT_USAGE)?;
    let details = Details {
        usage: Some(usage.clone()),
        cost_usd: usage.get("cost_usd").and_then(Value::as_f64),
        ..Details::default()
    };
    usage
        .is_object()
        .then(|| ModelUsage::from_details(&details))?
}

/// Returns the size in bytes, with other characters than ASCII as escapes, which some servers count.
fn size(value: &Value) -> usize {
    let escaped = |character: char| match character.len_utf8() {
        1 => 1,
        _ => 6 * character.len_utf16(),
    };
    value.to_string().chars().map(escaped).sum()
}

/// Shortens all texts to a number of characters.
fn shorten(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) => {
            if text != SHORTENED_NOTE
                && let Some((end, _)) = text.char_indices().nth(max_chars)
            {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten(item, max_chars)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|field| shorten(field, max_chars)),
        _ => {}
    }
}

/// Removes the earliest request but the last one. Returns whether there was one.
fn leave_out_request(reasoning: &mut Value) -> bool {
    let Some(Value::Array(requests)) = reasoning.get_mut(TRACED_REQUESTS) else {
        return false;
    };
    if requests.len() < 2 {
        return false;
    }
    requests.remove(0);
    let left_out = reasoning
        .get(TRACED_REQUESTS_LEFT_OUT)
        .and_then(Value::as_u64);
    reasoning[TRACED_REQUESTS_LEFT_OUT] = (left_out.unwrap_or(0) + 1).into();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 16_384;

    fn details(reasoning: Value) -> Details {
        Details {
            reasoning: Some(reasoning),
            usage: Some(json!({"calls": 2, "input_tokens": 900, "output_tokens": 30})),
            cost_usd: Some(0.125),
            ..Details::default()
        }
    }

    #[test]
    fn short_reasoning_is_sent_as_it_is_with_its_usage() {
        let sent = sent_reasoning(&details(json!({"plan": "up"})), MAX).unwrap();
        assert_eq!(sent["plan"], "up");
        assert_eq!(sent.get(SHORTENED), None);
        let usage = sent_usage(&sent).unwrap();
        assert_eq!(Some(usage), ModelUsage::from_details(&details(json!({}))));
        assert_eq!((usage.calls, usage.cost_usd), (2, Some(0.125)));
        let only = |reasoning: Value| Details {
            reasoning: Some(reasoning),
            ..Details::default()
        };
        assert_eq!(sent_reasoning(&only(json!("up")), MAX), Some(json!("up")));
        // A server accepts only objects and strings.
        let listed = sent_reasoning(&only(json!([1])), MAX);
        assert_eq!(listed, Some(json!({"reason": [1]})));
        assert_eq!(sent_reasoning(&Details::default(), MAX), None);
        assert_eq!(sent_usage(&json!({"spent": "much"})), None);
        assert_eq!(sent_usage(&json!("text")), None);
    }

    #[test]
    fn long_reasoning_keeps_its_usage_and_says_that_it_is_shortened() {
        let request = |number: usize| {
            json!({"context_tokens": 1000 + number, "text": "ä".repeat(2_000),
                "calls": [{"tool": "python", "input": "\n".repeat(1_000), "output": "y".repeat(1_000)}]})
        };
        for count in [2, 4, 16, 500] {
            let requests: Vec<Value> = (0..count).map(request).collect();
            let sent = sent_reasoning(&details(json!({"requests": requests})), MAX).unwrap();
            assert!(size(&sent) <= MAX, "{count}");
            assert!(sent[SHORTENED].as_str().unwrap().contains("recording"));
            assert_eq!(sent_usage(&sent).unwrap().input_tokens, 900);
            let kept = sent["requests"].as_array().unwrap();
            let left_out = sent["requests_left_out"].as_u64().unwrap_or(0);
            assert_eq!(kept.len() as u64 + left_out, count as u64);
            assert_eq!(kept.last().unwrap()["context_tokens"], 999 + count);
        }
    }

    #[test]
    fn reasoning_that_cannot_be_shortened_leaves_the_usage() {
        let many: Vec<u32> = (0..9_000).collect();
        let hostile = json!({"numbers": many, "requests": [{"context_tokens": 77}]});
        let sent = sent_reasoning(&details(hostile), MAX).unwrap();
        let mut names: Vec<&String> = sent.as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, ["context_tokens", "shortened", "spent"]);
        assert_eq!(sent["context_tokens"], 77);
        let text = Details {
            reasoning: Some(json!("ü".repeat(9_000))),
            ..Details::default()
        };
        let sent = sent_reasoning(&text, MAX).unwrap();
        assert!(size(&sent) <= MAX && sent["reason"].as_str().unwrap().starts_with("üü"));
        assert_eq!(sent_reasoning(&text, 20), None);
    }
}
