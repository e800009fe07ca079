//! The properties of a level's state graph that rules need: the chance of random wins, dead ends,
//! and the shortest win.

use rhae_engine::{Action, Outcome, Rng};
use rhae_explore::{
    Chance, Components, Explorable, Graph, GraphWarning, Limits, Policy, Progress, SearchOptions,
    StopReason, actions_along, check_graph, count_shortest_wins, explore, first_win,
    has_all_shortest_wins, path_to, win_within,
};

/// Limits of the search of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLimits {
    /// The maximum number of states.
    pub nodes: usize,
    /// The memory limit in bytes.
    pub bytes: usize,
    /// The number of random actions whose results are compared with the graph, to detect errors in
    /// it.
    pub checks: u32,
    /// The maximum number of boards that a separate search for the shortest win may visit. That
    /// search runs only if the graph is incomplete.
    pub boards: usize,
    /// The maximum number of states of a level with clicks that is searched a second time, with
    /// clicks on all cells, to compute the probability that a blindly clicking player wins.
    pub blind_nodes: usize,
    /// The number of threads of a search, or of processes for a hosted game.
    pub threads: usize,
}

impl Default for GraphLimits {
    fn default() -> Self {
        Self {
            nodes: 1_000_000,
            bytes: 256 << 20,
            checks: 2_000,
            boards: 4_000_000,
            blind_nodes: 3_000,
            threads: 1,
        }
    }
}

/// The properties of a level's state graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelGraph {
    /// The number of different states.
    pub nodes: usize,
    /// The number of transitions.
    pub edges: usize,
    /// The limit that stopped the search; `None` if the graph is complete.
    pub stop: Option<StopReason>,
    /// The name of the parts that identify a state, as it is written to reports.
    pub identity: &'static str,
    /// The depth of the deepest state.
    pub depth: usize,
    /// A shortest win, if the graph contains a win.
    pub win: Option<Vec<Action>>,
    /// A shortest loss, if the graph contains a loss.
    pub loss: Option<Vec<Action>>,
    /// The number of action sequences in the graph that win in as few actions as `win`.
    pub shortest_wins: u128,
    /// Whether the graph is deep enough that `shortest_wins` counts all such sequences of the
    /// level.
    pub all_shortest_wins_counted: bool,
    /// The number of non-terminal states from which no win can be reached. In an incomplete graph,
    /// only states that are certainly dead ends count.
    pub dead_ends: usize,
    /// The number of dead ends from which no terminal state can be reached either.
    pub soft_locks: usize,
    /// A shortest path into a soft lock, or into a dead end if the graph has no soft lock.
    pub first_dead_end: Option<Vec<Action>>,
    /// The probability that uniform random play wins within `within` actions.
    pub p_within: Chance,
    /// The same probability for a player whose clicks are uniform over all cells; `None` if it is
    /// not known. In a level without clicks it equals `p_within`.
    pub p_blind: Option<Chance>,
    /// Whether any state offers clicks.
    pub has_clicks: bool,
    /// Whether only representative cells were clicked, because the environment does not list its
    /// clicks. Other clicks may then lead to further states, so nothing is proved.
    pub has_representative_clicks: bool,
    /// The number of actions to which `p_within` and `p_blind` refer.
    pub within: u32,
    /// The errors that a random check of the graph found.
    pub warnings: Vec<GraphWarning>,
    /// The number of edges that lead to a greater depth, to another state of the same depth, to a
    /// smaller depth, and to their own state. The numbers are used to compare graphs.
    pub shape: [u64; 4],
}

impl LevelGraph {
    /// Returns whether every reachable state was expanded, by all clicks that may have an effect.
    pub fn is_complete(&self) -> bool {
        self.stop.is_none() && !self.has_representative_clicks
    }

    /// Returns why the graph is not complete, for the text of a finding.
    pub(crate) fn limits(&self) -> String {
        let stop = self.stop.map(|stop| format!("stopped by: {}", stop.name()));
        let clicks = self
            .has_representative_clicks
            .then(|| "clicks: representative".to_owned());
        let limits: Vec<String> = stop.into_iter().chain(clicks).collect();
        limits.join(", ")
    }
}

/// The reason why a level has no state graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphError {
    /// The level cannot be searched, for example because the environment supports neither forks nor
    /// snapshots. This is not an error of the environment.
    Unsearchable(String),
    /// The environment failed during the search.
    Failed(String),
}

/// Searches a level and computes the properties that the rules need.
///
/// `identity` is the name of the parts that identify the states of `level`, `within` is the number
/// of actions for the probabilities, and `rng` drives the random check of the graph.
///
/// # Errors
///
/// Returns the error of [`Explorable::step`] if an action fails.
pub fn level_graph<E: Explorable>(
    level: &E,
    identity: &'static str,
    within: u32,
    limits: &GraphLimits,
    rng: &mut Rng,
    should_continue: &mut dyn FnMut(Progress) -> bool,
) -> Result<LevelGraph, E::Error> {
    let search = SearchOptions {
        limits: Limits {
            nodes: limits.nodes,
            bytes: limits.bytes,
            ..Limits::default()
        },
        all_clicks: false,
        threads: limits.threads.max(1),
    };
    let graph = explore(level, &search, &mut *should_continue)?;
    let reachable = Reachability::of(&graph);
    let proves = !graph.has_representative_clicks();
    let is_dead_end = |node: u32| {
        proves && graph.outcome(node) == Outcome::Continue && !reachable.win[node as usize]
    };
    let is_soft_lock = |node: u32| is_dead_end(node) && !reachable.terminal[node as usize];
    let nodes = 0..graph.nodes() as u32;
    let first_dead_end = nodes
        .clone()
        .find(|&node| is_soft_lock(node))
        .or_else(|| nodes.clone().find(|&node| is_dead_end(node)));
    let actions_to = |node: u32| actions_along(level, &graph, &path_to(&graph, node));
    let win = first_win(&graph);
    // Nodes are numbered in the order of their depth.
    let loss = nodes
        .clone()
        .find(|&node| graph.outcome(node) == Outcome::GameOver);
    let p_within = if proves {
        win_within(&graph, Policy::Valid, within, |_| true)
    } else {
        Chance::UNKNOWN
    };
    let p_blind = if graph.supports(Policy::Blind) {
        Some(p_within)
    } else if proves && graph.is_complete() && graph.nodes() <= limits.blind_nodes {
        let all = explore(
            level,
            &SearchOptions {
                all_clicks: true,
                ..search
            },
            &mut *should_continue,
        )?;
        Some(win_within(&all, Policy::Blind, within, |_| true))
    } else {
        None
    };
    let warnings = check_graph(level, &graph, limits.checks, rng, || true)?.warnings;
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
        win: win.map(actions_to).transpose()?,
        loss: loss.map(actions_to).transpose()?,
        shortest_wins: win.map_or(0, |win| count_shortest_wins(&graph, win)),
        all_shortest_wins_counted: proves
            && win.is_some_and(|win| has_all_shortest_wins(&graph, win)),
        dead_ends: nodes.clone().filter(|&node| is_dead_end(node)).count(),
        soft_locks: nodes.filter(|&node| is_soft_lock(node)).count(),
        first_dead_end: first_dead_end.map(actions_to).transpose()?,
        p_within,
        p_blind,
        has_clicks: graph.has_clicks(),
        has_representative_clicks: graph.has_representative_clicks(),
        within,
        warnings,
        shape: shape(&graph),
    })
}

/// For each state, whether a win can be reached from it, and whether any terminal state can. States
/// of the frontier count as leading to both, because what follows them is unknown.
struct Reachability {
    win: Vec<bool>,
    terminal: Vec<bool>,
}

impl Reachability {
    fn of(graph: &Graph) -> Self {
        let components = Components::of(graph);
        let mut found = Self {
            win: vec![false; graph.nodes()],
            terminal: vec![false; graph.nodes()],
        };
        // A component is visited after all components that it leads to, so their results are
        // already known.
        for members in components.iter() {
            let (mut win, mut terminal) = (false, false);
            for &node in members {
                let outcome = graph.outcome(node);
                let unknown = graph.is_frontier(node);
                win |= unknown || outcome == Outcome::LevelWon;
                terminal |= unknown || outcome != Outcome::Continue;
                for &target in graph.targets(node) {
                    win |= found.win[target as usize];
                    terminal |= found.terminal[target as usize];
                }
            }
            for &node in members {
                (found.win[node as usize], found.terminal[node as usize]) = (win, terminal);
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a complete graph without wins and losses, in which nothing is known about clicks.
    pub(crate) fn graph() -> LevelGraph {
        LevelGraph {
            nodes: 9,
            edges: 9,
            stop: None,
            identity: "frame",
            depth: 3,
            win: None,
            loss: None,
            shortest_wins: 0,
            all_shortest_wins_counted: false,
            dead_ends: 0,
            soft_locks: 0,
            first_dead_end: None,
            p_within: Chance::UNKNOWN,
            p_blind: None,
            has_clicks: true,
            has_representative_clicks: true,
            within: 40,
            warnings: Vec::new(),
            shape: [0; 4],
        }
    }

    #[test]
    fn limits_name_representative_clicks_and_the_limit_that_stopped_the_search() {
        assert_eq!(graph().limits(), "clicks: representative");
        let stop = Some(StopReason::Nodes);
        let stopped = LevelGraph { stop, ..graph() };
        assert_eq!(
            stopped.limits(),
            "stopped by: nodes, clicks: representative"
        );
        let has_representative_clicks = false;
        let listed = LevelGraph {
            has_representative_clicks,
            ..stopped
        };
        assert_eq!(listed.limits(), "stopped by: nodes");
    }
}
