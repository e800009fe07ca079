//! The distribution of a sum of many draws on a grid, by the discrete Fourier transform.
//!
//! The values are rounded to the nearest cell of a grid. The transform of the distribution of a sum
//! is then the power of the transform of one draw. No random numbers are involved, and the error is
//! known: half a cell for each draw.
//!
//! The transform is written here because it is 30 lines long and runs for milliseconds. A library
//! such as `rustfft` would add six crates to every build.

use crate::distribution::Distribution;

/// The default maximum number of cells.
pub(crate) const MAX_CELLS: usize = 1 << 20;

/// A distribution on a grid.
pub(crate) struct Lattice {
    low: f64,
    step: f64,
    probabilities: Vec<f64>,
    /// The maximum distance of a value from the exact one.
    pub(crate) error: f64,
}

impl Lattice {
    /// Returns the distribution of the sum of `count` draws on a grid of at most `max_cells` cells,
    /// which must be a power of two.
    pub(crate) fn sum_of(one: &Distribution, count: usize, max_cells: usize) -> Self {
        let low = one.points().first().map_or(0, |point| point.0);
        let high = one.points().last().map_or(0, |point| point.0);
        // The largest sum is in the last cell, so nothing wraps around.
        let step = ((high - low) as f64 * count as f64 / (max_cells - count - 1) as f64).max(1.0);
        let mut cells = vec![Complex::default(); max_cells];
        for &(value, p) in one.points() {
            cells[((value - low) as f64 / step).round() as usize].re += p;
        }
        transform(&mut cells, false);
        for cell in &mut cells {
            *cell = cell.power(count);
        }
        transform(&mut cells, true);
        Self {
            low: low as f64 * count as f64,
            step,
            probabilities: cells
                .iter()
                .map(|cell| (cell.re / max_cells as f64).max(0.0))
                .collect(),
            error: count as f64 * (step / 2.0 + one.error),
        }
    }

    /// Returns the values of the cells with their probabilities.
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let value = |(cell, &p): (usize, &f64)| (self.low + cell as f64 * self.step, p);
        self.probabilities
            .iter()
            .enumerate()
            .filter(|(_, p)| **p > 1e-15)
            .map(value)
    }
}

#[derive(Clone, Copy, Default)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn times(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }

    fn power(self, mut exponent: usize) -> Self {
        let (mut result, mut square) = (Self { re: 1.0, im: 0.0 }, self);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(square);
            }
            square = square.times(square);
            exponent >>= 1;
        }
        result
    }
}

/// Computes the Fourier transform in place, by the algorithm of Cooley and Tukey. The inverse is not
/// divided by the length, which must be a power of two.
fn transform(cells: &mut [Complex], is_inverse: bool) {
    let length = cells.len();
    let bits = length.trailing_zeros();
    for at in 0..length {
        let reversed = at.reverse_bits() >> (usize::BITS - bits);
        if at < reversed {
            cells.swap(at, reversed);
        }
    }
    let turn = if is_inverse { 1.0 } else { -1.0 } * std::f64::consts::TAU;
    let roots: Vec<Complex> = (0..length / 2)
        .map(|at| {
            let (im, re) = (turn * at as f64 / length as f64).sin_cos();
            Complex { re, im }
        })
        .collect();
    let mut half = 1;
    while half < length {
        let stride = length / (2 * half);
        for block in cells.chunks_exact_mut(2 * half) {
            let (first, second) = block.split_at_mut(half);
            for (at, (one, other)) in first.iter_mut().zip(second).enumerate() {
                let turned = other.times(roots[at * stride]);
                *other = Complex {
                    re: one.re - turned.re,
                    im: one.im - turned.im,
                };
                one.re += turned.re;
                one.im += turned.im;
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_two_dice_has_the_known_probabilities() {
        let die = Distribution::uniform(&[1, 2, 3, 4, 5, 6]);
        let sum = Lattice::sum_of(&die, 2, 16);
        let points: Vec<(f64, f64)> = sum.points().collect();
        assert_eq!(points.len(), 11);
        for (value, p) in points {
            let expected = (6.0 - (value - 7.0).abs()) / 36.0;
            assert!((p - expected).abs() < 1e-14, "{value}: {p}");
        }
    }
}
