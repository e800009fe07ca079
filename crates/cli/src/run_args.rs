//! The flags that all long runs share: limits and identity. The same concept has the same name in
//! every command.

use anyhow::{Result, ensure};
use clap::Args;
use rhae_llm::Rate;
use rhae_protocol::RunIdentity;

/// The maximum of limits in seconds and US dollars.
const MAX_LIMIT: f64 = 1e9;

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Maximum number of concurrent plays or requests [default: the number of cores; 8 for a model in
    /// `arc eval`]
    #[arg(long, alias = "concurrency", value_name = "N", value_parser = clap::value_parser!(u16).range(rhae_harness::JOBS_RANGE))]
    jobs: Option<u16>,
    /// Maximum cost of the run in US dollars; a request is sent only if its worst case fits into the
    /// rest of the limit (docs/models.md)
    #[arg(long, alias = "spend-limit", value_name = "USD")]
    pub(crate) max_cost: Option<f64>,
    /// Maximum rate of requests to a model: `5/s`, `300/min`, or a number per second
    #[arg(long, value_name = "RATE")]
    rate_limit: Option<Rate>,
    /// Maximum number of requests per minute, the older spelling of --rate-limit
    #[arg(long, value_name = "N", hide = true, conflicts_with = "rate_limit")]
    requests_per_minute: Option<f64>,
    /// Time limit for one request to a model, retries included, in seconds
    #[arg(long, alias = "request-timeout", value_name = "SECONDS")]
    pub(crate) timeout: Option<f64>,
    /// Time limit for one play, from its start, or for one task, from its first request, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) task_timeout: Option<f64>,
    /// Time limit for the run, including the time before it was interrupted, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub(crate) run_timeout: Option<f64>,
}

impl LimitArgs {
    pub(crate) fn jobs(&self) -> Option<usize> {
        self.jobs.map(usize::from)
    }

    /// Returns the rate limit, whichever flag gives it.
    pub(crate) fn rate_limit(&self) -> Result<Option<Rate>> {
        Ok(match self.requests_per_minute {
            Some(number) => Some(Rate::per_minute(number)?),
            None => self.rate_limit,
        })
    }

    /// Returns an error if a limit is not positive.
    pub(crate) fn check(&self) -> Result<()> {
        for (name, value) in [
            ("max-cost", self.max_cost),
            ("timeout", self.timeout),
            ("task-timeout", self.task_timeout),
            ("run-timeout", self.run_timeout),
        ] {
            ensure!(
                value.is_none_or(|value| value > 0.0 && value <= MAX_LIMIT),
                "--{name} must be more than 0 and at most 1e9"
            );
        }
        Ok(())
    }
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Identity")]
pub(crate) struct IdentityArgs {
    /// Name of the run, for `rhae runs list`
    #[arg(long, conflicts_with = "resume")]
    name: Option<String>,
    /// Tag of the run; may be repeated
    #[arg(long, value_name = "TAG", conflicts_with = "resume")]
    tag: Vec<String>,
    /// Note about the run
    #[arg(long, value_name = "TEXT", conflicts_with = "resume")]
    note: Option<String>,
}

impl IdentityArgs {
    /// Returns the identity of a run that starts in the current folder.
    pub(crate) fn resolve(&self) -> RunIdentity {
        rhae_runs::new_identity(self.name.clone(), self.tag.clone(), self.note.clone())
    }
}
