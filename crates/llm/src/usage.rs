//! Tokens, and what they cost.
//!
//! **Invariant:** counts mean the same for every provider: input includes what was read from and written to a cache, output
//! includes reasoning. Where a provider counts otherwise, `wire` converts.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// What a call consumed, as the provider counted it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens of what was asked.
    pub input_tokens: u64,
    /// Those of them that came out of a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Those of them that were written to a cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// All tokens of the answer.
    pub output_tokens: u64,
    /// Those of them that were reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// What the provider says that it costs, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_usd: Option<f64>,
}

impl Usage {
    /// Input and output together.
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

/// Prices in US dollars a million tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// The day on which they held, such as `2026-11-01`.
    pub date: String,
    /// Input that no cache was involved in.
    pub input: f64,
    /// Input out of a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Input that is written to a cache; as other input if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// Output.
    pub output: f64,
    /// Reasoning; as other output if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<f64>,
}

impl Prices {
    /// What a call cost.
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
    fn parts_that_exceed_their_whole_are_not_billed_twice() {
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
    fn sums_keep_what_was_reported() {
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
