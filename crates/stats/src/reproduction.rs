//! Whether repeated measurements reproduce a claimed score.

use crate::mean::student_t_975;

/// The fewest reruns that can reproduce a claim.
pub const MIN_RERUNS: usize = 3;

/// The range in which one more measurement is expected with 95 % probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub mean: f64,
    pub half_width: f64,
}

impl Prediction {
    /// Returns whether a claimed score is in the range.
    pub fn contains(&self, claim: f64) -> bool {
        (claim - self.mean).abs() <= self.half_width
    }
}

/// Returns Student's 95 % prediction interval of one more measurement; `None` for fewer than
/// [`MIN_RERUNS`] measurements.
///
/// # Examples
///
/// ```
/// use rhae_stats::predict_95;
///
/// let prediction = predict_95(&[11.0, 12.5, 14.0]).unwrap();
/// assert!(prediction.contains(19.9) && !prediction.contains(20.0));
/// assert_eq!(predict_95(&[11.0, 12.5]), None);
/// ```
pub fn predict_95(reruns: &[f64]) -> Option<Prediction> {
    if reruns.len() < MIN_RERUNS {
        return None;
    }
    let count = reruns.len() as f64;
    let mean = reruns.iter().sum::<f64>() / count;
    let squares: f64 = reruns.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    Some(Prediction {
        mean,
        half_width: student_t_975(reruns.len() - 1) * deviation * (1.0 + 1.0 / count).sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_prediction_is_exact() {
        let prediction = predict_95(&[11.0, 12.5, 14.0]).unwrap();
        assert_eq!(prediction.mean, 12.5);
        assert_eq!(format!("{:.2}", prediction.half_width), "7.45");
        assert!(!prediction.contains(20.0));
        assert!(prediction.contains(19.9));
    }

    #[test]
    fn equal_reruns_reproduce_only_themselves() {
        let prediction = predict_95(&[8.0; 3]).unwrap();
        assert!(prediction.contains(8.0) && !prediction.contains(8.1));
    }
}
