//! The file of models: one table a model, in TOML.
//!
//! `docs/models.md` is its description for users. Nothing in it is a secret: keys are named by their environment variable, and
//! the values of extra headers are left out where a configuration is written down.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{LlmError, Prices};

/// The longest time that can be configured: a week.
const LONGEST_S: f64 = 7.0 * 24.0 * 3600.0;

/// All models of a file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    #[serde(default)]
    models: BTreeMap<String, ModelConfig>,
}

impl Models {
    /// Reads a file and checks every model in it.
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

    /// The model with this name.
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

    /// All models, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ModelConfig> {
        self.models.values()
    }
}

/// A model as its table describes it. It is written into results as it stands, but for the values of headers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The table's name.
    #[serde(default, skip_deserializing)]
    pub name: String,
    /// Who answers, and in which form.
    pub provider: Provider,
    /// The address before the paths of the provider's interface; its public one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable with the key; the provider's usual one if absent, none if empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The model's name at the provider.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// Whether answers are streamed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stream: bool,
    /// Parameters that are passed on as they are.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub request: Map<String, Value>,
    /// Headers beside the usual ones.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        serialize_with = "names_only"
    )]
    pub headers: BTreeMap<String, String>,
    /// What tokens cost; without prices, what the provider reports is taken, and otherwise the cost is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Limits on what is sent.
    #[serde(default)]
    pub limits: Limits,
    /// How long things may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// When and how often a request is sent again.
    #[serde(default)]
    pub retries: Retries,
    /// When no more requests are sent.
    #[serde(default)]
    pub breaker: BreakerConfig,
    /// What the provider `mock` says, turn by turn and sample by sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<String>,
    /// The file of the providers `replay` and `record`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The model that the provider `record` asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// The chat completions of OpenAI and of all who speak like it.
    OpenaiChat,
    /// The responses of OpenAI.
    OpenaiResponses,
    /// The messages of Anthropic.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// Prepared answers.
    Mock,
    /// Answers out of a recording.
    Replay,
    /// Another model, whose answers are recorded.
    Record,
}

/// Limits on what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Requests at the same time.
    pub in_flight: u32,
    /// Requests a minute; not limited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens that a conversation may have, for callers that cut conversations; not limited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            in_flight: 64,
            requests_per_minute: None,
            context_tokens: None,
        }
    }
}

/// How long things may take, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// Finding the server and connecting to it.
    pub connect_s: f64,
    /// Each write.
    pub write_s: f64,
    /// Each read: how long a server may be silent.
    pub read_s: f64,
    /// One request from beginning to end.
    pub total_s: f64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect_s: 10.0,
            write_s: 60.0,
            read_s: 600.0,
            total_s: 3600.0,
        }
    }
}

/// When and how often a request is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retries {
    /// How many times a request is sent at most.
    pub attempts: u32,
    /// The pause after the first failure, in seconds; every further one is twice as long.
    pub first_pause_s: f64,
    /// The longest of these pauses.
    pub longest_pause_s: f64,
    /// The longest pause that a server may ask for.
    pub longest_asked_s: f64,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            attempts: 8,
            first_pause_s: 1.0,
            longest_pause_s: 60.0,
            longest_asked_s: 600.0,
        }
    }
}

impl Retries {
    /// The pause after so many attempts, from 1; `chance` is from 0 to 1. Half of it is left to chance, so that requests which
    /// failed together do not come back together. What a server asked for is never cut short, unless it is too long to be meant.
    pub(crate) fn pause(&self, attempts: u32, asked: Option<Duration>, chance: f64) -> Duration {
        let doubled = (self.first_pause_s * 2f64.powi(attempts.saturating_sub(1).min(30) as i32))
            .min(self.longest_pause_s);
        let pause = seconds(doubled * (0.5 + 0.5 * chance));
        pause.max(asked.unwrap_or_default().min(seconds(self.longest_asked_s)))
    }
}

/// When no more requests are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerConfig {
    /// After so many failures in a row nothing is sent for a while; then one request at a time, until one succeeds.
    pub failures: u32,
    /// How long, in seconds, at first; every further time twice as long.
    pub cool_down_s: f64,
    /// After so many of these times without a success every call fails at once.
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

/// A number of seconds that was checked.
pub(crate) fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number.clamp(0.0, LONGEST_S)).unwrap_or_default()
}

impl ModelConfig {
    fn check(&self) -> Result<(), String> {
        let fine =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        if !(1..=64).contains(&self.name.len())
            || !self.name.chars().all(fine)
            || self.name.starts_with('.')
        {
            return Err("a name has up to 64 letters, digits, `-`, `_` and `.`".to_owned());
        }
        self.check_provider()?;
        if let Some(url) = &self.base_url {
            check_url(url)?;
        }
        if let Some(field) = self
            .provider
            .own_fields()
            .iter()
            .find(|field| self.request.contains_key(**field))
        {
            return Err(format!("`{field}` in `request` is set by Rhae itself"));
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
            .find(|(_, number)| !(*number > 0.0 && *number <= LONGEST_S))
        {
            return Err(format!(
                "`{field}` must be more than 0 and at most {LONGEST_S} seconds"
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
        self.prices.as_ref().map_or(Ok(()), check_prices)
    }

    /// Each provider needs certain fields and has no use for others.
    fn check_provider(&self) -> Result<(), String> {
        let asks = |wanted: bool, given: bool, field: &str| match (wanted, given) {
            (true, false) => Err(format!(
                "the provider `{}` needs `{field}`",
                self.provider.name()
            )),
            (false, true) => Err(format!(
                "the provider `{}` has no use for `{field}`",
                self.provider.name()
            )),
            _ => Ok(()),
        };
        let http = self.provider.is_http();
        let file = matches!(self.provider, Provider::Replay | Provider::Record);
        asks(http, !self.model.is_empty(), "model")?;
        asks(
            self.provider == Provider::Mock,
            !self.replies.is_empty(),
            "replies",
        )?;
        asks(file, self.file.is_some(), "file")?;
        asks(self.provider == Provider::Record, self.of.is_some(), "of")?;
        if self.provider == Provider::Anthropic && !self.request.contains_key("max_tokens") {
            return Err("the provider `anthropic` needs `max_tokens` in `request`".to_owned());
        }
        // The name becomes a part of the address there.
        let fine = |letter: char| {
            letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/')
        };
        if self.provider == Provider::Gemini && !self.model.chars().all(fine) {
            return Err("the provider `gemini` takes only letters, digits, `-`, `_`, `.` and `/` in `model`".to_owned());
        }
        if !http {
            asks(false, self.base_url.is_some(), "base_url")?;
            asks(false, self.key_env.is_some(), "key_env")?;
            asks(false, !self.request.is_empty(), "request")?;
            asks(false, !self.headers.is_empty(), "headers")?;
        }
        Ok(())
    }

    /// The address before paths, without a slash at its end.
    pub(crate) fn base(&self) -> &str {
        self.base_url
            .as_deref()
            .unwrap_or(self.provider.public_address())
            .trim_end_matches('/')
    }

    /// The variable with the key, if there is to be one.
    pub fn key_variable(&self) -> Option<&str> {
        let usual = self.provider.usual_variable();
        self.key_env
            .as_deref()
            .or(usual)
            .filter(|variable| !variable.is_empty())
    }
}

impl Provider {
    /// The name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mock => "mock",
            Self::Replay => "replay",
            Self::Record => "record",
        }
    }

    fn is_http(self) -> bool {
        !matches!(self, Self::Mock | Self::Replay | Self::Record)
    }

    const fn public_address(self) -> &'static str {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Mock | Self::Replay | Self::Record => "",
        }
    }

    const fn usual_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenaiChat | Self::OpenaiResponses => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Mock | Self::Replay | Self::Record => None,
        }
    }

    /// The fields of a request's body that are not the configuration's to set.
    const fn own_fields(self) -> &'static [&'static str] {
        match self {
            Self::OpenaiChat => &["messages", "model", "stream", "n"],
            Self::OpenaiResponses => &[
                "input",
                "model",
                "stream",
                "instructions",
                "background",
                "previous_response_id",
            ],
            Self::Anthropic => &["messages", "model", "stream", "system"],
            Self::Gemini => &["contents", "systemInstruction", "model"],
            Self::Mock | Self::Replay | Self::Record => &[],
        }
    }
}

fn check_url(url: &str) -> Result<(), String> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let rest = rest.ok_or_else(|| "`base_url` must begin with http:// or https://".to_owned())?;
    if rest.contains('@') {
        return Err(
            "`base_url` must not contain a name or password: it is written into results".to_owned(),
        );
    }
    let whole = !rest.contains(['?', '#'])
        && url
            .parse::<ureq::http::Uri>()
            .is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty()));
    if whole {
        Ok(())
    } else {
        Err("`base_url` must be an address that paths can be put after".to_owned())
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
        return Err(
            "a price is at least 0 and at most 1,000,000 dollars a million tokens".to_owned(),
        );
    }
    let date: Vec<&str> = prices.date.split('-').collect();
    let digits = |text: &str, length: usize| {
        text.len() == length && text.chars().all(|letter| letter.is_ascii_digit())
    };
    let is_date = matches!(date[..], [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2));
    if is_date {
        Ok(())
    } else {
        Err("`prices.date` must be a day such as \"2026-11-01\"".to_owned())
    }
}

/// Headers may carry secrets, so only their names are written down.
fn names_only<S: Serializer>(
    headers: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(headers.keys().map(|name| (name, "…")))
}

#[cfg(test)]
mod tests;
