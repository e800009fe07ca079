//! The HTML report of a validation: the verdict of every rule, its findings, and pictures of the
//! evidence.

use askama::Template;
use rhae_engine::Frame;

use crate::html::{FramePicture, render};
use crate::picture::PictureError;

/// The content of the report of a validation.
pub struct ValidationPage {
    /// The name and version of the software.
    pub software: String,
    /// Whether the validation was strict, so that a single win by random play fails the rule.
    pub strict: bool,
    pub games: Vec<ValidatedGame>,
}

/// One environment of the report.
pub struct ValidatedGame {
    /// The id of the environment with its version.
    pub game_id: String,
    /// `pass`, `fail`, or `open` if the validation was interrupted.
    pub verdict: &'static str,
    /// One line that says how much was checked.
    pub subtitle: String,
    /// The first frame of each level.
    pub levels: Vec<Frame>,
    /// The rules, ordered by group.
    pub rules: Vec<RuleSection>,
}

/// One rule of the report.
pub struct RuleSection {
    /// The name of the group to which the rule belongs.
    pub group: &'static str,
    pub name: &'static str,
    /// The requirement that the rule checks.
    pub requirement: &'static str,
    /// `pass`, `warn`, `fail` or `open`.
    pub verdict: &'static str,
    /// The result in one sentence.
    pub summary: String,
    /// The findings, ordered by level.
    pub findings: Vec<FindingItem>,
}

/// One finding of a rule.
pub struct FindingItem {
    /// The number of the level, from 1; `None` if the finding concerns the whole environment.
    pub level: Option<u8>,
    /// `pass`, `warn`, `fail` or `open`.
    pub verdict: &'static str,
    /// A sentence for the author of the environment.
    pub text: String,
    pub evidence: Vec<EvidenceFigure>,
}

/// A play that is evidence of a finding.
pub struct EvidenceFigure {
    pub caption: String,
    /// The command that replays the recording of the play, if one was written.
    pub replay: Option<String>,
    /// The number of actions.
    pub actions: usize,
    /// The last action in words.
    pub last: Option<String>,
    /// The last frames. Evidence without frames is not shown.
    pub frames: Vec<Frame>,
}

/// Returns the report as a self-contained HTML page.
///
/// # Errors
///
/// Returns a [`PictureError`] if a picture cannot be encoded.
pub fn validation_page(report: &ValidationPage) -> Result<String, PictureError> {
    let games_with = |verdict: &str| {
        report
            .games
            .iter()
            .filter(|game| game.verdict == verdict)
            .count()
    };
    let headline = match (report.games.len(), games_with("fail"), games_with("open")) {
        (1, 0, 0) => "passes".to_owned(),
        (1, 0, _) => "not decided".to_owned(),
        (1, ..) => "fails".to_owned(),
        (all, 0, 0) => format!("all {all} environments pass"),
        (all, 0, open) => format!("{open} of {all} environments not decided"),
        (all, failed, _) => format!("{failed} of {all} environments fail"),
    };
    let title = match &report.games[..] {
        [one] => format!("{} · {headline}", one.game_id),
        _ => format!("Validation · {headline}"),
    };
    let games = report.games.iter().map(GameView::new);
    Ok(render(&Page {
        title,
        report,
        games: games.collect::<Result<_, _>>()?,
    }))
}

#[derive(Template)]
#[template(path = "validation.html")]
struct Page<'a> {
    title: String,
    report: &'a ValidationPage,
    games: Vec<GameView<'a>>,
}

impl ValidatedGame {
    /// Counts the rules with this verdict.
    fn rules_with(&self, verdict: &str) -> usize {
        let same = |rule: &&RuleSection| rule.verdict == verdict;
        self.rules.iter().filter(same).count()
    }
}

/// A game with its pictures.
struct GameView<'a> {
    game_id: &'a str,
    verdict: &'static str,
    subtitle: &'a str,
    levels: Vec<FramePicture>,
    rules: Vec<RuleView<'a>>,
}

/// A rule with the pictures of its evidence.
struct RuleView<'a> {
    rule: &'a RuleSection,
    is_first_of_group: bool,
    findings: Vec<(&'a FindingItem, Vec<(&'a EvidenceFigure, FramePicture)>)>,
}

impl<'a> GameView<'a> {
    fn new(game: &'a ValidatedGame) -> Result<Self, PictureError> {
        let levels = game.levels.iter().map(|frame| FramePicture::new(&[frame]));
        let mut group = "";
        let mut rules = Vec::with_capacity(game.rules.len());
        for rule in &game.rules {
            let findings = rule
                .findings
                .iter()
                .map(|finding| Ok((finding, figures(finding)?)));
            rules.push(RuleView {
                rule,
                is_first_of_group: rule.group != group,
                findings: findings.collect::<Result<_, PictureError>>()?,
            });
            group = rule.group;
        }
        Ok(Self {
            game_id: &game.game_id,
            verdict: game.verdict,
            subtitle: &game.subtitle,
            levels: levels.collect::<Result<_, _>>()?,
            rules,
        })
    }
}

impl RuleView<'_> {
    /// Whether the findings are visible at first.
    fn is_open(&self) -> bool {
        matches!(self.rule.verdict, "fail" | "warn")
    }
}

/// Draws the evidence of a finding. Evidence without frames is left out.
fn figures(finding: &FindingItem) -> Result<Vec<(&EvidenceFigure, FramePicture)>, PictureError> {
    let shown = finding.evidence.iter().filter(|one| !one.frames.is_empty());
    let mut figures = Vec::new();
    for evidence in shown {
        let frames: Vec<&Frame> = evidence.frames.iter().collect();
        figures.push((evidence, FramePicture::new(&frames)?));
    }
    Ok(figures)
}

/// Returns the sign of a verdict.
fn sign(verdict: &str) -> &'static str {
    match verdict {
        "pass" => "✓",
        "warn" => "!",
        "fail" => "✕",
        _ => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_escaped() {
        let finding = FindingItem {
            level: Some(2),
            verdict: "fail",
            text: "the game raised <script>alert(1)</script>".to_owned(),
            evidence: vec![EvidenceFigure {
                caption: "it".to_owned(),
                replay: None,
                actions: 3,
                last: Some("ACTION6 at 1, 2".to_owned()),
                frames: vec![Frame::filled(3)],
            }],
        };
        let rule = RuleSection {
            group: "robustness",
            name: "failures",
            requirement: "No input makes it stop.",
            verdict: "fail",
            summary: "level 2: it did".to_owned(),
            findings: vec![finding],
        };
        let game = ValidatedGame {
            game_id: "ab12-v1".to_owned(),
            verdict: "fail",
            subtitle: "1,000 steps".to_owned(),
            levels: vec![Frame::filled(1)],
            rules: vec![rule],
        };
        let page = validation_page(&ValidationPage {
            software: "rhae".to_owned(),
            strict: false,
            games: vec![game],
        })
        .unwrap();
        assert!(page.contains("ab12-v1 · fails") && page.contains("data:image/png"));
        assert!(page.contains("it (3 actions, the last is ACTION6 at 1, 2)"));
        assert!(!page.contains("<script>alert"));
    }
}
