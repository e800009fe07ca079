//! Planning of a study before money is spent: sittings, cost, and the chance that environments pass.

use rhae_protocol::{StudyProtocol, TargetCounts};
use rhae_stats::{StudySize, pass_probability, sittings_needed};

/// The assumptions of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanAssumptions {
    pub environments: u32,
    /// The number of environments that a sitting is expected to start. A person plays each only
    /// once, so a sitting never starts more than there are.
    pub per_sitting: u32,
    /// The expected share of starts that become valid attempts, in tenths.
    pub share_tenths: u32,
    /// The expected share of valid attempts that solve an environment.
    pub solve_rate: f64,
}

/// A plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StudyPlan {
    pub sittings: u64,
    /// The number of environments that a sitting starts.
    pub per_sitting: u32,
    pub fees_minor: u64,
    /// The expected bonuses.
    pub bonuses_minor: u64,
    /// The probability that an environment of the expected solve rate is accepted.
    pub pass_probability: f64,
}

/// Returns the plan of a study; `None` if a sitting contributes nothing.
///
/// # Examples
///
/// The paper's 414 environments with nine in a sitting:
///
/// ```
/// use rhae_study::{PlanAssumptions, Preset, plan_study};
///
/// let assumptions = PlanAssumptions {
///     environments: 414,
///     per_sitting: 9,
///     share_tenths: 7,
///     solve_rate: 0.5,
/// };
/// assert_eq!(plan_study(&Preset::Paper.protocol(), assumptions).unwrap().sittings, 460);
/// assert_eq!(plan_study(&Preset::Rhae1.protocol(), assumptions).unwrap().sittings, 658);
/// ```
pub fn plan_study(protocol: &StudyProtocol, assumptions: PlanAssumptions) -> Option<StudyPlan> {
    let share_tenths = u64::from(assumptions.share_tenths.min(10));
    let (counted_tenths, valid) = match protocol.target_counts {
        // Every start counts, but only a share of them can solve.
        TargetCounts::Starts => (10, u64::from(protocol.target) * share_tenths / 10),
        TargetCounts::Valid => (share_tenths, u64::from(protocol.target)),
    };
    let per_sitting = assumptions.per_sitting.min(assumptions.environments);
    let sittings = sittings_needed(StudySize {
        environments: u64::from(assumptions.environments),
        target: u64::from(protocol.target),
        per_sitting: u64::from(per_sitting),
        counted_tenths,
    })?;
    let solve_rate = assumptions.solve_rate.clamp(0.0, 1.0);
    let solves = (u64::from(assumptions.environments) * valid) as f64 * solve_rate;
    Some(StudyPlan {
        sittings,
        per_sitting,
        fees_minor: sittings.checked_mul(protocol.money.fee_minor)?,
        bonuses_minor: (solves * protocol.money.bonus_minor as f64).round() as u64,
        pass_probability: pass_probability(u64::from(protocol.pass_solves), valid, solve_rate),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;

    #[test]
    fn plans_have_the_worked_sizes() {
        let assumptions = PlanAssumptions {
            environments: 414,
            per_sitting: 9,
            share_tenths: 7,
            solve_rate: 0.3,
        };
        let paper = plan_study(&Preset::Paper.protocol(), assumptions).unwrap();
        assert_eq!((paper.sittings, paper.fees_minor), (460, 460 * 13_000));
        assert_eq!(format!("{:.4}", paper.pass_probability), "0.6706");
        let own = plan_study(&Preset::Rhae1.protocol(), assumptions).unwrap();
        assert_eq!(own.sittings, 658);
        assert_eq!(format!("{:.4}", own.pass_probability), "0.8507");
        assert_eq!(own.bonuses_minor, 1_242 * 500);
        let none = PlanAssumptions {
            per_sitting: 0,
            ..assumptions
        };
        assert_eq!(plan_study(&Preset::Paper.protocol(), none), None);
    }

    #[test]
    fn few_environments_need_at_least_as_many_people_as_the_target() {
        let assumptions = PlanAssumptions {
            environments: 2,
            per_sitting: 9,
            share_tenths: 7,
            solve_rate: 0.5,
        };
        let paper = plan_study(&Preset::Paper.protocol(), assumptions).unwrap();
        assert_eq!((paper.sittings, paper.per_sitting), (10, 2));
        let own = plan_study(&Preset::Rhae1.protocol(), assumptions).unwrap();
        assert_eq!(own.sittings, 15);
    }
}
