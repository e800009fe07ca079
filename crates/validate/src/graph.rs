//! The state graph of a level, as far as rules need it: luck, dead ends, the shortest win.

use rhae_engine::{Action, Outcome, Rng};
use rhae_explore::{
    Chance, Components, Doubt, Explorable, Graph, Limits, Policy, Progress, Search, Stop,
    actions_along, check, count_shortest, explore, first_win, knows_all_shortest, way_to,
    win_within,
};

/// How far a graph is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLimits {
    /// Different states.
    pub nodes: usize,
    /// Memory.
    pub bytes: usize,
    /// Random actions that compare the graph with the level.
    pub checks: u32,
    /// Boards that a search for the optimum may see where the graph is not complete.
    pub places: usize,
    /// States of a graph with clicks up to which all cells are clicked too, for the chance of a player who clicks blindly.
    pub blind_nodes: usize,
}

impl Default for GraphLimits {
    fn default() -> Self {
        Self {
            nodes: 1_000_000,
            bytes: 256 << 20,
            checks: 2_000,
            places: 4_000_000,
            blind_nodes: 3_000,
        }
    }
}

/// What was found of a level's states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelGraph {
    /// Different states.
    pub nodes: usize,
    /// Actions that lead from state to state.
    pub edges: usize,
    /// What stopped the search; `None` if the graph is complete.
    pub stop: Option<Stop>,
    /// What tells states apart.
    pub identity: &'static str,
    /// The most actions that a shortest way to a state takes.
    pub depth: usize,
    /// A shortest win.
    pub win: Option<Vec<Action>>,
    /// How many lines are as short.
    pub shortest_lines: u128,
    /// Whether there are no more of them than that.
    pub all_lines: bool,
    /// States from which no win can be reached although they go on; of a graph that is not complete, those that are certain.
    pub dead_ends: usize,
    /// Those of them from which no end at all can be reached.
    pub locks: usize,
    /// The shortest way into such a lock, or else into a dead end.
    pub first_dead_end: Option<Vec<Action>>,
    /// The chance of the uniform random player within a number of actions.
    pub p_within: Chance,
    /// The same of a player who clicks on any cell, where that is known; without clicks the two are one.
    pub p_blind: Option<Chance>,
    /// Whether clicks are offered anywhere.
    pub has_clicks: bool,
    /// That number.
    pub within: u32,
    /// What a random check of the graph found wrong.
    pub doubts: Vec<Doubt>,
    /// Where edges lead, by depth: forwards, to the same depth, back, and nowhere. For comparing graphs.
    pub shape: [u64; 4],
}

impl LevelGraph {
    /// Whether every state was looked into.
    pub fn is_complete(&self) -> bool {
        self.stop.is_none()
    }
}

/// Why there is no graph of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoGraph {
    /// It cannot be searched; that is no fault.
    Unsearchable(String),
    /// The environment failed while it was searched.
    Failed(String),
}

/// Searches a level and takes from its graph what the rules need.
pub fn level_graph<E: Explorable>(
    level: &E,
    identity: &'static str,
    within: u32,
    limits: &GraphLimits,
    rng: &mut Rng,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<LevelGraph, E::Error> {
    let search = Search {
        limits: Limits {
            nodes: limits.nodes,
            bytes: limits.bytes,
            ..Limits::default()
        },
        all_clicks: false,
        threads: 1,
    };
    let graph = explore(level, &search, &mut *go_on)?;
    let ends = Ends::of(&graph);
    let dead = |node: u32| graph.outcome(node) == Outcome::Going && !ends.wins[node as usize];
    let lock = |node: u32| dead(node) && !ends.ends[node as usize];
    let nodes = 0..graph.nodes() as u32;
    let first_dead_end = nodes
        .clone()
        .find(|&node| lock(node))
        .or_else(|| nodes.clone().find(|&node| dead(node)));
    let line = |node: u32| actions_along(level, &graph, &way_to(&graph, node));
    let win = first_win(&graph);
    let p_within = win_within(&graph, Policy::Valid, within, |_| true);
    let p_blind = if graph.knows(Policy::Blind) {
        Some(p_within)
    } else if graph.is_complete() && graph.nodes() <= limits.blind_nodes {
        let all = explore(
            level,
            &Search {
                all_clicks: true,
                ..search
            },
            &mut *go_on,
        )?;
        Some(win_within(&all, Policy::Blind, within, |_| true))
    } else {
        None
    };
    let doubts = check(level, &graph, limits.checks, rng, || true)?.doubts;
    Ok(LevelGraph {
        nodes: graph.nodes(),
        edges: graph.edges(),
        stop: graph.stop(),
        identity: if graph.is_packed() {
            "packed"
        } else {
            identity
        },
        depth: graph.depth(),
        win: win.map(line).transpose()?,
        shortest_lines: win.map_or(0, |win| count_shortest(&graph, win)),
        all_lines: win.is_some_and(|win| knows_all_shortest(&graph, win)),
        dead_ends: nodes.clone().filter(|&node| dead(node)).count(),
        locks: nodes.filter(|&node| lock(node)).count(),
        first_dead_end: first_dead_end.map(line).transpose()?,
        p_within,
        p_blind,
        has_clicks: graph.has_clicks(),
        within,
        doubts,
        shape: shape(&graph),
    })
}

/// What can be reached from each state. The frontier may lead anywhere.
struct Ends {
    wins: Vec<bool>,
    ends: Vec<bool>,
}

impl Ends {
    fn of(graph: &Graph) -> Self {
        let components = Components::of(graph);
        let mut found = Self {
            wins: vec![false; graph.nodes()],
            ends: vec![false; graph.nodes()],
        };
        // Components come after all that they lead to.
        for members in components.iter() {
            let (mut wins, mut ends) = (false, false);
            for &node in members {
                let outcome = graph.outcome(node);
                let unknown = graph.is_frontier(node);
                wins |= unknown || outcome == Outcome::LevelWon;
                ends |= unknown || outcome != Outcome::Going;
                for &target in graph.targets(node) {
                    wins |= found.wins[target as usize];
                    ends |= found.ends[target as usize];
                }
            }
            for &node in members {
                (found.wins[node as usize], found.ends[node as usize]) = (wins, ends);
            }
        }
        found
    }
}

fn shape(graph: &Graph) -> [u64; 4] {
    let mut shape = [0; 4];
    for depth in 0..=graph.depth() {
        let layer = graph.layer(depth);
        for node in layer.clone() {
            for &target in graph.targets(node) {
                let kind = if target == node {
                    3
                } else if target >= layer.end {
                    0
                } else if target >= layer.start {
                    1
                } else {
                    2
                };
                shape[kind] += 1;
            }
        }
    }
    shape
}
