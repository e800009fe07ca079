//! The HTML report of a validation: the verdict of every rule, its findings, and pictures of the
//! evidence.

use askama::Template;
use rhae_engine::Frame;
use rhae_protocol::{EnvironmentVerdict, RuleVerdict};

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
    pub verdict: EnvironmentVerdict,
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
    pub verdict: RuleVerdict,
    /// The result in one sentence.
    pub summary: String,
    /// The findings, ordered by level.
    pub findings: Vec<FindingItem>,
}

/// One finding of a rule.
pub struct FindingItem {
    /// The number of the level, from 1; `None` if the finding concerns the whole environment.
    pub level: Option<u8>,
    pub verdict: RuleVerdict,
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
    let headline = headline(&report.games);
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

/// Returns the verdict on all environments in a few words.
fn headline(games: &[ValidatedGame]) -> String {
    let count = |verdict: EnvironmentVerdict| {
        let same = |game: &&ValidatedGame| game.verdict == verdict;
        games.iter().filter(same).count()
    };
    let failed = count(EnvironmentVerdict::Fail);
    let incomplete = count(EnvironmentVerdict::Incomplete);
    match (games.len(), failed, incomplete) {
        (1, 0, 0) => "passes".to_owned(),
        (1, 0, _) => "incomplete".to_owned(),
        (1, ..) => "fails".to_owned(),
        (all, 0, 0) => format!("all {all} environments pass"),
        (all, 0, incomplete) => format!("{incomplete} of {all} environments incomplete"),
        (all, failed, 0) => format!("{failed} of {all} environments fail"),
        (all, failed, incomplete) => {
            format!("{failed} of {all} environments fail, {incomplete} incomplete")
        }
    }
}

#[derive(Template)]
#[template(path = "validation.html")]
struct Page<'a> {
    title: String,
    report: &'a ValidationPage,
    games: Vec<GameView<'a>>,
}

impl ValidatedGame {
    fn badge(&self) -> Badge {
        self.verdict.into()
    }

    /// Returns the numbers of rules that fail, warn, pass and are open.
    fn rule_counts(&self) -> [usize; 4] {
        use RuleVerdict::{Fail, Open, Pass, Warn};
        [Fail, Warn, Pass, Open].map(|verdict| {
            let same = |rule: &&RuleSection| rule.verdict == verdict;
            self.rules.iter().filter(same).count()
        })
    }
}

impl RuleSection {
    fn badge(&self) -> Badge {
        self.verdict.into()
    }
}

impl FindingItem {
    fn badge(&self) -> Badge {
        self.verdict.into()
    }
}

/// A verdict as a sign and a word, so that it is not conveyed by colour alone.
struct Badge {
    sign: &'static str,
    word: &'static str,
}

impl From<EnvironmentVerdict> for Badge {
    fn from(verdict: EnvironmentVerdict) -> Self {
        Self {
            sign: match verdict {
                EnvironmentVerdict::Pass => "✓",
                EnvironmentVerdict::Fail => "✕",
                EnvironmentVerdict::Incomplete => "–",
            },
            word: verdict.name(),
        }
    }
}

impl From<RuleVerdict> for Badge {
    fn from(verdict: RuleVerdict) -> Self {
        Self {
            sign: match verdict {
                RuleVerdict::Pass => "✓",
                RuleVerdict::Warn => "!",
                RuleVerdict::Fail => "✕",
                RuleVerdict::Open => "–",
            },
            word: verdict.name(),
        }
    }
}

/// A game with its pictures.
struct GameView<'a> {
    game_id: &'a str,
    badge: Badge,
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
            badge: game.badge(),
            subtitle: &game.subtitle,
            levels: levels.collect::<Result<_, _>>()?,
            rules,
        })
    }
}

impl RuleView<'_> {
    /// Whether the findings are visible at first.
    fn is_open(&self) -> bool {
        matches!(self.rule.verdict, RuleVerdict::Fail | RuleVerdict::Warn)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_escaped() {
        let finding = FindingItem {
            level: Some(2),
            verdict: RuleVerdict::Fail,
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
            verdict: RuleVerdict::Fail,
            summary: "level 2: it did".to_owned(),
            findings: vec![finding],
        };
        let game = ValidatedGame {
            game_id: "ab12-v1".to_owned(),
            verdict: EnvironmentVerdict::Fail,
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

    #[test]
    fn headline_names_incomplete_environments() {
        use EnvironmentVerdict::{Fail, Incomplete, Pass};
        let title = |verdicts: &[EnvironmentVerdict]| {
            let game = |&verdict: &EnvironmentVerdict| ValidatedGame {
                game_id: "ab12-v1".to_owned(),
                verdict,
                subtitle: String::new(),
                levels: Vec::new(),
                rules: Vec::new(),
            };
            headline(&verdicts.iter().map(game).collect::<Vec<_>>())
        };
        assert_eq!(title(&[Incomplete]), "incomplete");
        assert_eq!(title(&[Pass, Pass]), "all 2 environments pass");
        assert_eq!(title(&[Pass, Incomplete]), "1 of 2 environments incomplete");
        assert_eq!(
            title(&[Fail, Pass, Incomplete]),
            "1 of 3 environments fail, 1 incomplete"
        );
    }
}
