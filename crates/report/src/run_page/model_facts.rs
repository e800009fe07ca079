//! The facts about the model of a run: its provider, settings and prices.

use rhae_protocol::{MOCK_PROVIDER, ModelRun};
use serde_json::Value;

/// Returns the names and values of the facts. The configuration is read as JSON, because this crate
/// knows no providers; fields that are absent are left out.
pub(super) fn model_facts(model: &ModelRun) -> Vec<(&'static str, String)> {
    let config = &model.config;
    let mut facts = Vec::new();
    if let Some(provider) = config["provider"].as_str() {
        let mark = if provider == MOCK_PROVIDER {
            " (configured replies, no model)"
        } else {
            ""
        };
        facts.push(("Provider", format!("{provider}{mark}")));
    }
    facts.extend(
        config["model"]
            .as_str()
            .map(|name| ("Model", name.to_owned())),
    );
    facts.push(("Model settings", settings(model)));
    facts.extend(prices(&config["prices"]).map(|prices| ("Prices", prices)));
    facts
}

fn settings(model: &ModelRun) -> String {
    let mut settings: Vec<String> = Vec::new();
    if let Some(request) = model.config["request"].as_object() {
        settings.extend(
            request
                .iter()
                .map(|(name, value)| format!("{name} {value}")),
        );
    }
    settings.push(format!("context of {} tokens", model.context_tokens));
    if model.keep_reasoning {
        settings.push("reasoning is sent back".to_owned());
    }
    settings.extend(model.max_cost_usd.map(|usd| format!("at most {usd} USD")));
    settings.join(", ")
}

/// Describes a price list: `input 1, output 10 USD per million tokens (2026-11-01)`.
fn prices(prices: &Value) -> Option<String> {
    let prices = prices.as_object()?;
    let price = |(name, value): (&String, &Value)| {
        value
            .is_number()
            .then(|| format!("{} {value}", name.replace('_', " ")))
    };
    let listed: Vec<String> = prices.iter().filter_map(price).collect();
    let date = prices.get("date").and_then(Value::as_str);
    let date = date.map_or_else(String::new, |date| format!(" ({date})"));
    Some(format!(
        "{} USD per million tokens{date}",
        listed.join(", ")
    ))
}
