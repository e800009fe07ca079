//! Candidates: answers to one test with what speaks for them, and the choice of two.

use rhae_tasks::Grid;

/// Where an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// A rule that is checked as a whole.
    Rule,
    /// Layers made by short programs.
    Layers,
    /// A decision about each cell.
    Cells,
    /// A decision about each object.
    Objects,
    /// Nothing better was found.
    Guess,
}

impl Method {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Layers => "layers",
            Self::Cells => "cells",
            Self::Objects => "objects",
            Self::Guess => "guess",
        }
    }
}

/// A layer of an answer, for people to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerPicture {
    /// The program that makes its image.
    pub program: String,
    /// Which cells it paints, in words.
    pub used: String,
    /// How many cells of the training outputs it decided.
    pub decided: usize,
    /// The answer as painted up to and with this layer, in the task's colours.
    pub painted: Grid,
}

/// An answer to a test and what speaks for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The answer.
    pub grid: Grid,
    /// Where it comes from.
    pub method: Method,
    /// The program in words.
    pub program: String,
    /// How many training pairs the program reproduces.
    pub fits: usize,
    /// How many training pairs there are.
    pub pairs: usize,
    /// How complicated the program is; smaller is better.
    pub cost: f64,
    /// The layers, where there are any.
    pub layers: Vec<LayerPicture>,
}

impl Candidate {
    /// How often first attempts of this cost were right in the ARC-AGI-1 training set, rounded, from 0 to 1.
    pub fn confidence(&self) -> f64 {
        match self.cost {
            _ if self.fits < self.pairs => 0.02,
            cost if cost < 1.0 => 0.95,
            cost if cost < 2.0 => 0.85,
            cost if cost < 3.0 => 0.55,
            cost if cost < 4.0 => 0.2,
            _ => 0.02,
        }
    }
}

/// Adds an answer; of equal answers of one method the best is kept.
pub(crate) fn add(candidates: &mut Vec<Candidate>, new: Candidate) {
    match candidates
        .iter_mut()
        .find(|old| old.grid == new.grid && old.method == new.method)
    {
        Some(old) if rank(&new) < rank(old) => *old = new,
        Some(_) => {}
        None => candidates.push(new),
    }
}

fn rank(candidate: &Candidate) -> (usize, i64) {
    (
        candidate.pairs - candidate.fits,
        (candidate.cost * 1e6) as i64,
    )
}

/// How much more the second attempt may cost for coming from another method, in millionths.
const OTHER_METHOD: i64 = 1_000_000;

/// All different answers, the best first; the second comes from another method if that has one that fits.
pub(crate) fn choose(candidates: &[Candidate]) -> Vec<Candidate> {
    // An answer that several methods give has the best rank of any, and a bonus.
    let agreed: Vec<usize> = candidates
        .iter()
        .map(|one| {
            candidates
                .iter()
                .filter(|other| other.grid == one.grid && other.fits == other.pairs)
                .count()
        })
        .collect();
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    let key = |index: usize| {
        let candidate = &candidates[index];
        let bonus = if agreed[index] > 1 { 1.0 } else { 0.0 };
        let cost = candidate.cost - bonus;
        (candidate.pairs - candidate.fits, (cost * 1e6) as i64)
    };
    order.sort_by_key(|&index| key(index));
    let Some(&first) = order.first() else {
        return Vec::new();
    };
    let different = |index: &usize| candidates[*index].grid != candidates[first].grid;
    let rest: Vec<usize> = order.iter().copied().filter(different).collect();
    // Another method fails in other ways, so it may cost a little more.
    let next_best = rest.first().map(|&index| key(index));
    let near = |index: usize| {
        let ((missed, cost), own) = (next_best.unwrap_or_default(), key(index));
        own.0 == 0 && (missed > 0 || own.1 <= cost + OTHER_METHOD)
    };
    let other_method =
        |index: &usize| candidates[*index].method != candidates[first].method && near(*index);
    let second = rest.iter().copied().find(|index| other_method(index));
    let mut chosen: Vec<usize> = vec![first];
    for index in second.into_iter().chain(rest) {
        if chosen
            .iter()
            .all(|&other| candidates[other].grid != candidates[index].grid)
        {
            chosen.push(index);
        }
    }
    chosen
        .into_iter()
        .map(|index| candidates[index].clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(cell: u8, method: Method, fits: usize, cost: f64) -> Candidate {
        let grid = Grid::new(&[vec![cell]]).unwrap();
        Candidate {
            grid,
            method,
            program: String::new(),
            fits,
            pairs: 3,
            cost,
            layers: Vec::new(),
        }
    }

    #[test]
    fn the_second_answer_prefers_another_method() {
        let chosen = choose(&[
            candidate(1, Method::Layers, 3, 1.0),
            candidate(2, Method::Layers, 3, 1.1),
            candidate(3, Method::Cells, 3, 2.0),
            candidate(5, Method::Objects, 3, 5.0),
            candidate(4, Method::Rule, 2, 0.0),
        ]);
        assert_eq!(
            chosen
                .iter()
                .map(|one| one.grid.cells()[0])
                .collect::<Vec<_>>(),
            [1, 3, 2, 5, 4]
        );
    }

    #[test]
    fn equal_answers_count_once() {
        let mut all = Vec::new();
        add(&mut all, candidate(1, Method::Layers, 3, 2.0));
        add(&mut all, candidate(1, Method::Layers, 3, 1.0));
        add(&mut all, candidate(1, Method::Cells, 3, 1.0));
        assert_eq!((all.len(), all[0].cost), (2, 1.0));
        assert_eq!(choose(&all).len(), 1);
    }
}
