//! The list of providers.
//!
//! A provider is one entry in [`PROVIDERS`]. A new API is one module in `wire`; a service
//! with the API of OpenAI needs only the entry. The tables in `docs/models.md` follow from the
//! list.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wire::{Wire, anthropic, chat, gemini, responses};
use crate::{mock, recorded};

/// Every provider, in the order of the documentation.
pub const PROVIDERS: &[ProviderEntry] = &[
    chat::ENTRY,
    responses::ENTRY,
    anthropic::ENTRY,
    gemini::ENTRY,
    ProviderEntry {
        name: "openai",
        summary: "another name of `openai-responses`",
        ..responses::ENTRY
    },
    chat::compatible(
        "openrouter",
        "OPENROUTER_API_KEY",
        "https://openrouter.ai/api/v1",
    ),
    chat::compatible("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com"),
    chat::compatible("xai", "XAI_API_KEY", "https://api.x.ai/v1"),
    chat::compatible("mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1"),
    chat::compatible("groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1"),
    chat::compatible(
        "together",
        "TOGETHER_API_KEY",
        "https://api.together.xyz/v1",
    ),
    mock::ENTRY,
    recorded::REPLAY,
    recorded::RECORD,
];

/// A source of replies.
#[derive(Clone, Copy)]
pub struct ProviderEntry {
    /// The name in configuration files, and before the slash in `PROVIDER/MODEL`.
    pub name: &'static str,
    /// One line that says what the provider is.
    pub summary: &'static str,
    /// The usual environment variable with the API key.
    pub key_variable: Option<&'static str>,
    /// The public address of the API.
    pub base_url: Option<&'static str>,
    /// The environment variable with which the provider's own libraries replace the address, for
    /// models that are named `PROVIDER/MODEL`.
    pub base_url_variable: Option<&'static str>,
    /// The path that is appended to the value of that variable.
    pub(crate) base_url_path: &'static str,
    pub(crate) backend: Backend,
}

/// How replies are obtained.
#[derive(Clone, Copy)]
pub(crate) enum Backend {
    /// Over HTTP, in a wire format.
    Http(&'static dyn Wire),
    Mock,
    Replay,
    Record,
}

impl ProviderEntry {
    /// Creates an entry that uses no network.
    pub(crate) const fn local(name: &'static str, summary: &'static str, backend: Backend) -> Self {
        Self {
            name,
            summary,
            key_variable: None,
            base_url: None,
            base_url_variable: None,
            base_url_path: "",
            backend,
        }
    }
}

/// An entry of [`PROVIDERS`].
///
/// # Examples
///
/// ```
/// use rhae_llm::Provider;
///
/// let provider = Provider::find("anthropic").expect("it is in the list");
/// assert_eq!(provider.entry().key_variable, Some("ANTHROPIC_API_KEY"));
/// assert!(Provider::find("oracle").is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Provider(&'static ProviderEntry);

impl Provider {
    /// Returns the provider of this name.
    pub fn find(name: &str) -> Option<Self> {
        PROVIDERS.iter().find(|entry| entry.name == name).map(Self)
    }

    /// Returns the name in configuration files.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the entry in the list.
    pub const fn entry(self) -> &'static ProviderEntry {
        self.0
    }

    pub(crate) const fn backend(self) -> Backend {
        self.0.backend
    }

    /// Returns the wire format, or `None` if the provider does not use HTTP.
    pub(crate) const fn wire(self) -> Option<&'static dyn Wire> {
        match self.0.backend {
            Backend::Http(wire) => Some(wire),
            Backend::Mock | Backend::Replay | Backend::Record => None,
        }
    }

    /// Returns the names of all providers that satisfy `accept`: `a`, `b` or `c`.
    pub(crate) fn names(accept: impl Fn(&ProviderEntry) -> bool) -> String {
        let names: Vec<String> = PROVIDERS
            .iter()
            .filter(|entry| accept(entry))
            .map(|entry| format!("`{}`", entry.name))
            .collect();
        match names.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            _ => names.concat(),
        }
    }
}

impl PartialEq for Provider {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Provider {}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Provider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::find(&name).ok_or_else(|| {
            let known = Self::names(|_| true);
            D::Error::custom(format!("there is no provider `{name}`: expected {known}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_http_providers_have_an_address_and_a_key() {
        for (index, entry) in PROVIDERS.iter().enumerate() {
            let others = &PROVIDERS[..index];
            assert!(
                others.iter().all(|other| other.name != entry.name),
                "{}",
                entry.name
            );
            let is_http = matches!(entry.backend, Backend::Http(_));
            assert_eq!(entry.base_url.is_some(), is_http, "{}", entry.name);
            assert_eq!(entry.key_variable.is_some(), is_http, "{}", entry.name);
        }
    }

    /// `docs/models.md` has a row for every provider, and one for every address variable.
    #[test]
    fn documentation_lists_every_provider() {
        let text = include_str!("../../../docs/models.md");
        let code =
            |value: Option<&str>| value.map_or_else(String::new, |value| format!(" `{value}`"));
        for entry in PROVIDERS {
            let row = format!(
                "| `{}` | {} |{} |{} |",
                entry.name,
                entry.summary,
                code(entry.base_url),
                code(entry.key_variable)
            );
            assert!(text.contains(&row), "docs/models.md needs the row\n{row}");
            if let Some(variable) = entry.base_url_variable {
                assert!(
                    text.contains(&format!("`{variable}`")),
                    "docs/models.md does not mention {variable}"
                );
            }
        }
    }
}
