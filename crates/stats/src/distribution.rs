//! Discrete distributions over integers, and the distribution of the sum of independent draws.

use crate::lattice::{Lattice, MAX_CELLS};

/// The maximum number of products of one exact convolution. The sum of 11 draws from any 11 values
/// is exact.
const MAX_PRODUCTS: usize = 1 << 21;
/// The number of values to which a distribution is coarsened if an exact result is too large.
const COARSE_VALUES: i64 = 1 << 10;
/// Quantiles tolerate this rounding error of cumulated probabilities.
const TOLERANCE: f64 = 1e-11;

/// A distribution over integers: values in ascending order with their probabilities.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Distribution {
    points: Vec<(i64, f64)>,
    /// The maximum distance of a value from the exact one; 0 if the distribution is exact.
    pub(crate) error: f64,
}

impl Distribution {
    /// Combines points with equal values.
    pub(crate) fn new(mut points: Vec<(i64, f64)>, error: f64) -> Self {
        points.sort_unstable_by_key(|point| point.0);
        points.dedup_by(|next, kept| {
            let is_equal = next.0 == kept.0;
            if is_equal {
                kept.1 += next.1;
            }
            is_equal
        });
        Self { points, error }
    }

    /// Returns the distribution of a random element of `values`.
    pub(crate) fn uniform(values: &[i64]) -> Self {
        let share = 1.0 / values.len() as f64;
        Self::new(values.iter().map(|&value| (value, share)).collect(), 0.0)
    }

    /// Returns the distribution of a draw from a random one of the given distributions.
    pub(crate) fn mixture(parts: &[Self]) -> Self {
        let share = 1.0 / parts.len() as f64;
        let points = parts.iter().flat_map(|part| &part.points);
        Self::new(
            points.map(|&(value, p)| (value, p * share)).collect(),
            parts.iter().map(|part| part.error).fold(0.0, f64::max),
        )
    }

    pub(crate) fn points(&self) -> &[(i64, f64)] {
        &self.points
    }

    /// Returns the distribution of the mean of `count` draws, rounded to integers.
    pub(crate) fn mean_of(&self, count: usize) -> Self {
        let divisor = count as f64;
        match self.sum_of(count) {
            SumOfDraws::Exact(sum) => Self::new(
                sum.points
                    .iter()
                    .map(|&(value, p)| ((value as f64 / divisor).round() as i64, p))
                    .collect(),
                self.error,
            ),
            SumOfDraws::Approximate(sum) => Self::new(
                sum.points()
                    .map(|(value, p)| ((value / divisor).round() as i64, p))
                    .collect(),
                self.error + sum.error / divisor,
            ),
        }
    }

    /// Returns the distribution of the difference of two independent draws.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        if self.points.len() * other.points.len() > MAX_PRODUCTS {
            return self.coarsened().minus(&other.coarsened());
        }
        let products = self.points.iter().flat_map(|&(one, p)| {
            other
                .points
                .iter()
                .map(move |&(another, q)| (one - another, p * q))
        });
        Self::new(products.collect(), self.error + other.error)
    }

    /// Returns the distribution of the sum of `count` draws.
    pub(crate) fn sum_of(&self, count: usize) -> SumOfDraws {
        let mut sum = Self::new(vec![(0, 1.0)], 0.0);
        for _ in 0..count {
            if sum.points.len() * self.points.len() > MAX_PRODUCTS {
                return SumOfDraws::Approximate(Lattice::sum_of(self, count, MAX_CELLS));
            }
            let products = sum.points.iter().flat_map(|&(total, p)| {
                self.points
                    .iter()
                    .map(move |&(value, q)| (total + value, p * q))
            });
            sum = Self::new(products.collect(), 0.0);
        }
        sum.error = self.error * count as f64;
        SumOfDraws::Exact(sum)
    }

    fn coarsened(&self) -> Self {
        let low = self.points.first().map_or(0, |point| point.0);
        let high = self.points.last().map_or(0, |point| point.0);
        let step = (high - low) / COARSE_VALUES + 1;
        let nearest = |value: i64| low + (value - low + step / 2) / step * step;
        Self::new(
            self.points
                .iter()
                .map(|&(value, p)| (nearest(value), p))
                .collect(),
            self.error + step as f64 / 2.0,
        )
    }
}

/// The distribution of the sum of independent draws.
pub(crate) enum SumOfDraws {
    Exact(Distribution),
    /// On a grid, because the sum has too many values.
    Approximate(Lattice),
}

impl SumOfDraws {
    /// Returns the least value whose cumulated probability is at least `share`.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        match self {
            Self::Exact(sum) => quantile(
                sum.points.iter().map(|&(value, p)| (value as f64, p)),
                share,
            ),
            Self::Approximate(sum) => quantile(sum.points(), share),
        }
    }

    /// Returns the maximum distance of a quantile from the exact one.
    pub(crate) const fn error(&self) -> f64 {
        match self {
            Self::Exact(sum) => sum.error,
            Self::Approximate(sum) => sum.error,
        }
    }
}

fn quantile(points: impl Iterator<Item = (f64, f64)>, share: f64) -> f64 {
    let mut cumulated = 0.0;
    let mut last = 0.0;
    for (value, p) in points {
        cumulated += p;
        last = value;
        if cumulated >= share - TOLERANCE {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_on_a_grid_has_the_quantiles_of_the_exact_sum() {
        let values: Vec<i64> = (1..=9).map(|at| at * at * 1_234_567_891).collect();
        let one = Distribution::uniform(&values);
        let exact = one.sum_of(9);
        let grid = Lattice::sum_of(&one, 9, 1 << 16);
        assert!(matches!(exact, SumOfDraws::Exact(_)));
        let error = grid.error;
        let grid = SumOfDraws::Approximate(grid);
        for share in [0.025, 0.3, 0.5, 0.975] {
            let distance = (exact.quantile(share) - grid.quantile(share)).abs();
            assert!(distance <= error, "{share}: {distance} > {error}");
        }
    }

    #[test]
    fn coarse_differences_stay_within_their_error() {
        let values: Vec<i64> = (0..1500).map(|at| at * 7_919 + at % 13).collect();
        let (one, other) = (
            Distribution::uniform(&values),
            Distribution::uniform(&values[..1450]),
        );
        let difference = one.minus(&other);
        assert!(difference.error > 0.0);
        assert!(difference.points().len() <= 1 << 21);
        let total: f64 = difference.points().iter().map(|point| point.1).sum();
        assert!((total - 1.0).abs() < 1e-9);
    }
}
