//! What an agent did since its last action, for the recording of the next one.

use std::collections::VecDeque;

use rhae_protocol::{
    ModelUsage, TRACED_REQUESTS, TRACED_REQUESTS_LEFT_OUT, TracedCall, TracedRequest,
};
use serde_json::{Map, Value, json};

/// The maximum number of requests that the recording stores with an action. Those before them are
/// left out.
const MAX_REQUESTS: usize = 16;
/// The maximum number of characters of a reply, and of its reasoning, in a recording.
const MAX_REPLY_CHARS: usize = 2_000;
/// The maximum number of characters of the input of a call, and of its output.
const MAX_CALL_CHARS: usize = 1_000;

/// The requests since the last action, with the calls that they led to.
///
/// Requests have numbers that are never used again, because the calls of a request may end after the
/// action that stored it.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    requests: VecDeque<TracedRequest>,
    /// The number of the first request in `requests`.
    first: u64,
    left_out: u64,
}

/// A call that has started.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    request: u64,
    index: usize,
    agent: Option<String>,
    tool: String,
}

impl Trace {
    /// Adds a request and returns its number.
    pub(crate) fn add(&mut self, request: TracedRequest) -> u64 {
        if self.requests.len() == MAX_REQUESTS {
            self.requests.pop_front();
            self.first += 1;
            self.left_out += 1;
        }
        let shortened = |text: Option<String>| {
            let text = text.filter(|text| !text.trim().is_empty());
            text.map(|text| shortened(&text, MAX_REPLY_CHARS))
        };
        self.requests.push_back(TracedRequest {
            reasoning: shortened(request.reasoning),
            text: shortened(request.text),
            ..request
        });
        self.first + self.requests.len() as u64 - 1
    }

    /// Notes the start of a call that a request led to.
    pub(crate) fn start_call(
        &mut self,
        (request, agent): (u64, Option<&str>),
        tool: &str,
        input: &str,
    ) -> OpenCall {
        let request = if self.get(request).is_some() {
            request
        } else {
            self.add(continuation(agent))
        };
        let call = TracedCall {
            tool: tool.to_owned(),
            input: Some(shortened(input, MAX_CALL_CHARS)),
            ..TracedCall::default()
        };
        let calls = &mut self.get(request).expect("the request exists").calls;
        calls.push(call);
        OpenCall {
            request,
            index: calls.len() - 1,
            agent: agent.map(str::to_owned),
            tool: tool.to_owned(),
        }
    }

    /// Notes the result of a call.
    pub(crate) fn end_call(&mut self, call: &OpenCall, output: &str, is_error: bool) {
        let started = self.get(call.request);
        if let Some(call) = started.and_then(|request| request.calls.get_mut(call.index)) {
            call.output = Some(shortened(output, MAX_CALL_CHARS));
            call.is_error = is_error;
            return;
        }
        let mut request = continuation(call.agent.as_deref());
        request.calls.push(TracedCall {
            tool: call.tool.clone(),
            input: None,
            output: Some(shortened(output, MAX_CALL_CHARS)),
            is_error,
        });
        self.add(request);
    }

    /// Adds the requests of another trace, which ran at the same time as others.
    pub(crate) fn append(&mut self, other: Self) {
        self.left_out += other.left_out;
        for request in other.requests {
            self.add(request);
        }
    }

    /// Adds the requests to the reasoning of an action, and forgets them.
    pub(crate) fn take_into(&mut self, reasoning: Option<Value>) -> Option<Value> {
        if self.requests.is_empty() {
            return reasoning;
        }
        let mut fields = match reasoning {
            Some(Value::Object(fields)) => fields,
            None => Map::new(),
            Some(other) => Map::from_iter([("reason".to_owned(), other)]),
        };
        self.first += self.requests.len() as u64;
        let requests: Vec<TracedRequest> = self.requests.drain(..).collect();
        fields.insert(TRACED_REQUESTS.to_owned(), json!(requests));
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            fields.insert(TRACED_REQUESTS_LEFT_OUT.to_owned(), json!(left_out));
        }
        Some(Value::Object(fields))
    }

    fn get(&mut self, request: u64) -> Option<&mut TracedRequest> {
        let index = usize::try_from(request.checked_sub(self.first)?).ok()?;
        self.requests.get_mut(index)
    }
}

/// What an agent has not reported with an action yet.
#[derive(Debug, Default)]
pub(crate) struct Unreported {
    pub(crate) usage: ModelUsage,
    pub(crate) trace: Trace,
}

/// Creates an entry for calls whose request is stored with an earlier action.
fn continuation(agent: Option<&str>) -> TracedRequest {
    TracedRequest {
        agent: agent.map(str::to_owned),
        ..TracedRequest::default()
    }
}

/// Returns the arguments of a call as text: code as it is, others as JSON.
pub(crate) fn input_text(arguments: &Value) -> String {
    match arguments["code"].as_str() {
        Some(code) => code.to_owned(),
        None => arguments.to_string(),
    }
}

fn shortened(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> TracedRequest {
        TracedRequest {
            text: Some(text.to_owned()),
            ..TracedRequest::default()
        }
    }

    #[test]
    fn calls_that_end_after_an_action_are_stored_with_the_next_one() {
        let mut trace = Trace::default();
        assert_eq!(
            trace.take_into(Some(json!("as it is"))),
            Some(json!("as it is"))
        );
        let number = trace.add(request("go"));
        let looked = trace.start_call((number, Some("solver-1")), "look", "{}");
        trace.end_call(&looked, "a board", false);
        let acting = trace.start_call((number, Some("solver-1")), "act", "{\"actions\": []}");
        let first = trace.take_into(Some(json!({"plan": "up"}))).unwrap();
        assert_eq!(
            first,
            json!({"plan": "up", "requests": [{"text": "go", "calls": [
                {"tool": "look", "input": "{}", "output": "a board"},
                {"tool": "act", "input": "{\"actions\": []}"},
            ]}]})
        );
        trace.end_call(&acting, "lost", true);
        let later = trace.start_call((number, Some("solver-1")), "look", "{}");
        trace.end_call(&later, "nothing", false);
        let second = trace.take_into(None).unwrap();
        assert_eq!(
            second,
            json!({"requests": [
                {"agent": "solver-1", "calls": [{"tool": "act", "output": "lost", "is_error": true}]},
                {"agent": "solver-1", "calls": [{"tool": "look", "input": "{}", "output": "nothing"}]},
            ]})
        );
        assert_eq!(trace.take_into(None), None);
    }

    #[test]
    fn recorded_requests_are_bounded() {
        let mut trace = Trace::default();
        for number in 0..100 {
            let number = trace.add(request(&format!("{number} {}", "ä".repeat(9_000))));
            let call = trace.start_call((number, None), "python", &"x".repeat(9_000));
            trace.end_call(&call, &"y".repeat(9_000), false);
        }
        let mut other = Trace::default();
        other.add(request("of another conversation"));
        trace.append(other);
        let stored = trace.take_into(None).unwrap();
        assert_eq!(stored["requests_left_out"], 85);
        let requests: Vec<TracedRequest> =
            serde_json::from_value(stored["requests"].clone()).unwrap();
        assert_eq!(requests.len(), MAX_REQUESTS);
        assert!(requests[0].text.as_ref().unwrap().starts_with("85 ää"));
        assert_eq!(
            requests[15].text.as_deref(),
            Some("of another conversation")
        );
        let max_chars = MAX_REQUESTS * (MAX_REPLY_CHARS + 2 * MAX_CALL_CHARS + 100);
        assert!(stored.to_string().chars().count() < max_chars);
    }
}
