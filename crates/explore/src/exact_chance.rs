//! The probability of a random win as an exact fraction, for small graphs.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use rhae_engine::Outcome;

use crate::graph::Policy;
use crate::{Components, Graph};

/// The maximum number of nodes of a graph for which the fraction is computed.
const MAX_NODES: usize = 20_000;
/// The maximum number of nodes of a component that is solved by Gaussian elimination.
const MAX_COMPONENT_NODES: usize = 64;
/// The maximum amount of work, estimated in multiplications of 64-bit words.
const MAX_WORK: u64 = 4_000_000;

/// Returns the numerator and the denominator of the probability that random play wins from the
/// start, as decimal numbers. Returns `None` if the graph is incomplete or the computation would be
/// too large.
pub fn exact_chance(
    graph: &Graph,
    components: &Components,
    policy: Policy,
) -> Option<(String, String)> {
    if !graph.is_complete() || graph.nodes() > MAX_NODES {
        return None;
    }
    let mut exact = Exact {
        graph,
        policy,
        chances: vec![BigRational::zero(); graph.nodes()],
        work: 0,
    };
    for members in components.iter() {
        match *members {
            [node] => exact.solve_node(node)?,
            _ => exact.solve_component(components, members)?,
        }
    }
    let chance = &exact.chances[0];
    Some((chance.numer().to_string(), chance.denom().to_string()))
}

struct Exact<'a> {
    graph: &'a Graph,
    policy: Policy,
    chances: Vec<BigRational>,
    work: u64,
}

impl Exact<'_> {
    /// Adds the estimated cost of computing a result to the total. Returns `None` once the total
    /// exceeds [`MAX_WORK`].
    fn charge(&mut self, result: &BigRational) -> Option<()> {
        let words = result.denom().bits() / 64 + 1;
        self.work += words * words;
        (self.work <= MAX_WORK).then_some(())
    }

    fn solve_node(&mut self, node: u32) -> Option<()> {
        let chance = match self.graph.outcome(node) {
            Outcome::LevelWon => BigRational::one(),
            Outcome::GameOver => BigRational::zero(),
            Outcome::Continue => {
                let (moves, total) = self.graph.moves(node, self.policy);
                let (mut sum, mut leaving) = (BigRational::zero(), total);
                for (target, weight) in moves {
                    if target == node {
                        leaving -= weight;
                    } else {
                        sum += &self.chances[target as usize] * BigInt::from(weight);
                    }
                }
                if leaving == 0 {
                    BigRational::zero()
                } else {
                    sum / BigInt::from(leaving)
                }
            }
        };
        self.charge(&chance)?;
        self.chances[node as usize] = chance;
        Some(())
    }

    /// Solves a component by Gaussian elimination. The last column holds the contribution of the
    /// exits.
    fn solve_component(&mut self, components: &Components, members: &[u32]) -> Option<()> {
        let size = members.len();
        let exits = || {
            members
                .iter()
                .flat_map(|&node| self.graph.targets(node))
                .filter(|&&target| !components.same_component(members[0], target))
        };
        let Some(&first) = exits().next() else {
            return Some(());
        };
        if exits().all(|&exit| self.chances[exit as usize] == self.chances[first as usize]) {
            // All exits have the same probability, so every node of the component has it too.
            let chance = self.chances[first as usize].clone();
            members
                .iter()
                .for_each(|&node| self.chances[node as usize] = chance.clone());
            return Some(());
        }
        if size > MAX_COMPONENT_NODES {
            return None;
        }
        let mut rows = vec![vec![BigRational::zero(); size + 1]; size];
        for (row, &node) in rows.iter_mut().zip(members) {
            let (moves, total) = self.graph.moves(node, self.policy);
            let here = members.iter().position(|&member| member == node)?;
            row[here] += BigInt::from(total);
            for (target, weight) in moves {
                match members.iter().position(|&member| member == target) {
                    Some(column) => row[column] -= BigInt::from(weight),
                    None => row[size] += &self.chances[target as usize] * BigInt::from(weight),
                }
            }
        }
        for pivot in 0..size {
            let (above, below) = rows.split_at_mut(pivot + 1);
            let from = &above[pivot];
            for row in below.iter_mut().filter(|row| !row[pivot].is_zero()) {
                let factor = &row[pivot] / &from[pivot];
                for column in pivot..=size {
                    let change = &factor * &from[column];
                    row[column] -= change;
                }
                self.charge(&factor)?;
                self.work += size as u64;
            }
        }
        for pivot in (0..size).rev() {
            let mut sum = rows[pivot][size].clone();
            for column in pivot + 1..size {
                sum -= &rows[pivot][column] * &self.chances[members[column] as usize];
            }
            let chance = sum / &rows[pivot][pivot];
            self.charge(&chance)?;
            self.chances[members[pivot] as usize] = chance;
        }
        Some(())
    }
}
