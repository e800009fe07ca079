//! The HTML page of a validation.

use std::path::Path;

use rhae_engine::{Catalog, Frame};
use rhae_protocol::SOFTWARE;
use rhae_report::{
    EvidenceFigure, FindingItem, PictureError, RuleSection, ValidatedGame, ValidationPage,
    action_label, validation_page,
};
use rhae_validate::{Finding, Rule, RuleReport, Validated};

use crate::Validation;
use crate::evidence::{is_recorded, last_frames};
use crate::validation_form::{environment_verdict, rule_verdict};

/// The number of frames that the page shows for one piece of evidence.
const EVIDENCE_FRAMES: usize = 4;

/// Returns the command that shows a recording of an environment.
pub type ReplayCommand<'a> = dyn Fn(&Validated, &Path) -> String + 'a;

impl Validation<'_> {
    /// Returns the results as an HTML page with pictures. `evidence` is the folder of the recorded
    /// evidence, if it was written, and `replay` returns the command that shows one recording.
    ///
    /// # Errors
    ///
    /// Returns a [`PictureError`] if a picture cannot be encoded.
    pub fn page(
        &self,
        evidence: Option<&Path>,
        replay: &ReplayCommand<'_>,
    ) -> Result<String, PictureError> {
        let game = |one: &Validated| {
            let id = one.info.id.as_str();
            let rules = one.reports.iter();
            ValidatedGame {
                game_id: id.to_owned(),
                verdict: environment_verdict(one.verdict()),
                subtitle: self.subtitle(one),
                levels: first_frames(self.games, id, self.options.env_seed, &one.reports),
                rules: rules
                    .map(|report| self.rule_section(one, report, evidence, replay))
                    .collect(),
            }
        };
        validation_page(&ValidationPage {
            software: SOFTWARE.to_owned(),
            strict: self.options.strict,
            games: self.environments.iter().map(game).collect(),
        })
    }

    fn subtitle(&self, one: &Validated) -> String {
        let missing: String = one
            .missing()
            .iter()
            .map(|what| format!(", {what}"))
            .collect();
        format!(
            "{} steps of each kind of random play, state graphs of up to {} states, seed {}, environment seed {}{}{missing}",
            one.options.steps,
            one.options.limits.nodes,
            self.options.seed,
            self.options.env_seed,
            if one.hosted { ", hosted game" } else { "" },
        )
    }

    fn rule_section(
        &self,
        one: &Validated,
        report: &RuleReport,
        evidence: Option<&Path>,
        replay: &ReplayCommand<'_>,
    ) -> RuleSection {
        let id = one.info.id.as_str();
        let finding = |finding: &Finding| {
            let figures = finding.evidence.iter().enumerate();
            let figures = figures.map(|(number, piece)| EvidenceFigure {
                caption: piece.caption.clone(),
                replay: Self::evidence_path(evidence, one, report, finding, number)
                    .map(|file| replay(one, &file)),
                actions: piece.actions.len(),
                last: piece.actions.last().map(|&action| action_label(action)),
                frames: if is_recorded(finding) {
                    let seed = self.options.env_seed;
                    last_frames(self.games, id, seed, &piece.actions, EVIDENCE_FRAMES)
                } else {
                    Vec::new()
                },
            });
            FindingItem {
                level: finding.level.map(|level| level + 1),
                verdict: rule_verdict(finding.verdict),
                text: finding.text.clone(),
                evidence: figures.collect(),
            }
        };
        RuleSection {
            group: report.rule.group().name(),
            name: report.rule.name(),
            requirement: report.rule.requirement(),
            verdict: rule_verdict(report.verdict),
            summary: report.summary.clone(),
            findings: report.findings.iter().map(finding).collect(),
        }
    }
}

/// Returns the first frame of each level along the stored or found solutions. The list ends with
/// the first level that has no solution.
fn first_frames(games: &dyn Catalog, id: &str, seed: u64, reports: &[RuleReport]) -> Vec<Frame> {
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
