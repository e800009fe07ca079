//! Proved bounds on the probability that a random player wins.
//!
//! Probabilities are integers in units of 2⁻⁹⁶. Sums are exact; divisions are rounded down for a
//! lower bound and up for an upper bound. The results are therefore the same on every processor.
//! Strongly connected components are solved one at a time, each after all components that it leads
//! to. The module `system` solves components with cycles. In an incomplete graph, states of the
//! frontier count as lost in the lower bound and as won in the upper bound.

use rhae_engine::Outcome;

use crate::graph::Policy;
use crate::system::System;
use crate::{Components, Graph};

/// The probability 1, in units of 2⁻⁹⁶.
pub const ONE: u128 = 1 << 96;

/// A probability, given by a proved lower and upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The lower bound in units of 2⁻⁹⁶.
    pub low: u128,
    /// The upper bound in units of 2⁻⁹⁶.
    pub high: u128,
}

impl Chance {
    pub(crate) const NEVER: Self = Self { low: 0, high: 0 };
    pub(crate) const ALWAYS: Self = Self {
        low: ONE,
        high: ONE,
    };
    /// A probability about which nothing is known.
    pub const UNKNOWN: Self = Self { low: 0, high: ONE };

    /// Returns the lower bound, rounded down.
    pub fn lower(self) -> f64 {
        let near = self.low as f64;
        let down = if near as u128 > self.low {
            near.next_down()
        } else {
            near
        };
        down / ONE as f64
    }

    /// Returns the upper bound, rounded up.
    pub fn upper(self) -> f64 {
        let near = self.high as f64;
        let up = if (near as u128) < self.high {
            near.next_up()
        } else {
            near
        };
        up / ONE as f64
    }

    /// Returns the difference between the bounds.
    pub fn width(self) -> f64 {
        (self.high - self.low) as f64 / ONE as f64
    }

    /// Returns the midpoint of the bounds.
    pub fn middle(self) -> f64 {
        (self.low + (self.high - self.low) / 2) as f64 / ONE as f64
    }
}

/// The probability of winning from each node of a graph, under one [`Policy`]. See the [crate
/// documentation](crate) for an example.
#[derive(Clone, Debug)]
pub struct Chances {
    low: Vec<u128>,
    high: Vec<u128>,
}

impl Chances {
    /// Computes the probabilities of a graph, which must [support](Graph::supports) the policy.
    ///
    /// `bytes` limits the memory for solving one component. For a component that would need more,
    /// every node gets the same, wider bounds: the lowest lower bound and the highest upper bound
    /// of the nodes that the component leads to.
    pub fn of(graph: &Graph, components: &Components, policy: Policy, bytes: usize) -> Self {
        let mut chances = Self {
            low: vec![0; graph.nodes()],
            high: vec![0; graph.nodes()],
        };
        let mut row_of: Vec<u32> = Vec::new();
        for members in components.iter() {
            match *members {
                [node] => {
                    let chance = chances.solve_node(graph, policy, node);
                    chances.set(node, chance);
                }
                _ => {
                    chances.solve_component(graph, components, policy, members, &mut row_of, bytes);
                }
            }
        }
        chances
    }

    /// Returns the probability of winning from a node.
    pub fn at(&self, node: u32) -> Chance {
        Chance {
            low: self.low[node as usize],
            high: self.high[node as usize],
        }
    }

    /// Iterates over the dead ends: nodes that are not terminal and from which no win can be
    /// reached. For an incomplete graph, only nodes that are certainly dead ends are returned.
    pub fn dead_ends<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = u32> + 'a {
        (0..graph.nodes() as u32).filter(|&node| {
            self.high[node as usize] == 0 && graph.outcome(node) == Outcome::Continue
        })
    }

    fn set(&mut self, node: u32, chance: Chance) {
        self.low[node as usize] = chance.low;
        self.high[node as usize] = chance.high;
    }

    fn solve_node(&self, graph: &Graph, policy: Policy, node: u32) -> Chance {
        match graph.outcome(node) {
            Outcome::LevelWon => return Chance::ALWAYS,
            Outcome::GameOver => return Chance::NEVER,
            Outcome::Continue if graph.is_frontier(node) => return Chance::UNKNOWN,
            Outcome::Continue => {}
        }
        let (moves, total) = graph.moves(node, policy);
        // A self-loop only delays the other actions and does not change the probability of winning,
        // so self-loops are ignored.
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

    fn solve_component(
        &mut self,
        graph: &Graph,
        components: &Components,
        policy: Policy,
        members: &[u32],
        row_of: &mut Vec<u32>,
        bytes: usize,
    ) {
        // Random play leaves a component that has exits with probability 1. The probability of
        // winning therefore lies between that of the worst and that of the best exit.
        let mut between: Option<Chance> = None;
        for &node in members {
            for &target in graph
                .targets(node)
                .iter()
                .filter(|&&target| !components.same_component(node, target))
            {
                let exit = self.at(target);
                let known = between.unwrap_or(exit);
                between = Some(Chance {
                    low: known.low.min(exit.low),
                    high: known.high.max(exit.high),
                });
            }
        }
        // A component without exits never reaches a win.
        let between = between.unwrap_or(Chance::NEVER);
        members.iter().for_each(|&node| self.set(node, between));
        let edges: usize = members.iter().map(|&node| graph.targets(node).len()).sum();
        if between.low == between.high || System::bytes(members.len(), edges) > bytes {
            return;
        }
        row_of.resize(graph.nodes(), 0);
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        for (row, &node) in sorted.iter().enumerate() {
            row_of[node as usize] = row as u32;
        }
        let mut system = System::default();
        for &node in &sorted {
            let (moves, total) = graph.moves(node, policy);
            let (mut low, mut high, mut staying) = (0_u128, 0_u128, 0_u64);
            for (target, weight) in moves {
                if target == node {
                    staying += weight;
                } else if components.same_component(node, target) {
                    system.add_inner(row_of[target as usize], weight as u32);
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
