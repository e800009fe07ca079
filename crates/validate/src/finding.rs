//! Findings (the results of single checks) and how they are combined into one report per rule.

use rhae_engine::Action;

use crate::Rule;

/// The result of a rule, ordered from harmless to severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Undecided, because the rule does not apply or could not be checked. The text of the finding
    /// says which of the two.
    Open,
    /// The rule holds.
    Pass,
    /// The rule may be violated, or is violated in a way that is allowed.
    Warn,
    /// The rule is violated.
    Fail,
}

impl Verdict {
    /// Returns the name that is used in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// A play that demonstrates a finding. Its actions start at the opening of the environment; the
/// opening RESET is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// A short description of what the play shows.
    pub caption: String,
    pub actions: Vec<Action>,
}

/// The result of one check of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: Rule,
    /// The level, counted from 0, or `None` if the finding concerns the whole environment.
    pub level: Option<u8>,
    pub verdict: Verdict,
    /// A sentence for the author of the environment.
    pub text: String,
    pub evidence: Vec<Evidence>,
    /// Whether something that a complete validation needs was not checked. A rule that does not
    /// apply, or whose check is not necessary, is open but not incomplete. See
    /// [`Validated::verdict`](crate::Validated::verdict).
    pub incomplete: bool,
}

impl Finding {
    /// Creates a finding about the whole environment. Its verdict is at most the severity of the
    /// rule.
    pub(crate) fn new(rule: Rule, verdict: Verdict, text: impl Into<String>) -> Self {
        Self {
            rule,
            level: None,
            verdict: verdict.min(rule.severity()),
            text: text.into(),
            evidence: Vec::new(),
            incomplete: false,
        }
    }

    pub(crate) fn pass(rule: Rule, text: impl Into<String>) -> Self {
        Self::new(rule, Verdict::Pass, text)
    }

    pub(crate) fn warn(rule: Rule, text: impl Into<String>) -> Self {
        Self::new(rule, Verdict::Warn, text)
    }

    pub(crate) fn fail(rule: Rule, text: impl Into<String>) -> Self {
        Self::new(rule, Verdict::Fail, text)
    }

    pub(crate) fn open(rule: Rule, text: impl Into<String>) -> Self {
        Self::new(rule, Verdict::Open, text)
    }

    /// Creates an open finding about something that a complete validation needs.
    pub(crate) fn not_checked(rule: Rule, text: impl Into<String>) -> Self {
        Self::open(rule, text).incomplete()
    }

    /// Marks the finding as one that leaves the validation incomplete.
    pub(crate) fn incomplete(self) -> Self {
        Self {
            incomplete: true,
            ..self
        }
    }

    pub(crate) fn on_level(self, level: u8) -> Self {
        Self {
            level: Some(level),
            ..self
        }
    }

    /// Adds a play that demonstrates the finding, if its actions are known.
    pub(crate) fn with_evidence(
        mut self,
        caption: impl Into<String>,
        actions: Option<Vec<Action>>,
    ) -> Self {
        if let Some(actions) = actions {
            self.evidence.push(Evidence {
                caption: caption.into(),
                actions,
            });
        }
        self
    }
}

/// A rule with all findings about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleReport {
    pub rule: Rule,
    /// The most severe verdict among the findings.
    pub verdict: Verdict,
    /// One sentence with the text of the most severe finding and the number of affected levels.
    pub summary: String,
    /// The findings, ordered by level.
    pub findings: Vec<Finding>,
}

/// Combines the findings of all parts into one report for each rule, in the order of [`Rule::ALL`].
/// A rule without findings is [`Verdict::Open`].
///
/// # Examples
///
/// ```
/// use rhae_validate::{Rule, Verdict, reports};
///
/// let reports = reports(&[]);
/// assert_eq!(reports.len(), Rule::ALL.len());
/// assert!(reports.iter().all(|report| report.verdict == Verdict::Open));
/// assert_eq!(reports[0].summary, "not checked");
/// ```
pub fn reports(findings: &[Finding]) -> Vec<RuleReport> {
    let levels = findings
        .iter()
        .filter_map(|finding| finding.level)
        .max()
        .map_or(0, |last| usize::from(last) + 1);
    Rule::ALL
        .iter()
        .map(|&rule| {
            let mut own: Vec<Finding> = findings
                .iter()
                .filter(|finding| finding.rule == rule)
                .cloned()
                .collect();
            own.sort_by_key(|finding| (finding.level, std::cmp::Reverse(finding.verdict)));
            let verdict = own
                .iter()
                .map(|finding| finding.verdict)
                .max()
                .unwrap_or(Verdict::Open);
            RuleReport {
                rule,
                verdict,
                summary: summary(&own, verdict, levels),
                findings: own,
            }
        })
        .collect()
}

fn summary(findings: &[Finding], verdict: Verdict, levels: usize) -> String {
    let mut worst = findings.iter().filter(|finding| finding.verdict == verdict);
    let Some(first) = worst.next() else {
        return "not checked".to_owned();
    };
    let others = worst.count();
    let mut all_open = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Open);
    let (open, of_all) = (
        all_open.clone().count(),
        all_open.find(|finding| finding.level.is_none()),
    );
    let undecided = undecided_levels(findings);
    let note = of_all.map_or_else(String::new, |finding| format!("; {}", finding.text))
        + &match undecided {
            0 => String::new(),
            1 => "; undecided on one level".to_owned(),
            count => format!("; undecided on {count} levels"),
        };
    let place = first
        .level
        .map_or_else(String::new, |level| format!("level {}: ", level + 1));
    match (verdict, others) {
        (Verdict::Pass, 1..) if first.level.is_none() => {
            format!("{} checks passed{note}", others + 1)
        }
        (Verdict::Pass, 0) if first.level.is_none() => format!("{}{note}", first.text),
        // A level may have several findings, and some belong to no level.
        (Verdict::Pass, _) if open > undecided => format!("{place}{}{note}", first.text),
        (Verdict::Pass, 1..) if open > 0 => {
            format!("holds on {} levels; undecided on {open}", others + 1)
        }
        (Verdict::Pass, 1..) if others + 1 < levels => {
            format!("holds on {} of {levels} levels", others + 1)
        }
        (Verdict::Pass, 1..) => format!("holds on all {} levels", others + 1),
        (Verdict::Pass, 0) if open > 0 => format!(
            "{place}{}; undecided on {open} of {levels} levels",
            first.text
        ),
        (_, 0) => format!("{place}{}", first.text),
        (Verdict::Open, _) if findings.iter().all(|finding| finding.text == first.text) => {
            first.text.clone()
        }
        (_, 1) => format!("{place}{} (and one more)", first.text),
        _ => format!("{place}{} (and {others} more)", first.text),
    }
}

/// Returns the number of levels with open findings only.
fn undecided_levels(findings: &[Finding]) -> usize {
    let mut undecided: Vec<u8> = findings
        .iter()
        .filter_map(|finding| finding.level)
        .collect();
    let is_decided = |level: u8| {
        findings
            .iter()
            .any(|finding| finding.level == Some(level) && finding.verdict != Verdict::Open)
    };
    undecided.dedup();
    undecided.retain(|&level| !is_decided(level));
    undecided.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_severe_finding_determines_the_report() {
        let findings = [
            Finding::pass(Rule::Reset, "fine").on_level(0),
            Finding::fail(Rule::Reset, "failure").on_level(2),
            Finding::warn(Rule::Reset, "odd").on_level(1),
            Finding::pass(Rule::Loads, "opens"),
            Finding::pass(Rule::Frames, "fine").on_level(0),
            Finding::pass(Rule::Frames, "fine").on_level(1),
            Finding::pass(Rule::Frames, "fine").on_level(2),
            Finding::pass(Rule::AfterEnd, "fine").on_level(1),
            Finding::pass(Rule::AfterEnd, "fine").on_level(2),
            Finding::pass(Rule::Recordings, "a win replays"),
            Finding::open(Rule::Recordings, "no win of `b` is known"),
            Finding::open(Rule::Recordings, "no loss was found").on_level(1),
            Finding::open(Rule::Recordings, "no loss was found").on_level(2),
            Finding::open(Rule::Wins, "no win of `b` is known"),
            Finding::pass(Rule::Wins, "a loss replays").on_level(0),
            Finding::open(Rule::Wins, "no loss was found").on_level(1),
            Finding::open(Rule::Wins, "the search ended").on_level(1),
            Finding::open(Rule::Wins, "no loss was found").on_level(2),
        ];
        let all = reports(&findings);
        let report = |rule: Rule| all.iter().find(|report| report.rule == rule).unwrap();
        assert_eq!(
            (
                report(Rule::Reset).verdict,
                report(Rule::Reset).summary.as_str()
            ),
            (Verdict::Fail, "level 3: failure")
        );
        assert_eq!(report(Rule::Loads).summary, "opens");
        assert_eq!(report(Rule::Frames).summary, "holds on all 3 levels");
        assert_eq!(report(Rule::AfterEnd).summary, "holds on 2 of 3 levels");
        assert_eq!(
            report(Rule::Recordings).summary,
            "a win replays; no win of `b` is known; undecided on 2 levels"
        );
        assert_eq!(
            report(Rule::Wins).summary,
            "level 1: a loss replays; no win of `b` is known; undecided on 2 levels"
        );
        assert_eq!(
            (
                report(Rule::Undo).verdict,
                report(Rule::Undo).summary.as_str()
            ),
            (Verdict::Open, "not checked")
        );
    }
}
