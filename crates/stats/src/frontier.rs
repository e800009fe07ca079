//! The Pareto frontier of score and cost.

/// A system with its score and, if known, its cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostedScore {
    /// `None` if the cost is unknown.
    pub cost: Option<f64>,
    pub score: f64,
}

/// Returns for each system whether it is on the frontier: no other system has at most its cost and
/// at least its score, one of the two strictly better. A system of unknown cost is never on the
/// frontier and does not displace another.
///
/// # Examples
///
/// ```
/// use rhae_stats::{CostedScore, pareto_frontier};
///
/// let system = |cost, score| CostedScore { cost, score };
/// let systems = [system(Some(1.0), 5.0), system(Some(2.0), 5.0), system(None, 9.0)];
/// assert_eq!(pareto_frontier(&systems), [true, false, false]);
/// ```
pub fn pareto_frontier(systems: &[CostedScore]) -> Vec<bool> {
    let is_dominated = |cost: f64, score: f64| {
        systems.iter().any(|other| {
            other.cost.is_some_and(|other_cost| {
                other_cost <= cost
                    && other.score >= score
                    && (other_cost < cost || other.score > score)
            })
        })
    };
    systems
        .iter()
        .map(|system| {
            system
                .cost
                .is_some_and(|cost| !is_dominated(cost, system.score))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_frontier_is_exact() {
        let systems = [
            (Some(0.0), 1.0),
            (Some(5.0), 0.0),
            (Some(10.0), 5.0),
            (Some(10.0), 5.0),
            (Some(20.0), 5.0),
            (Some(20.0), 9.0),
            (None, 12.0),
        ]
        .map(|(cost, score)| CostedScore { cost, score });
        assert_eq!(
            pareto_frontier(&systems),
            [true, false, true, true, false, true, false]
        );
    }
}
