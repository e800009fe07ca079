//! Scores as integers, so that sums are exact and equal scores are equal.

/// The number of units of a point. A score is rounded to 1e-9 points.
pub(crate) const UNITS: f64 = 1e9;

/// Converts a score to units.
///
/// # Panics
///
/// Panics if the score is not finite or its magnitude exceeds one million points.
pub(crate) fn to_units(score: f64) -> i64 {
    assert!(score.abs() <= 1e6, "`{score}` is not a score");
    (score * UNITS).round() as i64
}

/// Converts units, or a mean of units, to a score.
pub(crate) fn to_score(units: f64) -> f64 {
    units / UNITS
}
