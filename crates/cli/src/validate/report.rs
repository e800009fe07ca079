//! The results as text, as JSON and as an HTML page.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rhae_engine::{Action, Catalog, Frame};
use rhae_protocol::SOFTWARE;
use rhae_pyhost::Games;
use rhae_report::{
    EvidenceFigure, FindingItem, RuleSection, ValidatedGame, ValidationPage, validation_page,
};
use rhae_validate::{Evidence, Finding, Rule, RuleReport, Verdict};
use serde_json::{Value, json};

use super::ValidateArgs;
use super::evidence::{is_written, last_frames, name};
use super::work::Validated;
use crate::output;

/// The number of frames that the page shows for one piece of evidence.
const EVIDENCE_FRAMES: usize = 4;

/// Formats the levels that were not checked as the end of a list, or returns an empty text if all
/// were checked.
fn unchecked_levels(one: &Validated) -> String {
    match &one.unreached()[..] {
        [] => String::new(),
        [level] => format!(", level {} not checked", level + 1),
        [first, .., last] => format!(", levels {} to {} not checked", first + 1, last + 1),
    }
}

pub(super) fn text(args: &ValidateArgs, validated: &[Validated]) -> String {
    let (mut text, mut has_evidence) = (String::new(), false);
    for one in validated {
        let [failed, warned, passed, open] =
            [Verdict::Fail, Verdict::Warn, Verdict::Pass, Verdict::Open].map(|it| one.count(it));
        let unchecked = unchecked_levels(one);
        let _ = writeln!(
            text,
            "{} {}{unchecked}: {failed} fail, {warned} warn, {passed} pass, {open} open",
            one.info.id,
            verdict(one)
        );
        for report in one.reports.iter().filter(|report| is_printed(report)) {
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
            if let Some(command) =
                shown.and_then(|finding| replay_command(args, one, report, finding, 0))
            {
                let _ = writeln!(text, "  {:<17} {command}", "");
            }
        }
        text.push('\n');
    }
    if has_evidence && args.evidence.is_none() {
        text.push_str("use --evidence DIR to write recordings of the findings\n");
    }
    let all = validated.len();
    let count = |test: fn(&Validated) -> bool| validated.iter().filter(|one| test(one)).count();
    let _ = match (count(Validated::fails), count(|one| one.unfinished > 0)) {
        (0, 0) => writeln!(text, "{all} of {all} environments pass"),
        (0, undecided) => writeln!(
            text,
            "interrupted: {undecided} of {all} environments are undecided"
        ),
        (failed, _) => writeln!(text, "{failed} of {all} environments fail"),
    };
    text
}

/// Formats the verdict on an environment for its headline.
fn verdict(one: &Validated) -> String {
    match (one.fails(), one.unfinished) {
        (true, 0) => "FAILS".to_owned(),
        (false, 0) => "passes".to_owned(),
        (true, _) => format!("FAILS ({})", unfinished_checks(one)),
        (false, _) => format!("is undecided ({})", unfinished_checks(one)),
    }
}

fn unfinished_checks(one: &Validated) -> String {
    format!(
        "interrupted: {} of {} checks not finished",
        one.unfinished, one.checks
    )
}

/// Returns whether the text report prints a rule: it does not pass, or is open on some levels.
/// Rules that pass everywhere are only counted.
fn is_printed(report: &RuleReport) -> bool {
    report.verdict != Verdict::Pass
        || report
            .findings
            .iter()
            .any(|finding| finding.verdict == Verdict::Open)
}

pub(super) fn json(args: &ValidateArgs, validated: &[Validated]) -> Value {
    let finding = |one: &Validated, report: &RuleReport, finding: &Finding| {
        let evidence_json = |(number, evidence): (usize, &Evidence)| {
            let recording =
                file(args, one, report, finding, number).map(|file| file.display().to_string());
            json!({ "shows": evidence.caption, "actions": joined(&evidence.actions), "recording": recording })
        };
        json!({
            "level": finding.level.map(|level| level + 1),
            "verdict": finding.verdict.name(),
            "text": finding.text,
            "evidence": finding.evidence.iter().enumerate().map(evidence_json).collect::<Vec<_>>(),
        })
    };
    let rule = |one: &Validated, report: &RuleReport| {
        json!({
            "rule": report.rule.name(),
            "group": report.rule.group().name(),
            "asks": report.rule.requirement(),
            "verdict": report.verdict.name(),
            "summary": report.summary,
            "findings": report.findings.iter().map(|found| finding(one, report, found)).collect::<Vec<_>>(),
        })
    };
    let game = |one: &Validated| {
        json!({
            "game_id": one.info.id.as_str(),
            "passes": one.passes(),
            "checks": one.checks,
            "checks_not_done": one.unfinished,
            "steps": one.options.steps,
            "nodes": one.options.limits.nodes,
            "work_seconds": one.seconds,
            "levels_not_checked": one.unreached().iter().map(|level| level + 1).collect::<Vec<_>>(),
            "rules": one.reports.iter().map(|report| rule(one, report)).collect::<Vec<_>>(),
        })
    };
    json!({
        "software": SOFTWARE,
        "seed": args.seed,
        "env_seed": args.env_seed,
        "strict": args.strict,
        "passes": validated.iter().all(Validated::passes),
        "interrupted": validated.iter().any(|one| one.unfinished > 0),
        "environments": validated.iter().map(game).collect::<Vec<_>>(),
    })
}

fn joined(actions: &[Action]) -> String {
    actions
        .iter()
        .map(Action::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

pub(super) fn page(args: &ValidateArgs, games: &Games, validated: &[Validated]) -> Result<String> {
    let mut sections = Vec::new();
    for one in validated {
        let id = one.info.id.as_str();
        let rules = one
            .reports
            .iter()
            .map(|report| rule_section(args, games, one, report))
            .collect();
        sections.push(ValidatedGame {
            game_id: id.to_owned(),
            verdict: match (one.fails(), one.unfinished) {
                (true, _) => "fail",
                (false, 0) => "pass",
                (false, _) => "open",
            },
            subtitle: format!(
                "{} steps of each kind of random play, state graphs of up to {} states, seed {}, environment seed {}{}{}{}",
                one.options.steps,
                one.options.limits.nodes,
                args.seed,
                args.env_seed,
                if one.hosted { ", hosted game" } else { "" },
                unchecked_levels(one),
                if one.unfinished > 0 { format!(", {}", unfinished_checks(one)) } else { String::new() }
            ),
            levels: first_frames(games, id, args.env_seed, &one.reports),
            rules,
        });
    }
    Ok(validation_page(&ValidationPage {
        software: SOFTWARE.to_owned(),
        strict: args.strict,
        games: sections,
    })?)
}

fn rule_section(
    args: &ValidateArgs,
    games: &Games,
    one: &Validated,
    report: &RuleReport,
) -> RuleSection {
    let id = one.info.id.as_str();
    let finding = |finding: &Finding| {
        let evidence = finding
            .evidence
            .iter()
            .enumerate()
            .map(|(number, evidence)| EvidenceFigure {
                caption: evidence.caption.clone(),
                replay: replay_command(args, one, report, finding, number),
                actions: evidence.actions.len(),
                last: evidence.actions.last().map(|&action| output::named(action)),
                frames: if is_written(finding) {
                    last_frames(games, id, args.env_seed, &evidence.actions, EVIDENCE_FRAMES)
                } else {
                    Vec::new()
                },
            });
        FindingItem {
            level: finding.level.map(|level| level + 1),
            verdict: finding.verdict.name(),
            text: finding.text.clone(),
            evidence: evidence.collect(),
        }
    };
    RuleSection {
        group: report.rule.group().name(),
        name: report.rule.name(),
        requirement: report.rule.requirement(),
        verdict: report.verdict.name(),
        summary: report.summary.clone(),
        findings: report.findings.iter().map(finding).collect(),
    }
}

/// Returns the path of the recording of a piece of evidence, if one is written.
fn file(
    args: &ValidateArgs,
    one: &Validated,
    report: &RuleReport,
    finding: &Finding,
    number: usize,
) -> Option<PathBuf> {
    let folder = args.evidence.as_ref().filter(|_| is_written(finding))?;
    Some(folder.join(name(one.info.id.as_str(), report, finding, number)))
}

/// Returns the command that shows the recording of a piece of evidence, if one is written.
fn replay_command(
    args: &ValidateArgs,
    one: &Validated,
    report: &RuleReport,
    finding: &Finding,
    number: usize,
) -> Option<String> {
    let file = file(args, one, report, finding, number)?;
    let flags = if one.hosted {
        args.hosted.as_flags()
    } else {
        Vec::new()
    };
    let flags: String = flags
        .iter()
        .map(|flag| format!(" {}", quoted(Path::new(flag))))
        .collect();
    Some(format!("rhae replay show {}{flags}", quoted(&file)))
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

/// Returns the first frame of each level along the stored or found solutions. The list ends with
/// the first level that has no solution.
fn first_frames(games: &Games, id: &str, seed: u64, reports: &[RuleReport]) -> Vec<Frame> {
    let solutions = reports.iter().find(|report| report.rule == Rule::Solutions);
    let evidence = solutions
        .and_then(|report| report.findings.first())
        .and_then(|finding| finding.evidence.first());
    let Ok(mut play) = games.open(id, seed) else {
        return Vec::new();
    };
    let mut frames = vec![play.observation().settled().clone()];
    for &action in evidence.map_or(&[][..], |evidence| &evidence.actions) {
        let completed = play.observation().levels_completed;
        let Ok(seen) = play.act(action) else { break };
        if seen.levels_completed > completed && seen.levels_completed < seen.win_levels {
            frames.push(seen.settled().clone());
        }
    }
    frames
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
