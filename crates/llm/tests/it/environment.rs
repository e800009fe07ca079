//! Models that are named `PROVIDER/MODEL`, and the bound of their cost.

use rhae_llm::{CancelToken, LlmError, Model, Models, Request, UnboundedReason};

use crate::setup::{FORMS, KEY, hello, model, server};

/// The providers with an address variable: the key variable, the address variable, and the path
/// after the server's address.
const PROVIDERS: [(&str, &str, &str, &str); 4] = [
    ("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    ("openai-chat", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    ("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
    ("gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", ""),
];

#[test]
fn model_without_a_file_answers() {
    let server = server([]);
    for (provider, key, address, path) in PROVIDERS {
        let variables = |variable: &str| match variable {
            _ if variable == key => Some(KEY.to_owned()),
            _ if variable == address => Some(format!("{}{path}", server.url())),
            _ => None,
        };
        let name = format!("{provider}/test-model");
        let model = Model::open_with(&Models::default(), &name, &variables).unwrap();
        assert_eq!(model.name(), name);
        let outcome = model.ask(&hello(), &CancelToken::default(), None, &mut ());
        let reply = outcome.reply.as_ref().map(|reply| reply.text.as_str());
        assert_eq!(reply, Ok("you said hello there, model"), "{provider}");
        assert_eq!(outcome.attempts[0].cost_usd, None, "{provider}");
        // Only `anthropic` limits the output tokens without a file.
        let bound = model.cost_bound(&hello());
        assert_eq!(bound.tokens.is_ok(), provider == "anthropic");
        let no_prices = bound.usd == Err(UnboundedReason::NoPrices);
        assert_eq!(no_prices, provider == "anthropic", "{:?}", bound.usd);
    }
}

#[test]
fn missing_key_is_named() {
    for (provider, key, _, _) in PROVIDERS {
        let name = format!("{provider}/test-model");
        let error = Model::open_with(&Models::default(), &name, &|_| None).err();
        let variable = key.to_owned();
        assert_eq!(error, Some(LlmError::NoKey { variable }));
    }
}

#[test]
fn reported_cost_is_below_the_bound() {
    let server = server([]);
    for form in FORMS {
        let limit = match form.0 {
            "openai-chat" => "request = { max_completion_tokens = 500 }\n",
            "openai-responses" => "request = { max_output_tokens = 500 }\n",
            "gemini" => "request = { generationConfig = { maxOutputTokens = 500 } }\n",
            // The setup limits the output of `anthropic`.
            _ => "",
        };
        let prices = "prices = { date = \"2026-11-01\", input = 2, cache_write = 3, output = 10, reasoning = 20 }\n";
        let model = model(&server, form, &format!("{limit}{prices}"));
        let request = Request::text("How many tokens are these? ".repeat(20));
        let bound = model.cost_bound(&request).usd().expect("it is bounded");
        let outcome = model.ask(&request, &CancelToken::default(), None, &mut ());
        assert!(outcome.reply.is_ok(), "{form:?}");
        let cost = outcome.cost_usd();
        assert!(0.0 < cost && cost <= bound, "{form:?}: {cost} > {bound}");
    }
}
