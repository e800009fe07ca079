//! The state graph of a level, from which rules about solvability, shortest wins, random wins and
//! dead ends are decided.

use rhae_engine::Action;
use rhae_explore::GraphWarning;

use crate::levels::{baseline, unreachable_level};
use crate::part::Kind;
use crate::rule::{Check, Context, checks};
use crate::rules::wins;
use crate::walk::catch_panic;
use crate::{ATTEMPT_FACTOR, Finding, GraphError, LevelGraph, Rule, Subject};

/// Searches a level and checks all rules that need its state graph.
pub(crate) fn check(context: Context<'_>, level: u8) -> Vec<Finding> {
    let subject = context.subject;
    let graph = match search(context, level) {
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
    let searched = SearchedLevel {
        level,
        optimum: optimum(context, level, &graph),
        graph,
    };
    let judges = checks().filter_map(|(_, check)| match check {
        Check::Graph(judge) => Some(judge),
        _ => None,
    });
    judges
        .filter_map(|judge| judge(context, &searched))
        .map(|finding| finding.on_level(level))
        .collect()
}

/// A level with its state graph.
pub(crate) struct SearchedLevel {
    pub(crate) level: u8,
    pub(crate) graph: LevelGraph,
    /// The length of a shortest win; `None` if no search proved it.
    pub(crate) optimum: Option<usize>,
}

fn search(context: Context<'_>, level: u8) -> Result<LevelGraph, GraphError> {
    let Context {
        subject,
        options,
        monitor,
    } = context;
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
    found.map_err(GraphError::Failed).flatten()
}

fn without_graph(subject: &dyn Subject, level: u8, reason: &str) -> Vec<Finding> {
    let rules = Kind::Graph.rules().into_iter();
    let open = |rule| match rule {
        Rule::Wins => wins::without_graph(subject, level, reason),
        rule => Finding::open(rule, format!("no state graph: {reason}")),
    };
    rules.map(|rule| open(rule).on_level(level)).collect()
}

fn optimum(context: Context<'_>, level: u8, graph: &LevelGraph) -> Option<usize> {
    // With representative clicks, another click may win sooner.
    if let Some(win) = graph
        .win
        .as_ref()
        .filter(|_| !graph.has_representative_clicks)
    {
        return Some(win.len());
    }
    let options = context.options;
    let search = || {
        context
            .subject
            .optimum(options.env_seed, level, options.limits.boards)
    };
    catch_panic(search).ok()?.map(|win| win.len())
}

/// Returns the words with which findings state how certain the results of a graph are.
pub(crate) fn certainty(graph: &LevelGraph) -> &'static str {
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

/// Prepends the path from the opening to the level, if it is known.
pub(crate) fn with_prefix(
    subject: &dyn Subject,
    level: u8,
    actions: &[Action],
) -> Option<Vec<Action>> {
    subject
        .prefix(level)
        .map(|prefix| prefix.iter().chain(actions).copied().collect())
}
