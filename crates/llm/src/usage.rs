//! Token counts and prices.
//!
//! **Invariant:** counts have the same meaning for every provider. Input includes tokens read from
//! and written to a cache; output includes reasoning. The module `wire` converts the counts of
//! providers that use other conventions.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// The tokens that a call consumed, as counted by the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens of the request.
    pub input_tokens: u64,
    /// The part of `input_tokens` that was read from a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// The part of `input_tokens` that was written to a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// All tokens of the reply.
    pub output_tokens: u64,
    /// The part of `output_tokens` that was reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// The cost in US dollars, if the provider reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_usd: Option<f64>,
}

impl Usage {
    /// Returns the sum of input and output tokens.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let usd = match (self.reported_usd, other.reported_usd) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
        };
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            cache_write_tokens: self
                .cache_write_tokens
                .saturating_add(other.cache_write_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            reported_usd: usd,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// Prices in US dollars per million tokens.
///
/// # Examples
///
/// ```
/// use rhae_llm::{Prices, Usage};
///
/// let prices = Prices {
///     date: "2026-11-01".to_owned(),
///     input: 2.0,
///     cached_input: Some(0.5),
///     cache_write: None,
///     output: 10.0,
///     reasoning: None,
/// };
/// let usage = Usage {
///     input_tokens: 1_000_000,
///     cached_tokens: 400_000,
///     output_tokens: 100_000,
///     ..Usage::default()
/// };
/// // 600,000 at $2, 400,000 at $0.50 and 100,000 at $10.
/// assert!((prices.usd(&usage) - 2.4).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The date of the price list, such as `2026-11-01`.
    pub date: String,
    /// Uncached input.
    pub input: f64,
    /// Input read from a cache; the same as `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Input written to a cache; the same as `input` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    pub output: f64,
    /// Reasoning; the same as `output` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<f64>,
}

impl Prices {
    /// Returns the cost of a call in US dollars.
    pub fn usd(&self, usage: &Usage) -> f64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let reasoning = usage.reasoning_tokens.min(usage.output_tokens);
        let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        of(usage.input_tokens - cached - written, self.input)
            + of(cached, self.cached_input.unwrap_or(self.input))
            + of(written, self.cache_write.unwrap_or(self.input))
            + of(usage.output_tokens - reasoning, self.output)
            + of(reasoning, self.reasoning.unwrap_or(self.output))
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices() -> Prices {
        let date = "2026-11-01".to_owned();
        Prices {
            date,
            input: 2.0,
            cached_input: Some(0.5),
            cache_write: Some(2.5),
            output: 10.0,
            reasoning: Some(8.0),
        }
    }

    #[test]
    fn every_kind_of_token_has_its_price() {
        let usage = Usage {
            input_tokens: 1_000_000,
            cached_tokens: 400_000,
            cache_write_tokens: 200_000,
            output_tokens: 300_000,
            reasoning_tokens: 100_000,
            reported_usd: None,
        };
        let expected = 0.4 * 2.0 + 0.4 * 0.5 + 0.2 * 2.5 + 0.2 * 10.0 + 0.1 * 8.0;
        assert!((prices().usd(&usage) - expected).abs() < 1e-12);
        let plain = Prices {
            cached_input: None,
            cache_write: None,
            reasoning: None,
            ..prices()
        };
        assert!((plain.usd(&usage) - (2.0 + 3.0)).abs() < 1e-12);
    }

    #[test]
    fn cached_tokens_are_not_billed_twice() {
        let usage = Usage {
            input_tokens: 19_173,
            cached_tokens: 19_071,
            cache_write_tokens: 100,
            output_tokens: 500,
            ..Usage::default()
        };
        let prices = Prices {
            input: 3.0,
            cached_input: Some(0.3),
            cache_write: Some(3.75),
            output: 15.0,
            reasoning: None,
            ..prices()
        };
        // Billing cached and written tokens as input as well would give 0.0711153.
        assert_eq!(format!("{:.7}", prices.usd(&usage)), "0.0136023");
    }

    #[test]
    fn cached_tokens_beyond_the_input_are_not_billed() {
        let usage = Usage {
            input_tokens: 10,
            cached_tokens: 50,
            cache_write_tokens: 50,
            output_tokens: 1,
            ..Usage::default()
        };
        assert!((prices().usd(&usage) - (10.0 * 0.5 + 10.0) / 1e6).abs() < 1e-12);
    }

    #[test]
    fn sum_includes_reported_costs() {
        let one = Usage {
            input_tokens: 1,
            output_tokens: 2,
            reported_usd: Some(0.25),
            ..Usage::default()
        };
        let two = Usage {
            input_tokens: 3,
            output_tokens: 4,
            ..Usage::default()
        };
        let sum: Usage = [one, two].into_iter().sum();
        assert_eq!(
            (sum.input_tokens, sum.output_tokens, sum.reported_usd),
            (4, 6, Some(0.25))
        );
        assert_eq!(sum.total_tokens(), 10);
    }
}
