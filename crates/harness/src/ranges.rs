//! The ranges of the whole numbers in a run's options, for the command line and for Python.

use std::ops::{RangeFrom, RangeInclusive};

use crate::{HarnessError, RunRequest};

/// The numbers of scorecards that a run may have.
pub const REPEAT_RANGE: RangeInclusive<i64> = 1..=10_000;
/// The numbers of concurrent plays that a run may have.
pub const JOBS_RANGE: RangeInclusive<i64> = 1..=1024;
/// The limits of a conversation in tokens that a run may have.
pub const CONTEXT_TOKENS_RANGE: RangeFrom<u64> = 1000..;

/// Checks the numbers of a new run.
pub(crate) fn check_request(request: &RunRequest) -> Result<(), HarnessError> {
    if !REPEAT_RANGE.contains(&i64::from(request.repeat)) {
        return Err(outside("--repeat", &REPEAT_RANGE, request.repeat));
    }
    if let Some(tokens) = request.model.context_tokens
        && !CONTEXT_TOKENS_RANGE.contains(&tokens)
    {
        return Err(HarnessError::Request(format!(
            "--context-tokens must be at least {}, found {tokens}",
            CONTEXT_TOKENS_RANGE.start
        )));
    }
    check_jobs(request.jobs)
}

/// Checks the number of concurrent plays.
pub(crate) fn check_jobs(jobs: Option<usize>) -> Result<(), HarnessError> {
    let is_valid = |jobs| i64::try_from(jobs).is_ok_and(|jobs| JOBS_RANGE.contains(&jobs));
    match jobs {
        Some(jobs) if !is_valid(jobs) => Err(outside("--jobs", &JOBS_RANGE, jobs)),
        _ => Ok(()),
    }
}

fn outside(
    option: &str,
    range: &RangeInclusive<i64>,
    found: impl std::fmt::Display,
) -> HarnessError {
    HarnessError::Request(format!(
        "{option} must be from {} to {}, found {found}",
        range.start(),
        range.end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut RunRequest);

    fn error(change: Change) -> Option<String> {
        let mut request = RunRequest::default();
        change(&mut request);
        let prepared = request.prepare(&rhae_games::Builtin, None);
        prepared.err().map(|error| error.to_string())
    }

    #[test]
    fn numbers_outside_their_ranges_are_rejected() {
        let cases: [(Change, &str); 3] = [
            (
                |request| request.repeat = 0,
                "--repeat must be from 1 to 10000, found 0",
            ),
            (
                |request| request.jobs = Some(1025),
                "--jobs must be from 1 to 1024, found 1025",
            ),
            (
                |request| request.model.context_tokens = Some(999),
                "--context-tokens must be at least 1000, found 999",
            ),
        ];
        for (change, expected) in cases {
            assert_eq!(error(change).as_deref(), Some(expected));
        }
    }
}
