//! The chance to win within a number of actions: what matters where a level cannot be lost.
//!
//! The player's whereabouts are spread over the graph action by action, in units of 2⁻⁹⁶. What division leaves over is counted
//! as lost in the lower bound and as won in the upper one, and so is what comes to the frontier.

use rhae_engine::Outcome;

use crate::Graph;
use crate::chance::{Chance, ONE};
use crate::graph::Policy;

/// The chance to win within `actions` from the start. `go_on` is asked before each; if it declines, what is not decided by
/// then widens the bounds.
pub fn win_within(
    graph: &Graph,
    policy: Policy,
    actions: u32,
    mut go_on: impl FnMut(u32) -> bool,
) -> Chance {
    // What no line reaches has no chance, not even that of what division leaves over.
    let may_win =
        |node: &u32| graph.outcome(*node) == Outcome::LevelWon || graph.is_frontier(*node);
    let nearest = (0..graph.nodes() as u32)
        .find(may_win)
        .map(|node| graph.depth_of(node));
    if nearest.is_none_or(|depth| depth > actions as usize) {
        return Chance { low: 0, high: 0 };
    }
    let mut here = vec![0_u128; graph.nodes()];
    let mut there = vec![0_u128; graph.nodes()];
    here[0] = ONE;
    let (mut won, mut lost) = (0, 0);
    let mut playing = ONE;
    for taken in 0..actions {
        if playing == 0 {
            break;
        }
        if !go_on(taken) {
            // Whoever still plays may win or not.
            playing = 0;
            break;
        }
        let reached = graph
            .layers
            .get(taken as usize + 1)
            .map_or(graph.nodes(), |&end| end as usize);
        playing = 0;
        for (node, mass) in here[..reached].iter_mut().enumerate() {
            if *mass == 0 {
                continue;
            }
            let (moves, total) = graph.moves(node as u32, policy);
            if total > 0 {
                let share = *mass / u128::from(total);
                for (target, weight) in moves {
                    there[target as usize] += share * u128::from(weight);
                }
            }
            *mass = 0;
        }
        let touched = graph
            .layers
            .get(taken as usize + 2)
            .map_or(graph.nodes(), |&end| end as usize);
        for (node, mass) in there[..touched]
            .iter_mut()
            .enumerate()
            .filter(|(_, mass)| **mass != 0)
        {
            match graph.outcome(node as u32) {
                Outcome::LevelWon => won += std::mem::take(mass),
                Outcome::GameOver => lost += std::mem::take(mass),
                Outcome::Going if graph.is_frontier(node as u32) => *mass = 0,
                Outcome::Going => playing += *mass,
            }
        }
        std::mem::swap(&mut here, &mut there);
    }
    Chance {
        low: won,
        high: ONE - lost - playing,
    }
}
