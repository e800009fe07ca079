//! The analysis of a level: from its states to its whole report.
//!
//! **Invariant:** the report depends only on the level and the options, unless the monitor stops a
//! phase. The memory limit of the search also covers the analysis: the win probabilities of all
//! states are freed before the probability of a win within a number of actions is computed.

use rhae_engine::Rng;

use crate::{
    Chances, Clicks, Components, Explorable, Graph, GraphSummary, LevelReport, Policy, Progress,
    SearchOptions, ShortestWin, StopReason, WinChance, actions_along, check_graph,
    count_shortest_wins, exact_chance, explore, first_win, has_all_shortest_wins, path_to,
    win_within,
};

/// Options of [`analyze`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnalysisOptions {
    pub search: SearchOptions,
    /// The number of actions for [`WinChance::within`].
    pub within: u32,
    /// The number of random actions whose results are compared with the graph.
    pub checks: u32,
    /// The seed and the stream of the random numbers for this comparison.
    pub check_rng: (u64, u64),
}

/// The caller's side of an analysis: it receives progress and can stop the work.
///
/// All methods have defaults, so `()` is a monitor that never stops anything. The crate has no
/// clock; a caller with a time limit measures the time itself.
pub trait AnalysisMonitor {
    /// Receives the progress of the search. The search stops if it returns false.
    fn searching(&mut self, _progress: Progress) -> bool {
        true
    }

    /// Receives the graph when the search has ended and its analysis begins.
    fn searched(&mut self, _graph: &Graph) {}

    /// Returns whether the analysis of the graph has time left. If not, the probability of a win
    /// within a number of actions gets wider bounds, and fewer random actions are checked.
    fn has_time(&self) -> bool {
        true
    }

    /// Returns whether the user has interrupted the work. The search then reports
    /// [`StopReason::Interrupt`] instead of [`StopReason::Time`], and the random check ends. The
    /// probabilities of the states found so far are still computed.
    fn is_interrupted(&self) -> bool {
        false
    }
}

impl AnalysisMonitor for () {}

/// An analysed level: its report, and the graph for pictures and exports.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub report: LevelReport,
    pub graph: Graph,
    /// The nodes on the shortest win, from the start to the win; empty if no win was found.
    pub win_path: Vec<u32>,
    dead_ends: NodeSet,
}

impl Analysis {
    /// Returns whether a node is certainly a dead end: it is not terminal, and no win is reachable
    /// from it.
    pub fn is_dead_end(&self, node: u32) -> bool {
        self.dead_ends.contains(node)
    }
}

/// A set of nodes with one bit per node.
#[derive(Clone, Debug)]
struct NodeSet(Vec<u64>);

impl NodeSet {
    fn of(nodes: usize, members: impl Iterator<Item = u32>) -> Self {
        let mut words = vec![0; nodes.div_ceil(64)];
        for node in members {
            words[node as usize / 64] |= 1_u64 << (node % 64);
        }
        Self(words)
    }

    fn contains(&self, node: u32) -> bool {
        self.0[node as usize / 64] >> (node % 64) & 1 == 1
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn first(&self) -> Option<u32> {
        let index = self.0.iter().position(|&word| word != 0)?;
        Some(index as u32 * 64 + self.0[index].trailing_zeros())
    }
}

/// Searches a level and analyses its graph: the shortest win, dead ends, components, the proved
/// probability that random play wins, and a random check of the graph itself.
///
/// # Errors
///
/// Returns the error of [`Explorable::step`] if the environment fails.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Game, LevelIndex};
/// use rhae_explore::{AnalysisOptions, LevelReport, NativeLevel, SearchOptions, analyze};
///
/// struct FirstLevel;
///
/// impl rhae_games::Visitor for FirstLevel {
///     type Output = LevelReport;
///
///     fn visit<G: Game>(self) -> LevelReport {
///         let options = AnalysisOptions {
///             search: SearchOptions::default(),
///             within: 40,
///             checks: 100,
///             check_rng: (0, 0),
///         };
///         let Ok(analysis) = analyze(&NativeLevel::<G>::new(0, LevelIndex(0)), &options, &mut ());
///         analysis.report
///     }
/// }
///
/// let report = rhae_games::visit("bx20-v1", FirstLevel).expect("the game is registered");
/// assert!(report.graph.is_complete());
/// assert_eq!(report.graph.nodes, 208);
/// assert_eq!(report.shortest_win.map(|win| win.actions.len()), Some(7));
/// assert!(report.win_chance.within.lower() < report.win_chance.eventually.lower());
/// ```
pub fn analyze<E: Explorable>(
    level: &E,
    options: &AnalysisOptions,
    monitor: &mut impl AnalysisMonitor,
) -> Result<Analysis, E::Error> {
    let mut graph = explore(level, &options.search, |progress| {
        monitor.searching(progress)
    })?;
    if graph.stop == Some(StopReason::Time) && monitor.is_interrupted() {
        graph.stop = Some(StopReason::Interrupt);
    }
    monitor.searched(&graph);
    let monitor = &*monitor;
    let components = Components::of(&graph);
    let win = first_win(&graph);
    let win_path = win.map_or_else(Vec::new, |win| path_to(&graph, win));
    let shortest_win = win.map(|win| {
        let actions = actions_along(level, &graph, &win_path)?;
        Ok(ShortestWin {
            actions,
            count: count_shortest_wins(&graph, win),
            all_counted: has_all_shortest_wins(&graph, win),
        })
    });
    let mut dead_ends = NodeSet::of(graph.nodes(), std::iter::empty());
    let chance = |policy: Policy, inspect: &mut dyn FnMut(&Chances)| {
        win_chance(&graph, &components, policy, options, monitor, inspect)
    };
    let win_chance = if graph.has_representative_clicks() {
        WinChance::UNKNOWN
    } else {
        chance(Policy::Valid, &mut |chances| {
            dead_ends = NodeSet::of(graph.nodes(), chances.dead_ends(&graph));
        })
    };
    let clicks = clicks_of(&graph, options.search.all_clicks);
    let blind_win_chance = match clicks {
        Clicks::None => Some(win_chance.clone()),
        Clicks::Listed | Clicks::Representative => None,
        Clicks::All => Some(chance(Policy::Blind, &mut |_| ())),
    };
    let (seed, stream) = options.check_rng;
    let checked = check_graph(
        level,
        &graph,
        options.checks,
        &mut Rng::new(seed, stream),
        || monitor.has_time() && !monitor.is_interrupted(),
    )?;
    let first_dead_end = dead_ends
        .first()
        .map(|node| actions_along(level, &graph, &path_to(&graph, node)))
        .transpose()?;
    let report = LevelReport {
        graph: GraphSummary::of(&graph, &components),
        clicks,
        dead_ends: dead_ends.len(),
        first_dead_end,
        shortest_win: shortest_win.transpose()?,
        win_chance,
        blind_win_chance,
        checked_actions: checked.actions,
        warnings: checked.warnings,
    };
    Ok(Analysis {
        report,
        graph,
        win_path,
        dead_ends,
    })
}

/// Returns the clicks that a search has tried.
fn clicks_of(graph: &Graph, all_clicks: bool) -> Clicks {
    match (graph.has_clicks(), all_clicks) {
        (false, _) => Clicks::None,
        (true, false) if graph.has_representative_clicks() => Clicks::Representative,
        (true, false) => Clicks::Listed,
        (true, true) => Clicks::All,
    }
}

/// Computes the win probabilities of one policy. `inspect` receives the probabilities of all states
/// before they are freed.
fn win_chance(
    graph: &Graph,
    components: &Components,
    policy: Policy,
    options: &AnalysisOptions,
    monitor: &impl AnalysisMonitor,
    inspect: &mut dyn FnMut(&Chances),
) -> WinChance {
    let chances = Chances::of(graph, components, policy, options.search.limits.bytes / 2);
    inspect(&chances);
    let eventually = chances.at(0);
    drop(chances);
    WinChance {
        eventually,
        fraction: exact_chance(graph, components, policy),
        within: win_within(graph, policy, options.within, |_| monitor.has_time()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_set_finds_its_members() {
        let set = NodeSet::of(200, [70, 3, 199].into_iter());
        assert_eq!((set.len(), set.first()), (3, Some(3)));
        assert!(set.contains(199) && set.contains(70) && !set.contains(71));
        assert_eq!(NodeSet::of(0, std::iter::empty()).first(), None);
    }
}
