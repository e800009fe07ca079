//! The linear equations of a component with cycles.
//!
//! The winning probability `x` of a node is the weighted mean of those of its successors: `leaving
//! · x = Σ weight · x' + exits`, with integer coefficients. Floating-point arithmetic only proposes
//! a solution. The proposal is refined with its exactly computed residual until the residual is at
//! most a few units or no longer shrinks quickly. For an upper (lower) bound it is then shifted up
//! (down), at each node in proportion to the expected time that play stays in the component, until
//! every equation holds with `≥` (`≤`). This is checked exactly. The matrix has a non-negative
//! inverse, because play leaves the component with probability 1. A vector that passes the check is
//! therefore an upper (lower) bound.

use std::cmp::Reverse;
use std::ops::Range;

use crate::chance::{Chance, ONE};

/// The number of rows up to which a dense factorisation is used.
const MAX_DENSE_ROWS: usize = 256;
/// The maximum number of refinements of a proposed solution.
const MAX_REFINEMENTS: usize = 60;
/// The maximum number of iterations of [`System::bicgstab`] within one refinement.
const MAX_ITERATIONS: usize = 600;

/// The equations of a component, one row per node in the order of node ids.
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

/// The factorisation that is used to propose solutions.
#[derive(Default)]
enum Solver {
    #[default]
    None,
    /// The LU factors of the dense matrix: multipliers below the diagonal, the upper factor on and
    /// above it.
    Dense(Vec<f64>),
    /// An incomplete factorisation with the sparsity of the matrix, and its diagonal. It is exact
    /// if the inner edges of the component form a tree, and approximate otherwise.
    Sparse {
        entries: Vec<f64>,
        diagonal: Vec<f64>,
    },
}

impl System {
    /// Estimates the memory in bytes that is needed to solve a system.
    pub(crate) const fn bytes(rows: usize, edges: usize) -> usize {
        rows * 256 + edges * 8
    }

    /// Adds an edge within the component to the current row.
    pub(crate) fn add_inner(&mut self, column: u32, weight: u32) {
        self.columns.push(column);
        self.weights.push(weight);
    }

    /// Finishes a row. `leaving` is the weight of all edges except self-loops; `low` and `high`
    /// bound the weighted value of the exits.
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

    /// Computes lower and upper bounds for every row. `between` holds the known bounds, which are
    /// returned where no better bound is found.
    pub(crate) fn bounds(mut self, between: Chance) -> (Vec<u128>, Vec<u128>) {
        self.solver = if self.rows() <= MAX_DENSE_ROWS {
            Solver::Dense(self.dense_factors())
        } else {
            self.incomplete_factors()
        };
        let worst = || vec![between.low; self.rows()];
        let best = || vec![between.high; self.rows()];
        let middle = (between.low + (between.high - between.low) / 2) as i128;
        let mut solution = vec![middle; self.rows()];
        let time = self.expected_time();
        self.refine(&mut solution, &self.low);
        let low = self
            .shifted(&solution, &self.low, &time, between, -1)
            .unwrap_or_else(worst);
        if self.low != self.high {
            self.refine(&mut solution, &self.high);
        }
        let high = self
            .shifted(&solution, &self.high, &time, between, 1)
            .unwrap_or_else(best);
        (low, high)
    }

    /// Returns `exits + Σ weight · x' - leaving · x`, computed exactly.
    fn residual(&self, solution: &[i128], exits: &[u128], row: usize) -> i128 {
        let inflow: i128 = self
            .row(row)
            .map(|(column, weight)| solution[column] * i128::from(weight))
            .sum();
        exits[row] as i128 + inflow - solution[row] * i128::from(self.leaving[row])
    }

    /// Refines a solution by its residual as long as the residual shrinks.
    fn refine(&self, solution: &mut Vec<i128>, exits: &[u128]) {
        let max_residual = |solution: &[i128]| {
            (0..self.rows())
                .map(|row| self.residual(solution, exits, row).unsigned_abs())
                .max()
                .unwrap_or(0)
        };
        let mut error = max_residual(solution);
        for _ in 0..MAX_REFINEMENTS {
            let tolerance = 4 * u128::from(self.leaving.iter().copied().max().unwrap_or(1));
            if error <= tolerance {
                return;
            }
            let rhs: Vec<f64> = (0..self.rows())
                .map(|row| self.residual(solution, exits, row) as f64)
                .collect();
            let change = self.solve(&rhs, 1e-10);
            let next: Vec<i128> = solution
                .iter()
                .zip(&change)
                .map(|(&old, &change)| old + change.round() as i128)
                .collect();
            if next.iter().any(|&value| value.unsigned_abs() > 2 * ONE) {
                return;
            }
            let remaining = max_residual(&next);
            if remaining >= error {
                return;
            }
            let halved = remaining < error / 2;
            *solution = next;
            error = remaining;
            if !halved {
                return;
            }
        }
    }

    /// Shifts a solution, at each row in proportion to the expected time, by growing amounts until
    /// the exact check of the bound passes.
    fn shifted(
        &self,
        solution: &[i128],
        exits: &[u128],
        time: &[f64],
        between: Chance,
        direction: i128,
    ) -> Option<Vec<u128>> {
        let mut scale = 0.0_f64;
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
            scale = scale.max(missing / gain);
        }
        for _ in 0..24 {
            let bound: Vec<i128> = solution
                .iter()
                .zip(time)
                .map(|(&value, &time)| {
                    let moved =
                        value + direction * ((scale * time).ceil() as i128).min(ONE as i128);
                    moved.clamp(between.low as i128, between.high as i128)
                })
                .collect();
            let holds =
                (0..self.rows()).all(|row| self.residual(&bound, exits, row) * direction <= 0);
            if holds {
                return Some(bound.into_iter().map(|value| value as u128).collect());
            }
            scale *= 2.0;
        }
        None
    }

    /// Estimates, for each row, the number of moves until play leaves the component.
    fn expected_time(&self) -> Vec<f64> {
        let mut rhs: Vec<f64> = self
            .leaving
            .iter()
            .map(|&leaving| f64::from(leaving))
            .collect();
        let mut time = vec![0.0; self.rows()];
        // A shift works only if it increases the slack of every row. If the first estimate is too
        // inaccurate for that, further rounds improve it.
        for _ in 0..8 {
            let change = self.solve(&rhs, 1e-6);
            time.iter_mut()
                .zip(&change)
                .for_each(|(time, change)| *time += change);
            let mut worst = 0.0_f64;
            for (row, rhs) in rhs.iter_mut().enumerate() {
                let leaving = f64::from(self.leaving[row]);
                *rhs = leaving - self.apply_row(&time, row);
                worst = worst.max(rhs.abs() / leaving);
            }
            if worst < 0.5 {
                break;
            }
        }
        time
    }

    #[inline]
    fn apply_row(&self, x: &[f64], row: usize) -> f64 {
        f64::from(self.leaving[row]) * x[row]
            - self
                .row(row)
                .map(|(column, weight)| f64::from(weight) * x[column])
                .sum::<f64>()
    }

    fn solve(&self, rhs: &[f64], precision: f64) -> Vec<f64> {
        match &self.solver {
            Solver::Dense(factors) => substitute(factors, rhs),
            Solver::Sparse { entries, diagonal } => {
                self.bicgstab(rhs, precision, entries, diagonal)
            }
            Solver::None => vec![0.0; self.rows()],
        }
    }

    /// Factorises the dense matrix. The matrix is an M-matrix, so the factorisation needs no
    /// pivoting.
    fn dense_factors(&self) -> Vec<f64> {
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
        let start = if row == 0 {
            0
        } else {
            self.first[row - 1] as usize
        };
        start..self.first[row] as usize
    }

    /// Computes an incomplete LU factorisation from the deepest row up: entries outside the
    /// sparsity pattern of the matrix (fill-in) are dropped (Meijerink and van der Vorst, 1977).
    fn incomplete_factors(&self) -> Solver {
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
        // For each column, the index of its entry in the current row. If several edges lead to the
        // same node, the last entry represents all of them.
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

    /// Solves the system approximately with the factors of
    /// [`incomplete_factors`](Self::incomplete_factors).
    fn precondition(&self, rhs: &[f64], entries: &[f64], diagonal: &[f64], x: &mut [f64]) {
        for row in (0..self.rows()).rev() {
            let inflow: f64 = self
                .range(row)
                .map(|entry| (entry, self.columns[entry] as usize))
                .filter(|&(_, column)| column > row)
                .map(|(entry, column)| entries[entry] * x[column])
                .sum();
            x[row] = rhs[row] - inflow;
        }
        for row in 0..self.rows() {
            let inflow: f64 = self
                .range(row)
                .map(|entry| (entry, self.columns[entry] as usize))
                .filter(|&(_, column)| column < row)
                .map(|(entry, column)| entries[entry] * x[column])
                .sum();
            x[row] = (x[row] - inflow) / diagonal[row];
        }
    }

    /// Solves the system by the stabilised bi-conjugate gradient method (BiCGSTAB; van der Vorst,
    /// 1992).
    fn bicgstab(&self, rhs: &[f64], precision: f64, entries: &[f64], diagonal: &[f64]) -> Vec<f64> {
        let rows = self.rows();
        let apply = |x: &[f64], into: &mut Vec<f64>| {
            into.clear();
            into.extend((0..rows).map(|row| self.apply_row(x, row)));
        };
        let mut x = vec![0.0; rows];
        let mut residual = rhs.to_vec();
        let shadow = residual.clone();
        let (mut p, mut v, mut t) = (vec![0.0; rows], vec![0.0; rows], Vec::with_capacity(rows));
        let (mut preconditioned_p, mut preconditioned_s) = (vec![0.0; rows], vec![0.0; rows]);
        let (mut rho, mut alpha, mut omega) = (1.0, 1.0, 1.0);
        let target_norm = precision * norm(rhs);
        let (mut best, mut best_norm) = (x.clone(), norm(rhs));
        if best_norm == 0.0 {
            return x;
        }
        for _ in 0..MAX_ITERATIONS {
            let next_rho = dot(&shadow, &residual);
            let beta = next_rho / rho * (alpha / omega);
            if !beta.is_finite() {
                break;
            }
            rho = next_rho;
            for ((p, v), r) in p.iter_mut().zip(&v).zip(&residual) {
                *p = r + beta * (*p - omega * v);
            }
            self.precondition(&p, entries, diagonal, &mut preconditioned_p);
            apply(&preconditioned_p, &mut v);
            alpha = rho / dot(&shadow, &v);
            residual
                .iter_mut()
                .zip(&v)
                .for_each(|(r, v)| *r -= alpha * v);
            self.precondition(&residual, entries, diagonal, &mut preconditioned_s);
            apply(&preconditioned_s, &mut t);
            omega = dot(&t, &residual) / dot(&t, &t);
            if !(alpha.is_finite() && omega.is_finite()) {
                break;
            }
            for ((x, p), s) in x.iter_mut().zip(&preconditioned_p).zip(&preconditioned_s) {
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
            if now <= target_norm || !now.is_finite() {
                break;
            }
        }
        best
    }
}

fn substitute(factors: &[f64], rhs: &[f64]) -> Vec<f64> {
    let rows = rhs.len();
    let mut x = rhs.to_vec();
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
