//! What a check found, and how findings become the report of a rule.

use rhae_engine::Action;

use crate::Rule;

/// How a rule turned out, from harmless to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nothing can be said: it does not apply, or could not be decided. The sentence says which.
    Open,
    /// The rule holds.
    Pass,
    /// Worth a look.
    Warn,
    /// The rule is broken.
    Fail,
}

impl Verdict {
    /// The name in files and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// A play that shows what was found: its actions from the opening of the environment on, the opening RESET left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What it shows.
    pub shows: String,
    /// The actions.
    pub actions: Vec<Action>,
}

/// What one check found about one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The level, from 0, where it is about one.
    pub level: Option<u8>,
    /// How it turned out.
    pub verdict: Verdict,
    /// A sentence for the author.
    pub text: String,
    /// Plays that show it.
    pub evidence: Vec<Evidence>,
}

impl Finding {
    pub(crate) fn new(rule: Rule, verdict: Verdict, text: impl Into<String>) -> Self {
        Self {
            rule,
            level: None,
            verdict,
            text: text.into(),
            evidence: Vec::new(),
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

    pub(crate) fn on(self, level: u8) -> Self {
        Self {
            level: Some(level),
            ..self
        }
    }

    /// With a play that shows it.
    pub(crate) fn shown(mut self, shows: impl Into<String>, actions: Option<Vec<Action>>) -> Self {
        if let Some(actions) = actions {
            self.evidence.push(Evidence {
                shows: shows.into(),
                actions,
            });
        }
        self
    }
}

/// A rule with all that was found about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleReport {
    /// The rule.
    pub rule: Rule,
    /// The worst verdict among its findings.
    pub verdict: Verdict,
    /// One sentence: that of the worst finding, with the number of levels where it is the same.
    pub summary: String,
    /// The findings, by level.
    pub findings: Vec<Finding>,
}

/// The findings of all parts, rule by rule. A rule that no part spoke about is open.
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
    let aside = of_all.map_or_else(String::new, |finding| format!("; {}", finding.text));
    let place = first
        .level
        .map_or_else(String::new, |level| format!("level {}: ", level + 1));
    match (verdict, others) {
        (Verdict::Pass, 1..) if first.level.is_none() => {
            format!("{} checks hold{aside}", others + 1)
        }
        (Verdict::Pass, 0) if first.level.is_none() => format!("{}{aside}", first.text),
        (Verdict::Pass, 1..) if open > 0 => {
            format!("holds on {} levels; on {open} it is open", others + 1)
        }
        (Verdict::Pass, 1..) if others + 1 < levels => {
            format!("holds on {} of {levels} levels", others + 1)
        }
        (Verdict::Pass, 1..) => format!("holds on all {} levels", others + 1),
        (Verdict::Pass, 0) if open > 0 => format!(
            "{place}{}; on {open} of {levels} levels it is open",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_finding_speaks_for_its_rule() {
        let findings = [
            Finding::pass(Rule::Reset, "fine").on(0),
            Finding::fail(Rule::Reset, "broken").on(2),
            Finding::warn(Rule::Reset, "odd").on(1),
            Finding::pass(Rule::Loads, "opens"),
            Finding::pass(Rule::Frames, "fine").on(0),
            Finding::pass(Rule::Frames, "fine").on(1),
            Finding::pass(Rule::Frames, "fine").on(2),
            Finding::pass(Rule::AfterEnd, "fine").on(1),
            Finding::pass(Rule::AfterEnd, "fine").on(2),
            Finding::pass(Rule::Recordings, "a win replays"),
            Finding::open(Rule::Recordings, "no loss is known"),
        ];
        let all = reports(&findings);
        let report = |rule: Rule| all.iter().find(|report| report.rule == rule).unwrap();
        assert_eq!(
            (
                report(Rule::Reset).verdict,
                report(Rule::Reset).summary.as_str()
            ),
            (Verdict::Fail, "level 3: broken")
        );
        assert_eq!(report(Rule::Loads).summary, "opens");
        assert_eq!(report(Rule::Frames).summary, "holds on all 3 levels");
        assert_eq!(report(Rule::AfterEnd).summary, "holds on 2 of 3 levels");
        assert_eq!(
            report(Rule::Recordings).summary,
            "a win replays; no loss is known"
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
