//! Abilities of people and difficulties of items under the Rasch model.
//!
//! A person with ability θ solves an item of difficulty b with the probability 1 / (1 + e^(b − θ))
//! (Rasch, 1960). The estimate maximises the posterior with the priors θ ~ N(0, 1) and b ~ N(0, 2²).
//! The priors make the posterior strictly concave. It therefore has exactly one maximum, even for a
//! person who solved every item, and even if two groups of people share no item.

/// The variance of the prior of an ability.
const ABILITY_VARIANCE: f64 = 1.0;
/// The variance of the prior of a difficulty.
const DIFFICULTY_VARIANCE: f64 = 4.0;
/// The estimate is exact to this slope of the log posterior.
const MAX_SLOPE: f64 = 1e-10;
/// The maximum number of rounds in which every parameter is improved once.
const MAX_ROUNDS: usize = 20_000;

/// The response of one person to one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    pub person: usize,
    pub item: usize,
    pub solved: bool,
}

/// The estimated parameters, on the logit scale.
#[derive(Clone, Debug, PartialEq)]
pub struct RaschEstimate {
    /// The ability of each person.
    pub abilities: Vec<f64>,
    /// The difficulty of each item.
    pub difficulties: Vec<f64>,
    /// The number of rounds until the estimate did not change any more.
    pub rounds: usize,
    /// Whether the maximum was found within the allowed number of rounds.
    pub converged: bool,
}

/// Returns the estimate for `people` people and `items` items. A person or item without responses
/// has the estimate 0, the mean of its prior.
///
/// # Panics
///
/// Panics if the index of a response is not below `people` or `items`.
///
/// # Examples
///
/// ```
/// use rhae_stats::{Response, rasch};
///
/// // Two people solve the first item, and only one of them the second.
/// let response = |person, item, solved| Response { person, item, solved };
/// let estimate = rasch(2, 2, &[
///     response(0, 0, true), response(0, 1, true), response(1, 0, true), response(1, 1, false),
/// ]);
/// assert!(estimate.abilities[0] > estimate.abilities[1]);
/// assert!(estimate.difficulties[0] < estimate.difficulties[1]);
/// ```
pub fn rasch(people: usize, items: usize, responses: &[Response]) -> RaschEstimate {
    let mut by_person = vec![Vec::new(); people];
    let mut by_item = vec![Vec::new(); items];
    for response in responses {
        by_person[response.person].push((response.item, response.solved));
        by_item[response.item].push((response.person, response.solved));
    }
    let mut estimate = RaschEstimate {
        abilities: vec![0.0; people],
        difficulties: vec![0.0; items],
        rounds: 0,
        converged: false,
    };
    while estimate.rounds < MAX_ROUNDS && !estimate.converged {
        estimate.rounds += 1;
        let mut slope: f64 = 0.0;
        for (ability, answers) in estimate.abilities.iter_mut().zip(&by_person) {
            let difficulties = &estimate.difficulties;
            let against = answers
                .iter()
                .map(|&(item, solved)| (difficulties[item], solved));
            slope = slope.max(improve(ability, ABILITY_VARIANCE, against));
        }
        // An item "solves" a person who fails it: the model is symmetric in −b and θ.
        for (difficulty, answers) in estimate.difficulties.iter_mut().zip(&by_item) {
            let abilities = &estimate.abilities;
            let against = answers
                .iter()
                .map(|&(person, solved)| (abilities[person], !solved));
            slope = slope.max(improve(difficulty, DIFFICULTY_VARIANCE, against));
        }
        estimate.converged = slope <= MAX_SLOPE;
    }
    estimate
}

/// Moves one parameter by a Newton step and returns the slope of the log posterior before the step.
///
/// `against` contains the opposing parameters and whether this side won. The second derivative of
/// the log posterior lies between −1/variance − n/4 and −1/variance. A step is therefore limited to
/// one logit, which keeps the first rounds from overshooting.
fn improve(parameter: &mut f64, variance: f64, against: impl Iterator<Item = (f64, bool)>) -> f64 {
    let (mut slope, mut curvature) = (-*parameter / variance, 1.0 / variance);
    for (opponent, won) in against {
        let p = 1.0 / (1.0 + (opponent - *parameter).exp());
        slope += f64::from(u8::from(won)) - p;
        curvature += p * (1.0 - p);
    }
    *parameter += (slope / curvature).clamp(-1.0, 1.0);
    slope.abs()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn response(person: usize, item: usize, solved: bool) -> Response {
        Response {
            person,
            item,
            solved,
        }
    }

    #[test]
    fn four_people_on_three_items_have_the_worked_estimate() {
        let estimate = rasch(
            4,
            3,
            &[
                response(0, 0, true),
                response(0, 1, true),
                response(0, 2, false),
                response(1, 0, true),
                response(1, 1, false),
                response(2, 1, true),
                response(2, 2, true),
                response(3, 0, false),
                response(3, 2, false),
            ],
        );
        assert!(estimate.converged);
        for (found, expected) in estimate
            .abilities
            .iter()
            .zip([0.240, -0.165, 0.728, -0.705])
        {
            assert!((found - expected).abs() < 0.001, "{:?}", estimate.abilities);
        }
        for (found, expected) in estimate.difficulties.iter().zip([-0.675, -0.325, 0.607]) {
            assert!(
                (found - expected).abs() < 0.001,
                "{:?}",
                estimate.difficulties
            );
        }
    }

    #[test]
    fn person_without_responses_has_the_mean_of_the_prior() {
        let estimate = rasch(2, 1, &[response(0, 0, true)]);
        assert_eq!(estimate.abilities[1], 0.0);
        assert!(estimate.abilities[0] > 0.0 && estimate.difficulties[0] < 0.0);
    }

    #[test]
    fn large_complete_table_converges() {
        let responses: Vec<_> = (0..120)
            .flat_map(|person| {
                (0..80).map(move |item| {
                    response(person, item, (person * 7 + item * 3) % 11 > item % 8)
                })
            })
            .collect();
        let estimate = rasch(120, 80, &responses);
        assert!(estimate.converged, "{} rounds", estimate.rounds);
    }

    fn log_posterior(estimate: &RaschEstimate, responses: &[Response]) -> f64 {
        let prior = |values: &[f64], variance: f64| {
            values.iter().map(|value| value * value).sum::<f64>() / (2.0 * variance)
        };
        let likelihood: f64 = responses
            .iter()
            .map(|one| {
                let logit = estimate.abilities[one.person] - estimate.difficulties[one.item];
                -(if one.solved { -logit } else { logit }).exp().ln_1p()
            })
            .sum();
        likelihood - prior(&estimate.abilities, 1.0) - prior(&estimate.difficulties, 4.0)
    }

    proptest! {
        /// No parameter can be moved to a higher posterior.
        #[test]
        fn estimate_is_a_maximum(cells in prop::collection::vec((0_usize..6, 0_usize..5, any::<bool>()), 0..30), which in 0_usize..11, by in -0.5_f64..0.5) {
            let responses: Vec<_> = cells.into_iter().map(|(person, item, solved)| response(person, item, solved)).collect();
            let estimate = rasch(6, 5, &responses);
            prop_assert!(estimate.converged);
            let mut moved = estimate.clone();
            if which < 6 { moved.abilities[which] += by } else { moved.difficulties[which - 6] += by }
            prop_assert!(log_posterior(&moved, &responses) <= log_posterior(&estimate, &responses) + 1e-12);
        }
    }
}
