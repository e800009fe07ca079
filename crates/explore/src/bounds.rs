//! Exact one-sided confidence bounds on a success probability, computed from the number of
//! successes and trials (Clopper and Pearson, 1934).

/// Returns the one-sided 95 % upper confidence bound on a success probability, given `wins`
/// successes in `attempts` trials.
///
/// # Examples
///
/// ```
/// use rhae_explore::{lower_bound_95, upper_bound_95};
///
/// // The "rule of three": no success in n trials bounds the probability by about 3/n.
/// assert!((upper_bound_95(0, 10_000) - 3.0e-4).abs() < 1e-6);
/// assert_eq!(lower_bound_95(0, 10_000), 0.0);
/// ```
pub fn upper_bound_95(wins: u64, attempts: u64) -> f64 {
    if wins >= attempts {
        return 1.0;
    }
    // The largest p for which at most `wins` successes still have a probability of at least 5 %.
    bisect(|p| at_most(wins, attempts, p) > 0.05)
}

/// Returns the one-sided 95 % lower confidence bound on a success probability, given `wins`
/// successes in `attempts` trials.
pub fn lower_bound_95(wins: u64, attempts: u64) -> f64 {
    if wins == 0 {
        return 0.0;
    }
    // The smallest p for which at least `wins` successes have a probability of at least 5 %.
    bisect(|p| 1.0 - at_most(wins - 1, attempts, p) < 0.05)
}

/// Returns the point between 0 and 1 below which `holds` is true and above which it is false.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// Returns the probability of at most `wins` successes in `attempts` trials with success
/// probability `p`. The terms are computed as logarithms to avoid underflow.
fn at_most(wins: u64, attempts: u64, p: f64) -> f64 {
    if p <= 0.0 {
        return 1.0;
    }
    if p >= 1.0 {
        return if wins >= attempts { 1.0 } else { 0.0 };
    }
    let odds = p.ln() - (-p).ln_1p();
    let mut term = attempts as f64 * (-p).ln_1p();
    let mut sum = term.exp();
    for k in 0..wins.min(attempts) {
        term += ((attempts - k) as f64).ln() - ((k + 1) as f64).ln() + odds;
        sum += term.exp();
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_wins_in_n_attempts_give_a_bound_of_three_in_n() {
        assert!((upper_bound_95(0, 10_000) - 2.9953e-4).abs() < 1e-7);
        assert_eq!(lower_bound_95(0, 10_000), 0.0);
    }

    #[test]
    fn bounds_match_published_tables() {
        // One-sided 95 % Clopper–Pearson bounds for 5 of 20.
        assert!((upper_bound_95(5, 20) - 0.4556).abs() < 1e-4);
        assert!((lower_bound_95(5, 20) - 0.1041).abs() < 1e-4);
        assert_eq!(upper_bound_95(20, 20), 1.0);
    }
}
