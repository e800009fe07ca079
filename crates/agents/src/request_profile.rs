//! How many requests an agent sends, and how long they are: assumptions for estimates before a run.

/// The requests of an agent, in one scenario.
///
/// The first request of a play is known exactly. Everything else depends on the model, so an agent
/// declares what it assumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestProfile {
    /// The number of requests for each action.
    pub requests_per_action: f64,
    /// The tokens that each request adds to the conversation besides the reply before it.
    pub added_tokens: u64,
    /// The tokens of a reply, including reasoning.
    pub output_tokens: u64,
}

/// The profiles of an agent in three scenarios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestProfiles {
    pub low: RequestProfile,
    pub likely: RequestProfile,
    pub high: RequestProfile,
}

impl RequestProfiles {
    /// Creates profiles from the values in the scenarios low, likely and high.
    pub const fn new(
        requests_per_action: [f64; 3],
        added_tokens: [u64; 3],
        output_tokens: [u64; 3],
    ) -> Self {
        const fn profile(requests_per_action: f64, added: u64, output: u64) -> RequestProfile {
            RequestProfile {
                requests_per_action,
                added_tokens: added,
                output_tokens: output,
            }
        }
        Self {
            low: profile(requests_per_action[0], added_tokens[0], output_tokens[0]),
            likely: profile(requests_per_action[1], added_tokens[1], output_tokens[1]),
            high: profile(requests_per_action[2], added_tokens[2], output_tokens[2]),
        }
    }
}
