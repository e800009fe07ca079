//! What a player consumed: calls of a model, tokens, money.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Details;

/// What models consumed, by the word of their providers. Input includes what came out of or went into a cache, output includes
/// reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct Spent {
    /// Requests that were sent, failed ones too.
    pub calls: u64,
    /// Tokens of what was asked.
    pub input_tokens: u64,
    /// Those of them that came out of a cache.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Those of them that were reasoning.
    pub reasoning_tokens: u64,
    /// What all that cost in US dollars; absent if no prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Requests that may have consumed more than anyone counted, because they broke off.
    pub uncounted: u64,
}

impl Spent {
    /// What the details of an action say; `None` if they say nothing. Anybody's agent may give them, so nothing in them is relied on.
    pub fn of(details: &Details) -> Option<Self> {
        if details.usage.is_none() && details.cost_usd.is_none() {
            return None;
        }
        let mut spent: Self = details
            .usage
            .clone()
            .and_then(|usage| serde_json::from_value(usage).ok())
            .unwrap_or_default();
        spent.calls = spent.calls.max(1);
        spent.cost_usd = details
            .cost_usd
            .filter(|cost| cost.is_finite() && *cost >= 0.0);
        Some(spent)
    }

    /// The sum; `None` if there is nothing to add up.
    pub fn total(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().reduce(Add::add)
    }
}

impl Add for Spent {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (one, two) => Some(one.unwrap_or(0.0) + two.unwrap_or(0.0)),
        };
        Self {
            calls: self.calls.saturating_add(other.calls),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
            cost_usd,
            uncounted: self.uncounted.saturating_add(other.uncounted),
        }
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Spent {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn anybodys_details_are_taken_as_far_as_they_make_sense() {
        let of = |usage: serde_json::Value, cost_usd| {
            Spent::of(&Details {
                usage: Some(usage),
                cost_usd,
                ..Details::default()
            })
            .unwrap()
        };
        assert_eq!(Spent::of(&Details::default()), None);
        let spent = of(
            json!({"input_tokens": 5, "calls": 2, "other": []}),
            Some(0.5),
        );
        assert_eq!(
            (spent.calls, spent.input_tokens, spent.cost_usd),
            (2, 5, Some(0.5))
        );
        for odd in [
            json!("many"),
            json!({"input_tokens": -1}),
            json!(null),
            json!([1]),
        ] {
            assert_eq!(
                of(odd, Some(f64::NAN)),
                Spent {
                    calls: 1,
                    ..Spent::default()
                }
            );
        }
        let sum = Spent::total([spent, spent, Spent::default()]).unwrap();
        assert_eq!((sum.calls, sum.cost_usd), (4, Some(1.0)));
        assert_eq!(Spent::total([]), None);
    }
}
