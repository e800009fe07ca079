//! The report of a level: everything that [`analyze`](crate::analyze) finds out about it.

use rhae_engine::Action;

use crate::{Chance, Components, Graph, GraphWarning, StopReason};

/// The results of an analysis of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelReport {
    pub graph: GraphSummary,
    /// The clicks that were searched.
    pub clicks: Clicks,
    /// The number of states that are not terminal and from which no win is reachable. In an
    /// incomplete graph, only states for which this is proved are counted. With representative
    /// clicks nothing is proved, so the number is 0.
    pub dead_ends: usize,
    /// A shortest sequence of actions that leads to a dead end.
    pub first_dead_end: Option<Vec<Action>>,
    pub shortest_win: Option<ShortestWin>,
    /// The probability that uniform random play wins: the policy
    /// [`Valid`](crate::Policy::Valid). With representative clicks it is unknown, so its bounds are
    /// 0 and 1.
    pub win_chance: WinChance,
    /// The same for the policy [`Blind`](crate::Policy::Blind). It is known if all cells were
    /// clicked, or if the level has no clicks; then both policies choose the same actions.
    pub blind_win_chance: Option<WinChance>,
    /// The number of random actions that were compared with the graph.
    pub checked_actions: u32,
    /// The errors that the comparison found in the graph.
    pub warnings: Vec<GraphWarning>,
}

/// The size and the shape of a state graph.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphSummary {
    /// The number of different states.
    pub nodes: usize,
    /// The number of transitions.
    pub edges: usize,
    /// Why the search stopped early; `None` if the graph is complete.
    pub stopped_by: Option<StopReason>,
    /// Whether states are identified exactly, by packing them, instead of by a hash.
    pub is_packed: bool,
    /// The number of states that were not expanded.
    pub frontier: usize,
    /// The share of edges that lead to an already known state.
    pub merge_density: f64,
    /// The number of states at each depth, from the start on.
    pub layers: Vec<usize>,
    /// The number of states in which the level is won.
    pub wins: usize,
    /// The number of states in which the game is lost.
    pub losses: usize,
    pub components: ComponentSummary,
    /// The maximum memory of the search, in bytes.
    pub peak_bytes: usize,
}

impl GraphSummary {
    /// Summarises a graph and its components.
    pub fn of(graph: &Graph, components: &Components) -> Self {
        let (wins, losses) = graph.terminals();
        Self {
            nodes: graph.nodes(),
            edges: graph.edges(),
            stopped_by: graph.stop(),
            is_packed: graph.is_packed(),
            frontier: (graph.expanded() as u32..graph.nodes() as u32)
                .filter(|&node| graph.is_frontier(node))
                .count(),
            merge_density: if graph.edges() == 0 {
                0.0
            } else {
                1.0 - (graph.nodes() - 1) as f64 / graph.edges() as f64
            },
            layers: (0..=graph.depth())
                .map(|depth| graph.layer(depth).len())
                .collect(),
            wins,
            losses,
            components: ComponentSummary {
                count: components.count(),
                cyclic_sizes: components.sizes(),
                self_loops: (0..graph.expanded() as u32)
                    .filter(|&node| graph.targets(node).contains(&node))
                    .count(),
            },
            peak_bytes: graph.peak_bytes(),
        }
    }

    /// Returns whether every reachable state was expanded.
    pub const fn is_complete(&self) -> bool {
        self.stopped_by.is_none()
    }

    /// Returns the depth of the deepest state.
    pub const fn max_depth(&self) -> usize {
        self.layers.len().saturating_sub(1)
    }
}

/// The clicks that a search tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clicks {
    /// The level offers no clicks.
    None,
    /// The clicks that the environment lists.
    Listed,
    /// One cell per sprite and per connected component of the frame, in at least one state, because
    /// the environment does not list its clicks. Other clicks may lead to further states.
    Representative,
    /// Clicks on all cells.
    All,
}

/// The strongly connected components of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentSummary {
    pub count: usize,
    /// The sizes of the components with more than one state, largest first.
    pub cyclic_sizes: Vec<usize>,
    /// The number of states with an action that changes nothing.
    pub self_loops: usize,
}

/// A shortest win of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortestWin {
    pub actions: Vec<Action>,
    /// The number of action sequences of this length that win.
    pub count: u128,
    /// Whether `count` is exact. Otherwise it is a lower bound.
    pub all_counted: bool,
}

/// The probability that random play wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WinChance {
    /// Proved bounds of the probability of winning eventually.
    pub eventually: Chance,
    /// The same probability as an exact fraction (numerator and denominator), if the graph is small
    /// enough to compute it.
    pub fraction: Option<(String, String)>,
    /// Proved bounds of the probability of winning within
    /// [`AnalysisOptions::within`](crate::AnalysisOptions::within) actions.
    pub within: Chance,
}

impl WinChance {
    /// A probability about which nothing is known.
    pub(crate) const UNKNOWN: Self = Self {
        eventually: Chance::UNKNOWN,
        fraction: None,
        within: Chance::UNKNOWN,
    };
}
