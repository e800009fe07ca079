//! Ranks of several systems, with the range of ranks that the data support.

use std::collections::BTreeMap;

use crate::generator::Generator;
use crate::sign_flip::{SAMPLED_FLIPS, sign_flip_test};
use crate::units::to_units;

/// The maximum number of resamples that are enumerated for the chance of rank 1. It suffices for 12
/// environments with different scores.
const MAX_RESAMPLES: f64 = 2e6;
const SIGNIFICANT: f64 = 0.05;

/// The rank of one system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// The rank by the mean score, from 1. Equal means share the better rank.
    pub rank: usize,
    /// The best rank that the data support: 1 + the number of significantly better systems.
    pub best: usize,
    /// The worst rank that the data support: the number of systems that are not significantly worse.
    pub worst: usize,
    /// The probability of rank 1 if the environments are resampled. A shared rank 1 is divided.
    pub chance_of_first: f64,
}

/// The result of [`rank`].
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    pub ranks: Vec<Rank>,
    /// Whether the chances of rank 1 consider all resamples. Otherwise they consider
    /// [`SAMPLED_FLIPS`] resamples of the generator
    /// [`GENERATOR`](crate::GENERATOR).
    pub chances_are_exact: bool,
}

/// Ranks systems by the mean of their scores on the same environments, a higher score first. Scores
/// are rounded to 1e-9. Two systems differ significantly if the p-value of
/// [`sign_flip_test`] is at most 5 %, without correction for the number of pairs.
///
/// # Panics
///
/// Panics if the systems have different numbers of scores, or if a score is not finite or exceeds one
/// million.
///
/// # Examples
///
/// ```
/// use rhae_stats::rank;
///
/// let ranking = rank(&[vec![1.0, 2.0], vec![5.0, 9.0], vec![1.0, 2.0]]);
/// let ranks: Vec<usize> = ranking.ranks.iter().map(|one| one.rank).collect();
/// assert_eq!(ranks, [2, 1, 2]);
/// // Two environments cannot separate anything.
/// assert_eq!((ranking.ranks[0].best, ranking.ranks[0].worst), (1, 3));
/// assert_eq!(ranking.ranks[1].chance_of_first, 1.0);
/// ```
pub fn rank(systems: &[Vec<f64>]) -> Ranking {
    let environments = systems.first().map_or(0, Vec::len);
    assert!(
        systems.iter().all(|scores| scores.len() == environments),
        "all systems have the same environments"
    );
    let units: Vec<Vec<i64>> = systems
        .iter()
        .map(|scores| scores.iter().map(|&score| to_units(score)).collect())
        .collect();
    let mean = |scores: &Vec<i64>| {
        (scores.iter().sum::<i64>() as f64 / environments.max(1) as f64).round() as i64
    };
    let means: Vec<i64> = units.iter().map(mean).collect();
    let (chances, chances_are_exact) = chances_of_first(&units, environments);
    let ranks = (0..systems.len()).map(|system| {
        let is_significant = |other: &usize| {
            let pairs = systems[system].iter().zip(&systems[*other]);
            let differences: Vec<f64> = pairs.map(|(one, another)| one - another).collect();
            sign_flip_test(&differences).p <= SIGNIFICANT
        };
        let better = (0..systems.len()).filter(|&other| means[other] > means[system]);
        let worse = (0..systems.len()).filter(|&other| means[other] < means[system]);
        Rank {
            rank: 1 + better.clone().count(),
            best: 1 + better.filter(is_significant).count(),
            worst: systems.len() - worse.filter(is_significant).count(),
            chance_of_first: chances[system],
        }
    });
    Ranking {
        ranks: ranks.collect(),
        chances_are_exact,
    }
}

/// Returns the rank of each system by the mean of its scores, without the range that [`rank`]
/// computes. The time grows with the number of systems, and not with its square.
///
/// # Panics
///
/// Panics if a score is not finite or exceeds one million.
///
/// # Examples
///
/// ```
/// use rhae_stats::rank_by_mean;
///
/// assert_eq!(rank_by_mean(&[vec![1.0, 2.0], vec![5.0, 9.0], vec![2.0, 1.0]]), [2, 1, 2]);
/// ```
pub fn rank_by_mean(systems: &[Vec<f64>]) -> Vec<usize> {
    let mean = |scores: &Vec<f64>| {
        let sum: i64 = scores.iter().map(|&score| to_units(score)).sum();
        (sum as f64 / scores.len().max(1) as f64).round() as i64
    };
    let means: Vec<i64> = systems.iter().map(mean).collect();
    let mut sorted = means.clone();
    sorted.sort_unstable();
    means
        .iter()
        .map(|mean| 1 + sorted.len() - sorted.partition_point(|other| other <= mean))
        .collect()
}

/// Returns the probability of rank 1 of each system, and whether it is exact.
fn chances_of_first(units: &[Vec<i64>], environments: usize) -> (Vec<f64>, bool) {
    let mut chances = Chances {
        systems: vec![0.0; units.len()],
    };
    if environments == 0 {
        chances.add(&vec![0; units.len()], 1.0);
        return (chances.systems, true);
    }
    let mut columns: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
    for environment in 0..environments {
        let column = units.iter().map(|scores| scores[environment]).collect();
        *columns.entry(column).or_default() += 1;
    }
    let columns: Vec<(Vec<i64>, f64)> = columns
        .into_iter()
        .map(|(column, count)| (column, count as f64 / environments as f64))
        .collect();
    if resamples(environments, columns.len()) <= MAX_RESAMPLES {
        let sums = vec![0; units.len()];
        chances.enumerate(&columns, environments, &sums, 1.0);
        return (chances.systems, true);
    }
    let mut generator = Generator::new();
    for _ in 0..SAMPLED_FLIPS {
        let mut sums = vec![0; units.len()];
        for _ in 0..environments {
            let environment = generator.below(environments);
            for (sum, scores) in sums.iter_mut().zip(units) {
                *sum += scores[environment];
            }
        }
        chances.add(&sums, 1.0 / f64::from(SAMPLED_FLIPS));
    }
    (chances.systems, false)
}

/// Returns the number of ways to distribute draws among columns.
fn resamples(draws: usize, columns: usize) -> f64 {
    (1..columns).fold(1.0, |ways, at| ways * (draws + at) as f64 / at as f64)
}

struct Chances {
    systems: Vec<f64>,
}

impl Chances {
    /// Divides the probability of a resample among the systems with the greatest sum.
    fn add(&mut self, sums: &[i64], probability: f64) {
        let greatest = sums.iter().max();
        let first = sums.iter().filter(|sum| Some(*sum) == greatest).count();
        for (chance, sum) in self.systems.iter_mut().zip(sums) {
            if Some(sum) == greatest {
                *chance += probability / first as f64;
            }
        }
    }

    /// Enumerates how often each column is drawn. `weight` is the probability of the counts of the
    /// earlier columns, divided by the factorials that depend on the later ones.
    fn enumerate(&mut self, columns: &[(Vec<i64>, f64)], draws: usize, sums: &[i64], weight: f64) {
        let Some(((column, p), rest)) = columns.split_first() else {
            self.add(sums, weight);
            return;
        };
        let mut sums = sums.to_vec();
        let mut weight = weight;
        if rest.is_empty() {
            for (sum, value) in sums.iter_mut().zip(column) {
                *sum += value * draws as i64;
            }
            let last = (1..=draws).fold(weight, |weight, _| weight * p);
            self.add(&sums, last);
            return;
        }
        for count in 0..=draws {
            self.enumerate(rest, draws - count, &sums, weight);
            // The binomial coefficient of the next count, times another factor `p`.
            weight *= p * (draws - count) as f64 / (count + 1) as f64;
            for (sum, value) in sums.iter_mut().zip(column) {
                *sum += value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::worked_example::{A, B, C, D};

    #[test]
    fn worked_ranks_are_exact() {
        let ranking = rank(&[A, B, C, D].map(|scores| scores.to_vec()));
        assert!(ranking.chances_are_exact);
        let ranks: Vec<usize> = ranking.ranks.iter().map(|one| one.rank).collect();
        assert_eq!(ranks, [1, 2, 2, 4]);
        let systems = [A, B, C, D].map(|scores| scores.to_vec());
        assert_eq!(rank_by_mean(&systems), ranks);
        let ranges: Vec<(usize, usize)> = ranking
            .ranks
            .iter()
            .map(|one| (one.best, one.worst))
            .collect();
        assert_eq!(ranges, [(1, 3), (1, 4), (1, 4), (2, 4)]);
        let chances: Vec<String> = ranking
            .ranks
            .iter()
            .map(|one| format!("{:.5}", one.chance_of_first))
            .collect();
        assert_eq!(chances[..3], ["0.99250", "0.00635", "0.00114"]);
    }

    #[test]
    fn many_environments_are_sampled() {
        let better: Vec<f64> = (0..30).map(|at| f64::from(at).sqrt() + 1.0).collect();
        let worse: Vec<f64> = (0..30).map(|at| f64::from(at * 7 % 30).sqrt()).collect();
        let ranking = rank(&[better, worse]);
        assert!(!ranking.chances_are_exact);
        let total: f64 = ranking.ranks.iter().map(|one| one.chance_of_first).sum();
        assert!((total - 1.0).abs() < 1e-9);
    }

    #[test]
    fn systems_without_environments_share_rank_one() {
        let ranking = rank(&[Vec::new(), Vec::new()]);
        assert!(ranking.ranks.iter().all(|one| one.rank == 1));
        assert_eq!(ranking.ranks[0].chance_of_first, 0.5);
    }

    proptest! {
        /// Compares with the enumeration of all ordered resamples.
        #[test]
        fn chance_of_first_is_the_share_of_resamples(
            columns in prop::collection::vec(prop::array::uniform3(0_i64..4), 1..6),
        ) {
            let count = columns.len();
            let mut chances = Chances { systems: vec![0.0; 3] };
            let all = count.pow(count as u32);
            for mut code in 0..all {
                let mut sums = vec![0; 3];
                for _ in 0..count {
                    for (sum, value) in sums.iter_mut().zip(columns[code % count]) {
                        *sum += value;
                    }
                    code /= count;
                }
                chances.add(&sums, 1.0 / all as f64);
            }
            let scores = |system: usize| columns.iter().map(|column| column[system] as f64).collect();
            let ranking = rank(&[scores(0), scores(1), scores(2)]);
            for (one, expected) in ranking.ranks.iter().zip(&chances.systems) {
                prop_assert!((one.chance_of_first - expected).abs() < 1e-9);
            }
        }
    }
}
