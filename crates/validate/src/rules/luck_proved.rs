//! The rule `luck-proved`: the probability of a random win, computed from the state graph.

use rhae_explore::GraphWarning;

use crate::rule::{Check, Context, Definition, Group};
use crate::solvable::{SearchedLevel, certainty, with_prefix};
use crate::{Finding, LUCK_LIMIT, LevelGraph, Options, Rule, Verdict};

pub(super) const DEFINITION: Definition = Definition {
    name: "luck-proved",
    group: Group::Luck,
    severity: Verdict::Fail,
    requirement: "The proved probability of a random win is at most 1 in 10,000.",
    checks: &[Check::Graph(check)],
};

fn check(context: Context<'_>, searched: &SearchedLevel) -> Option<Finding> {
    let SearchedLevel { level, graph, .. } = searched;
    let finding = judge(context.options, *level, graph);
    Some(match graph.warnings.first() {
        // A play that demonstrates why the probability is not certain.
        Some(GraphWarning::KeyCollision { actions }) => finding.with_evidence(
            "two states share a key: the last action has another result than in the other state",
            with_prefix(context.subject, *level, actions),
        ),
        _ => finding,
    })
}

/// Judges the probability of a random win.
///
/// The random player of the paper chooses among valid actions. If clicks are offered, that player
/// clicks only cells that may have an effect, and usually wins more often than a player who clicks
/// blindly. Both probabilities are judged, and the text is about the higher one.
fn judge(options: &Options, level: u8, graph: &LevelGraph) -> Finding {
    let (rule, within, states, proved) =
        (Rule::Proved, graph.within, graph.nodes, certainty(graph));
    let (valid, blind) = (graph.p_within, graph.p_blind.filter(|_| graph.has_clicks));
    let (at_least, at_most) = if graph.is_complete() {
        ("", "")
    } else {
        ("at least ", "at most ")
    };
    let (low, high) = (
        blind.map_or(0.0, |blind| blind.lower()).max(valid.lower()),
        valid.upper(),
    );
    if low > LUCK_LIMIT {
        let who = if !graph.has_clicks {
            "random play"
        } else if low > valid.lower() {
            "random play with blind clicks"
        } else {
            "random play that clicks only listed cells"
        };
        let text = format!(
            "{who} wins {at_least}{} attempts within {within} actions ({proved})",
            one_in(low)
        );
        let other = match blind {
            Some(_) if low > valid.lower() => format!(
                "; with clicks on listed cells only: {}",
                one_in(valid.upper())
            ),
            Some(blind) => format!("; with blind clicks: {}", one_in(blind.upper())),
            None => String::new(),
        };
        return if level == 0 && !options.strict {
            Finding::pass(
                rule,
                format!("{text}{other}; an easy first level is allowed"),
            )
        } else {
            Finding::fail(
                rule,
                format!(
                    "{text}{other}; the limit is 1 in 10,000: make the level longer or penalise mistakes"
                ),
            )
        };
    }
    if high <= LUCK_LIMIT && blind.is_none_or(|blind| blind.upper() <= LUCK_LIMIT) {
        let clicks = match blind {
            Some(blind) => format!("; with blind clicks: {}", one_in(blind.upper())),
            None if graph.has_clicks => {
                "; for blind clicks see the samples of `luck-levels`".to_owned()
            }
            None => String::new(),
        };
        let chance = one_in(high);
        let text = format!(
            "random valid actions win within {within} actions: {at_most}{chance} ({states} states, {proved}){clicks}"
        );
        return Finding::pass(rule, text);
    }
    let limits = graph.limits();
    let known = match (low > 0.0, high < 0.999) {
        (true, true) => format!("between {} and {}", one_in(low), one_in(high)),
        (true, false) => format!("at least {}", one_in(low)),
        (false, true) => format!("at most {}", one_in(high)),
        (false, false) => "nothing is known".to_owned(),
    };
    Finding::open(
        rule,
        format!(
            "undecided: {known} (states searched: {states}, {limits}); see the samples of `luck-levels`"
        ),
    )
}

fn one_in(chance: f64) -> String {
    match chance {
        0.0 => "never".to_owned(),
        0.1.. => format!("{:.0} in 100", 100.0 * chance),
        _ => format!("1 in {:.0}", 1.0 / chance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::tests::graph;

    #[test]
    fn representative_clicks_prove_no_probability() {
        let finding = judge(&Options::default(), 1, &graph());
        assert_eq!(
            finding.text,
            "undecided: nothing is known (states searched: 9, clicks: representative); see the samples of `luck-levels`"
        );
    }
}
