//! Tests of guesses: how many of several names have their right value by chance.

use statrs::distribution::{Binomial, DiscreteCDF};

/// The largest number of values for which counts of permutations are exact in 64 bits.
const MAX_VALUES: u64 = 20;

/// Returns the probability that a uniformly random assignment of `values` distinct values to
/// `values` names gives at least `right` of the `named` names their own value.
///
/// The probability is exact: permutations are counted as integers by inclusion and exclusion.
///
/// # Panics
///
/// Panics if `right <= named <= values <= 20` does not hold.
///
/// # Examples
///
/// ```
/// use rhae_stats::random_matches_p;
///
/// // One of the two permutations of two values is the identity.
/// assert_eq!(random_matches_p(2, 2, 2), 0.5);
/// assert_eq!(random_matches_p(1, 1, 9), 1.0 / 9.0);
/// assert_eq!(random_matches_p(0, 3, 9), 1.0);
/// ```
pub fn random_matches_p(right: u64, named: u64, values: u64) -> f64 {
    assert!(
        right <= named && named <= values && values <= MAX_VALUES,
        "{right} of {named} names and {values} values"
    );
    let favourable: i128 = (right..=named)
        .map(|count| {
            i128::from(choose(named, count)) * others_differ(named - count, values - count)
        })
        .sum();
    favourable as f64 / factorial(values) as f64
}

/// Returns the number of permutations of `values` in which `named` given names all have a value that
/// is not their own.
fn others_differ(named: u64, values: u64) -> i128 {
    (0..=named)
        .map(|fixed| {
            let ways = i128::from(choose(named, fixed)) * i128::from(factorial(values - fixed));
            if fixed % 2 == 0 { ways } else { -ways }
        })
        .sum()
}

fn factorial(number: u64) -> u64 {
    (1..=number).product()
}

fn choose(of: u64, number: u64) -> u64 {
    (0..number).fold(1, |ways, index| ways * (of - index) / (index + 1))
}

/// Returns the probability of at least `successes` in `trials` independent trials that each succeed
/// with `probability`.
///
/// # Panics
///
/// Panics if `probability` is not between 0 and 1.
///
/// # Examples
///
/// ```
/// use rhae_stats::binomial_tail_p;
///
/// assert_eq!(binomial_tail_p(0, 5, 0.5), 1.0);
/// assert!((binomial_tail_p(2, 3, 0.5) - 0.5).abs() < 1e-12);
/// ```
pub fn binomial_tail_p(successes: u64, trials: u64, probability: f64) -> f64 {
    if successes == 0 {
        return 1.0;
    }
    let binomial = Binomial::new(probability, trials).expect("the probability is from 0 to 1");
    binomial.sf(successes - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the permutations of `values` by enumeration.
    fn enumerated(right: usize, named: usize, values: usize) -> f64 {
        fn visit(rest: &mut Vec<usize>, done: &mut Vec<usize>, see: &mut impl FnMut(&[usize])) {
            if rest.is_empty() {
                see(done);
                return;
            }
            for index in 0..rest.len() {
                done.push(rest.remove(index));
                visit(rest, done, see);
                rest.insert(index, done.pop().unwrap());
            }
        }
        let (mut all, mut enough) = (0, 0);
        visit(&mut (0..values).collect(), &mut Vec::new(), &mut |one| {
            all += 1;
            let matches = (0..named).filter(|&name| one[name] == name).count();
            enough += usize::from(matches >= right);
        });
        enough as f64 / f64::from(all)
    }

    #[test]
    fn probabilities_equal_an_enumeration_of_all_permutations() {
        for values in 1..=6 {
            for named in 0..=values {
                for right in 0..=named {
                    let expected = enumerated(right, named, values);
                    let p = random_matches_p(right as u64, named as u64, values as u64);
                    assert!((p - expected).abs() < 1e-12, "{right} {named} {values}");
                }
            }
        }
    }

    #[test]
    fn all_names_right_is_one_permutation() {
        assert_eq!(random_matches_p(9, 9, 9), 1.0 / 362_880.0);
        assert_eq!(random_matches_p(15, 15, 15), 1.0 / 1_307_674_368_000.0);
    }

    #[test]
    fn binomial_tail_equals_the_sum_of_its_terms() {
        let term = |count: u64| {
            choose(12, count) as f64 * 0.1_f64.powi(count as i32) * 0.9_f64.powi(12 - count as i32)
        };
        for successes in 0..=12 {
            let expected: f64 = (successes..=12).map(term).sum();
            assert!((binomial_tail_p(successes, 12, 0.1) - expected).abs() < 1e-12);
        }
    }
}
