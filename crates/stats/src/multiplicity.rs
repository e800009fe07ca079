//! Several comparisons at once.

/// Corrects the p-values of several tests by Holm's method (Scandinavian Journal of Statistics 6,
/// 1979). The probability that any corrected value of a true null hypothesis is at most 5 % is at
/// most 5 %.
///
/// # Examples
///
/// ```
/// use rhae_stats::holm;
///
/// assert_eq!(holm(&[0.03, 0.01, 0.5]), [0.06, 0.03, 0.5]);
/// assert_eq!(holm(&[]), [0.0; 0]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (position, &index) in order.iter().enumerate() {
        let factor = (p_values.len() - position) as f64;
        largest = largest.max((p_values[index] * factor).min(1.0));
        corrected[index] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_correction_is_exact() {
        // A-D, B-D, C-D, A-B, A-C, B-C.
        let p_values = [0.03125, 0.0625, 0.0625, 0.09375, 0.09375, 1.0];
        assert_eq!(
            holm(&p_values),
            [0.1875, 0.3125, 0.3125, 0.3125, 0.3125, 1.0]
        );
    }

    #[test]
    fn corrected_values_keep_the_order_of_the_input() {
        assert_eq!(holm(&[1.0, 0.01]), [1.0, 0.02]);
    }
}
