//! Weighted sums: the distinct values that a sum can have, each with its weight.

/// The maximum number of distinct sums that the exact tests keep for one half of the values.
pub(crate) const MAX_SUMS: usize = 1 << 20;

/// Distinct sums in ascending order with their weights, which are probabilities or counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sums {
    points: Vec<(i64, f64)>,
}

impl Sums {
    /// Returns the sum of no values.
    pub(crate) fn zero() -> Self {
        Self {
            points: vec![(0, 1.0)],
        }
    }

    pub(crate) const fn empty() -> Self {
        Self { points: Vec::new() }
    }

    pub(crate) const fn len(&self) -> usize {
        self.points.len()
    }

    /// Returns the union of two shifted lists, with all weights multiplied by `factor`.
    pub(crate) fn merged(
        first: &Self,
        shift_first: i64,
        second: &Self,
        shift_second: i64,
        factor: f64,
    ) -> Self {
        let mut points = Vec::with_capacity(first.len() + second.len());
        let mut first = first.points.iter().peekable();
        let mut second = second.points.iter().peekable();
        loop {
            let next_first = first.peek().map(|point| point.0 + shift_first);
            let next_second = second.peek().map(|point| point.0 + shift_second);
            let sum = match (next_first, next_second) {
                (Some(one), Some(other)) => one.min(other),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => break,
            };
            let mut weight = 0.0;
            if next_first == Some(sum) {
                weight += first.next().map_or(0.0, |point| point.1);
            }
            if next_second == Some(sum) {
                weight += second.next().map_or(0.0, |point| point.1);
            }
            points.push((sum, weight * factor));
        }
        Self { points }
    }

    /// Returns the weight of all pairs, one sum of each list, that add up to at least `limit`.
    pub(crate) fn weight_of_sums_from(&self, other: &Self, limit: i128) -> f64 {
        let mut rest = other.points.iter().rev().peekable();
        let mut tail = 0.0;
        let mut total = 0.0;
        // The larger the sum of this list, the smaller the sums of the other that suffice.
        for &(sum, weight) in &self.points {
            while let Some(&&(value, more)) = rest.peek()
                && i128::from(sum) + i128::from(value) >= limit
            {
                tail += more;
                rest.next();
            }
            total += weight * tail;
        }
        total
    }

    /// Returns the list with all sums negated.
    pub(crate) fn negated(&self) -> Self {
        Self {
            points: self
                .points
                .iter()
                .rev()
                .map(|&(sum, weight)| (-sum, weight))
                .collect(),
        }
    }
}
