//! The mean of repeated measurements with its uncertainty.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean with a 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    pub mean: f64,
    /// Half the width of the interval; `None` for a single value, whose spread is unknown.
    pub half_width: Option<f64>,
}

/// Returns the mean of independent values with Student's 95 % interval, or `None` without values.
///
/// # Examples
///
/// ```
/// use rhae_stats::mean_interval_95;
///
/// // The variance is 2.5 and the quantile for 4 degrees of freedom 2.776: 2.776 · √(2.5 / 5).
/// let interval = mean_interval_95(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
/// assert_eq!(interval.mean, 3.0);
/// assert!((interval.half_width.unwrap() - 1.963).abs() < 1e-3);
///
/// assert_eq!(mean_interval_95(&[0.4]).unwrap().half_width, None);
/// assert_eq!(mean_interval_95(&[]), None);
/// ```
pub fn mean_interval_95(values: &[f64]) -> Option<MeanInterval> {
    let count = values.len();
    if count == 0 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let half_width = (count > 1).then(|| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = squares / (count - 1) as f64;
        student_t_975(count - 1) * (variance / count as f64).sqrt()
    });
    Some(MeanInterval { mean, half_width })
}

/// Returns the 97.5 % quantile of Student's t-distribution.
pub(crate) fn student_t_975(degrees: usize) -> f64 {
    StudentsT::new(0.0, 1.0, degrees as f64)
        .expect("the number of degrees of freedom is positive")
        .inverse_cdf(0.975)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (4, 2.776),
            (10, 2.228),
            (30, 2.042),
            (100, 1.984),
            (1000, 1.962),
        ];
        for (degrees, quantile) in table {
            let computed = student_t_975(degrees);
            assert!((computed - quantile).abs() < 5e-4, "{degrees}: {computed}");
        }
    }

    #[test]
    fn equal_values_have_an_interval_of_width_zero() {
        let interval = mean_interval_95(&[0.25; 3]).unwrap();
        assert_eq!((interval.mean, interval.half_width), (0.25, Some(0.0)));
    }
}
