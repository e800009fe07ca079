use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{Models, Provider, ToolCall, ToolResult, Turn};

/// The limit of output tokens in the configurations of these tests.
const MAX_OUTPUT: u64 = 1000;

/// The HTTP providers, each with the additional fields that limit its output.
const LIMITED: [(&str, &str); 5] = [
    ("openai-chat", "max_completion_tokens = 1000"),
    ("openai-chat", "max_tokens = 1000"),
    ("openai-responses", "max_output_tokens = 1000"),
    ("anthropic", "max_tokens = 1000"),
    ("gemini", "generationConfig = { maxOutputTokens = 1000 }"),
];

fn wire(provider: &str) -> Option<&'static dyn Wire> {
    Provider::find(provider)?.wire()
}

fn config(provider: &str, fields: &str) -> ModelConfig {
    let text = format!(
        "[models.m]\nprovider = \"{provider}\"\nmodel = \"m\"\nrequest = {{ {fields} }}\n\
         prices = {{ date = \"2026-11-01\", input = 1, output = 10 }}"
    );
    let models = Models::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    models.find("m").unwrap().clone()
}

fn bound(config: &ModelConfig, request: &Request) -> CostBound {
    let wire = config.provider.wire().expect("it uses HTTP");
    let mut body = wire.body(config, request);
    body.extend(config.request.clone());
    let bytes = serde_json::to_vec(&body).unwrap().len();
    CostBound::of_http(config, wire, request, bytes)
}

/// The counts of a reply: the prompt, its cached and written parts, the output, its reasoning.
#[derive(Clone, Copy, Debug)]
struct Counts {
    prompt: u64,
    cached: u64,
    written: u64,
    output: u64,
    reasoning: u64,
}

/// Returns the reply with which a provider reports these counts.
fn reported(provider: &str, counts: Counts) -> Value {
    let Counts {
        prompt,
        cached,
        written,
        output,
        reasoning,
    } = counts;
    match provider {
        "openai-chat" => json!({"usage": {
            "prompt_tokens": prompt,
            "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
            "completion_tokens": output - reasoning,
            "completion_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": prompt + output,
        }}),
        "openai-responses" => json!({"usage": {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": reasoning},
        }}),
        "anthropic" => json!({"usage": {
            "input_tokens": prompt - cached - written,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": written,
            "output_tokens": output,
        }}),
        "gemini" => json!({"usageMetadata": {
            "promptTokenCount": prompt,
            "cachedContentTokenCount": cached,
            "candidatesTokenCount": output - reasoning,
            "thoughtsTokenCount": reasoning,
        }}),
        other => panic!("{other:?} does not use HTTP"),
    }
}

fn requests() -> impl Strategy<Value = Request> {
    let part = prop_oneof![
        ".{0,40}".prop_map(Part::text),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| Part::png(&bytes)),
        ".{0,40}".prop_map(|text| Part::ToolCall(ToolCall {
            id: "c".to_owned(),
            name: "t".to_owned(),
            arguments: json!({"text": text}),
        })),
        ".{0,40}".prop_map(|output| Part::ToolResult(ToolResult {
            id: "c".to_owned(),
            name: "t".to_owned(),
            output,
            is_error: false,
        })),
    ];
    let turn = (any::<bool>(), proptest::collection::vec(part, 1..3)).prop_map(|(user, parts)| {
        let turn = if user {
            Turn::user("")
        } else {
            Turn::assistant("")
        };
        Turn { parts, ..turn }
    });
    let turns = proptest::collection::vec(turn, 1..4);
    (proptest::option::of(".{0,40}"), turns).prop_map(|(system, turns)| Request {
        system,
        turns,
        ..Request::default()
    })
}

fn price() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..100.0, 0.0..1e6]
}

fn prices() -> impl Strategy<Value = Prices> {
    let other = || proptest::option::of(price());
    (price(), other(), other(), price(), other()).prop_map(
        |(input, cached_input, cache_write, output, reasoning)| Prices {
            date: "2026-11-01".to_owned(),
            input,
            cached_input,
            cache_write,
            output,
            reasoning,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_reported_usage_within_the_limits_costs_more(
        request in requests(),
        prices in prices(),
        shares in proptest::array::uniform5(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0]),
    ) {
        let [prompt, cached, written, output, reasoning] = shares;
        let of = |share: f64, whole: u64| ((whole as f64 * share) as u64).min(whole);
        for (provider, fields) in LIMITED {
            let config = ModelConfig { prices: Some(prices.clone()), ..config(provider, fields) };
            let worst = bound(&config, &request);
            let usd = worst.usd().expect("it is bounded");
            let tokens = worst.tokens.expect("it is bounded");
            prop_assert_eq!(tokens.output, MAX_OUTPUT);
            let prompt = of(prompt, tokens.prompt);
            let cached = of(cached, prompt);
            let output = of(output, tokens.output);
            let counts = Counts {
                prompt,
                cached,
                written: of(written, prompt - cached),
                output,
                reasoning: of(reasoning, output),
            };
            let wire = wire(provider).unwrap();
            let usage = wire.usage(&reported(provider, counts)).unwrap();
            prop_assert_eq!((usage.input_tokens, usage.output_tokens), (prompt, output), "{:?}", provider);
            let cost = prices.usd(&usage);
            prop_assert!(cost <= usd, "{:?} {:?}: {} > {}", provider, counts, cost, usd);
        }
    }

    #[test]
    fn prompt_is_bounded_by_the_bytes_of_everything_that_is_sent(request in requests()) {
        let texts = request.system.iter().map(String::len);
        let parts = request.turns.iter().flat_map(|turn| &turn.parts);
        for (provider, fields) in LIMITED {
            let image_tokens = wire(provider).unwrap().max_image_tokens() as usize;
            let of = |part: &Part| match part {
                Part::Text { text } => text.len(),
                Part::Image { base64, .. } => base64.len() + image_tokens,
                Part::ToolCall(call) => call.arguments["text"].as_str().map_or(0, str::len),
                Part::ToolResult(result) => result.output.len(),
            };
            let expected = texts.clone().sum::<usize>() + parts.clone().map(of).sum::<usize>();
            let priced = config(provider, fields);
            let worst = bound(&priced, &request);
            let tokens = worst.tokens.expect("it is bounded");
            prop_assert!(tokens.prompt >= expected as u64 + TEMPLATE_TOKENS);
            // Without prices the tokens are bounded as well. The bound may differ, because prices
            // decide whether Anthropic is asked to cache the conversation.
            let unpriced = bound(&ModelConfig { prices: None, ..priced }, &request);
            let tokens = unpriced.tokens.expect("it is bounded");
            prop_assert!(tokens.prompt >= expected as u64 + TEMPLATE_TOKENS);
            prop_assert_eq!(unpriced.usd, Err(UnboundedReason::NoPrices));
        }
    }
}

#[test]
fn several_replies_multiply_the_output() {
    let fields = "generationConfig = { maxOutputTokens = 1000, candidateCount = 3 }";
    let output = |config: &ModelConfig| bound(config, &Request::text("a")).tokens.unwrap().output;
    assert_eq!(output(&config("gemini", fields)), 3000);
    let two_limits = config(
        "openai-chat",
        "max_tokens = 2000, max_completion_tokens = 1000",
    );
    assert_eq!(output(&two_limits), 2000);
}

#[test]
fn unbounded_request_names_its_reason() {
    let reason = |config: &ModelConfig| {
        let bound = bound(config, &Request::text("a"));
        let reason = bound.usd.unwrap_err();
        // Only missing prices leave a bound of the tokens.
        let is_unpriced = reason == UnboundedReason::NoPrices;
        assert_eq!(bound.tokens.is_ok(), is_unpriced, "{reason}");
        reason.to_string()
    };
    let free = ModelConfig {
        prices: None,
        ..config("openai-chat", "max_tokens = 5")
    };
    assert_eq!(
        reason(&free),
        "the model has no `prices`, so its cost is unknown"
    );
    for (provider, field) in [
        ("openai-chat", "max_completion_tokens"),
        ("openai-responses", "max_output_tokens"),
        ("gemini", "generationConfig.maxOutputTokens"),
    ] {
        assert_eq!(
            reason(&config(provider, "temperature = 1")),
            format!("`request` of the model does not limit the output tokens: set `{field}`")
        );
    }
    let unusable = config("openai-responses", "max_output_tokens = \"many\"");
    assert!(reason(&unusable).contains("does not limit the output tokens"));
    let searching = config(
        "anthropic",
        "max_tokens = 5, tools = [{ type = \"web_search\" }]",
    );
    assert!(reason(&searching).contains("contains `tools`"));
}
