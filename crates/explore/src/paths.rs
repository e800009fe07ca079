//! Paths through a graph: the shortest win, the number of shortest wins, and the actions of a path.

use rhae_engine::{Action, ActionKind, Outcome};

use crate::explorable::simple_actions;
use crate::graph::CLICKS;
use crate::{Explorable, Graph};

/// Returns a winning node of minimal depth, or `None` if the graph contains no win. Node ids are in
/// breadth-first order, so it is the first winning node.
pub fn first_win(graph: &Graph) -> Option<u32> {
    (0..graph.nodes() as u32).find(|&node| graph.outcome(node) == Outcome::LevelWon)
}

/// Returns the nodes on a shortest path from the start to a node, both included.
pub fn path_to(graph: &Graph, node: u32) -> Vec<u32> {
    let mut path = vec![node];
    let mut at = node;
    for depth in (0..graph.depth_of(node)).rev() {
        at = graph
            .layer(depth)
            .find(|&before| graph.targets(before).contains(&at))
            .expect("every node has a predecessor at the previous depth");
        path.push(at);
    }
    path.reverse();
    path
}

/// Returns the number of different action sequences in the graph that win in as few actions as
/// `win`. Saturates at `u128::MAX`.
pub fn count_shortest_wins(graph: &Graph, win: u32) -> u128 {
    let depth = graph.depth_of(win);
    let mut counts: Vec<u128> = vec![1];
    for here in 0..depth {
        let next = graph.layer(here + 1);
        let mut next_counts = vec![0_u128; next.len()];
        for (node, &count) in graph.layer(here).zip(&counts) {
            for &target in graph
                .targets(node)
                .iter()
                .filter(|&target| next.contains(target))
            {
                let sum = &mut next_counts[(target - next.start) as usize];
                *sum = sum.saturating_add(count);
            }
        }
        counts = next_counts;
    }
    let wins = graph
        .layer(depth)
        .zip(&counts)
        .filter(|&(node, _)| graph.outcome(node) == Outcome::LevelWon);
    wins.fold(0, |sum, (_, &count)| sum.saturating_add(count))
}

/// Returns whether the graph contains every win that is as short as `win`. This is the case if all
/// nodes of smaller depth were expanded.
pub fn has_all_shortest_wins(graph: &Graph, win: u32) -> bool {
    graph.expanded() >= graph.layer(graph.depth_of(win)).start as usize
}

/// Returns the actions that lead along a path of the graph.
///
/// # Errors
///
/// Fails if an action fails.
///
/// # Panics
///
/// Panics if consecutive nodes of the path are not connected by an edge.
pub fn actions_along<E: Explorable>(
    level: &E,
    graph: &Graph,
    path: &[u32],
) -> Result<Vec<Action>, E::Error> {
    let mut state = level.start();
    let mut line = Vec::new();
    for pair in path.windows(2) {
        let edge = graph
            .targets(pair[0])
            .iter()
            .position(|&target| target == pair[1])
            .expect("consecutive nodes of a path are connected");
        let action = edge_choices(level, &state, graph.rows.is_weighted())?[edge];
        level.step(&mut state, action)?;
        line.push(action);
    }
    Ok(line)
}

/// Returns the actions of a state in the order of its edges. If the search clicked all cells, a
/// click edge is represented by the first of its cells.
pub(crate) fn edge_choices<E: Explorable>(
    level: &E,
    state: &E::State,
    all_clicks: bool,
) -> Result<Vec<Action>, E::Error> {
    let mut actions = Vec::new();
    if !all_clicks {
        level.actions(state, &mut actions);
        return Ok(actions);
    }
    let offered = level.offered(state);
    actions.extend(simple_actions(offered));
    let mut known = Vec::new();
    if offered.contains(ActionKind::Action6) {
        for cell in 0..CLICKS {
            let action = Action::Action6 {
                x: (cell % 64) as u8,
                y: (cell / 64) as u8,
            };
            let mut after = state.clone();
            let outcome = level.step(&mut after, action)?;
            let result = (
                outcome,
                level.pack(&after).unwrap_or_else(|| level.key(&after)),
            );
            if !known.contains(&result) {
                known.push(result);
                actions.push(action);
            }
        }
    }
    Ok(actions)
}

/// Returns the action of every edge of the graph, in the order of the edges.
///
/// The function keeps many states in memory at once, so it is meant for graphs that are small
/// enough to be displayed.
///
/// # Errors
///
/// Fails if an action fails.
pub fn edge_actions<E: Explorable>(level: &E, graph: &Graph) -> Result<Vec<Action>, E::Error> {
    let mut states: Vec<Option<E::State>> = vec![None; graph.nodes()];
    states[0] = Some(level.start());
    let mut all = Vec::with_capacity(graph.edges());
    for node in 0..graph.nodes() as u32 {
        let targets = graph.targets(node);
        let Some(state) = states[node as usize].take() else {
            continue;
        };
        if targets.is_empty() {
            continue;
        }
        for (action, &target) in edge_choices(level, &state, graph.rows.is_weighted())?
            .into_iter()
            .zip(targets)
        {
            all.push(action);
            if target > node && states[target as usize].is_none() {
                let mut after = state.clone();
                level.step(&mut after, action)?;
                states[target as usize] = Some(after);
            }
        }
    }
    Ok(all)
}
