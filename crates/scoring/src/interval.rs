//! The mean of repeated runs with its uncertainty.

/// A mean with a 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub mean: f64,
    /// Half the width of the interval; `None` for a single value, whose spread is unknown.
    pub half_width: Option<f64>,
}

/// Returns the mean of independent values with Student's 95 % interval, or `None` without values.
///
/// # Examples
///
/// ```
/// use rhae_scoring::mean_interval;
///
/// let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
/// assert_eq!(interval.mean, 3.0);
/// assert!((interval.half_width.unwrap() - 1.963).abs() < 1e-3);
///
/// assert_eq!(mean_interval(&[0.4]).unwrap().half_width, None);
/// assert_eq!(mean_interval(&[]), None);
/// ```
pub fn mean_interval(values: &[f64]) -> Option<Interval> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let half_width = (count > 1).then(|| {
        let variance = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / (count - 1) as f64;
        student_t_975(count - 1) * (variance / count as f64).sqrt()
    });
    Some(Interval { mean, half_width })
}

/// Returns the 97.5 % quantile of Student's t-distribution: from a table up to 30 degrees of
/// freedom, beyond that from its expansion around the normal distribution.
fn student_t_975(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    const NORMAL: f64 = 1.959_964;
    match degrees.checked_sub(1).and_then(|index| TABLE.get(index)) {
        Some(&quantile) => quantile,
        None => {
            let (z, n) = (NORMAL, degrees as f64);
            z + (z.powi(3) + z) / (4.0 * n)
                + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_matches_students_t_distribution() {
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(interval.mean, 3.0);
        assert!((interval.half_width.unwrap() - 1.963).abs() < 1e-3);
    }

    #[test]
    fn single_value_has_no_interval_and_empty_input_has_no_mean() {
        assert_eq!(mean_interval(&[0.4]).unwrap().half_width, None);
        assert_eq!(mean_interval(&[]), None);
    }

    #[test]
    fn large_samples_approach_the_normal_quantile() {
        assert!((student_t_975(31) - 2.0395).abs() < 2e-4);
        assert!((student_t_975(1000) - 1.962).abs() < 1e-3);
    }
}
