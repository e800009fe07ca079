//! The results of a validation as text.

use std::fmt::Write as _;
use std::path::Path;

use rhae_inspect::Validation;
use rhae_validate::{EnvironmentVerdict, RuleReport, Validated, Verdict};

use super::ValidateArgs;
use crate::output;

pub(super) fn text(args: &ValidateArgs, validated: &[Validated]) -> String {
    let (mut text, mut has_evidence) = (String::new(), false);
    for one in validated {
        let [failed, warned, passed, open] =
            [Verdict::Fail, Verdict::Warn, Verdict::Pass, Verdict::Open].map(|it| one.count(it));
        let _ = writeln!(
            text,
            "{} {}: {failed} fail, {warned} warn, {passed} pass, {open} open",
            one.info.id,
            verdict(one)
        );
        for report in one.reports.iter().filter(|report| is_printed(one, report)) {
            let first = format!("  {:<4} {:<12} ", report.verdict.name(), report.rule.name());
            let _ = writeln!(
                text,
                "{}",
                output::hanging(&first, &output::plain(&report.summary))
            );
            if report.verdict < Verdict::Warn {
                continue;
            }
            let shown = report
                .findings
                .iter()
                .find(|finding| finding.verdict == report.verdict && !finding.evidence.is_empty());
            has_evidence |= shown.is_some();
            let file = shown.and_then(|finding| {
                Validation::evidence_path(args.evidence.as_deref(), one, report, finding, 0)
            });
            if let Some(file) = file {
                let command = replay_command(args, one, &file);
                let _ = writeln!(text, "  {:<17} {command}", "");
            }
        }
        text.push('\n');
    }
    if has_evidence && args.evidence.is_none() {
        text.push_str("use --evidence DIR to write recordings of the findings\n");
    }
    text.push_str(&total(validated));
    text.push('\n');
    text
}

/// Formats the verdict on all environments as one line.
fn total(validated: &[Validated]) -> String {
    let all = validated.len();
    let count = |verdict| {
        validated
            .iter()
            .filter(|one| one.verdict() == verdict)
            .count()
    };
    let failed = count(EnvironmentVerdict::Fail);
    let incomplete = count(EnvironmentVerdict::Incomplete);
    let interrupted = if validated.iter().any(|one| one.unfinished > 0) {
        "interrupted: "
    } else {
        ""
    };
    match (failed, incomplete) {
        (0, 0) => format!("{all} of {all} environments pass"),
        (0, _) => format!("{interrupted}{incomplete} of {all} environments are incomplete"),
        (_, 0) => format!("{failed} of {all} environments fail"),
        _ => format!("{failed} of {all} environments fail, {incomplete} are incomplete"),
    }
}

/// Formats the verdict on an environment for its headline, with what makes the validation
/// incomplete.
fn verdict(one: &Validated) -> String {
    let word = match one.verdict() {
        EnvironmentVerdict::Pass => "passes",
        EnvironmentVerdict::Fail => "FAILS",
        EnvironmentVerdict::Incomplete => "is INCOMPLETE",
    };
    match &one.missing()[..] {
        [] => word.to_owned(),
        missing => format!("{word} ({})", missing.join("; ")),
    }
}

/// Returns whether the text report prints a rule: it was selected by name, does not pass, or is open
/// on some levels. Other rules that pass everywhere are only counted.
fn is_printed(one: &Validated, report: &RuleReport) -> bool {
    one.left_out() > 0
        || report.verdict != Verdict::Pass
        || report
            .findings
            .iter()
            .any(|finding| finding.verdict == Verdict::Open)
}

/// Returns the command that shows a recording of an environment.
pub(super) fn replay_command(args: &ValidateArgs, one: &Validated, file: &Path) -> String {
    let flags = if one.hosted {
        args.hosted.as_flags()
    } else {
        Vec::new()
    };
    let flags: String = flags
        .iter()
        .map(|flag| format!(" {}", quoted(Path::new(flag))))
        .collect();
    format!("rhae replay show {}{flags}", quoted(file))
}

/// Quotes a path for the shell, if it needs that.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
    if path.chars().all(is_plain) {
        path
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_special_characters_are_quoted() {
        assert_eq!(quoted(Path::new("ev/ab12-v1.jsonl")), "ev/ab12-v1.jsonl");
        assert_eq!(
            quoted(Path::new("my games/it's $HOME")),
            r"'my games/it'\''s $HOME'"
        );
    }
}
