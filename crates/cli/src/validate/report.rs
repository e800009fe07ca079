//! Results as text, as JSON, and as a page.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use rhae_engine::{Action, Frame};
use rhae_protocol::SOFTWARE;
use rhae_pyhost::Games;
use rhae_report::{ShownEvidence, ShownFinding, ShownRule, ValidatedGame, ValidationPage, validation_page};
use rhae_session::Catalog;
use rhae_validate::{Evidence, Finding, Rule, RuleReport, Verdict};
use serde_json::{Value, json};

use super::ValidateArgs;
use super::evidence::{last_frames, name};
use super::work::Validated;
use crate::output;

/// Pictures for one piece of evidence.
const PICTURES: usize = 4;

pub(super) fn text(validated: &[Validated]) -> String {
    let mut text = String::new();
    for one in validated {
        let [failed, warned, passed, open] = [Verdict::Fail, Verdict::Warn, Verdict::Pass, Verdict::Open].map(|it| one.count(it));
        let verdict = if one.passes() { "passes" } else { "FAILS" };
        let _ = writeln!(text, "{} {verdict}: {failed} fail, {warned} warn, {passed} pass, {open} open", one.info.id);
        for report in one.reports.iter().filter(|report| report.verdict >= Verdict::Warn) {
            let summary = output::plain(&report.summary);
            let _ = writeln!(text, "  {:<4} {:<12} {summary}", report.verdict.name(), report.rule.name());
        }
        text.push('\n');
    }
    let failed = validated.iter().filter(|one| !one.passes()).count();
    let _ = match failed {
        0 => writeln!(text, "{} of {} environments pass", validated.len(), validated.len()),
        _ => writeln!(text, "{failed} of {} environments fail", validated.len()),
    };
    text
}

pub(super) fn json(args: &ValidateArgs, validated: &[Validated]) -> Value {
    let finding = |finding: &Finding| {
        let shown = |evidence: &Evidence| json!({ "shows": evidence.shows, "actions": line(&evidence.actions) });
        json!({
            "level": finding.level.map(|level| level + 1),
            "verdict": finding.verdict.name(),
            "text": finding.text,
            "evidence": finding.evidence.iter().map(shown).collect::<Vec<_>>(),
        })
    };
    let rule = |report: &RuleReport| {
        json!({
            "rule": report.rule.name(),
            "group": report.rule.group().name(),
            "asks": report.rule.asks(),
            "verdict": report.verdict.name(),
            "summary": report.summary,
            "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    };
    let game = |one: &Validated| {
        json!({
            "game_id": one.info.id.as_str(),
            "passes": one.passes(),
            "steps": one.options.steps,
            "nodes": one.options.limits.nodes,
            "seconds": one.seconds,
            "rules": one.reports.iter().map(rule).collect::<Vec<_>>(),
        })
    };
    json!({
        "software": SOFTWARE,
        "seed": args.seed,
        "env_seed": args.env_seed,
        "strict": args.strict,
        "passes": validated.iter().all(Validated::passes),
        "environments": validated.iter().map(game).collect::<Vec<_>>(),
    })
}

fn line(actions: &[Action]) -> String {
    actions.iter().map(Action::to_string).collect::<Vec<_>>().join(" ")
}

pub(super) fn page(args: &ValidateArgs, games: &Games, validated: &[Validated]) -> Result<String> {
    let mut shown = Vec::new();
    for one in validated {
        let id = one.info.id.as_str();
        let rules = one.reports.iter().map(|report| shown_rule(args, games, one, report)).collect();
        shown.push(ValidatedGame {
            game_id: id.to_owned(),
            passes: one.passes(),
            subtitle: format!(
                "{} steps a regime, state graphs up to {} states, seed {}, environment seed {}{}",
                one.options.steps,
                one.options.limits.nodes,
                args.seed,
                args.env_seed,
                if one.hosted { ", from outside" } else { "" }
            ),
            levels: first_frames(games, id, args.env_seed, &one.reports),
            rules,
        });
    }
    Ok(validation_page(&ValidationPage { software: SOFTWARE.to_owned(), strict: args.strict, games: shown })?)
}

fn shown_rule(args: &ValidateArgs, games: &Games, one: &Validated, report: &RuleReport) -> ShownRule {
    let id = one.info.id.as_str();
    let finding = |finding: &Finding| {
        let worth_a_look = finding.verdict >= Verdict::Warn;
        let evidence = finding.evidence.iter().enumerate().map(|(number, evidence)| ShownEvidence {
            shows: evidence.shows.clone(),
            replay: args
                .evidence
                .as_ref()
                .filter(|_| worth_a_look)
                .map(|folder| replay(args, one.hosted, &folder.join(name(id, report.rule.name(), finding.level, number)))),
            actions: evidence.actions.len(),
            frames: if worth_a_look { last_frames(games, id, args.env_seed, &evidence.actions, PICTURES) } else { Vec::new() },
        });
        ShownFinding {
            level: finding.level.map(|level| level + 1),
            verdict: finding.verdict.name(),
            text: finding.text.clone(),
            evidence: evidence.collect(),
        }
    };
    ShownRule {
        group: report.rule.group().name(),
        name: report.rule.name(),
        asks: report.rule.asks(),
        verdict: report.verdict.name(),
        summary: report.summary.clone(),
        findings: report.findings.iter().map(finding).collect(),
    }
}

/// The command that shows a recording.
fn replay(args: &ValidateArgs, hosted: bool, file: &Path) -> String {
    let folders = args.outside.games_dir.iter().filter(|_| hosted);
    let flags: String = folders.map(|folder| format!(" --games-dir {}", quoted(folder))).collect();
    format!("rhae replay show {}{flags}", quoted(file))
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain = |sign: char| sign.is_alphanumeric() || "/._-".contains(sign);
    if path.chars().all(is_plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The first frame of each level, found along the play that wins all of them, as far as one is known.
fn first_frames(games: &Games, id: &str, seed: u64, reports: &[RuleReport]) -> Vec<Frame> {
    let solutions = reports.iter().find(|report| report.rule == Rule::Solutions);
    let line = solutions.and_then(|report| report.findings.first()).and_then(|finding| finding.evidence.first());
    let Ok(mut play) = games.open(id, seed) else { return Vec::new() };
    let mut frames = vec![play.observation().settled().clone()];
    for &action in line.map_or(&[][..], |evidence| &evidence.actions) {
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
    fn odd_paths_are_quoted() {
        assert_eq!(quoted(Path::new("ev/ab12-v1.jsonl")), "ev/ab12-v1.jsonl");
        assert_eq!(quoted(Path::new("my games/it's $HOME")), r"'my games/it'\''s $HOME'");
    }
}
