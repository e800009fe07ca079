//! The results of `rhae explore` and of `rhae.explore` in Python (docs/explore.md).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The results of several levels of one environment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplorationReport {
    pub game_id: String,
    pub levels: Vec<ExploredLevel>,
}

/// The results of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExploredLevel {
    pub software: Cow<'static, str>,
    pub game_id: String,
    /// The level, counted from 1.
    pub level: u8,
    pub seed: u64,
    pub nodes: usize,
    pub edges: usize,
    pub complete: bool,
    /// The limit that stopped the search, or `interrupt`; `None` if the graph is complete.
    pub stopped_by: Option<Cow<'static, str>>,
    /// How states are identified: `packed` (exactly) or `hash-126`; for hosted games `frame`,
    /// `frame-and-hidden` or `deep`.
    pub identity: Cow<'static, str>,
    pub clicks: SearchedClicks,
    /// The number of states that were not expanded.
    pub frontier: usize,
    /// The share of edges that lead to an already known state.
    pub merge_density: f64,
    pub max_depth: usize,
    pub layers: Vec<usize>,
    pub terminals: TerminalCounts,
    pub sccs: ComponentCounts,
    /// The number of states that are not terminal and from which no win is reachable. In an
    /// incomplete graph, only states for which this is proved are counted.
    pub dead_ends: usize,
    /// A shortest sequence of actions that leads to a dead end.
    pub first_dead_end: Option<Vec<String>>,
    pub shortest_win: Option<ShortestWinForm>,
    pub p_win: WinProbability,
    pub p_win_within: WinWithin,
    pub p_win_blind: Option<WinProbability>,
    pub p_win_within_blind: Option<WinWithin>,
    /// The number of random actions that were compared with the graph.
    pub checked_actions: u32,
    /// The duration of the search.
    pub seconds: f64,
    pub states_per_s: f64,
    pub peak_bytes: usize,
    pub warnings: Vec<String>,
}

/// The clicks that a search tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SearchedClicks {
    /// The level has no clicks.
    None,
    /// The clicks that the environment lists.
    Listed,
    /// One cell per sprite and area of one colour. No probability and no dead end is proved.
    Representative,
    /// Clicks on all cells.
    All,
}

/// The number of terminal states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalCounts {
    pub wins: usize,
    pub losses: usize,
}

/// Strongly connected components.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComponentCounts {
    pub count: usize,
    /// The number of components with more than one state.
    pub cyclic: usize,
    pub largest: usize,
    /// The sizes of the largest components with more than one state, at most twenty.
    pub sizes: Vec<usize>,
    /// The number of states with an action that changes nothing.
    pub self_loops: usize,
}

/// A shortest win.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortestWinForm {
    pub length: usize,
    /// The number of action sequences of this length that win.
    pub count: u128,
    /// Whether `count` is exact. Otherwise it is a lower bound.
    pub all_counted: bool,
    pub actions: Vec<String>,
}

/// The probability of winning eventually.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WinProbability {
    pub lower: f64,
    pub upper: f64,
    /// The exact value as a fraction, if it is known and short enough to print.
    pub fraction: Option<String>,
    /// The N of "1 in N"; `None` if the lower bound is 0 or the bounds are far apart.
    pub one_in: Option<f64>,
}

/// The probability of a win within a number of actions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WinWithin {
    pub actions: u32,
    pub lower: f64,
    pub upper: f64,
    pub one_in: Option<f64>,
}
