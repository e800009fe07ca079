//! The limits of a conversation. They count work, never time.

use rhae_protocol::ModelUsage;

/// The limits of the conversations of one play. The spend limit of the run applies in addition.
///
/// # Examples
///
/// ```
/// use rhae_agents_llm::Limits;
///
/// let limits = Limits { max_iterations: 10, ..Limits::default() };
/// assert_eq!(limits.max_consecutive_errors, 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The requests of one turn: the model may call tools this often before it must answer.
    pub max_iterations: u32,
    /// The nesting of conversations. A conversation that is started by a tool is one level deeper.
    pub max_depth: u32,
    /// Tool calls that fail in a row within one turn.
    pub max_consecutive_errors: u32,
    /// The input and output tokens of a play.
    pub max_tokens: Option<u64>,
    /// The known cost of a play in US dollars.
    pub max_cost_usd: Option<f64>,
}

impl Limits {
    /// The limits of an agent that sets no others.
    pub const DEFAULT: Self = Self {
        max_iterations: 50,
        max_depth: 1,
        max_consecutive_errors: 5,
        max_tokens: None,
        max_cost_usd: None,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The limit that ended a turn or a play.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LimitReached {
    #[error("the model called tools in {0} requests without an answer")]
    Iterations(u32),
    #[error("conversations are nested more than {0} deep")]
    Depth(u32),
    #[error("{0} tool calls failed in a row")]
    Errors(u32),
    #[error("the play has used {used} of {limit} tokens")]
    Tokens { used: u64, limit: u64 },
    #[error("the play has cost {used_usd:.4} of {limit_usd:.4} US dollars")]
    Cost { used_usd: f64, limit_usd: f64 },
}

impl LimitReached {
    /// Returns whether no further turn of the play is possible.
    pub fn ends_play(&self) -> bool {
        matches!(self, Self::Tokens { .. } | Self::Cost { .. })
    }
}

impl Limits {
    /// Checks the limits of a play against its usage so far.
    ///
    /// # Errors
    ///
    /// Returns the limit that is reached.
    pub fn check_usage(&self, usage: &ModelUsage) -> Result<(), LimitReached> {
        let used = usage.input_tokens.saturating_add(usage.output_tokens);
        if let Some(limit) = self.max_tokens.filter(|&limit| used >= limit) {
            return Err(LimitReached::Tokens { used, limit });
        }
        let used_usd = usage.cost_usd.unwrap_or(0.0) + usage.possibly_paid_usd.unwrap_or(0.0);
        match self.max_cost_usd.filter(|&limit| used_usd >= limit) {
            Some(limit_usd) => Err(LimitReached::Cost {
                used_usd,
                limit_usd,
            }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_compared_with_both_limits() {
        let usage = ModelUsage {
            input_tokens: 60,
            output_tokens: 40,
            cost_usd: Some(0.5),
            possibly_paid_usd: Some(0.25),
            ..ModelUsage::default()
        };
        let limits = |max_tokens, max_cost_usd| Limits {
            max_tokens,
            max_cost_usd,
            ..Limits::default()
        };
        assert_eq!(limits(None, None).check_usage(&usage), Ok(()));
        assert_eq!(limits(Some(101), Some(0.76)).check_usage(&usage), Ok(()));
        let tokens = limits(Some(100), None).check_usage(&usage).unwrap_err();
        assert!(tokens.ends_play());
        assert_eq!(tokens.to_string(), "the play has used 100 of 100 tokens");
        let cost = limits(None, Some(0.75)).check_usage(&usage).unwrap_err();
        assert_eq!(
            cost.to_string(),
            "the play has cost 0.7500 of 0.7500 US dollars"
        );
        assert!(!LimitReached::Iterations(5).ends_play());
    }
}
