//! The rule `baselines`: every level has one, and none is below the optimum.

use rhae_engine::BaselineSource;

use crate::rule::{Check, Context, Definition, Group};
use crate::solvable::SearchedLevel;
use crate::structure::LevelStart;
use crate::{Finding, Rule, Subject, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "baselines",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "Every level has a baseline that is not below the optimum.",
    checks: &[Check::Structure(check), Check::Graph(baseline_fits)],
};

fn check(context: Context<'_>, _starts: &[LevelStart]) -> Vec<Finding> {
    known_baselines(context.subject).into_iter().collect()
}

fn known_baselines(subject: &dyn Subject) -> Option<Finding> {
    let (known, levels) = (
        subject.info().baselines.len(),
        usize::from(subject.levels()),
    );
    if known == levels {
        let zero = subject
            .info()
            .baselines
            .iter()
            .position(|baseline| baseline.actions == 0)?;
        return Some(Finding::fail(
            Rule::Baselines,
            format!("the baseline of level {} is 0 actions", zero + 1),
        ));
    }
    Some(match known {
        0 => Finding::warn(
            Rule::Baselines,
            "no baselines: plays get no score, and random attempts are 200 actions long",
        ),
        _ => Finding::fail(
            Rule::Baselines,
            format!("{known} baselines for {levels} levels"),
        ),
    })
}

/// Compares the baseline of a level with its optimum.
fn baseline_fits(context: Context<'_>, searched: &SearchedLevel) -> Option<Finding> {
    let baselines = &context.subject.info().baselines;
    let known = baselines.get(usize::from(searched.level))?;
    let actions = known.actions;
    let Some(optimum) = searched
        .optimum
        .and_then(|optimum| u32::try_from(optimum).ok())
    else {
        return Some(Finding::open(
            Rule::Baselines,
            format!(
                "{actions} actions ({}); the optimum is unknown",
                known.source
            ),
        ));
    };
    Some(if actions < optimum {
        Finding::fail(
            Rule::Baselines,
            format!("the baseline is {actions} actions, but no play wins in fewer than {optimum}"),
        )
    } else if known.source == BaselineSource::Solver && actions != 2 * optimum {
        Finding::fail(
            Rule::Baselines,
            format!(
                "the baseline is declared as twice the optimum of {optimum} actions, but it is {actions}"
            ),
        )
    } else {
        Finding::pass(
            Rule::Baselines,
            format!("{actions} actions ({}), optimum {optimum}", known.source),
        )
    })
}
