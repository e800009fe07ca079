//! The probability that a random player wins within a given number of actions. Levels that cannot
//! be lost need this limit, because a random player who never loses often wins eventually.
//!
//! The probability mass of the player is propagated through the graph one action at a time, in
//! units of 2⁻⁹⁶. Mass that reaches the frontier, and the remainders of integer divisions, count as
//! lost in the lower bound and as won in the upper bound.

use rhae_engine::Outcome;

use crate::Graph;
use crate::chance::{Chance, ONE};
use crate::graph::Policy;

/// Bounds the probability that random play wins within `actions` actions from the start.
///
/// `should_continue` is called with the number of simulated actions before each further action. If
/// it returns false, the simulation ends, and the mass that is still in play counts as lost in the
/// lower bound and as won in the upper bound.
///
/// The graph must [support](Graph::supports) the policy.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Game, LevelIndex};
/// use rhae_explore::{NativeLevel, Policy, SearchOptions, explore, first_win, win_within};
///
/// struct Luck;
///
/// impl rhae_games::Visitor for Luck {
///     type Output = ();
///
///     fn visit<G: Game>(self) {
///         let level = NativeLevel::<G>::new(0, LevelIndex(0));
///         let Ok(graph) = explore(&level, &SearchOptions::default(), |_| true);
///         let shortest = graph.depth_of(first_win(&graph).expect("the level can be won")) as u32;
///         // Fewer actions than the shortest win never suffice.
///         let chance = win_within(&graph, Policy::Valid, shortest - 1, |_| true);
///         assert_eq!(chance.upper(), 0.0);
///         let chance = win_within(&graph, Policy::Valid, shortest, |_| true);
///         assert!(chance.lower() > 0.0);
///     }
/// }
///
/// rhae_games::visit("bx20-v1", Luck).expect("the game is registered");
/// ```
pub fn win_within(
    graph: &Graph,
    policy: Policy,
    actions: u32,
    mut should_continue: impl FnMut(u32) -> bool,
) -> Chance {
    // If no win can be reached within `actions` actions, the result is exactly 0. The computation
    // below would add the remainders of divisions to the upper bound.
    let may_win =
        |node: &u32| graph.outcome(*node) == Outcome::LevelWon || graph.is_frontier(*node);
    let nearest = (0..graph.nodes() as u32)
        .find(may_win)
        .map(|node| graph.depth_of(node));
    if nearest.is_none_or(|depth| depth > actions as usize) {
        return Chance { low: 0, high: 0 };
    }
    let mut current_mass = vec![0_u128; graph.nodes()];
    let mut next_mass = vec![0_u128; graph.nodes()];
    current_mass[0] = ONE;
    let (mut won, mut lost) = (0, 0);
    let mut playing = ONE;
    for taken in 0..actions {
        if playing == 0 {
            break;
        }
        if !should_continue(taken) {
            // The mass that is still in play may win or lose. It is part of neither `won` nor
            // `lost`, so it widens the bounds.
            playing = 0;
            break;
        }
        let reached = graph
            .layers
            .get(taken as usize + 1)
            .map_or(graph.nodes(), |&end| end as usize);
        playing = 0;
        for (node, mass) in current_mass[..reached].iter_mut().enumerate() {
            if *mass == 0 {
                continue;
            }
            let (moves, total) = graph.moves(node as u32, policy);
            if total > 0 {
                let share = *mass / u128::from(total);
                for (target, weight) in moves {
                    next_mass[target as usize] += share * u128::from(weight);
                }
            }
            *mass = 0;
        }
        let touched = graph
            .layers
            .get(taken as usize + 2)
            .map_or(graph.nodes(), |&end| end as usize);
        for (node, mass) in next_mass[..touched]
            .iter_mut()
            .enumerate()
            .filter(|(_, mass)| **mass != 0)
        {
            match graph.outcome(node as u32) {
                Outcome::LevelWon => won += std::mem::take(mass),
                Outcome::GameOver => lost += std::mem::take(mass),
                Outcome::Continue if graph.is_frontier(node as u32) => *mass = 0,
                Outcome::Continue => playing += *mass,
            }
        }
        std::mem::swap(&mut current_mass, &mut next_mass);
    }
    Chance {
        low: won,
        high: ONE - lost - playing,
    }
}
