//! Training samples from the graph of a finished level.

use std::collections::VecDeque;

use super::features::action_features;
use super::state_graph::{Rating, StateGraph, StateId, Successor};
use super::value_model::ValueSample;

/// The largest number of samples of one level. Of more transitions, evenly spaced ones are used.
const MAX_SAMPLES: usize = 2_048;

/// Returns a sample for each tried action of a finished level.
///
/// The value of a bad action is -1. The value of another one is the decrease of the distance to the
/// win, relative to the largest distance. A state from which no known path leads to the win has its
/// distance from the first state of the level instead.
pub(super) fn samples(graph: &StateGraph, first: Option<StateId>) -> Vec<ValueSample> {
    let distances = distances(graph, first);
    let largest = distances.iter().copied().max().unwrap_or(0).max(1) as f32;
    let mut edges = Vec::new();
    for (state, distance) in graph.states.iter().zip(&distances) {
        for (index, action) in state.actions.iter().enumerate() {
            let Some(successor) = action.successor else {
                continue;
            };
            let rest = match successor {
                Successor::State(to) => distances[to.index()],
                Successor::Win | Successor::Lost => 0,
            };
            let value = match action.rating {
                Rating::Bad => -1.0,
                Rating::Unknown | Rating::Good => (*distance as f32 - rest as f32) / largest,
            };
            edges.push((&state.input, index, action, value));
        }
    }
    let kept = edges.len().min(MAX_SAMPLES);
    (0..kept)
        .map(|position| {
            let (state, index, action, value) = edges[position * edges.len() / kept];
            ValueSample {
                state: state.clone(),
                action: action_features(index, action),
                value,
            }
        })
        .collect()
}

/// Returns the distance of each state to the win, or from the first state if it cannot reach the win.
pub(super) fn distances(graph: &StateGraph, first: Option<StateId>) -> Vec<u32> {
    let count = graph.states.len();
    let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut successors: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut winning = Vec::new();
    for (from, state) in (0_u32..).zip(&graph.states) {
        for successor in state.actions.iter().filter_map(|action| action.successor) {
            match successor {
                Successor::State(to) => {
                    predecessors[to.index()].push(from);
                    successors[from as usize].push(to.0);
                }
                Successor::Win => winning.push(from),
                Successor::Lost => {}
            }
        }
    }
    let to_win = breadth_first(&predecessors, &winning, 1);
    let start: Vec<u32> = first.map(|first| first.0).into_iter().collect();
    let from_start = breadth_first(&successors, &start, 0);
    to_win
        .into_iter()
        .zip(from_start)
        .map(|(to_win, from_start)| to_win.or(from_start).unwrap_or(0))
        .collect()
}

fn breadth_first(edges: &[Vec<u32>], starts: &[u32], distance: u32) -> Vec<Option<u32>> {
    let mut found = vec![None; edges.len()];
    let mut queue = VecDeque::new();
    for &start in starts {
        if found[start as usize].replace(distance).is_none() {
            queue.push_back((start, distance));
        }
    }
    while let Some((node, distance)) = queue.pop_front() {
        for &next in &edges[node as usize] {
            if found[next as usize].is_none() {
                found[next as usize] = Some(distance + 1);
                queue.push_back((next, distance + 1));
            }
        }
    }
    found
}
