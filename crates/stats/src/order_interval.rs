//! The exact confidence interval of a median from order statistics.
//!
//! The interval from the l-th smallest to the l-th largest of n independent values contains the
//! median of a continuous population with the probability P(l ≤ B ≤ n − l), where B is binomial with
//! n trials at one half (David and Nagaraja, Order Statistics, 2003, section 7.1). Ties only raise
//! the coverage. No distribution is assumed.

/// The coverage that an interval should have.
const COVERAGE: f64 = 0.95;

/// A confidence interval of a median whose ends are observed values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianInterval {
    pub low: u32,
    pub high: u32,
    /// The rank l of `low` from below and of `high` from above, counted from 1.
    pub rank: usize,
    /// The probability that the interval contains the median. It is below 95 % for fewer than six
    /// values.
    pub coverage: f64,
}

/// Returns the shortest interval of order statistics with a coverage of at least 95 %. If there is
/// none, returns the range of the values with its coverage; `None` for fewer than two values.
///
/// # Examples
///
/// ```
/// use rhae_stats::median_interval_95;
///
/// let counts = [27, 12, 40, 18, 15, 90, 22, 15, 58, 31];
/// let interval = median_interval_95(&counts).unwrap();
/// assert_eq!((interval.low, interval.high, interval.rank), (15, 58, 2));
/// assert_eq!(format!("{:.4}", interval.coverage), "0.9785");
/// ```
pub fn median_interval_95(values: &[u32]) -> Option<MedianInterval> {
    let count = values.len();
    if count < 2 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let (mut rank, mut coverage) = (1, coverage_of_rank(count, 1));
    for next in 2..=count / 2 {
        let narrower = coverage_of_rank(count, next);
        if narrower < COVERAGE {
            break;
        }
        (rank, coverage) = (next, narrower);
    }
    Some(MedianInterval {
        low: sorted[rank - 1],
        high: sorted[count - rank],
        rank,
        coverage,
    })
}

/// Returns P(rank ≤ B ≤ count − rank) for a binomial B with `count` trials at one half.
fn coverage_of_rank(count: usize, rank: usize) -> f64 {
    // The terms of the tail are added in ascending order. They are computed as logarithms, because
    // 2^-count underflows for large counts.
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let mut tail = log_term.exp();
    for below in 1..rank {
        log_term += ((count + 1 - below) as f64 / below as f64).ln();
        tail += log_term.exp();
    }
    1.0 - 2.0 * tail
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn coverage_of_few_values_is_the_worked_one() {
        let values: Vec<u32> = (1..=10).collect();
        let coverage = |count: usize| median_interval_95(&values[..count]).map(|one| one.coverage);
        assert_eq!(coverage(1), None);
        let close = |count, expected: f64| {
            let found = coverage(count).unwrap();
            assert!((found - expected).abs() < 1e-12, "{count}: {found}");
        };
        close(2, 0.5);
        close(3, 0.75);
        close(4, 0.875);
        close(5, 0.9375);
        close(6, 0.96875);
        let ten = median_interval_95(&values).unwrap();
        assert_eq!(
            (ten.rank, format!("{:.4}", ten.coverage)),
            (2, "0.9785".to_owned())
        );
    }

    #[test]
    fn large_samples_do_not_underflow() {
        let values: Vec<u32> = (0..5000).collect();
        let interval = median_interval_95(&values).unwrap();
        assert!((0.95..0.951).contains(&interval.coverage), "{interval:?}");
        assert!(interval.low < 2500 && 2500 < interval.high);
    }

    proptest! {
        /// Compares the coverage with a count of all outcomes of `count` fair coins.
        #[test]
        fn coverage_is_the_share_of_coin_sequences(count in 2_usize..15, rank in 1_usize..8) {
            prop_assume!(2 * rank <= count);
            let inside = (0_u32..1 << count)
                .filter(|coins| (rank..=count - rank).contains(&(coins.count_ones() as usize)))
                .count();
            let share = inside as f64 / f64::from(1_u32 << count);
            prop_assert!((coverage_of_rank(count, rank) - share).abs() < 1e-12);
        }

        #[test]
        fn interval_contains_the_upper_median(values in prop::collection::vec(1_u32..500, 2..40)) {
            let interval = median_interval_95(&values).unwrap();
            let mut sorted = values;
            sorted.sort_unstable();
            let median = sorted[sorted.len() / 2];
            prop_assert!(interval.low <= median && median <= interval.high);
        }
    }
}
