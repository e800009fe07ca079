//! Conversion of the report of a level into its serialised form.

use std::time::Duration;

use rhae_engine::Action;
use rhae_explore::{
    AnalysisOptions, Chance, Clicks, GraphWarning, LevelReport, StopReason, WinChance,
};
use rhae_protocol::{
    ComponentCounts, ExploredLevel, SOFTWARE, SearchedClicks, ShortestWinForm, TerminalCounts,
    WinProbability, WinWithin,
};

use crate::level_outputs::LevelContext;

/// Bounds whose relative difference is at most this are summarised by one number.
const RELATIVE_TOLERANCE: f64 = 1e-6;
/// The maximum length of a fraction. One with hundreds of digits is of no use to a reader.
const MAX_FRACTION_LEN: usize = 400;
/// The maximum number of component sizes in a report.
const MAX_COMPONENT_SIZES: usize = 20;

/// Returns the report of a level in the form that `--json` prints.
pub(crate) fn explored_level(
    context: &LevelContext<'_>,
    options: &AnalysisOptions,
    report: &LevelReport,
    search_time: Duration,
) -> ExploredLevel {
    let (graph, blind) = (&report.graph, report.blind_win_chance.as_ref());
    let sizes = &graph.components.cyclic_sizes;
    let within = |chance: &WinChance| win_within(options.within, chance.within);
    let seconds = search_time.as_secs_f64();
    ExploredLevel {
        software: SOFTWARE.into(),
        game_id: context.subject.info().id.to_string(),
        level: context.index.0 + 1,
        seed: context.seed,
        nodes: graph.nodes,
        edges: graph.edges,
        complete: graph.is_complete(),
        stopped_by: graph.stopped_by.map(|reason| reason.name().into()),
        identity: if graph.is_packed {
            "packed".into()
        } else {
            context.identity.into()
        },
        clicks: searched_clicks(report.clicks),
        frontier: graph.frontier,
        merge_density: graph.merge_density,
        max_depth: graph.max_depth(),
        layers: graph.layers.clone(),
        terminals: TerminalCounts {
            wins: graph.wins,
            losses: graph.losses,
        },
        sccs: ComponentCounts {
            count: graph.components.count,
            cyclic: sizes.len(),
            largest: sizes.first().copied().unwrap_or(1),
            sizes: sizes.iter().take(MAX_COMPONENT_SIZES).copied().collect(),
            self_loops: graph.components.self_loops,
        },
        dead_ends: report.dead_ends,
        first_dead_end: report.first_dead_end.as_deref().map(texts),
        shortest_win: report.shortest_win.as_ref().map(|win| ShortestWinForm {
            length: win.actions.len(),
            count: win.count,
            all_counted: win.all_counted,
            actions: texts(&win.actions),
        }),
        p_win: win_probability(&report.win_chance),
        p_win_within: within(&report.win_chance),
        p_win_blind: blind.map(win_probability),
        p_win_within_blind: blind.map(within),
        checked_actions: report.checked_actions,
        seconds,
        states_per_s: graph.nodes as f64 / seconds.max(1e-9),
        peak_bytes: graph.peak_bytes,
        warnings: warnings(options, report),
    }
}

const fn searched_clicks(clicks: Clicks) -> SearchedClicks {
    match clicks {
        Clicks::None => SearchedClicks::None,
        Clicks::Listed => SearchedClicks::Listed,
        Clicks::Representative => SearchedClicks::Representative,
        Clicks::All => SearchedClicks::All,
    }
}

/// Returns the N of "1 in N". If the bounds are far apart, no single number represents them.
fn one_in(chance: Chance) -> Option<f64> {
    let (lower, upper) = (chance.lower(), chance.upper());
    let is_close = upper - lower <= RELATIVE_TOLERANCE * upper;
    (chance.low > 0 && is_close).then(|| 1.0 / chance.middle())
}

fn win_probability(chance: &WinChance) -> WinProbability {
    let fraction = chance.fraction.as_ref().map(|(numerator, denominator)| {
        if denominator == "1" {
            numerator.clone()
        } else {
            format!("{numerator}/{denominator}")
        }
    });
    WinProbability {
        lower: chance.eventually.lower(),
        upper: chance.eventually.upper(),
        fraction: fraction.filter(|text| text.len() <= MAX_FRACTION_LEN),
        one_in: one_in(chance.eventually),
    }
}

fn win_within(actions: u32, chance: Chance) -> WinWithin {
    WinWithin {
        actions,
        lower: chance.lower(),
        upper: chance.upper(),
        one_in: one_in(chance),
    }
}

fn texts(actions: &[Action]) -> Vec<String> {
    actions.iter().map(Action::to_string).collect()
}

fn warnings(options: &AnalysisOptions, report: &LevelReport) -> Vec<String> {
    let mut warnings: Vec<String> = report.warnings.iter().map(warning).collect();
    let stopped_by_depth = report.graph.stopped_by == Some(StopReason::Depth);
    if stopped_by_depth && options.search.limits.depth == 0 {
        warnings.push("--depth 0 explores only the start state".to_owned());
    }
    warnings
}

fn warning(warning: &GraphWarning) -> String {
    let joined = |actions: &[Action]| texts(actions).join(" ");
    match warning {
        GraphWarning::KeyCollision { actions } => {
            format!(
                "two states with equal keys behave differently, so the graph is wrong; actions that show it: {}",
                joined(actions)
            )
        }
        GraphWarning::UnlistedClick { actions } => {
            format!(
                "a click that the environment does not list changes the state; use --all-clicks; actions that show it: {}",
                joined(actions)
            )
        }
    }
}
