//! Ways through a graph: the shortest win, how many there are, and the actions of a way.

use rhae_engine::{Action, ActionKind, Outcome};

use crate::explorable::keys_of;
use crate::graph::CLICKS;
use crate::{Explorable, Graph};

/// The first state, in the order of the search, that satisfies a condition has the least depth of all that do.
pub fn first_win(graph: &Graph) -> Option<u32> {
    (0..graph.nodes() as u32).find(|&node| graph.outcome(node) == Outcome::LevelWon)
}

/// The states on a shortest way from the start to a state, both included.
pub fn way_to(graph: &Graph, node: u32) -> Vec<u32> {
    let mut way = vec![node];
    let mut at = node;
    for depth in (0..graph.depth_of(node)).rev() {
        at = graph
            .layer(depth)
            .find(|&before| graph.targets(before).contains(&at))
            .expect("a state was found from one of the depth before");
        way.push(at);
    }
    way.reverse();
    way
}

/// How many different lines of actions reach a win in the fewest actions, as far as the graph knows; the largest number stands for more.
pub fn count_shortest(graph: &Graph, win: u32) -> u128 {
    let depth = graph.depth_of(win);
    let mut ways: Vec<u128> = vec![1];
    for here in 0..depth {
        let next = graph.layer(here + 1);
        let mut ways_to_next = vec![0_u128; next.len()];
        for (node, &count) in graph.layer(here).zip(&ways) {
            for &target in graph
                .targets(node)
                .iter()
                .filter(|&target| next.contains(target))
            {
                let sum = &mut ways_to_next[(target - next.start) as usize];
                *sum = sum.saturating_add(count);
            }
        }
        ways = ways_to_next;
    }
    let wins = graph
        .layer(depth)
        .zip(&ways)
        .filter(|&(node, _)| graph.outcome(node) == Outcome::LevelWon);
    wins.fold(0, |sum, (_, &count)| sum.saturating_add(count))
}

/// Whether the graph has all lines as short as a win: those of a depth are known when all states of the one before were looked into.
pub fn knows_all_shortest(graph: &Graph, win: u32) -> bool {
    graph.expanded() >= graph.layer(graph.depth_of(win)).start as usize
}

/// The actions that lead along a way of the graph.
pub fn actions_along<E: Explorable>(
    level: &E,
    graph: &Graph,
    way: &[u32],
) -> Result<Vec<Action>, E::Error> {
    let mut state = level.start();
    let mut line = Vec::new();
    for pair in way.windows(2) {
        let edge = graph
            .targets(pair[0])
            .iter()
            .position(|&target| target == pair[1])
            .expect("a way follows edges");
        let action = choices(level, &state, graph.rows.is_weighted())?[edge];
        level.step(&mut state, action)?;
        line.push(action);
    }
    Ok(line)
}

/// The actions of a state in the order of its edges; with all clicks, the first cell of each that does something of its own.
pub(crate) fn choices<E: Explorable>(
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
    actions.extend(keys_of(offered));
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

/// The action of every edge, in the order of edges. Keeps every state in memory, so it is meant for graphs that are shown.
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
        for (action, &target) in choices(level, &state, graph.rows.is_weighted())?
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
