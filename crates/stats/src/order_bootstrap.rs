//! Exact bootstrap distributions of the second-best and of the upper-median action count, without
//! random numbers.
//!
//! The bootstrap draws N people with replacement from the N people who were tested. A person who did
//! not complete the level has an infinite count. The distribution of an order statistic of such a
//! resample follows from binomial probabilities (Hutson and Ernst, JRSS B 62, 2000).
//!
//! The bootstrap is not consistent for extreme order statistics, and the second best decreases as
//! more people are tested. The range therefore describes the sample: it is a *resampling range*, not
//! a confidence interval. [`leave_one_out`] shows how much a single person matters.

/// The share of resamples below and above the range.
const TAIL: f64 = 0.025;
/// Cumulated probabilities may be too small by this rounding error.
const TOLERANCE: f64 = 1e-11;

/// The distribution of an order statistic over all resamples of the people tested.
#[derive(Clone, Debug, PartialEq)]
pub struct ResampledCount {
    /// The observed counts in ascending order without repetition, each with the probability that the
    /// statistic is at most this count.
    pub cumulative: Vec<(u32, f64)>,
    /// The share of resamples in which the statistic does not exist.
    pub undefined: f64,
    /// The 2.5 % and the 97.5 % quantile; `None` for an end that falls among the resamples in which
    /// the statistic does not exist.
    pub low: Option<u32>,
    pub high: Option<u32>,
}

/// Returns the distribution of the second-smallest count. `counts` contains the counts of the people
/// who completed the level, and `people` is the number of people tested. Resamples with fewer than
/// two completions are part of the distribution, as infinite values.
///
/// # Panics
///
/// The functions of this module panic if `people` is less than the number of counts.
///
/// # Examples
///
/// ```
/// use rhae_stats::resampled_second_best;
///
/// let resampled = resampled_second_best(&[12, 15, 18, 22, 40, 90], 10);
/// assert_eq!((resampled.low, resampled.high), (Some(12), Some(40)));
/// assert_eq!(format!("{:.4}", resampled.undefined), "0.0017");
/// ```
pub fn resampled_second_best(counts: &[u32], people: usize) -> ResampledCount {
    let n = people as f64;
    let cumulative = cumulative(counts, people, |at_most| {
        let miss = 1.0 - at_most as f64 / n;
        1.0 - miss.powf(n) - at_most as f64 * miss.powf(n - 1.0)
    });
    let defined = cumulative.last().map_or(0.0, |last| last.1);
    ResampledCount {
        undefined: 1.0 - defined,
        low: quantile(&cumulative, TAIL),
        high: quantile(&cumulative, 1.0 - TAIL),
        cumulative,
    }
}

/// Returns the distribution of the upper median of the completions, given that the resample contains
/// at least one. The arguments are those of [`resampled_second_best`].
///
/// # Examples
///
/// ```
/// use rhae_stats::resampled_upper_median;
///
/// let resampled = resampled_upper_median(&[12, 15, 18, 22, 40, 90], 10);
/// assert_eq!((resampled.low, resampled.high), (Some(15), Some(90)));
/// ```
pub fn resampled_upper_median(counts: &[u32], people: usize) -> ResampledCount {
    let completed = counts.len();
    let share = completed as f64 / people.max(1) as f64;
    let undefined = (1.0 - share).powi(i32::try_from(people).unwrap_or(i32::MAX));
    let completions = binomial(people, share);
    let cumulative = cumulative(counts, people, |at_most| {
        let below = at_most as f64 / completed as f64;
        let sum: f64 = (1..=people)
            .map(|drawn| completions[drawn] * upper_tail(drawn, below, drawn / 2 + 1))
            .sum();
        (sum / (1.0 - undefined)).min(1.0)
    });
    ResampledCount {
        undefined,
        low: quantile(&cumulative, TAIL),
        high: quantile(&cumulative, 1.0 - TAIL),
        cumulative,
    }
}

/// Returns the value of `statistic` without each of the values in turn, in the order of `values`.
///
/// # Examples
///
/// ```
/// use rhae_stats::leave_one_out;
///
/// let second_best = |values: &[u32]| values.get(1).copied();
/// let without = leave_one_out(&[12, 15, 18, 22], second_best);
/// assert_eq!(without, [Some(18), Some(18), Some(15), Some(15)]);
/// ```
pub fn leave_one_out<V: Clone, T>(values: &[V], statistic: impl Fn(&[V]) -> T) -> Vec<T> {
    (0..values.len())
        .map(|left_out| {
            let mut others = values.to_vec();
            others.remove(left_out);
            statistic(&others)
        })
        .collect()
}

/// Returns each distinct count with `probability` of the number of counts up to it.
fn cumulative(
    counts: &[u32],
    people: usize,
    probability: impl Fn(usize) -> f64,
) -> Vec<(u32, f64)> {
    assert!(
        counts.len() <= people,
        "{} people completed the level, but {people} were tested",
        counts.len()
    );
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let last_of_each = |&at: &usize| at + 1 == sorted.len() || sorted[at] != sorted[at + 1];
    (0..sorted.len())
        .filter(last_of_each)
        .map(|at| (sorted[at], probability(at + 1).clamp(0.0, 1.0)))
        .collect()
}

fn quantile(cumulative: &[(u32, f64)], share: f64) -> Option<u32> {
    let reached = |point: &&(u32, f64)| point.1 >= share - TOLERANCE;
    cumulative.iter().find(reached).map(|point| point.0)
}

/// Returns the probabilities of 0 to `trials` successes.
fn binomial(trials: usize, p: f64) -> Vec<f64> {
    let mut shares = vec![1.0];
    for done in 0..trials {
        let mut next = vec![0.0; done + 2];
        for (successes, share) in shares.iter().enumerate() {
            next[successes] += share * (1.0 - p);
            next[successes + 1] += share * p;
        }
        shares = next;
    }
    shares
}

/// Returns the probability of at least `least` successes.
fn upper_tail(trials: usize, p: f64, least: usize) -> f64 {
    binomial(trials, p)[least..].iter().sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COUNTS: [u32; 6] = [12, 15, 18, 22, 40, 90];

    fn printed(resampled: &ResampledCount) -> Vec<String> {
        let shares = resampled.cumulative.iter();
        shares.map(|point| format!("{:.4}", point.1)).collect()
    }

    #[test]
    fn second_best_has_the_worked_distribution() {
        let resampled = resampled_second_best(&COUNTS, 10);
        assert_eq!(
            printed(&resampled),
            ["0.2639", "0.6242", "0.8507", "0.9536", "0.9893", "0.9983"]
        );
        assert_eq!((resampled.low, resampled.high), (Some(12), Some(40)));
        assert_eq!(format!("{:.4}", resampled.undefined), "0.0017");
    }

    #[test]
    fn upper_median_has_the_worked_distribution() {
        let resampled = resampled_upper_median(&COUNTS, 10);
        assert_eq!(
            printed(&resampled),
            ["0.0195", "0.1465", "0.4200", "0.7392", "0.9479", "1.0000"]
        );
        assert_eq!((resampled.low, resampled.high), (Some(15), Some(90)));
    }

    #[test]
    fn second_best_of_two_completions_often_does_not_exist() {
        let resampled = resampled_second_best(&[10, 20], 10);
        assert_eq!(format!("{:.4}", 1.0 - resampled.undefined), "0.6242");
        assert_eq!(resampled.high, None);
    }

    #[test]
    fn leave_one_out_changes_only_without_the_two_best() {
        let second_best = |values: &[u32]| {
            let mut sorted = values.to_vec();
            sorted.sort_unstable();
            sorted[1]
        };
        assert_eq!(
            leave_one_out(&COUNTS, second_best),
            [18, 18, 15, 15, 15, 15]
        );
    }

    #[test]
    fn nobody_completed_means_always_undefined() {
        let (second, median) = (
            resampled_second_best(&[], 4),
            resampled_upper_median(&[], 4),
        );
        assert_eq!((second.undefined, median.undefined), (1.0, 1.0));
        assert_eq!((second.low, median.high), (None, None));
    }

    /// The statistic of every resample of `people` people; `None` where it does not exist.
    fn resamples(
        counts: &[u32],
        people: usize,
        statistic: fn(&[u32]) -> Option<u32>,
    ) -> Vec<Option<u32>> {
        (0..people.pow(people as u32))
            .map(|mut code| {
                let mut drawn = Vec::new();
                for _ in 0..people {
                    drawn.extend(counts.get(code % people));
                    code /= people;
                }
                drawn.sort_unstable();
                statistic(&drawn)
            })
            .collect()
    }

    proptest! {
        /// Compares both distributions with the enumeration of all resamples.
        #[test]
        fn distributions_are_those_of_all_resamples(
            counts in prop::collection::vec(1_u32..9, 1..6),
            failures in 0_usize..3,
        ) {
            let people = counts.len() + failures;
            prop_assume!((2..=6).contains(&people));
            let all = resamples(&counts, people, |drawn| drawn.get(1).copied());
            let share = |part: usize, whole: usize| part as f64 / whole as f64;
            for (count, p) in resampled_second_best(&counts, people).cumulative {
                let below = all.iter().flatten().filter(|&&one| one <= count).count();
                prop_assert!((p - share(below, all.len())).abs() < 1e-9);
            }
            let all = resamples(&counts, people, |drawn| drawn.get(drawn.len() / 2).copied());
            let defined = all.iter().flatten().count();
            let resampled = resampled_upper_median(&counts, people);
            prop_assert!((resampled.undefined - share(all.len() - defined, all.len())).abs() < 1e-9);
            for (count, p) in resampled.cumulative {
                let below = all.iter().flatten().filter(|&&one| one <= count).count();
                prop_assert!((p - share(below, defined)).abs() < 1e-9);
            }
        }
    }
}
