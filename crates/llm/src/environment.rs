//! Models without a configuration file: `PROVIDER/MODEL`, configured by environment variables.

use std::collections::BTreeMap;

use serde_json::Map;

use crate::config::check_url;
use crate::secret::Variables;
use crate::{
    BreakerConfig, Limits, LlmError, ModelConfig, Provider, ProviderEntry, RetryPolicy, Timeouts,
    ToolCallStyle,
};

/// The maximum length of the name of a model.
const MAX_NAME: usize = 200;

/// Returns the configuration of `PROVIDER/MODEL`, or `None` if `name` has no slash. Whether the API
/// key is set is checked when the model is opened.
pub(crate) fn config(
    name: &str,
    variables: Variables<'_>,
) -> Option<Result<ModelConfig, LlmError>> {
    let (provider, model) = name.split_once('/')?;
    Some(resolve(name, provider, model, variables))
}

fn resolve(
    name: &str,
    provider: &str,
    model: &str,
    variables: Variables<'_>,
) -> Result<ModelConfig, LlmError> {
    let uses_http = |entry: &ProviderEntry| entry.key_variable.is_some();
    let provider = Provider::find(provider)
        .filter(|provider| uses_http(provider.entry()))
        .ok_or_else(|| LlmError::UnknownProvider {
            name: name.to_owned(),
            provider: provider.to_owned(),
            known: Provider::names(uses_http),
        })?;
    let wrong = |reason: String| LlmError::Model {
        model: name.to_owned(),
        reason,
    };
    if model.is_empty() || name.len() > MAX_NAME || !model.chars().all(|c| c.is_ascii_graphic()) {
        return Err(wrong(format!(
            "expected a name such as `{}/MODEL`, without spaces",
            provider.name()
        )));
    }
    let mut config = ModelConfig {
        name: name.to_owned(),
        provider,
        base_url: base_url(provider.entry(), variables).map_err(wrong)?,
        key_env: None,
        model: model.to_owned(),
        stream: false,
        tool_calls: ToolCallStyle::default(),
        request: Map::new(),
        headers: BTreeMap::new(),
        prices: None,
        limits: Limits::default(),
        timeouts: Timeouts::default(),
        retries: RetryPolicy::default(),
        breaker: BreakerConfig::default(),
        replies: Vec::new(),
        file: None,
        of: None,
    };
    if let Some(wire) = provider.wire() {
        wire.set_defaults(&mut config);
    }
    config.check_settings().map_err(wrong)?;
    Ok(config)
}

/// Returns the address in the variable that the provider's own libraries read.
fn base_url(entry: &ProviderEntry, variables: Variables<'_>) -> Result<Option<String>, String> {
    let Some(variable) = entry.base_url_variable else {
        return Ok(None);
    };
    let Some(url) = variables(variable).filter(|url| !url.is_empty()) else {
        return Ok(None);
    };
    let url = format!("{}{}", url.trim_end_matches('/'), entry.base_url_path);
    check_url(&url).map_err(|reason| {
        format!("the environment variable `{variable}`: {reason}").replace("`base_url`", "it")
    })?;
    Ok(Some(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, set: &[(&str, &str)]) -> Result<ModelConfig, String> {
        let variables = |wanted: &str| {
            let pair = set.iter().find(|(variable, _)| *variable == wanted);
            pair.map(|(_, value)| (*value).to_owned())
        };
        config(name, &variables)
            .expect("the name has a slash")
            .map_err(|error| error.to_string())
    }

    #[test]
    fn provider_and_model_are_a_configuration_without_prices() {
        let config = found("openai/gpt-5", &[]).unwrap();
        assert_eq!(
            (config.name.as_str(), config.model.as_str()),
            ("openai/gpt-5", "gpt-5")
        );
        assert_eq!(config.key_variable(), Some("OPENAI_API_KEY"));
        assert_eq!(config.base(), "https://api.openai.com/v1");
        assert_eq!(config.prices, None);
        let routed = found("openrouter/some-lab/some-model:free", &[]).unwrap();
        assert_eq!(routed.model, "some-lab/some-model:free");
        assert_eq!(routed.key_variable(), Some("OPENROUTER_API_KEY"));
        let claude = found("anthropic/claude-opus", &[]).unwrap();
        assert!(claude.stream && claude.request.contains_key("max_tokens"));
    }

    #[test]
    fn address_comes_from_the_variable_of_the_providers_libraries() {
        let base = |name: &str, variable: &str| {
            found(name, &[(variable, "http://127.0.0.1:9/")]).map(|config| config.base().to_owned())
        };
        assert_eq!(
            base("openai/m", "OPENAI_BASE_URL"),
            Ok("http://127.0.0.1:9".to_owned())
        );
        assert_eq!(
            base("anthropic/m", "ANTHROPIC_BASE_URL"),
            Ok("http://127.0.0.1:9".to_owned())
        );
        assert_eq!(
            base("gemini/m", "GOOGLE_GEMINI_BASE_URL"),
            Ok("http://127.0.0.1:9/v1beta".to_owned())
        );
        let wrong = found("openai/m", &[("OPENAI_BASE_URL", "localhost:9")]).unwrap_err();
        assert_eq!(
            wrong,
            "the model `openai/m`: the environment variable `OPENAI_BASE_URL`: it must start with http:// or https://"
        );
        // The address of one provider does not apply to another.
        assert_eq!(
            base("deepseek/m", "OPENAI_BASE_URL"),
            Ok("https://api.deepseek.com".to_owned())
        );
    }

    #[test]
    fn invalid_names_are_errors() {
        let unknown = found("oracle/m", &[]).unwrap_err();
        assert!(
            unknown.starts_with("there is no provider `oracle`"),
            "{unknown}"
        );
        assert!(
            unknown.contains("`openai-chat`") && !unknown.contains("`mock`"),
            "{unknown}"
        );
        for name in ["openai/", "openai/two words", "gemini/a?b"] {
            assert!(found(name, &[]).is_err(), "{name}");
        }
    }
}
