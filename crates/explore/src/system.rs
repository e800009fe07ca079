//! The equations of a component in which play can go round in circles.
//!
//! A state's chance `x` is the mean of those it leads to: `leaving · x = Σ weight · x' + exits`, with whole numbers
//! throughout. Floating point only proposes a solution: it is corrected by the exact residual until that is a few units, then
//! moved up (down) along the expected time until every equation holds with `≥` (`≤`), which is checked exactly. The matrix
//! has a non-negative inverse, because play leaves the component for certain; so what passes the check is an upper (lower) bound.

use std::cmp::Reverse;
use std::ops::Range;

use crate::chance::{Chance, ONE};

/// Up to this many states the equations are solved by elimination.
const DENSE: usize = 256;
/// The most corrections of a proposed solution.
const CORRECTIONS: usize = 60;
/// The most steps of the iterative solver within a correction.
const STEPS: usize = 600;

/// One row for each state.
#[derive(Default)]
pub(crate) struct System {
    first: Vec<u32>,
    columns: Vec<u32>,
    weights: Vec<u32>,
    leaving: Vec<u32>,
    low: Vec<u128>,
    high: Vec<u128>,
    solver: Solver,
}

/// How a solution is proposed.
#[derive(Default)]
enum Solver {
    #[default]
    None,
    /// All factors of the matrix: multipliers below the diagonal, the rest above.
    Dense(Vec<f64>),
    /// The factors where the matrix has entries, and those of the diagonal: exact if play runs along a tree, near otherwise.
    Sparse {
        entries: Vec<f64>,
        diagonal: Vec<f64>,
    },
}

impl System {
    /// The memory that solving takes.
    pub(crate) const fn bytes(rows: usize, edges: usize) -> usize {
        rows * 256 + edges * 8
    }

    /// Adds an action of the current row that stays in the component.
    pub(crate) fn inner(&mut self, column: u32, weight: u32) {
        self.columns.push(column);
        self.weights.push(weight);
    }

    /// Ends a row: the weight of all actions that change something, and what leaving the component is worth.
    pub(crate) fn end_row(&mut self, leaving: u32, low: u128, high: u128) {
        self.leaving.push(leaving);
        self.low.push(low);
        self.high.push(high);
        self.first.push(self.columns.len() as u32);
    }

    fn rows(&self) -> usize {
        self.leaving.len()
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let range = self.range(row);
        self.columns[range.clone()]
            .iter()
            .zip(&self.weights[range])
            .map(|(&column, &weight)| (column as usize, weight))
    }

    /// Bounds for every state. `between` is what is known already, and what is given if no better bound is found.
    pub(crate) fn bounds(mut self, between: Chance) -> (Vec<u128>, Vec<u128>) {
        self.solver = if self.rows() <= DENSE {
            Solver::Dense(self.eliminated())
        } else {
            self.eliminated_in_place()
        };
        let worst = || vec![between.low; self.rows()];
        let best = || vec![between.high; self.rows()];
        let middle = (between.low + (between.high - between.low) / 2) as i128;
        let mut solution = vec![middle; self.rows()];
        let time = self.expected_time();
        self.correct(&mut solution, &self.low);
        let low = self
            .moved(&solution, &self.low, &time, between, -1)
            .unwrap_or_else(worst);
        if self.low != self.high {
            self.correct(&mut solution, &self.high);
        }
        let high = self
            .moved(&solution, &self.high, &time, between, 1)
            .unwrap_or_else(best);
        (low, high)
    }

    /// `exits + Σ weight · x' - leaving · x`, exactly.
    fn residual(&self, solution: &[i128], exits: &[u128], row: usize) -> i128 {
        let coming: i128 = self
            .row(row)
            .map(|(column, weight)| solution[column] * i128::from(weight))
            .sum();
        exits[row] as i128 + coming - solution[row] * i128::from(self.leaving[row])
    }

    /// Corrects a solution by its residual, as long as that helps.
    fn correct(&self, solution: &mut Vec<i128>, exits: &[u128]) {
        let largest = |solution: &[i128]| {
            (0..self.rows())
                .map(|row| self.residual(solution, exits, row).unsigned_abs())
                .max()
                .unwrap_or(0)
        };
        let mut error = largest(solution);
        for _ in 0..CORRECTIONS {
            let enough = 4 * u128::from(self.leaving.iter().copied().max().unwrap_or(1));
            if error <= enough {
                return;
            }
            let wanted: Vec<f64> = (0..self.rows())
                .map(|row| self.residual(solution, exits, row) as f64)
                .collect();
            let change = self.solved(&wanted, 1e-10);
            let next: Vec<i128> = solution
                .iter()
                .zip(&change)
                .map(|(&old, &change)| old + change.round() as i128)
                .collect();
            if next.iter().any(|&value| value.unsigned_abs() > 2 * ONE) {
                return;
            }
            let left = largest(&next);
            if left >= error {
                return;
            }
            let helped = left < error / 2;
            *solution = next;
            error = left;
            if !helped {
                return;
            }
        }
    }

    /// Moves a solution along the expected time until the exact check of a bound passes.
    fn moved(
        &self,
        solution: &[i128],
        exits: &[u128],
        time: &[f64],
        between: Chance,
        way: i128,
    ) -> Option<Vec<u128>> {
        let mut pace = 0.0_f64;
        for (row, &leaving) in self.leaving.iter().enumerate() {
            let gain = f64::from(leaving) * time[row]
                - self
                    .row(row)
                    .map(|(column, weight)| f64::from(weight) * time[column])
                    .sum::<f64>();
            if gain <= 0.0 || time[row] <= 0.0 {
                return None;
            }
            let missing = self.residual(solution, exits, row).unsigned_abs() as f64
                + 2.0 * f64::from(leaving);
            pace = pace.max(missing / gain);
        }
        for _ in 0..24 {
            let bound: Vec<i128> = solution
                .iter()
                .zip(time)
                .map(|(&value, &time)| {
                    let moved = value + way * ((pace * time).ceil() as i128).min(ONE as i128);
                    moved.clamp(between.low as i128, between.high as i128)
                })
                .collect();
            let holds = (0..self.rows()).all(|row| self.residual(&bound, exits, row) * way <= 0);
            if holds {
                return Some(bound.into_iter().map(|value| value as u128).collect());
            }
            pace *= 2.0;
        }
        None
    }

    /// About how many changes it takes to leave the component, from each state.
    fn expected_time(&self) -> Vec<f64> {
        let mut wanted: Vec<f64> = self
            .leaving
            .iter()
            .map(|&leaving| f64::from(leaving))
            .collect();
        let mut time = vec![0.0; self.rows()];
        // The gain of a step of time must be positive in every row; a second round makes up for a poor first one.
        for _ in 0..8 {
            let change = self.solved(&wanted, 1e-6);
            time.iter_mut()
                .zip(&change)
                .for_each(|(time, change)| *time += change);
            let mut worst = 0.0_f64;
            for (row, wanted) in wanted.iter_mut().enumerate() {
                let leaving = f64::from(self.leaving[row]);
                *wanted = leaving - self.applied(&time, row);
                worst = worst.max(wanted.abs() / leaving);
            }
            if worst < 0.5 {
                break;
            }
        }
        time
    }

    #[inline]
    fn applied(&self, x: &[f64], row: usize) -> f64 {
        f64::from(self.leaving[row]) * x[row]
            - self
                .row(row)
                .map(|(column, weight)| f64::from(weight) * x[column])
                .sum::<f64>()
    }

    fn solved(&self, wanted: &[f64], precision: f64) -> Vec<f64> {
        match &self.solver {
            Solver::Dense(factors) => substituted(factors, wanted),
            Solver::Sparse { entries, diagonal } => {
                self.iterated(wanted, precision, entries, diagonal)
            }
            Solver::None => vec![0.0; self.rows()],
        }
    }

    /// Elimination without pivots, which such a matrix does not need: multipliers below the diagonal, the rest above.
    fn eliminated(&self) -> Vec<f64> {
        let rows = self.rows();
        let mut matrix = vec![0.0; rows * rows];
        for row in 0..rows {
            matrix[row * rows + row] += f64::from(self.leaving[row]);
            for (column, weight) in self.row(row) {
                matrix[row * rows + column] -= f64::from(weight);
            }
        }
        for pivot in 0..rows {
            let (above, below) = matrix.split_at_mut((pivot + 1) * rows);
            let from = &above[pivot * rows..];
            for row in below.chunks_exact_mut(rows).filter(|row| row[pivot] != 0.0) {
                let factor = row[pivot] / from[pivot];
                row[pivot] = factor;
                row[pivot + 1..]
                    .iter_mut()
                    .zip(&from[pivot + 1..])
                    .for_each(|(value, upper)| *value -= factor * upper);
            }
        }
        matrix
    }

    fn range(&self, row: usize) -> Range<usize> {
        let begun = if row == 0 {
            0
        } else {
            self.first[row - 1] as usize
        };
        begun..self.first[row] as usize
    }

    /// Elimination from the deepest state up, without the entries that it would add (Meijerink and van der Vorst, 1977).
    fn eliminated_in_place(&self) -> Solver {
        let mut entries: Vec<f64> = self
            .weights
            .iter()
            .map(|&weight| -f64::from(weight))
            .collect();
        let mut diagonal: Vec<f64> = self
            .leaving
            .iter()
            .map(|&leaving| f64::from(leaving))
            .collect();
        // Where each column stands in the current row; several actions may lead to one state, and the last stands for all.
        let mut place = vec![usize::MAX; self.rows()];
        for row in (0..self.rows()).rev() {
            self.range(row)
                .for_each(|entry| place[self.columns[entry] as usize] = entry);
            let mut deeper: Vec<usize> = self
                .range(row)
                .filter(|&entry| self.columns[entry] as usize > row)
                .collect();
            deeper.sort_unstable_by_key(|&entry| Reverse(self.columns[entry]));
            for entry in deeper {
                let pivot = self.columns[entry] as usize;
                let factor = entries[entry] / diagonal[pivot];
                entries[entry] = factor;
                for other in self.range(pivot) {
                    let column = self.columns[other] as usize;
                    if column == row {
                        diagonal[row] -= factor * entries[other];
                    } else if column < pivot && place[column] != usize::MAX {
                        entries[place[column]] -= factor * entries[other];
                    }
                }
            }
            self.range(row)
                .for_each(|entry| place[self.columns[entry] as usize] = usize::MAX);
        }
        Solver::Sparse { entries, diagonal }
    }

    /// Solves with the factors of [`eliminated_in_place`](Self::eliminated_in_place).
    fn swept(&self, wanted: &[f64], entries: &[f64], diagonal: &[f64], x: &mut [f64]) {
        for row in (0..self.rows()).rev() {
            let coming: f64 = self
                .range(row)
                .map(|entry| (entry, self.columns[entry] as usize))
                .filter(|&(_, column)| column > row)
                .map(|(entry, column)| entries[entry] * x[column])
                .sum();
            x[row] = wanted[row] - coming;
        }
        for row in 0..self.rows() {
            let coming: f64 = self
                .range(row)
                .map(|entry| (entry, self.columns[entry] as usize))
                .filter(|&(_, column)| column < row)
                .map(|(entry, column)| entries[entry] * x[column])
                .sum();
            x[row] = (x[row] - coming) / diagonal[row];
        }
    }

    /// The stabilised method of bi-conjugate gradients (van der Vorst, 1992).
    fn iterated(
        &self,
        wanted: &[f64],
        precision: f64,
        entries: &[f64],
        diagonal: &[f64],
    ) -> Vec<f64> {
        let rows = self.rows();
        let apply = |x: &[f64], into: &mut Vec<f64>| {
            into.clear();
            into.extend((0..rows).map(|row| self.applied(x, row)));
        };
        let mut x = vec![0.0; rows];
        let mut residual = wanted.to_vec();
        let shadow = residual.clone();
        let (mut p, mut v, mut t) = (vec![0.0; rows], vec![0.0; rows], Vec::with_capacity(rows));
        let (mut ready_p, mut ready_s) = (vec![0.0; rows], vec![0.0; rows]);
        let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
        let goal = precision * norm(wanted);
        let (mut best, mut best_norm) = (x.clone(), norm(wanted));
        if best_norm == 0.0 {
            return x;
        }
        for _ in 0..STEPS {
            let next_rho = dot(&shadow, &residual);
            let beta = next_rho / rho * (alpha / omega);
            if !beta.is_finite() {
                break;
            }
            rho = next_rho;
            for ((p, v), r) in p.iter_mut().zip(&v).zip(&residual) {
                *p = r + beta * (*p - omega * v);
            }
            self.swept(&p, entries, diagonal, &mut ready_p);
            apply(&ready_p, &mut v);
            alpha = rho / dot(&shadow, &v);
            residual
                .iter_mut()
                .zip(&v)
                .for_each(|(r, v)| *r -= alpha * v);
            self.swept(&residual, entries, diagonal, &mut ready_s);
            apply(&ready_s, &mut t);
            omega = dot(&t, &residual) / dot(&t, &t);
            if !(alpha.is_finite() && omega.is_finite()) {
                break;
            }
            for ((x, p), s) in x.iter_mut().zip(&ready_p).zip(&ready_s) {
                *x += alpha * p + omega * s;
            }
            residual
                .iter_mut()
                .zip(&t)
                .for_each(|(r, t)| *r -= omega * t);
            let now = norm(&residual);
            if now < best_norm {
                best_norm = now;
                best.clone_from(&x);
            }
            if now <= goal || !now.is_finite() {
                break;
            }
        }
        best
    }
}

fn substituted(factors: &[f64], wanted: &[f64]) -> Vec<f64> {
    let rows = wanted.len();
    let mut x = wanted.to_vec();
    for row in 0..rows {
        x[row] -= dot(&factors[row * rows..row * rows + row], &x[..row]);
    }
    for row in (0..rows).rev() {
        let line = &factors[row * rows..(row + 1) * rows];
        x[row] = (x[row] - dot(&line[row + 1..], &x[row + 1..])) / line[row];
    }
    x
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
