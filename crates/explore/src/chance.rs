//! The chance that a player who chooses at random wins, as bounds that are proved.
//!
//! Chances are whole numbers in units of 2⁻⁹⁶: sums are exact, and a division is rounded down for a lower bound and up for
//! an upper one. So nothing depends on how a processor rounds. Components are taken one after the other, each after all it leads
//! to; see `system` for those in which play can go round in circles. Of a graph that is not complete, the frontier
//! counts as lost in the lower bound and as won in the upper one.

use rhae_engine::Outcome;

use crate::graph::Policy;
use crate::system::System;
use crate::{Components, Graph};

/// Certainty, in the unit of chances.
pub const ONE: u128 = 1 << 96;

/// A chance between two bounds, both proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// It is not smaller than this, in units of 2⁻⁹⁶.
    pub low: u128,
    /// It is not greater than this.
    pub high: u128,
}

impl Chance {
    pub(crate) const NEVER: Self = Self { low: 0, high: 0 };
    pub(crate) const ALWAYS: Self = Self {
        low: ONE,
        high: ONE,
    };
    pub(crate) const UNKNOWN: Self = Self { low: 0, high: ONE };

    /// The lower bound, rounded down.
    pub fn lower(self) -> f64 {
        let near = self.low as f64;
        let down = if near as u128 > self.low {
            near.next_down()
        } else {
            near
        };
        down / ONE as f64
    }

    /// The upper bound, rounded up.
    pub fn upper(self) -> f64 {
        let near = self.high as f64;
        let up = if (near as u128) < self.high {
            near.next_up()
        } else {
            near
        };
        up / ONE as f64
    }

    /// The distance of the bounds.
    pub fn width(self) -> f64 {
        (self.high - self.low) as f64 / ONE as f64
    }

    /// The middle of the bounds.
    pub fn middle(self) -> f64 {
        (self.low + (self.high - self.low) / 2) as f64 / ONE as f64
    }
}

/// The chance to win from each state.
#[derive(Clone, Debug)]
pub struct Chances {
    low: Vec<u128>,
    high: Vec<u128>,
}

impl Chances {
    /// Finds them. Solving a component may take `bytes` of memory; one that would need more gets the bounds of what it leads to.
    pub fn of(graph: &Graph, components: &Components, policy: Policy, bytes: usize) -> Self {
        let mut chances = Self {
            low: vec![0; graph.nodes()],
            high: vec![0; graph.nodes()],
        };
        let mut place_of: Vec<u32> = Vec::new();
        for members in components.iter() {
            match *members {
                [node] => {
                    let chance = chances.alone(graph, policy, node);
                    chances.set(node, chance);
                }
                _ => chances.together(graph, components, policy, members, &mut place_of, bytes),
            }
        }
        chances
    }

    /// The chance from a state.
    pub fn at(&self, node: u32) -> Chance {
        Chance {
            low: self.low[node as usize],
            high: self.high[node as usize],
        }
    }

    /// The states that go on although no win can be reached from them. All of them if the graph is complete, else those
    /// that are certain.
    pub fn dead_ends<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = u32> + 'a {
        (0..graph.nodes() as u32)
            .filter(|&node| self.high[node as usize] == 0 && graph.outcome(node) == Outcome::Going)
    }

    fn set(&mut self, node: u32, chance: Chance) {
        self.low[node as usize] = chance.low;
        self.high[node as usize] = chance.high;
    }

    fn alone(&self, graph: &Graph, policy: Policy, node: u32) -> Chance {
        match graph.outcome(node) {
            Outcome::LevelWon => return Chance::ALWAYS,
            Outcome::GameOver => return Chance::NEVER,
            Outcome::Going if graph.is_frontier(node) => return Chance::UNKNOWN,
            Outcome::Going => {}
        }
        let (moves, total) = graph.moves(node, policy);
        // Actions that change nothing only delay the others.
        let (mut low, mut high, mut staying) = (0_u128, 0_u128, 0_u64);
        for (target, weight) in moves {
            if target == node {
                staying += weight;
            } else {
                low += self.low[target as usize] * u128::from(weight);
                high += self.high[target as usize] * u128::from(weight);
            }
        }
        if staying == total {
            return Chance::NEVER;
        }
        let leaving = u128::from(total - staying);
        Chance {
            low: low / leaving,
            high: high.div_ceil(leaving),
        }
    }

    fn together(
        &mut self,
        graph: &Graph,
        components: &Components,
        policy: Policy,
        members: &[u32],
        place_of: &mut Vec<u32>,
        bytes: usize,
    ) {
        // What is left for certain lies between the worst and the best that can be left for.
        let mut between: Option<Chance> = None;
        for &node in members {
            for &target in graph
                .targets(node)
                .iter()
                .filter(|&&target| !components.are_together(node, target))
            {
                let there = self.at(target);
                let known = between.unwrap_or(there);
                between = Some(Chance {
                    low: known.low.min(there.low),
                    high: known.high.max(there.high),
                });
            }
        }
        // Nobody leaves a component without a way out.
        let between = between.unwrap_or(Chance::NEVER);
        members.iter().for_each(|&node| self.set(node, between));
        let edges: usize = members.iter().map(|&node| graph.targets(node).len()).sum();
        if between.low == between.high || System::bytes(members.len(), edges) > bytes {
            return;
        }
        place_of.resize(graph.nodes(), 0);
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        for (place, &node) in sorted.iter().enumerate() {
            place_of[node as usize] = place as u32;
        }
        let mut system = System::default();
        for &node in &sorted {
            let (moves, total) = graph.moves(node, policy);
            let (mut low, mut high, mut staying) = (0_u128, 0_u128, 0_u64);
            for (target, weight) in moves {
                if target == node {
                    staying += weight;
                } else if components.are_together(node, target) {
                    system.inner(place_of[target as usize], weight as u32);
                } else {
                    low += self.low[target as usize] * u128::from(weight);
                    high += self.high[target as usize] * u128::from(weight);
                }
            }
            system.end_row((total - staying) as u32, low, high);
        }
        let (low, high) = system.bounds(between);
        for ((&node, low), high) in sorted.iter().zip(low).zip(high) {
            self.set(node, Chance { low, high });
        }
    }
}
