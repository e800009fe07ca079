//! The worst case of what one transmission of a request can cost.
//!
//! A spend limit that must not be exceeded needs a bound before a request is sent. The bound is the
//! largest number of tokens that the provider can bill, each at the highest price that may apply:
//!
//! - **Prompt.** A tokenizer turns each byte into at most one token, so the bytes of the request
//!   body bound the tokens of its texts. The JSON syntax of a message covers its role markers, and
//!   [`TEMPLATE_TOKENS`] covers what a provider's chat template adds. An image counts as the
//!   largest number of tokens that the API bills for one.
//! - **Output.** The configured limit of output tokens, which includes reasoning for every API.
//!
//! The tokens of a request have no bound if its model has no limit of output tokens, or if a field
//! of the request lets the provider add content, such as the results of a web search. The cost has
//! no bound in these cases, and if the model has no prices.

use std::fmt;

use serde_json::{Map, Value};

use crate::usage::Prices;
use crate::wire::Wire;
use crate::{ModelConfig, Part, Request, Usage};

/// The tokens that a chat template may add to a prompt. The longest known one, of gpt-oss, adds
/// fewer than 100.
const TEMPLATE_TOKENS: u64 = 512;

/// Fields of `request` with which a provider adds content that Rhae does not send, or bills
/// something other than tokens.
const PROVIDER_CONTENT: [&str; 14] = [
    "tools",
    "plugins",
    "web_search_options",
    "mcp_servers",
    "container",
    "conversation",
    "prompt",
    "cachedContent",
    "cached_content",
    "audio",
    "models",
    "input_file_ids",
    "file_ids",
    "documents",
];

/// The worst case of one transmission of a request, from
/// [`Model::cost_bound`](crate::Model::cost_bound).
///
/// Tokens and money are bounded separately, because a model without prices still has a limit of
/// tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct CostBound {
    /// The maximum number of tokens.
    pub tokens: Result<TokenBound, UnboundedReason>,
    /// The price of that many tokens in US dollars, if each of them has the highest price.
    pub usd: Result<f64, UnboundedReason>,
}

/// The maximum number of tokens of one transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBound {
    pub prompt: u64,
    /// The tokens of the reply, including reasoning.
    pub output: u64,
}

/// The reason why the tokens or the cost of a request have no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnboundedReason {
    /// The configuration of the model has no prices.
    NoPrices,
    /// `request` does not limit the output tokens. Contains the field that would.
    NoMaxOutputTokens { field: &'static str },
    /// `request` contains a field with which the provider adds content.
    ProviderContent { field: &'static str },
}

impl CostBound {
    /// Creates the bound of a transmission whose tokens have no bound.
    pub fn unbounded(reason: UnboundedReason) -> Self {
        Self {
            tokens: Err(reason.clone()),
            usd: Err(reason),
        }
    }

    /// Returns the bound in US dollars, or `None` if the cost is unbounded.
    pub fn usd(&self) -> Option<f64> {
        self.usd.as_ref().ok().copied()
    }

    /// Returns the maximum number of input and output tokens, or `None` if it is unbounded.
    pub fn tokens(&self) -> Option<u64> {
        let tokens = self.tokens.as_ref().ok()?;
        Some(tokens.prompt.saturating_add(tokens.output))
    }

    /// Computes the bound of a request whose body, as sent, has `body_bytes` bytes.
    pub(crate) fn of_http(
        config: &ModelConfig,
        wire: &dyn Wire,
        request: &Request,
        body_bytes: usize,
    ) -> Self {
        let provider_content = |field: &&&str| config.request.contains_key(**field);
        if let Some(field) = PROVIDER_CONTENT.iter().find(provider_content) {
            return Self::unbounded(UnboundedReason::ProviderContent { field });
        }
        let Some(output) = max_output_tokens(wire, &config.request) else {
            let field = wire.output_limits()[0];
            return Self::unbounded(UnboundedReason::NoMaxOutputTokens { field });
        };
        let images = request
            .turns
            .iter()
            .flat_map(|turn| &turn.parts)
            .filter(|part| matches!(part, Part::Image { .. }))
            .count() as u64;
        let prompt = (body_bytes as u64)
            .saturating_add(images.saturating_mul(wire.max_image_tokens()))
            .saturating_add(TEMPLATE_TOKENS);
        let prices = config.prices.as_ref().ok_or(UnboundedReason::NoPrices);
        Self {
            tokens: Ok(TokenBound { prompt, output }),
            usd: prices.map(|prices| max_usd(prices, prompt, output)),
        }
    }

    /// Returns the cost of a reply that is known in advance.
    pub(crate) fn of_known(config: &ModelConfig, usage: &Usage) -> Self {
        let prices = config.prices.as_ref().ok_or(UnboundedReason::NoPrices);
        Self {
            tokens: Ok(TokenBound {
                prompt: usage.input_tokens,
                output: usage.output_tokens,
            }),
            usd: prices.map(|prices| prices.usd(usage)),
        }
    }
}

impl fmt::Display for UnboundedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPrices => f.write_str("the model has no `prices`, so its cost is unknown"),
            Self::NoMaxOutputTokens { field } => {
                let field = field.trim_start_matches('/').replace('/', ".");
                write!(
                    f,
                    "`request` of the model does not limit the output tokens: set `{field}`"
                )
            }
            Self::ProviderContent { field } => write!(
                f,
                "`request` of the model contains `{field}`, with which the provider may bill more than the tokens that are sent"
            ),
        }
    }
}

/// Returns the limit of output tokens that `request` sets, for all replies to one request together.
fn max_output_tokens(wire: &dyn Wire, fields: &Map<String, Value>) -> Option<u64> {
    let at = |pointer: &str| {
        let mut path = pointer.trim_start_matches('/').split('/');
        let first = fields.get(path.next()?)?;
        path.try_fold(first, |value, name| value.get(name))
    };
    // If several limits are set, the provider may apply any of them.
    let limit = wire
        .output_limits()
        .iter()
        .filter_map(|pointer| at(pointer)?.as_u64())
        .max()?;
    let replies = wire
        .reply_counts()
        .iter()
        .filter_map(|pointer| at(pointer)?.as_u64())
        .max();
    Some(limit.saturating_mul(replies.unwrap_or(1).max(1)))
}

/// Returns the price of so many tokens if each has the highest price that may apply.
fn max_usd(prices: &Prices, prompt_tokens: u64, output_tokens: u64) -> f64 {
    let highest =
        |price: f64, others: &[Option<f64>]| others.iter().flatten().copied().fold(price, f64::max);
    let input = highest(prices.input, &[prices.cached_input, prices.cache_write]);
    let output = highest(prices.output, &[prices.reasoning]);
    let usd = (prompt_tokens as f64 * input + output_tokens as f64 * output) / 1e6;
    // The cost of a reply is a sum of up to five rounded terms. The margin is larger than the sum
    // of their rounding errors.
    usd * (1.0 + 16.0 * f64::EPSILON)
}

#[cfg(test)]
mod tests;
