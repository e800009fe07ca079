//! The rules that are decided by a level's state graph: solvability, the shortest win, the
//! probability of a random win, and dead ends.

use rhae_engine::{ActionKind, BaselineSource};
use rhae_explore::GraphWarning;

use crate::levels::{baseline, unreachable_level};
use crate::part::Kind;
use crate::walk::{Walk, catch_panic};
use crate::{
    ATTEMPT_FACTOR, Finding, GraphError, LUCK_LIMIT, LevelGraph, Monitor, Options, Rule, Subject,
};

/// Checks all rules that need the state graph of a level.
pub(crate) fn check(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    monitor: &dyn Monitor,
) -> Vec<Finding> {
    let within = ATTEMPT_FACTOR * baseline(subject, level);
    let mut reported = 0;
    let mut should_continue = |progress: rhae_explore::Progress| {
        monitor.add_steps((progress.expanded as u64).saturating_sub(reported));
        reported = reported.max(progress.expanded as u64);
        monitor.should_continue()
    };
    let found = catch_panic(|| {
        subject.graph(
            options.env_seed,
            level,
            within,
            &options.limits,
            &mut should_continue,
        )
    });
    let graph = match found.map_err(GraphError::Failed).flatten() {
        Ok(graph) => graph,
        Err(_) if level > 0 && subject.prefix(level).is_none() => {
            let open = |rule| unreachable_level(rule, level);
            return Kind::Graph.rules().into_iter().map(open).collect();
        }
        Err(GraphError::Unsearchable(reason)) => return without_graph(subject, level, &reason),
        Err(GraphError::Failed(reason)) => {
            let mut findings = without_graph(subject, level, &reason);
            let text = format!(
                "the environment failed during the search of its states: {reason}; it must answer every action"
            );
            findings.push(Finding::fail(Rule::Failures, text).on_level(level));
            return findings;
        }
    };
    let optimum = optimum(subject, options, level, &graph);
    let mut findings = vec![
        with_warning_evidence(proved(options, level, &graph), subject, level, &graph),
        wins(subject, level, &graph),
        known_optimum(subject, level, &graph, optimum),
        dead_ends(subject, level, &graph),
        clicks(subject, level, &graph),
    ];
    findings.extend(baseline_fits(subject, level, optimum));
    findings
        .into_iter()
        .map(|finding| finding.on_level(level))
        .collect()
}

fn without_graph(subject: &dyn Subject, level: u8, reason: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Kind::Graph
        .rules()
        .into_iter()
        .map(|rule| Finding::open(rule, format!("no state graph: {reason}")).on_level(level))
        .collect();
    if subject.solution(level).is_some() {
        findings.retain(|finding| finding.rule != Rule::Wins);
        findings.push(
            Finding::pass(
                Rule::Wins,
                format!("{} wins", solution_origin(subject, level)),
            )
            .on_level(level),
        );
    }
    findings
}

/// Returns the words with which findings refer to the solution of a level: stored or found.
fn solution_origin(subject: &dyn Subject, level: u8) -> &'static str {
    if subject.has_stored_solution(level) {
        "the stored solution"
    } else {
        "the solution that was found"
    }
}

/// Returns the words with which findings state how certain the results of a graph are.
fn certainty(graph: &LevelGraph) -> &'static str {
    match &graph.warnings[..] {
        [] => "proved",
        [GraphWarning::KeyCollision { .. }, ..] => {
            "assuming that states with equal keys are equal: see `keys`"
        }
        [GraphWarning::UnlistedClick { .. }, ..] => {
            "assuming that unlisted clicks have no effect: see `clicks`"
        }
    }
}

/// Adds a play that demonstrates why a probability is not certain, if the check of the graph found
/// one.
fn with_warning_evidence(
    finding: Finding,
    subject: &dyn Subject,
    level: u8,
    graph: &LevelGraph,
) -> Finding {
    match graph.warnings.first() {
        Some(GraphWarning::KeyCollision { actions }) => finding.with_evidence(
            "two states share a key: the last action has another result than in the other state",
            with_prefix(subject, level, actions),
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

/// Judges the probability of a random win.
///
/// The random player of the paper chooses among valid actions. If clicks are offered, that player
/// clicks only cells that may have an effect, and usually wins more often than a player who clicks
/// blindly. Both probabilities are judged, and the text is about the higher one.
fn proved(options: &Options, level: u8, graph: &LevelGraph) -> Finding {
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
    let stop = graph.stop.map_or("nothing", rhae_explore::StopReason::name);
    let known = match (low > 0.0, high < 0.999) {
        (true, true) => format!("between {} and {}", one_in(low), one_in(high)),
        (true, false) => format!("at least {}", one_in(low)),
        (false, true) => format!("at most {}", one_in(high)),
        (false, false) => "nothing is known".to_owned(),
    };
    Finding::open(
        rule,
        format!(
            "undecided: {known} (states searched: {states}, stopped by: {stop}); see the samples of `luck-levels`"
        ),
    )
}

fn wins(subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    let rule = Rule::Wins;
    match (
        &graph.win,
        subject.solution(level).filter(|_| !graph.is_complete()),
    ) {
        (Some(win), _) => Finding::pass(rule, format!("can be won in {} actions", win.len()))
            .with_evidence("a shortest win", with_prefix(subject, level, win)),
        (None, Some(solution)) => Finding::pass(
            rule,
            format!(
                "{} wins in {} actions",
                solution_origin(subject, level),
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
                "no win is stored, and none was found (states searched: {})",
                graph.nodes
            ),
        ),
    }
}

/// Returns the length of a shortest win, or `None` if no search proved it.
fn optimum(
    subject: &dyn Subject,
    options: &Options,
    level: u8,
    graph: &LevelGraph,
) -> Option<usize> {
    if let Some(win) = &graph.win {
        return Some(win.len());
    }
    catch_panic(|| subject.optimum(options.env_seed, level, options.limits.boards))
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
            let text = format!("the stored solution takes {stored} actions, but {optimum} suffice");
            Finding::warn(rule, text).with_evidence(
                "a shortest win",
                graph
                    .win
                    .as_ref()
                    .and_then(|win| with_prefix(subject, level, win)),
            )
        }
        (Some(optimum), _) => {
            let count = match (graph.shortest_wins, graph.all_shortest_wins_counted) {
                (0, _) => String::new(),
                (1, true) => ", with one shortest solution".to_owned(),
                (count, true) => format!(", with {count} shortest solutions"),
                (1, false) => ", with at least one shortest solution".to_owned(),
                (count, false) => format!(", with at least {count} shortest solutions"),
            };
            Finding::pass(
                rule,
                format!("{optimum} actions, {}{count}", certainty(graph)),
            )
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
    let (dead, soft_locks) = (graph.dead_ends, graph.soft_locks);
    let counted = format!("{at_least}{dead} of {} states are dead ends", graph.nodes);
    if dead == 0 && !graph.is_complete() {
        let stop = graph.stop.map_or("nothing", rhae_explore::StopReason::name);
        return Finding::open(
            rule,
            format!(
                "no dead end was found; the search was stopped by: {stop} (states searched: {})",
                graph.nodes
            ),
        );
    }
    let shown = graph
        .first_dead_end
        .as_ref()
        .and_then(|actions| with_prefix(subject, level, actions));
    if soft_locks == 0 {
        let text = if dead == 0 {
            "no dead ends".to_owned()
        } else {
            format!("{counted}; each of them leads to the end of the level")
        };
        return Finding::pass(rule, text).with_evidence("a shortest path into one", shown);
    }
    if subject.info().actions.contains(ActionKind::Action7) {
        let text = format!("{counted}, and {soft_locks} of them never end; undo is offered");
        return Finding::pass(rule, text).with_evidence("a shortest path into one", shown);
    }
    let text =
        format!("{counted}, and {soft_locks} of them never end: end the level there or offer undo");
    Finding::warn(rule, text).with_evidence("a shortest path into one", shown)
}

fn clicks(subject: &dyn Subject, level: u8, graph: &LevelGraph) -> Finding {
    let rule = Rule::Clicks;
    if !subject.info().actions.contains(ActionKind::Action6) {
        return Finding::open(rule, "clicks are not offered");
    }
    match graph
        .warnings
        .iter()
        .find(|warning| matches!(warning, GraphWarning::UnlistedClick { .. }))
    {
        Some(GraphWarning::UnlistedClick { actions }) => {
            let click = actions.last().map_or_else(String::new, ToString::to_string);
            let text = format!(
                "an unlisted click ({click}) has an effect that no listed click has, so searches miss it"
            );
            let finding = if subject.is_hosted() {
                let how = "return it from `_get_valid_actions`; if a click on the background costs something, list one such cell";
                Finding::warn(rule, format!("{text}: {how}"))
            } else {
                Finding::fail(rule, format!("{text}: list it"))
            };
            finding.with_evidence(
                "the last action is that click",
                with_prefix(subject, level, actions),
            )
        }
        _ => Finding::pass(
            rule,
            "sampled unlisted clicks have no effect that listed clicks lack",
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
                "{actions} actions ({}); the optimum is unknown",
                known.source.name()
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
            format!(
                "{actions} actions ({}), optimum {optimum}",
                known.source.name()
            ),
        )
    })
}

/// Prepends the path from the opening to the level, if it is known.
fn with_prefix(
    subject: &dyn Subject,
    level: u8,
    actions: &[rhae_engine::Action],
) -> Option<Vec<rhae_engine::Action>> {
    subject
        .prefix(level)
        .map(|prefix| prefix.iter().chain(actions).copied().collect())
}

/// Reports levels that the solution of an earlier level wins too.
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
            if walk.observation().levels_completed == level + 1 {
                let text = format!(
                    "the solution of level {} wins it too, so the level requires nothing new",
                    earlier + 1
                );
                findings.push(
                    Finding::warn(rule, text)
                        .on_level(level)
                        .with_evidence("the earlier solution on this level", walk.full_log()),
                );
                break;
            }
        }
    }
    if findings.is_empty() {
        findings.push(if tried {
            Finding::pass(rule, "no earlier solution wins a later level")
        } else {
            Finding::open(rule, "no later level can be entered")
        });
    }
    findings
}
