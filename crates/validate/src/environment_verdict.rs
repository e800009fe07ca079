//! The verdict on an environment.
//!
//! An environment fails if a rule fails. It passes if no rule fails and the validation is complete:
//! all rules were selected, all checks finished, every level was reached, and no finding of a
//! required rule is a gap. A gap
//! is a finding marked as [`incomplete`](Finding::incomplete) that no other finding makes up for.
//! Rules that only give advice have no gaps. docs/validate.md lists the gaps.

use crate::{Finding, Rule, RuleReport, Validated, Verdict};

/// The verdict on an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvironmentVerdict {
    /// No rule fails, and the validation is complete.
    Pass,
    /// A rule fails.
    Fail,
    /// No rule fails, but something that a complete validation needs was not checked.
    Incomplete,
}

impl EnvironmentVerdict {
    /// Returns the verdict on several environments: they fail if one fails, and pass if all pass.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_validate::EnvironmentVerdict::{self, Fail, Incomplete, Pass};
    ///
    /// assert_eq!(EnvironmentVerdict::of_all([Pass, Incomplete]), Incomplete);
    /// assert_eq!(EnvironmentVerdict::of_all([Fail, Incomplete, Pass]), Fail);
    /// assert_eq!(EnvironmentVerdict::of_all([Pass, Pass]), Pass);
    /// ```
    pub fn of_all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts
            .into_iter()
            .fold(Self::Pass, |all, one| match (all, one) {
                (Self::Fail, _) | (_, Self::Fail) => Self::Fail,
                (Self::Incomplete, _) | (_, Self::Incomplete) => Self::Incomplete,
                (Self::Pass, Self::Pass) => Self::Pass,
            })
    }
}

impl Validated {
    /// Returns the verdict on the environment.
    pub fn verdict(&self) -> EnvironmentVerdict {
        if self.count(Verdict::Fail) > 0 {
            EnvironmentVerdict::Fail
        } else if self.unfinished > 0 || self.left_out() > 0 || gaps(&self.reports).next().is_some()
        {
            EnvironmentVerdict::Incomplete
        } else {
            EnvironmentVerdict::Pass
        }
    }

    /// Returns the number of rules that were not selected.
    pub fn left_out(&self) -> usize {
        Rule::ALL.len() - self.options.rules.len()
    }

    /// Returns the levels that could not be reached, counted from 0.
    pub fn unreached(&self) -> Vec<u8> {
        let loads = self
            .reports
            .iter()
            .filter(|report| report.rule == Rule::Loads)
            .flat_map(|report| &report.findings);
        loads
            .filter(|finding| finding.verdict == Verdict::Open && finding.incomplete)
            .filter_map(|finding| finding.level)
            .collect()
    }

    /// Returns the rules with a gap on a level that was reached, or about the whole environment, in
    /// the order of [`Rule::ALL`].
    pub fn undecided_rules(&self) -> Vec<Rule> {
        let unreached = self.unreached();
        let is_reached = |finding: &&Finding| {
            finding
                .level
                .is_none_or(|level| !unreached.contains(&level))
        };
        let mut rules: Vec<Rule> = gaps(&self.reports)
            .filter(is_reached)
            .map(|finding| finding.rule)
            .collect();
        rules.dedup();
        rules
    }

    /// Describes what makes the validation incomplete, such as `levels 2 to 3 not checked`. The
    /// list is empty if the validation is complete.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if self.unfinished > 0 {
            missing.push(format!(
                "interrupted: {} of {} checks not finished",
                self.unfinished, self.checks
            ));
        }
        if self.left_out() > 0 {
            missing.push(format!(
                "{} of {} rules not selected",
                self.left_out(),
                Rule::ALL.len()
            ));
        }
        match &self.unreached()[..] {
            [] => {}
            [level] => missing.push(format!("level {} not checked", level + 1)),
            [first, .., last] => {
                missing.push(format!("levels {} to {} not checked", first + 1, last + 1));
            }
        }
        let rules = self.undecided_rules();
        if !rules.is_empty() {
            let names: Vec<&str> = rules.into_iter().map(Rule::name).collect();
            missing.push(format!("undecided: {}", names.join(", ")));
        }
        missing
    }
}

/// Returns the gaps of a validation.
fn gaps(reports: &[RuleReport]) -> impl Iterator<Item = &Finding> {
    reports
        .iter()
        .filter(|report| report.rule.severity() == Verdict::Fail)
        .flat_map(|report| &report.findings)
        .filter(|finding| finding.incomplete && !is_decided_elsewhere(finding, reports))
}

/// Returns whether another finding on the same level decides what a finding leaves undecided.
fn is_decided_elsewhere(gap: &Finding, reports: &[RuleReport]) -> bool {
    let decisive = match gap.rule {
        // Too few attempts do not matter if the probability of a random win is proved.
        Rule::Levels => Rule::Proved,
        // One replayed loss of a level is enough.
        Rule::Recordings if gap.level.is_some() => Rule::Recordings,
        _ => return false,
    };
    reports
        .iter()
        .filter(|report| report.rule == decisive)
        .flat_map(|report| &report.findings)
        .any(|finding| finding.level == gap.level && finding.verdict != Verdict::Open)
}

#[cfg(test)]
mod tests {
    use rhae_engine::Facts;

    use super::*;
    use crate::{Options, reports};

    fn validated(findings: &[Finding]) -> Validated {
        let facts: &Facts = rhae_games::ALL[0].facts;
        Validated {
            info: facts.into(),
            options: Options::default(),
            hosted: false,
            reports: reports(findings),
            checks: 10,
            unfinished: 0,
            seconds: 0.0,
        }
    }

    #[test]
    fn unreached_levels_make_a_validation_incomplete() {
        let unreachable = |rule: Rule, level: u8| Finding::not_checked(rule, "x").on_level(level);
        let one = validated(&[
            Finding::pass(Rule::Loads, "starts").on_level(0),
            unreachable(Rule::Loads, 1),
            unreachable(Rule::Loads, 2),
            unreachable(Rule::Keys, 1),
            Finding::not_checked(Rule::Wins, "no win").on_level(0),
        ]);
        assert_eq!(one.verdict(), EnvironmentVerdict::Incomplete);
        assert_eq!(one.unreached(), [1, 2]);
        assert_eq!(
            one.missing(),
            ["levels 2 to 3 not checked", "undecided: wins"]
        );
    }

    #[test]
    fn failure_outweighs_a_gap_and_advice_has_none() {
        let gap = Finding::not_checked(Rule::Wins, "no win").on_level(0);
        let fails = validated(&[gap, Finding::fail(Rule::Keys, "differs")]);
        assert_eq!(fails.verdict(), EnvironmentVerdict::Fail);
        let advice = validated(&[
            Finding::not_checked(Rule::Optimum, "unknown").on_level(0),
            Finding::open(Rule::Undo, "undo is not offered").on_level(0),
        ]);
        assert_eq!(advice.verdict(), EnvironmentVerdict::Pass);
        assert!(advice.missing().is_empty());
    }

    #[test]
    fn too_few_attempts_matter_only_without_a_proof() {
        let few = |level: u8| Finding::not_checked(Rule::Levels, "few attempts").on_level(level);
        let proof = Finding::pass(Rule::Proved, "1 in 20000").on_level(1);
        assert_eq!(
            validated(&[few(1), proof.clone()]).verdict(),
            EnvironmentVerdict::Pass
        );
        let open = Finding::open(Rule::Proved, "undecided").on_level(2);
        let one = validated(&[few(1), proof, few(2), open]);
        assert_eq!(one.verdict(), EnvironmentVerdict::Incomplete);
        assert_eq!(one.undecided_rules(), [Rule::Levels]);
    }

    #[test]
    fn lost_level_needs_a_replayed_loss() {
        let seen = Finding::not_checked(Rule::Recordings, "can be lost").on_level(3);
        let win = Finding::pass(Rule::Recordings, "a win replays");
        let one = validated(&[win.clone(), seen.clone()]);
        assert_eq!(one.verdict(), EnvironmentVerdict::Incomplete);
        let loss = Finding::pass(Rule::Recordings, "a loss replays").on_level(3);
        assert_eq!(
            validated(&[win, seen, loss]).verdict(),
            EnvironmentVerdict::Pass
        );
    }

    #[test]
    fn validation_of_selected_rules_is_incomplete_or_fails() {
        let mut one = validated(&[]);
        one.options.rules = [Rule::Undo].into_iter().collect();
        assert_eq!(one.verdict(), EnvironmentVerdict::Incomplete);
        let expected = format!(
            "{0} of {1} rules not selected",
            one.left_out(),
            Rule::ALL.len()
        );
        assert_eq!(one.missing(), [expected]);
        one.reports = reports(&[Finding::fail(Rule::Undo, "differs")]);
        assert_eq!(one.verdict(), EnvironmentVerdict::Fail);
    }

    #[test]
    fn interrupted_validation_is_incomplete() {
        let mut one = validated(&[]);
        one.unfinished = 4;
        assert_eq!(one.verdict(), EnvironmentVerdict::Incomplete);
        assert_eq!(one.missing(), ["interrupted: 4 of 10 checks not finished"]);
    }
}
