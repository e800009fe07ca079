//! The median of measurements, such as durations.

/// Returns the median: the middle value or, for an even number of values, the mean of the two middle
/// values; `None` without values.
///
/// # Examples
///
/// ```
/// use rhae_stats::median;
///
/// assert_eq!(median(&[5, 1, 9]), Some(5.0));
/// assert_eq!(median(&[5, 1, 9, 6]), Some(5.5));
/// assert_eq!(median(&[]), None);
/// ```
pub fn median(values: &[u64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let upper = *sorted.get(sorted.len() / 2)?;
    Some(if sorted.len().is_multiple_of(2) {
        let lower = sorted[sorted.len() / 2 - 1];
        lower as f64 + (upper - lower) as f64 / 2.0
    } else {
        upper as f64
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_many_values_lie_above_the_median_as_below(values in prop::collection::vec(0_u64..50, 1..20)) {
            let middle = median(&values).unwrap();
            let below = values.iter().filter(|&&value| (value as f64) < middle).count();
            let above = values.iter().filter(|&&value| (value as f64) > middle).count();
            prop_assert!(2 * below <= values.len() && 2 * above <= values.len());
        }
    }
}
