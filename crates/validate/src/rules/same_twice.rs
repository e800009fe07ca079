//! The rule `same-twice`: two plays with the same actions produce the same observations, even if a
//! third play with other actions runs in between.

use rhae_engine::{Action, Rng};

use crate::laws::law_steps;
use crate::rule::{Check, Context, Definition, Group};
use crate::walk::{PlayFailure, Walk};
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "same-twice",
    group: Group::Laws,
    severity: Verdict::Fail,
    requirement: "The same seed and actions give the same observations, whatever other plays do.",
    checks: &[Check::Laws(check)],
};

fn check(context: Context<'_>, level: u8) -> Result<Option<Finding>, PlayFailure> {
    let Context {
        subject, options, ..
    } = context;
    let rule = Rule::SameTwice;
    let enter = || Walk::enter(subject, options.env_seed, level);
    let (Some(mut one), Some(mut two), Some(mut other)) = (enter()?, enter()?, enter()?) else {
        return Ok(None);
    };
    let mut rng = Rng::new(options.seed, 400 + u64::from(level));
    let mut steps = 0;
    for step in 0..law_steps(context) {
        let action = if rng.below(60) == 0 {
            Action::Reset
        } else {
            one.random_action(&mut rng)
        };
        one.act(action)?;
        let noise = other.random_action(&mut rng);
        other.act(noise)?;
        two.act(action)?;
        steps = step + 1;
        if one.observation_hash() != two.observation_hash()
            || one.play.hidden_key() != two.play.hidden_key()
        {
            let text = "two plays with the same seed and actions return different observations: results must depend on the seed and the actions only";
            let finding = Finding::fail(rule, text);
            return Ok(Some(finding.with_evidence(
                "two plays differ after the last action",
                one.full_log(),
            )));
        }
    }
    Ok(Some(Finding::pass(
        rule,
        format!("{steps} actions gave the same observations in two plays"),
    )))
}
