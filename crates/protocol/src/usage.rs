//! The usage of language models: calls, tokens and cost.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Details;

/// The usage of language models: calls, tokens and cost.
///
/// Token counts normally originate from the provider; usage that
/// [`from_details`](Self::from_details) reads from an agent's details is unverified. Input tokens
/// include tokens read from or written to a cache. Output tokens include reasoning.
///
/// # Examples
///
/// ```
/// use rhae_protocol::{Details, ModelUsage};
///
/// let details = Details {
///     usage: Some(serde_json::json!({"input_tokens": 1200, "output_tokens": 80})),
///     cost_usd: Some(0.004),
///     ..Details::default()
/// };
/// let usage = ModelUsage::from_details(&details).unwrap();
/// assert_eq!((usage.calls, usage.input_tokens, usage.cost_usd), (1, 1200, Some(0.004)));
/// assert_eq!(ModelUsage::from_details(&Details::default()), None);
///
/// let total = ModelUsage::total([usage, usage]).unwrap();
/// assert_eq!(total.output_tokens, 160);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
#[schema(
    as = Spent,
    description = "The usage of language models, as their providers report it."
)]
pub struct ModelUsage {
    /// Requests that were sent, including failed ones.
    pub calls: u64,
    /// Input tokens, including cached ones.
    pub input_tokens: u64,
    /// Input tokens that were read from a cache.
    pub cached_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// Output tokens that were reasoning.
    pub reasoning_tokens: u64,
    /// Cost in US dollars; absent if no prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Requests that were cut off and may have consumed more than was counted.
    pub uncounted: u64,
    /// The maximum additional cost of the uncounted requests in US dollars; absent if no request
    /// is uncounted or the cost has no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub possibly_paid_usd: Option<f64>,
}

impl ModelUsage {
    /// Reads the usage from the details of an action; `None` if they contain neither usage nor
    /// cost.
    ///
    /// Agents write the details, so nothing in them is trusted: usage of an unexpected shape counts
    /// as one call without tokens, and a negative or non-finite cost is dropped.
    pub fn from_details(details: &Details) -> Option<Self> {
        if details.usage.is_none() && details.cost_usd.is_none() {
            return None;
        }
        let mut usage: Self = details
            .usage
            .clone()
            .and_then(|usage| serde_json::from_value(usage).ok())
            .unwrap_or_default();
        let is_valid = |cost: &f64| cost.is_finite() && *cost >= 0.0;
        usage.calls = usage.calls.max(1);
        usage.cost_usd = details.cost_usd.filter(is_valid);
        usage.possibly_paid_usd = usage.possibly_paid_usd.filter(is_valid);
        Some(usage)
    }

    /// Returns the sum, or `None` for an empty iterator. An unknown cost counts as zero; the total
    /// cost is unknown only if all costs are.
    pub fn total(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(Add::add)
    }
}

impl Add for ModelUsage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = |one: Option<f64>, two: Option<f64>| match (one, two) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
        };
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            cost_usd: sum(self.cost_usd, other.cost_usd),
            uncounted: self.uncounted.saturating_add(other.uncounted),
            possibly_paid_usd: sum(self.possibly_paid_usd, other.possibly_paid_usd),
        }
    }
}

impl AddAssign for ModelUsage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for ModelUsage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn malformed_usage_counts_as_one_call_without_tokens() {
        let usage_of = |usage: serde_json::Value, cost_usd| {
            ModelUsage::from_details(&Details {
                usage: Some(usage),
                cost_usd,
                ..Details::default()
            })
            .unwrap()
        };
        assert_eq!(ModelUsage::from_details(&Details::default()), None);
        let usage = usage_of(
            json!({"input_tokens": 5, "calls": 2, "other": []}),
            Some(0.5),
        );
        assert_eq!(
            (usage.calls, usage.input_tokens, usage.cost_usd),
            (2, 5, Some(0.5))
        );
        for odd in [
            json!("many"),
            json!({"input_tokens": -1}),
            json!(null),
            json!([1]),
        ] {
            assert_eq!(
                usage_of(odd, Some(f64::NAN)),
                ModelUsage {
                    calls: 1,
                    ..ModelUsage::default()
                }
            );
        }
        let sum = ModelUsage::total([usage, usage, ModelUsage::default()]).unwrap();
        assert_eq!((sum.calls, sum.cost_usd), (4, Some(1.0)));
        assert_eq!(ModelUsage::total([]), None);
    }
}
