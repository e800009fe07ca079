//! The models file: one TOML table per model.
//!
//! `docs/models.md` describes it for users. A configuration that is written to results contains
//! neither API keys nor the values of extra headers. In their place it contains the name of the
//! environment variable with the key, and the names of the headers.

mod models_file;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use rhae_throttle::{Backoff, Rate};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::provider::Backend;
use crate::secret::Variables;
use crate::{LlmError, Prices, Provider, environment};

pub use models_file::{MODELS_FILE, MODELS_VARIABLE, default_models_file};

/// The upper limit of configurable times: one week.
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;

/// The models of a configuration file, by name.
///
/// # Examples
///
/// ```
/// use rhae_llm::{LlmError, Models};
///
/// let models = Models::parse(
///     r#"
///     [models.big]
///     provider = "openai-chat"
///     model = "gpt-big"
///     limits = { in_flight = 8, rate_limit = "10/s" }
///     "#,
/// )?;
/// let big = models.find("big")?;
/// assert_eq!(big.provider.name(), "openai-chat");
/// assert_eq!(big.key_variable(), Some("OPENAI_API_KEY"));
/// assert!(matches!(models.find("small"), Err(LlmError::Unknown { .. })));
/// # Ok::<(), LlmError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    #[serde(default)]
    models: BTreeMap<String, ModelConfig>,
    /// The file that contains the models, for errors; absent if they were parsed from a text.
    #[serde(skip)]
    path: Option<PathBuf>,
}

impl Models {
    /// Parses the text of a file and validates every model in it.
    ///
    /// # Errors
    ///
    /// Returns [`LlmError::File`] if the text does not match the schema, and [`LlmError::Model`]
    /// for the first model with an invalid value.
    pub fn parse(text: &str) -> Result<Self, LlmError> {
        let mut models: Self = toml::from_str(text)
            .map_err(|error| LlmError::File(error.to_string().trim().to_owned()))?;
        for (name, config) in &mut models.models {
            config.name.clone_from(name);
            config.check().map_err(|reason| LlmError::Model {
                model: name.clone(),
                reason,
            })?;
        }
        Ok(models)
    }

    /// Returns the configuration of a model.
    ///
    /// # Errors
    ///
    /// Returns [`LlmError::Unknown`] if the file has no model of this name.
    pub fn find(&self, name: &str) -> Result<&ModelConfig, LlmError> {
        self.models.get(name).ok_or_else(|| {
            let known: Vec<String> = self.models.keys().map(|name| format!("`{name}`")).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            LlmError::Unknown {
                name: name.to_owned(),
                known,
            }
        })
    }

    /// Returns the configuration of a model in the file, or of `PROVIDER/MODEL`, for which
    /// environment variables take the place of a file. Such a model has no prices.
    ///
    /// # Errors
    ///
    /// Returns [`LlmError::Unknown`] if the file has no model of this name, and
    /// [`LlmError::UnknownProvider`] if the text before the slash is not the name of a provider.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_llm::Models;
    ///
    /// let config = Models::default().resolve("openai/gpt-5")?;
    /// assert_eq!(config.key_variable(), Some("OPENAI_API_KEY"));
    /// # Ok::<(), rhae_llm::LlmError>(())
    /// ```
    pub fn resolve(&self, name: &str) -> Result<ModelConfig, LlmError> {
        self.resolve_with(name, &|variable| std::env::var(variable).ok())
            .map_err(|error| self.located(error))
    }

    /// Resolves a name like [`Models::resolve`], but looks up environment variables with
    /// `variables`.
    pub(crate) fn resolve_with(
        &self,
        name: &str,
        variables: Variables<'_>,
    ) -> Result<ModelConfig, LlmError> {
        // The name of a table contains no slash.
        environment::config(name, variables).unwrap_or_else(|| self.find(name).cloned())
    }

    /// Iterates over all models in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &ModelConfig> {
        self.models.values()
    }
}

/// The configuration of a model. It is serialised into results, without the values of headers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The name of the TOML table.
    #[serde(default, skip_deserializing)]
    pub name: String,
    pub provider: Provider,
    /// The base address of the API; the provider's public address if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable with the API key. If it is absent, the provider's usual variable is
    /// used; if it is empty, no key is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The provider's name for the model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Whether replies are streamed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// How the model calls tools, for callers that offer some.
    #[serde(default, skip_serializing_if = "ToolCallStyle::is_native")]
    pub tool_calls: ToolCallStyle,
    /// Additional fields of the request body, passed on unchanged.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub request: Map<String, Value>,
    /// Additional request headers.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        serialize_with = "names_only"
    )]
    pub headers: BTreeMap<String, String>,
    /// The prices of tokens. Without prices, the cost is the one that the provider reports; if it
    /// reports none, the cost is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub timeouts: Timeouts,
    #[serde(default)]
    pub retries: RetryPolicy,
    #[serde(default)]
    pub breaker: BreakerConfig,
    /// The replies of the provider `mock`, by turn and sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<String>,
    /// The file of the providers `replay` and `record`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The name of the model that the provider `record` calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// How a model calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolCallStyle {
    /// With the tool calls of the provider's wire format.
    #[default]
    Native,
    /// With fenced blocks in its text, for servers without tool calls.
    Fenced,
}

impl ToolCallStyle {
    fn is_native(&self) -> bool {
        *self == Self::Native
    }
}

/// Limits on requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The maximum number of concurrent requests.
    pub in_flight: u32,
    /// The rate of requests; unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<Rate>,
    /// The rate of requests per minute, an older spelling of `rate_limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// The maximum number of tokens of a conversation, for callers that shorten conversations;
    /// unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 64,
            rate_limit: None,
            requests_per_minute: None,
            context_tokens: None,
        }
    }
}

impl Limits {
    /// Returns the maximum rate of requests, or `None` if it is unlimited.
    pub fn rate(&self) -> Option<Rate> {
        let per_minute = |number| Rate::per_minute(f64::from(number)).ok();
        self.rate_limit
            .or_else(|| self.requests_per_minute.and_then(per_minute))
    }
}

/// Timeouts in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// The limit for resolving the host name, and separately for connecting.
    pub connect_s: f64,
    /// The limit for each write.
    pub write_s: f64,
    /// The limit for each read, that is, the longest time for which the server may send nothing.
    pub read_s: f64,
    /// The limit for one attempt from start to end.
    pub total_s: f64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_s: 10.0,
            write_s: 60.0,
            // Reasoning models may send nothing for 10 to 30 minutes.
            read_s: 2400.0,
            total_s: 3600.0,
        }
    }
}

/// The retry policy: exponential backoff with jitter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// The maximum number of attempts, including the first.
    pub attempts: u32,
    /// The pause after the first failure, in seconds. It doubles after each further failure.
    pub first_pause_s: f64,
    /// The upper limit of these pauses.
    pub longest_pause_s: f64,
    /// The upper limit of the pause that a server may request.
    pub longest_asked_s: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 8,
            first_pause_s: 1.0,
            longest_pause_s: 60.0,
            longest_asked_s: 600.0,
        }
    }
}

impl RetryPolicy {
    pub(crate) fn backoff(&self) -> Backoff {
        Backoff {
            max_attempts: self.attempts,
            first: seconds(self.first_pause_s),
            max: seconds(self.longest_pause_s),
            max_requested: seconds(self.longest_asked_s),
        }
    }
}

/// The configuration of the circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerConfig {
    /// The number of consecutive failures that open the breaker. It then blocks requests for the
    /// cool-down and allows one trial request after it.
    pub failures: u32,
    /// The first cool-down in seconds. It doubles each time that the trial request fails.
    pub cool_down_s: f64,
    /// The number of consecutive cool-downs without a success after which every further call fails
    /// immediately.
    pub rounds: u32,
}

impl Default for BreakerConfig {
    fn default() -> Self {
        Self {
            failures: 20,
            cool_down_s: 15.0,
            rounds: 5,
        }
    }
}

/// Converts a validated number of seconds.
pub(crate) fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number.clamp(0.0, MAX_SECONDS)).unwrap_or_default()
}

impl ModelConfig {
    fn check(&self) -> Result<(), String> {
        let fine =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if !(1..=64).contains(&self.name.len())
            || !self.name.chars().all(fine)
            || self.name.starts_with('.')
        {
            return Err(
                "a name must have 1 to 64 letters, digits, `-`, `_` and `.`, and must not start with `.`"
                    .to_owned(),
            );
        }
        self.check_settings()
    }

    /// Checks everything except the name.
    pub(crate) fn check_settings(&self) -> Result<(), String> {
        self.check_provider()?;
        if let Some(url) = &self.base_url {
            check_url(url)?;
        }
        if let Some(wire) = self.provider.wire() {
            let reserved = |field: &&&str| self.request.contains_key(**field);
            if let Some(field) = wire.reserved_fields().iter().find(reserved) {
                return Err(format!(
                    "`request` must not contain `{field}`, which Rhae sets itself"
                ));
            }
            wire.check(self)?;
        }
        let times = [
            ("timeouts.connect_s", self.timeouts.connect_s),
            ("timeouts.write_s", self.timeouts.write_s),
            ("timeouts.read_s", self.timeouts.read_s),
            ("timeouts.total_s", self.timeouts.total_s),
            ("retries.first_pause_s", self.retries.first_pause_s),
            ("retries.longest_pause_s", self.retries.longest_pause_s),
            ("retries.longest_asked_s", self.retries.longest_asked_s),
            ("breaker.cool_down_s", self.breaker.cool_down_s),
        ];
        if let Some((field, _)) = times
            .iter()
            .find(|(_, number)| !(*number > 0.0 && *number <= MAX_SECONDS))
        {
            return Err(format!(
                "`{field}` must be more than 0 and at most {MAX_SECONDS} seconds"
            ));
        }
        let counts = [
            ("limits.in_flight", self.limits.in_flight),
            (
                "limits.requests_per_minute",
                self.limits.requests_per_minute.unwrap_or(1),
            ),
            ("retries.attempts", self.retries.attempts),
            ("breaker.failures", self.breaker.failures),
            ("breaker.rounds", self.breaker.rounds),
        ];
        if let Some((field, _)) = counts.iter().find(|(_, number)| *number == 0) {
            return Err(format!("`{field}` must be at least 1"));
        }
        if self.limits.rate_limit.is_some() && self.limits.requests_per_minute.is_some() {
            return Err(
                "`limits` must contain only one of `rate_limit` and `requests_per_minute`"
                    .to_owned(),
            );
        }
        self.prices.as_ref().map_or(Ok(()), check_prices)
    }

    /// Checks that the fields fit the provider.
    fn check_provider(&self) -> Result<(), String> {
        let check = |required: bool, present: bool, field: &str| match (required, present) {
            (true, false) => Err(format!(
                "the provider `{}` requires `{field}`",
                self.provider.name()
            )),
            (false, true) => Err(format!(
                "the provider `{}` does not support `{field}`",
                self.provider.name()
            )),
            _ => Ok(()),
        };
        let backend = self.provider.backend();
        let http = matches!(backend, Backend::Http(_));
        let mock = matches!(backend, Backend::Mock);
        let record = matches!(backend, Backend::Record);
        let file = record || matches!(backend, Backend::Replay);
        check(http, !self.model.is_empty(), "model")?;
        check(mock, !self.replies.is_empty(), "replies")?;
        check(file, self.file.is_some(), "file")?;
        check(record, self.of.is_some(), "of")?;
        if !http {
            check(false, self.base_url.is_some(), "base_url")?;
            check(false, self.key_env.is_some(), "key_env")?;
            check(false, !self.request.is_empty(), "request")?;
            check(false, !self.headers.is_empty(), "headers")?;
        }
        Ok(())
    }

    /// Returns the base address without a trailing slash.
    pub(crate) fn base(&self) -> &str {
        self.base_url
            .as_deref()
            .or(self.provider.entry().base_url)
            .unwrap_or_default()
            .trim_end_matches('/')
    }

    /// Returns the environment variable with the API key, or `None` if no key is sent.
    pub fn key_variable(&self) -> Option<&str> {
        self.key_env
            .as_deref()
            .or(self.provider.entry().key_variable)
            .filter(|variable| !variable.is_empty())
    }
}

pub(crate) fn check_url(url: &str) -> Result<(), String> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let rest = rest.ok_or_else(|| "`base_url` must start with http:// or https://".to_owned())?;
    if rest.contains('@') {
        return Err(
            "`base_url` must not contain a user name or password, because it is written into results"
                .to_owned(),
        );
    }
    let is_base = !rest.contains(['?', '#'])
        && url
            .parse::<ureq::http::Uri>()
            .is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
    if is_base {
        Ok(())
    } else {
        Err("`base_url` must be an address with a host and without `?` or `#`".to_owned())
    }
}

fn check_prices(prices: &Prices) -> Result<(), String> {
    let all = [
        Some(prices.input),
        prices.cached_input,
        prices.cache_write,
        Some(prices.output),
        prices.reasoning,
    ];
    if all
        .into_iter()
        .flatten()
        .any(|price| !(0.0..=1e6).contains(&price))
    {
        return Err("a price must be from 0 to 1,000,000 dollars per million tokens".to_owned());
    }
    let date: Vec<&str> = prices.date.split('-').collect();
    let digits = |text: &str, length: usize| {
        text.len() == length && text.chars().all(|letter| letter.is_ascii_digit())
    };
    let is_date = matches!(date[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2));
    if is_date {
        Ok(())
    } else {
        Err("`prices.date` must be a date such as \"2026-11-01\"".to_owned())
    }
}

/// Serialises the names of headers without their values, which may be secret.
fn names_only<S: Serializer>(
    headers: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(headers.keys().map(|name| (name, "…")))
}

#[cfg(test)]
mod tests;
