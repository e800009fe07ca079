//! Findings for levels that cannot be entered or on which the environment fails.

use crate::rule::Context;
use crate::walk::{PlayFailure, Walk};
use crate::{DEFAULT_BASELINE, Finding, Rule, Subject};

/// Opens a play at the start of a level. If that is impossible, returns one finding for each of the
/// given rules.
pub(crate) fn enter_level(
    context: Context<'_>,
    level: u8,
    rules: &[Rule],
) -> Result<Walk, Vec<Finding>> {
    match Walk::enter(context.subject, context.options.env_seed, level) {
        Ok(Some(walk)) => Ok(walk),
        Ok(None) => Err(rules
            .iter()
            .map(|&rule| unreachable_level(rule, level))
            .collect()),
        Err(failure) => Err(environment_failed(rules, level, &failure)),
    }
}

/// Returns the findings of a check of one level, which may have ended without a decision.
pub(crate) fn judge_level(
    rule: Rule,
    level: u8,
    result: Result<Option<Finding>, PlayFailure>,
) -> Vec<Finding> {
    match result {
        Ok(Some(finding)) => vec![finding.on_level(level)],
        Ok(None) => vec![unreachable_level(rule, level)],
        Err(failure) => environment_failed(&[rule], level, &failure),
    }
}

pub(crate) fn unreachable_level(rule: Rule, level: u8) -> Finding {
    Finding::not_checked(
        rule,
        "unreachable: no win of an earlier level is stored or was found; see `solutions`",
    )
    .on_level(level)
}

pub(crate) fn undecided_by_failure(rule: Rule, level: u8) -> Finding {
    Finding::open(
        rule,
        "not decided, because the environment failed; see `failures`",
    )
    .on_level(level)
}

/// Returns the findings for a check that ended because the environment failed: one finding for the
/// failure itself, and an open finding for each of the given rules.
pub(crate) fn environment_failed(rules: &[Rule], level: u8, failure: &PlayFailure) -> Vec<Finding> {
    let at = failure
        .action
        .map_or_else(String::new, |action| format!("`{action}`: "));
    let failure = Finding::fail(
        Rule::Failures,
        format!(
            "{at}{}; an environment must answer every action",
            failure.reason
        ),
    )
    .on_level(level)
    .with_evidence(
        "the last action causes the failure",
        failure.actions.clone(),
    );
    let open = rules.iter().map(|&rule| undecided_by_failure(rule, level));
    open.chain([failure]).collect()
}

/// Returns the baseline of a level, or [`DEFAULT_BASELINE`] if none is known.
pub(crate) fn baseline(subject: &dyn Subject, level: u8) -> u32 {
    subject
        .info()
        .baselines
        .get(usize::from(level))
        .map_or(DEFAULT_BASELINE, |baseline| baseline.actions.max(1))
}
