//! Conversion of the results of a validation into their serialised form.

use std::path::{Path, PathBuf};

use rhae_engine::Action;
use rhae_protocol::{
    FindingEvidence, RuleFinding, RuleResult, RuleVerdict, SOFTWARE, ValidatedEnvironment,
    ValidationReport,
};
use rhae_validate::{EnvironmentVerdict, Finding, Rule, RuleReport, Validated, Verdict};

use crate::Validation;
use crate::evidence::{file_name, is_recorded};

impl Validation<'_> {
    /// Returns the results in the form that `rhae validate --json` prints. `evidence` is the folder
    /// of the recorded evidence, if it was written.
    pub fn report(&self, evidence: Option<&Path>) -> ValidationReport {
        ValidationReport {
            software: SOFTWARE,
            seed: self.options.seed,
            env_seed: self.options.env_seed,
            strict: self.options.strict,
            verdict: environment_verdict(self.verdict()),
            passes: self.passes(),
            interrupted: self.is_interrupted(),
            environments: self
                .environments
                .iter()
                .map(|one| environment(one, evidence))
                .collect(),
        }
    }

    /// Returns the path of the recording of a piece of evidence in the folder `evidence`, if it is
    /// recorded. Pieces are counted from 0 within their finding.
    pub fn evidence_path(
        evidence: Option<&Path>,
        one: &Validated,
        report: &RuleReport,
        finding: &Finding,
        number: usize,
    ) -> Option<PathBuf> {
        let folder = evidence.filter(|_| is_recorded(finding))?;
        Some(folder.join(file_name(one.info.id.as_str(), report, finding, number)))
    }
}

fn environment(one: &Validated, evidence: Option<&Path>) -> ValidatedEnvironment {
    ValidatedEnvironment {
        game_id: one.info.id.to_string(),
        verdict: environment_verdict(one.verdict()),
        passes: one.verdict() == EnvironmentVerdict::Pass,
        checks: one.checks,
        checks_not_done: one.unfinished,
        steps: one.options.steps,
        nodes: one.options.limits.nodes,
        work_seconds: one.seconds,
        levels_not_checked: one.unreached().iter().map(|level| level + 1).collect(),
        undecided_rules: one.undecided_rules().into_iter().map(Rule::name).collect(),
        rules_not_selected: one.left_out(),
        rules: one
            .reports
            .iter()
            .map(|report| rule_result(one, report, evidence))
            .collect(),
    }
}

fn rule_result(one: &Validated, report: &RuleReport, folder: Option<&Path>) -> RuleResult {
    let finding = |finding: &Finding| {
        let evidence = finding.evidence.iter().enumerate();
        let evidence = evidence.map(|(number, evidence)| FindingEvidence {
            shows: evidence.caption.clone(),
            actions: joined(&evidence.actions),
            recording: Validation::evidence_path(folder, one, report, finding, number)
                .map(|file| file.display().to_string()),
        });
        RuleFinding {
            level: finding.level.map(|level| level + 1),
            verdict: rule_verdict(finding.verdict),
            text: finding.text.clone(),
            evidence: evidence.collect(),
        }
    };
    RuleResult {
        rule: report.rule.name(),
        group: report.rule.group().name(),
        asks: report.rule.requirement(),
        verdict: rule_verdict(report.verdict),
        summary: report.summary.clone(),
        findings: report.findings.iter().map(finding).collect(),
    }
}

/// Returns the serialised form of the verdict on an environment.
pub(crate) const fn environment_verdict(
    verdict: EnvironmentVerdict,
) -> rhae_protocol::EnvironmentVerdict {
    use rhae_protocol::EnvironmentVerdict as Form;
    match verdict {
        EnvironmentVerdict::Pass => Form::Pass,
        EnvironmentVerdict::Fail => Form::Fail,
        EnvironmentVerdict::Incomplete => Form::Incomplete,
    }
}

/// Returns the serialised form of the verdict on a rule.
pub(crate) const fn rule_verdict(verdict: Verdict) -> RuleVerdict {
    match verdict {
        Verdict::Pass => RuleVerdict::Pass,
        Verdict::Warn => RuleVerdict::Warn,
        Verdict::Fail => RuleVerdict::Fail,
        Verdict::Open => RuleVerdict::Open,
    }
}

fn joined(actions: &[Action]) -> String {
    let texts: Vec<String> = actions.iter().map(Action::to_string).collect();
    texts.join(" ")
}
