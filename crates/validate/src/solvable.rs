//! What a level's state graph says: that it can be won, how fast, by luck, and where one gets stuck.

use rhae_engine::{ActionKind, BaselineSource};
use rhae_explore::Doubt;

use crate::levels::{baseline, no_way};
use crate::walk::{Walk, caught};
use crate::{ATTEMPT, Finding, LUCK_LIMIT, LevelGraph, NoGraph, Options, Rule, Subject, Watch};

pub(crate) const RULES: [Rule; 6] = [
    Rule::Proved,
    Rule::Wins,
    Rule::Optimum,
    Rule::DeadEnds,
    Rule::Baselines,
    Rule::Clicks,
];

/// All rules that a level's graph decides.
pub(crate) fn check(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    watch: &dyn Watch,
) -> Vec<Finding> {
    let within = ATTEMPT * baseline(subject, level);
    let mut told = 0;
    let mut go_on = |progress: rhae_explore::Progress| {
        watch.steps((progress.expanded as u64).saturating_sub(told));
        told = told.max(progress.expanded as u64);
        watch.goes_on()
    };
    let found =
        caught(|| subject.graph(options.env_seed, level, within, &options.limits, &mut go_on));
    let graph = match found.map_err(NoGraph::Failed).flatten() {
        Ok(graph) => graph,
        Err(_) if level > 0 && subject.prefix(level).is_none() => {
            return RULES.map(|rule| no_way(rule, level)).to_vec();
        }
        Err(NoGraph::Unsearchable(reason)) => return without_graph(subject, level, &reason),
        Err(NoGraph::Failed(reason)) => {
            let mut findings = without_graph(subject, level, &reason);
            let text = format!(
                "a search of its states met this: {reason}; an environment must answer every action"
            );
            findings.push(Finding::fail(Rule::Failures, text).on(level));
            return findings;
        }
    };
    let optimum = optimum(subject, options, level, &graph);
    let mut findings = vec![
        shown_doubt(proved(options, level, &graph), subject, level, &graph),
        wins(subject, level, &graph),
        known_optimum(subject, level, &graph, optimum),
        dead_ends(subject, level, &graph),
        clicks(subject, level, &graph),
    ];
    findings.extend(baseline_fits(subject, level, optimum));
    findings
        .into_iter()
        .map(|finding| finding.on(level))
        .collect()
}

fn without_graph(subject: &dyn Subject, level: u8, reason: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES
        .iter()
        .map(|&rule| Finding::open(rule, format!("no state graph: {reason}")).on(level))
        .collect();
    if subject.solution(level).is_some() {
        findings.retain(|finding| finding.rule != Rule::Wins);
        findings.push(
            Finding::pass(Rule::Wins, format!("{} wins", known_line(subject, level))).on(level),
        );
    }
    findings
}

/// Where a line comes from that no graph shows.
fn known_line(subject: &dyn Subject, level: u8) -> &'static str {
    if subject.has_stored_solution(level) {
        "a stored line"
    } else {
        "a line that was found"
    }
}

/// How sure it is what a graph says.
fn proof(graph: &LevelGraph) -> &'static str {
    match &graph.doubts[..] {
        [] => "proved",
        [Doubt::SameKey { .. }, ..] => "if states with one key were one: see `keys`",
        [Doubt::UnlistedClick { .. }, ..] => {
            "if clicks that are not listed did nothing: see `clicks`"
        }
    }
}

/// What a chance hangs on, as a play.
fn shown_doubt(finding: Finding, subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    match graph.doubts.first() {
        Some(Doubt::SameKey { actions }) => finding.shown(
            "one key for two states: the last action leads elsewhere than from the other one",
            line(subject, level, actions),
        ),
        _ => finding,
    }
}

fn one_in(chance: f64) -> String {
    match chance {
        0.0 => "never".to_owned(),
        0.1.. => format!("{:.0} in 100", 100.0 * chance),
        _ => format!("1 in {:.0}", 1.0 / chance),
    }
}

/// The paper's player chooses among valid actions. Where clicks are offered that is somebody who clicks only where it may matter, and
/// who mostly wins more easily than one who clicks blindly; both are judged, and the sentence is about the one who wins more.
fn proved(options: &Options, level: u8, graph: &LevelGraph) -> Finding {
    let (rule, within, states, proved) = (Rule::Proved, graph.within, graph.nodes, proof(graph));
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
            "random play that clicks blindly"
        } else {
            "random play that clicks only where it may matter"
        };
        let text = format!(
            "{who} wins {at_least}{} times within {within} actions ({proved})",
            one_in(low)
        );
        let other = match blind {
            Some(_) if low > valid.lower() => format!(
                "; with clicks only where it may matter {}",
                one_in(valid.upper())
            ),
            Some(blind) => format!("; with blind clicks {}", one_in(blind.upper())),
            None => String::new(),
        };
        return if level == 0 && !options.strict {
            Finding::pass(rule, format!("{text}{other}; a first level may be easy"))
        } else {
            Finding::fail(
                rule,
                format!(
                    "{text}{other}; 1 in 10,000 is allowed: make it longer, or punish mistakes"
                ),
            )
        };
    }
    if high <= LUCK_LIMIT && blind.is_none_or(|blind| blind.upper() <= LUCK_LIMIT) {
        let clicks = match blind {
            Some(blind) => format!("; with blind clicks {}", one_in(blind.upper())),
            None if graph.has_clicks => {
                "; blind clicks are not proved, `luck-levels` has samples".to_owned()
            }
            None => String::new(),
        };
        let chance = one_in(high);
        let text = format!(
            "random valid actions win {at_most}{chance} within {within} actions ({states} states, {proved}){clicks}"
        );
        return Finding::pass(rule, text);
    }
    let stop = graph.stop.map_or("nothing", rhae_explore::Stop::name);
    let known = match (low > 0.0, high < 0.999) {
        (true, true) => format!("between {} and {}", one_in(low), one_in(high)),
        (true, false) => format!("at least {}", one_in(low)),
        (false, true) => format!("at most {}", one_in(high)),
        (false, false) => "nothing is known".to_owned(),
    };
    Finding::open(
        rule,
        format!(
            "not decided: {known} (states seen: {states}, stopped by {stop}); `luck-levels` has samples"
        ),
    )
}

fn wins(subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    let rule = Rule::Wins;
    match (
        &graph.win,
        subject.solution(level).filter(|_| !graph.is_complete()),
    ) {
        (Some(win), _) => Finding::pass(rule, format!("won in {} actions", win.len()))
            .shown("a shortest win", line(subject, level, win)),
        (None, Some(solution)) => Finding::pass(
            rule,
            format!(
                "{} wins in {} actions",
                known_line(subject, level),
                solution.len()
            ),
        ),
        (None, None) if graph.is_complete() => Finding::fail(
            rule,
            format!(
                "the level cannot be won: none of its {} states is a win",
                graph.nodes
            ),
        ),
        (None, None) => Finding::warn(
            rule,
            format!(
                "no win was found (states seen: {}), and none is stored",
                graph.nodes
            ),
        ),
    }
}

/// The optimum, if it is proved.
fn optimum(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    graph: &LevelGraph,
) -> Option<usize> {
    if let Some(win) = &graph.win {
        return Some(win.len());
    }
    caught(|| subject.optimum(options.env_seed, level, options.limits.places))
        .ok()?
        .map(|win| win.len())
}

fn known_optimum(
    subject: &dyn Subject,
    level: u8,
    graph: &LevelGraph,
    optimum: Option<usize>,
) -> Finding {
    let rule = Rule::Optimum;
    let stored = subject.solution(level).map(|solution| solution.len());
    match (optimum, stored) {
        (Some(optimum), Some(stored)) if stored > optimum && subject.has_stored_solution(level) => {
            let text =
                format!("the stored solution takes {stored} actions, and {optimum} are enough");
            Finding::warn(rule, text).shown(
                "a shortest win",
                graph.win.as_ref().and_then(|win| line(subject, level, win)),
            )
        }
        (Some(optimum), _) => {
            let lines = match (graph.shortest_lines, graph.all_lines) {
                (0, _) => String::new(),
                (1, true) => ", by one line only".to_owned(),
                (count, true) => format!(", by {count} lines"),
                (1, false) => ", by at least one line".to_owned(),
                (count, false) => format!(", by at least {count} lines"),
            };
            Finding::pass(rule, format!("{optimum} actions, {}{lines}", proof(graph)))
        }
        (None, Some(stored)) => Finding::open(
            rule,
            format!("at most {stored} actions; not proved within the limits of the search"),
        ),
        (None, None) => Finding::open(rule, "no win is known"),
    }
}

fn dead_ends(subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    let rule = Rule::DeadEnds;
    let at_least = if graph.is_complete() { "" } else { "at least " };
    let (dead, locks) = (graph.dead_ends, graph.locks);
    let counted = format!(
        "{at_least}{dead} of {} states can no longer be won",
        graph.nodes
    );
    if dead == 0 && !graph.is_complete() {
        let stop = graph.stop.map_or("nothing", rhae_explore::Stop::name);
        return Finding::open(
            rule,
            format!(
                "none was seen; the search was stopped by {stop} (states seen: {})",
                graph.nodes
            ),
        );
    }
    let shown = graph
        .first_dead_end
        .as_ref()
        .and_then(|way| line(subject, level, way));
    if locks == 0 {
        let text = if dead == 0 {
            "none".to_owned()
        } else {
            format!("{counted}; each comes to an end")
        };
        return Finding::pass(rule, text).shown("the shortest way into one", shown);
    }
    if subject.info().actions.contains(ActionKind::Action7) {
        let text = format!("{counted}, {locks} of them never end; undo is offered");
        return Finding::pass(rule, text).shown("the shortest way into one", shown);
    }
    let text = format!(
        "{counted}, and {locks} of them go on for ever: end the level there, or let the player take back"
    );
    Finding::warn(rule, text).shown("the shortest way into one", shown)
}

fn clicks(subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    let rule = Rule::Clicks;
    if !subject.info().actions.contains(ActionKind::Action6) {
        return Finding::open(rule, "clicks are not offered");
    }
    match graph
        .doubts
        .iter()
        .find(|doubt| matches!(doubt, Doubt::UnlistedClick { .. }))
    {
        Some(Doubt::UnlistedClick { actions }) => {
            let click = actions.last().map_or_else(String::new, ToString::to_string);
            let text = format!(
                "a click that is not listed ({click}) does something of its own, which searches miss"
            );
            let finding = if subject.is_hosted() {
                let how = "return it from `_get_valid_actions`; if clicks beside everything cost something, one of them is enough";
                Finding::warn(rule, format!("{text}: {how}"))
            } else {
                Finding::fail(rule, format!("{text}: list it"))
            };
            finding.shown(
                "the last action is that click",
                line(subject, level, actions),
            )
        }
        _ => Finding::pass(
            rule,
            "sampled clicks that are not listed do nothing of their own",
        ),
    }
}

fn baseline_fits(subject: &dyn Subject, level: u8, optimum: Option<usize>) -> Option<Finding> {
    let known = subject.info().baselines.get(usize::from(level))?;
    let actions = known.actions;
    let Some(optimum) = optimum.and_then(|optimum| u32::try_from(optimum).ok()) else {
        return Some(Finding::open(
            Rule::Baselines,
            format!(
                "{actions} actions ({}); the optimum is not known",
                known.source.name()
            ),
        ));
    };
    Some(if actions < optimum {
        Finding::fail(
            Rule::Baselines,
            format!("the baseline is {actions} actions, and no play wins in fewer than {optimum}"),
        )
    } else if known.source == BaselineSource::Solver && actions != 2 * optimum {
        Finding::fail(
            Rule::Baselines,
            format!(
                "the baseline is declared as twice the optimum, which is {optimum}, but it is {actions}"
            ),
        )
    } else {
        Finding::pass(
            Rule::Baselines,
            format!(
                "{actions} actions ({}), optimum {optimum}",
                known.source.name()
            ),
        )
    })
}

fn line(
    subject: &dyn Subject,
    level: u8,
    way: &[rhae_engine::Action],
) -> Option<Vec<rhae_engine::Action>> {
    subject
        .prefix(level)
        .map(|prefix| prefix.iter().chain(way).copied().collect())
}

/// Levels that the solution of an earlier one wins as well.
pub(crate) fn shortcuts(subject: &dyn Subject, options: &Options) -> Vec<Finding> {
    let rule = Rule::Shortcuts;
    let (mut findings, mut tried) = (Vec::new(), false);
    for level in 1..subject.levels() {
        for earlier in 0..level {
            let Some(solution) = subject.solution(earlier) else {
                continue;
            };
            let Ok(Some(mut walk)) = Walk::enter(subject, options.env_seed, level) else {
                continue;
            };
            tried = true;
            for action in solution {
                if walk
                    .act(action)
                    .map_or(true, |seen| seen.levels_completed != level)
                {
                    break;
                }
            }
            if walk.seen().levels_completed == level + 1 {
                let text = format!(
                    "the solution of level {} wins it too: nothing new is asked for",
                    earlier + 1
                );
                findings.push(
                    Finding::warn(rule, text)
                        .on(level)
                        .shown("the earlier solution on this level", walk.line()),
                );
                break;
            }
        }
    }
    if findings.is_empty() {
        findings.push(if tried {
            Finding::pass(rule, "no earlier solution wins a later level")
        } else {
            Finding::open(rule, "there is no later level that can be come to")
        });
    }
    findings
}
