//! The chance to win as an exact fraction, for graphs that are small enough.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use rhae_engine::Outcome;

use crate::graph::Policy;
use crate::{Components, Graph};

/// The most states.
const NODES: usize = 20_000;
/// The most states that lead to each other.
const TOGETHER: usize = 64;
/// The most work, in products of numbers of 64 bits.
const WORK: u64 = 4_000_000;

/// The chance to win from the start as numerator and denominator, if the graph is complete and small enough.
pub fn fraction(
    graph: &Graph,
    components: &Components,
    policy: Policy,
) -> Option<(String, String)> {
    if !graph.is_complete() || graph.nodes() > NODES {
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
            [node] => exact.alone(node)?,
            _ => exact.together(components, members)?,
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
    /// `None` once it has become too much.
    fn pay(&mut self, result: &BigRational) -> Option<()> {
        let words = result.denom().bits() / 64 + 1;
        self.work += words * words;
        (self.work <= WORK).then_some(())
    }

    fn alone(&mut self, node: u32) -> Option<()> {
        let chance = match self.graph.outcome(node) {
            Outcome::LevelWon => BigRational::one(),
            Outcome::GameOver => BigRational::zero(),
            Outcome::Going => {
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
        self.pay(&chance)?;
        self.chances[node as usize] = chance;
        Some(())
    }

    /// Elimination, the last column being what leaving the component is worth.
    fn together(&mut self, components: &Components, members: &[u32]) -> Option<()> {
        let size = members.len();
        let exits = || {
            members
                .iter()
                .flat_map(|&node| self.graph.targets(node))
                .filter(|&&target| !components.are_together(members[0], target))
        };
        let Some(&first) = exits().next() else {
            return Some(());
        };
        if exits().all(|&exit| self.chances[exit as usize] == self.chances[first as usize]) {
            // Whoever leaves for one and the same chance has it already.
            let chance = self.chances[first as usize].clone();
            members
                .iter()
                .for_each(|&node| self.chances[node as usize] = chance.clone());
            return Some(());
        }
        if size > TOGETHER {
            return None;
        }
        let mut rows = vec![vec![BigRational::zero(); size + 1]; size];
        for (row, &node) in rows.iter_mut().zip(members) {
            let (moves, total) = self.graph.moves(node, self.policy);
            let here = members.iter().position(|&member| member == node)?;
            row[here] += BigInt::from(total);
            for (target, weight) in moves {
                match members.iter().position(|&member| member == target) {
                    Some(place) => row[place] -= BigInt::from(weight),
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
                self.pay(&factor)?;
                self.work += size as u64;
            }
        }
        for pivot in (0..size).rev() {
            let mut sum = rows[pivot][size].clone();
            for column in pivot + 1..size {
                sum -= &rows[pivot][column] * &self.chances[members[column] as usize];
            }
            let chance = sum / &rows[pivot][pivot];
            self.pay(&chance)?;
            self.chances[members[pivot] as usize] = chance;
        }
        Some(())
    }
}
