//! The limits of an evaluation.

use anyhow::Result;
use clap::Args;
use rhae_protocol::EvalLimits;

use crate::run_args::LimitArgs;

#[derive(Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct EvalLimitArgs {
    #[command(flatten)]
    shared: LimitArgs,
    /// Maximum number of input and output tokens of the run; a request is sent only if its worst
    /// case fits into the rest of the limit
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    token_limit: Option<u64>,
}

impl EvalLimitArgs {
    /// Returns the limits of a run. A limit without a flag is taken from `before`, the recorded
    /// limits of a resumed run.
    pub(super) fn resolve(&self, before: Option<EvalLimits>) -> Result<EvalLimits> {
        self.shared.check()?;
        let before = before.unwrap_or_default();
        let rate = self.shared.rate_limit()?;
        Ok(EvalLimits {
            concurrency: self.shared.jobs().unwrap_or(before.concurrency),
            requests_per_minute: rate
                .map(rhae_llm::Rate::in_a_minute)
                .or(before.requests_per_minute),
            request_seconds: self.shared.timeout.or(before.request_seconds),
            task_seconds: self.shared.task_timeout.or(before.task_seconds),
            run_seconds: self.shared.run_timeout.or(before.run_seconds),
            tokens: self.token_limit.or(before.tokens),
            cost_usd: self.shared.max_cost.or(before.cost_usd),
        })
    }
}
