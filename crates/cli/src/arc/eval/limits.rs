//! The limits of an evaluation.

use anyhow::Result;
use clap::Args;
use rhae_protocol::EvalLimits;

use crate::run_args::{self, check_limit};

#[derive(Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct EvalLimitArgs {
    #[command(flatten)]
    shared: run_args::LimitArgs,
    /// Time limit for one task, counted from its first request, in seconds
    #[arg(long, value_name = "SECONDS")]
    task_timeout: Option<f64>,
    /// Maximum number of input and output tokens of the run
    #[arg(long, value_name = "N")]
    token_limit: Option<u64>,
}

impl EvalLimitArgs {
    /// Returns the limits of a run. A limit without a flag is taken from `before`, the recorded
    /// limits of a resumed run.
    pub(super) fn resolve(&self, before: Option<EvalLimits>) -> Result<EvalLimits> {
        self.shared.check()?;
        check_limit("task-timeout", self.task_timeout)?;
        let before = before.unwrap_or_default();
        let rate = self.shared.rate_limit()?;
        Ok(EvalLimits {
            concurrency: self.shared.jobs().unwrap_or(before.concurrency),
            requests_per_minute: rate
                .map(rhae_llm::Rate::in_a_minute)
                .or(before.requests_per_minute),
            request_seconds: self.shared.timeout.or(before.request_seconds),
            task_seconds: self.task_timeout.or(before.task_seconds),
            run_seconds: self.shared.run_timeout.or(before.run_seconds),
            tokens: self.token_limit.or(before.tokens),
            cost_usd: self.shared.max_cost.or(before.cost_usd),
        })
    }
}
