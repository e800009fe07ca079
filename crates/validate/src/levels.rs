//! How checks come to a level, and what they say if there is no way.

use crate::walk::{Broken, Walk};
use crate::{Finding, Options, Rule, Subject, UNKNOWN_BASELINE};

/// A play at the beginning of a level, or the findings that say why there is none, one for each rule asked about.
pub(crate) fn entered(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    rules: &[Rule],
) -> Result<Walk, Vec<Finding>> {
    match Walk::enter(subject, options.env_seed, level) {
        Ok(Some(walk)) => Ok(walk),
        Ok(None) => Err(rules.iter().map(|&rule| no_way(rule, level)).collect()),
        Err(broken) => Err(stopped(rules, level, &broken)),
    }
}

pub(crate) fn no_way(rule: Rule, level: u8) -> Finding {
    Finding::open(rule, "no win of the levels before is stored or was found, so this level cannot be come to: see `solutions`")
        .on(level)
}

/// A check ended early because the environment did: that is a failure of its own, and the rules stay open.
pub(crate) fn stopped(rules: &[Rule], level: u8, broken: &Broken) -> Vec<Finding> {
    let at = broken
        .action
        .map_or_else(String::new, |action| format!("`{action}`: "));
    let failure = Finding::fail(
        Rule::Failures,
        format!(
            "{at}{}; an environment must answer every action",
            broken.reason
        ),
    )
    .on(level)
    .shown(
        "the last action is the one it did not survive",
        broken.actions.clone(),
    );
    let open = rules.iter().map(|&rule| {
        Finding::open(
            rule,
            "the environment failed before this could be decided; see `failures`",
        )
        .on(level)
    });
    open.chain([failure]).collect()
}

/// The baseline of a level, or a stand-in where none is known.
pub(crate) fn baseline(subject: &dyn Subject, level: u8) -> u32 {
    subject
        .info()
        .baselines
        .get(usize::from(level))
        .map_or(UNKNOWN_BASELINE, |baseline| baseline.actions.max(1))
}
