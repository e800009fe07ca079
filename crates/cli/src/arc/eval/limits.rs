//! The flags that limit the requests, time, tokens and cost of a run.

use anyhow::{Result, ensure};
use clap::Args;
use rhae_protocol::EvalLimits;

#[derive(Args)]
pub(super) struct LimitArgs {
    /// Maximum number of requests in flight [default: 8 for models, otherwise the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    concurrency: Option<u32>,
    /// Maximum number of requests started per minute
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<f64>,
    /// Time limit for one request, retries included, in seconds
    #[arg(long, value_name = "SECONDS")]
    request_timeout: Option<f64>,
    /// Time limit for one task, counted from its first request, in seconds
    #[arg(long, value_name = "SECONDS")]
    task_timeout: Option<f64>,
    /// Time limit for the run, including the time before it was interrupted, in seconds
    #[arg(long, value_name = "SECONDS")]
    run_timeout: Option<f64>,
    /// Maximum number of input and output tokens of the run
    #[arg(long, value_name = "N")]
    token_limit: Option<u64>,
    /// Maximum cost of the run in US dollars, measured by the tokens that the provider reports
    #[arg(long, value_name = "USD")]
    spend_limit: Option<f64>,
}

impl LimitArgs {
    /// Returns the limits of a run. A limit without a flag is taken from `before`, the recorded
    /// limits of a resumed run.
    pub(super) fn resolve(
        &self,
        before: Option<EvalLimits>,
        default_concurrency: usize,
    ) -> Result<EvalLimits> {
        let before = before.unwrap_or(EvalLimits {
            concurrency: default_concurrency,
            ..EvalLimits::default()
        });
        for (name, value) in [
            ("requests-per-minute", self.requests_per_minute),
            ("request-timeout", self.request_timeout),
            ("task-timeout", self.task_timeout),
            ("run-timeout", self.run_timeout),
            ("spend-limit", self.spend_limit),
        ] {
            ensure!(
                value.is_none_or(|value| value > 0.0 && value <= 1e9),
                "--{name} must be more than 0 and at most 1e9"
            );
        }
        Ok(EvalLimits {
            concurrency: self
                .concurrency
                .map_or(before.concurrency, |requests| requests as usize),
            requests_per_minute: self.requests_per_minute.or(before.requests_per_minute),
            request_seconds: self.request_timeout.or(before.request_seconds),
            task_seconds: self.task_timeout.or(before.task_seconds),
            run_seconds: self.run_timeout.or(before.run_seconds),
            tokens: self.token_limit.or(before.tokens),
            cost_usd: self.spend_limit.or(before.cost_usd),
        })
    }
}
