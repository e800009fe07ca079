//! Candidates (answers to one test together with the evidence for them) and their ranking.

use rhae_tasks::Grid;

/// The method that produced an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// A rule about whole grids that holds for all training pairs.
    Rule,
    /// Layers of images that short programs produce.
    Layers,
    /// A decision tree or forest that predicts each cell.
    Cells,
    /// A decision tree that recolours, deletes or selects objects.
    Objects,
    /// The input of the test, if no other method found an answer.
    Guess,
}

impl Method {
    /// Returns the name in tables and JSON output.
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

/// A layer of an answer, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerPicture {
    /// The program that produces the image of the layer.
    pub program: String,
    /// The cells that the layer paints, for example `whole` or `shape as 3`.
    pub used: String,
    /// The number of cells of the training outputs that the layer decided.
    pub decided: usize,
    /// The answer as painted by the layers up to this one, in the colours of the task.
    pub painted: Grid,
}

/// An answer to a test with the evidence for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub grid: Grid,
    pub method: Method,
    /// A description of the program. Colour numbers in it are roles (see the module `roles`), not
    /// the colours of the task.
    pub program: String,
    /// The number of training pairs that the program reproduces.
    pub fits: usize,
    /// The number of training pairs.
    pub pairs: usize,
    /// A measure of how complex the program is and how little the training pairs confirm it;
    /// smaller is better. Costs only rank answers and have no unit.
    pub cost: f64,
    /// The layers; empty for methods other than [`Method::Layers`].
    pub layers: Vec<LayerPicture>,
}

impl Candidate {
    /// Returns an estimate, from 0 to 1, of the probability that the answer is correct: the rounded
    /// share of correct first attempts among answers of similar cost on the ARC-AGI-1 training set.
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

/// Adds an answer. If a method proposes the same grid several times, only the best of these answers
/// is kept.
pub(crate) fn add_candidate(candidates: &mut Vec<Candidate>, new: Candidate) {
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

/// The extra cost, in millionths, that a second answer may have if it comes from another method
/// than the first.
const OTHER_METHOD_TOLERANCE: i64 = 1_000_000;

/// Returns the distinct answers, best first. The second answer comes from another method than the
/// first if that method has a fitting answer of similar cost.
pub(crate) fn choose(candidates: &[Candidate]) -> Vec<Candidate> {
    // A grid that several methods propose ranks higher.
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
    // Different methods fail in different ways. The second answer may therefore cost a little more
    // if it comes from another method.
    let next_best = rest.first().map(|&index| key(index));
    let near = |index: usize| {
        let ((missed, cost), own) = (next_best.unwrap_or_default(), key(index));
        own.0 == 0 && (missed > 0 || own.1 <= cost + OTHER_METHOD_TOLERANCE)
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
    fn second_answer_prefers_another_method() {
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
    fn equal_answers_are_merged() {
        let mut all = Vec::new();
        add_candidate(&mut all, candidate(1, Method::Layers, 3, 2.0));
        add_candidate(&mut all, candidate(1, Method::Layers, 3, 1.0));
        add_candidate(&mut all, candidate(1, Method::Cells, 3, 1.0));
        assert_eq!((all.len(), all[0].cost), (2, 1.0));
        assert_eq!(choose(&all).len(), 1);
    }
}
