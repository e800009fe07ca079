//! The rule `solutions`: the solutions win the game, one level after the other.

use rhae_engine::PlayState;

use crate::rule::{Check, Context, Definition, Group};
use crate::structure::LevelStart;
use crate::walk::catch_panic;
use crate::{Finding, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "solutions",
    group: Group::Structure,
    severity: Verdict::Fail,
    requirement: "The stored solutions win their levels.",
    checks: &[Check::Structure(check)],
};

fn check(context: Context<'_>, _starts: &[LevelStart]) -> Vec<Finding> {
    vec![play_all(context)]
}

/// Plays all solutions in sequence within one play.
fn play_all(
    Context {
        subject, options, ..
    }: Context<'_>,
) -> Finding {
    let stored = (0..subject.levels())
        .filter(|&level| subject.has_stored_solution(level))
        .count();
    let origin = if stored > 0 { "stored" } else { "found" };
    let mut play = match catch_panic(|| subject.open(options.env_seed))
        .and_then(|opened| opened.map_err(|error| error.to_string()))
    {
        Ok(play) => play,
        Err(reason) => return Finding::not_checked(Rule::Solutions, reason),
    };
    let mut line = Vec::new();
    for level in 0..subject.levels() {
        let Some(solution) = subject.solution(level) else {
            let missing = format!("no solution of level {} is stored or was found", level + 1);
            return if subject.is_hosted() {
                let advice = "add a recording of a win (`rhae play --record`) to the game's folder";
                let later = if level + 1 < subject.levels() {
                    ", so later levels are not checked"
                } else {
                    ""
                };
                Finding::warn(Rule::Solutions, format!("{missing}{later}: {advice}"))
            } else {
                Finding::fail(
                    Rule::Solutions,
                    format!("{missing}; store one for each level"),
                )
            };
        };
        for (step, &action) in solution.iter().enumerate() {
            if play.observation().levels_completed != level {
                let text = format!(
                    "level {} is already won after {step} of the {} actions of its solution",
                    level + 1,
                    solution.len()
                );
                return Finding::fail(Rule::Solutions, text)
                    .on_level(level)
                    .with_evidence("the solutions up to that point", Some(line));
            }
            line.push(action);
            if let Err(reason) = catch_panic(|| {
                play.act(action)
                    .map(|_| ())
                    .map_err(|error| error.to_string())
            })
            .flatten()
            {
                return Finding::fail(Rule::Solutions, reason)
                    .on_level(level)
                    .with_evidence("the last action causes the failure", Some(line));
            }
        }
        if play.observation().levels_completed != level + 1 {
            let text = format!(
                "the {origin} solution does not win: the level is not completed after its {} actions",
                solution.len()
            );
            return Finding::fail(Rule::Solutions, text)
                .on_level(level)
                .with_evidence("the solutions up to that point", Some(line));
        }
    }
    if play.observation().state != PlayState::Win {
        return Finding::fail(
            Rule::Solutions,
            "all levels are completed, but the game is not won",
        )
        .with_evidence("all solutions", Some(line));
    }
    Finding::pass(
        Rule::Solutions,
        format!(
            "the {origin} solutions win all levels in {} actions",
            line.len()
        ),
    )
    .with_evidence("all solutions", Some(line))
}
