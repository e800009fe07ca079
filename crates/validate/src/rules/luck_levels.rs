//! The rule `luck-levels`, regime 2 of random play: attempts at one level, which is entered directly.
//! Each attempt may take five times the baseline.

use rhae_explore::{lower_bound_95, upper_bound_95};

use crate::luck::{Attempts, play_attempts};
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk};
use crate::{Finding, LUCK_LIMIT, Options, Rule, Verdict};

/// The minimum number of attempts for which the absence of wins is meaningful.
const MIN_ATTEMPTS: u64 = 20;

pub(super) const DEFINITION: Definition = Definition {
    name: "luck-levels",
    group: Group::Luck,
    severity: Verdict::Fail,
    requirement: "Random play of a level wins at most 1 attempt in 10,000.",
    checks: &[Check::Luck(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Some(walk) = Walk::enter(context.subject, context.options.env_seed, level)? else {
        return Ok(None);
    };
    let result = play_attempts(context, level, walk, u64::MAX)?;
    Ok(Some(judge(context.options, &result)))
}

fn judge(options: &Options, result: &Attempts) -> Finding {
    let Attempts {
        attempts,
        wins,
        length,
        ..
    } = *result;
    let (low, high) = (
        lower_bound_95(wins, attempts),
        upper_bound_95(wins, attempts),
    );
    let counts = format!("{wins} of {attempts} attempts of {length} random actions won");
    let finding = if wins == 0 && attempts < MIN_ATTEMPTS {
        Finding::not_checked(
            Rule::Levels,
            format!("{counts}; more attempts are needed to decide: raise --steps"),
        )
    } else if wins == 0 {
        Finding::pass(
            Rule::Levels,
            format!(
                "{counts}: at most 1 in {:.0} with 95 % confidence",
                1.0 / high
            ),
        )
    } else if low > LUCK_LIMIT {
        Finding::fail(
            Rule::Levels,
            format!(
                "{counts}: at least 1 in {:.0} with 95 % confidence, but the limit is 1 in 10,000",
                1.0 / low
            ),
        )
    } else if options.strict {
        Finding::fail(Rule::Levels, format!("{counts}, but --strict allows none"))
    } else {
        Finding::warn(
            Rule::Levels,
            format!("{counts}: within the limit, but not zero"),
        )
    };
    finding.with_evidence("a win by random play", result.first_win.clone())
}
