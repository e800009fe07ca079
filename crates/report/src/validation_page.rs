//! The HTML report of a validation: the verdict of every rule, its findings, and pictures of the
//! evidence.

use std::fmt::Write as _;

use rhae_engine::Frame;
use rhae_protocol::base64;

use crate::html::{Escaped, page};
use crate::picture::{PictureError, contact_sheet};

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
    let strict = if report.strict {
        " · strict: any win by luck fails"
    } else {
        ""
    };
    let mut body = format!(
        "<main>\n<header class=\"plain\">\n<h1>{}</h1>\n<p class=\"quiet\">{}{strict}</p>\n</header>\n",
        Escaped(&title),
        Escaped(&report.software)
    );
    if report.games.len() > 1 {
        overview(&mut body, &report.games);
    }
    for game in &report.games {
        section(&mut body, game)?;
    }
    body.push_str("</main>");
    Ok(page(&title, "validation", &body))
}

fn count(game: &ValidatedGame, verdict: &str) -> usize {
    game.rules
        .iter()
        .filter(|rule| rule.verdict == verdict)
        .count()
}

fn overview(body: &mut String, games: &[ValidatedGame]) {
    body.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th>Environment</th><th></th><th class=\"num\">Fail</th><th class=\"num\">Warn</th>\
         <th class=\"num\">Pass</th><th class=\"num\">Open</th></tr></thead>\n<tbody>\n",
    );
    for game in games {
        let _ = write!(
            body,
            "<tr><td><a href=\"#{id}\"><code>{id}</code></a></td><td>{}</td>",
            badge(game.verdict),
            id = Escaped(&game.game_id)
        );
        for verdict in ["fail", "warn", "pass", "open"] {
            let _ = write!(body, "<td class=\"num\">{}</td>", count(game, verdict));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
}

/// Returns a verdict as a sign and a word, so that it is not conveyed by colour alone.
fn badge(verdict: &str) -> String {
    let sign = match verdict {
        "pass" => "✓",
        "warn" => "!",
        "fail" => "✕",
        _ => "–",
    };
    format!("<span class=\"verdict {verdict}\"><b aria-hidden=\"true\">{sign}</b>{verdict}</span>")
}

fn section(body: &mut String, game: &ValidatedGame) -> Result<(), PictureError> {
    let _ = writeln!(
        body,
        "<section id=\"{id}\">\n<h2><code>{id}</code> {}<small>{}</small></h2>",
        badge(game.verdict),
        Escaped(&game.subtitle),
        id = Escaped(&game.game_id),
    );
    if !game.levels.is_empty() {
        body.push_str("<ol class=\"frames\">\n");
        for (index, frame) in game.levels.iter().enumerate() {
            let _ = writeln!(
                body,
                "<li>{}<span class=\"quiet\">level {}</span></li>",
                picture(&[frame], 2)?,
                index + 1
            );
        }
        body.push_str("</ol>\n");
    }
    let mut group = "";
    for rule in &game.rules {
        if rule.group != group {
            group = rule.group;
            let _ = writeln!(body, "<h3>{group}</h3>");
        }
        let open = if matches!(rule.verdict, "fail" | "warn") {
            " open"
        } else {
            ""
        };
        let _ = writeln!(
            body,
            "<details class=\"fold rule\"{open}>\n<summary>{}<code>{}</code><span>{}</span></summary>\n<p class=\"quiet asks\">{}</p>",
            badge(rule.verdict),
            rule.name,
            Escaped(&rule.summary),
            Escaped(rule.requirement),
        );
        findings(body, rule)?;
        body.push_str("</details>\n");
    }
    body.push_str("</section>\n");
    Ok(())
}

fn findings(body: &mut String, rule: &RuleSection) -> Result<(), PictureError> {
    body.push_str("<ul class=\"findings\">\n");
    for finding in &rule.findings {
        let level = finding.level.map_or_else(String::new, |level| {
            format!("<span class=\"quiet\">level {level}</span> ")
        });
        let _ = writeln!(
            body,
            "<li>{} {level}<span>{}</span>",
            badge(finding.verdict),
            Escaped(&finding.text)
        );
        for evidence in finding
            .evidence
            .iter()
            .filter(|evidence| !evidence.frames.is_empty())
        {
            let frames: Vec<&Frame> = evidence.frames.iter().collect();
            let last = evidence
                .last
                .as_ref()
                .map_or_else(String::new, |last| format!(", the last is {last}"));
            let _ = writeln!(
                body,
                "<figure>{}<figcaption class=\"quiet\">{} ({} actions{})",
                picture(&frames, 2)?,
                Escaped(&evidence.caption),
                evidence.actions,
                Escaped(&last)
            );
            if let Some(replay) = &evidence.replay {
                let _ = write!(body, "<br><code>{}</code>", Escaped(replay));
            }
            body.push_str("</figcaption></figure>\n");
        }
        body.push_str("</li>\n");
    }
    body.push_str("</ul>\n");
    Ok(())
}

fn picture(frames: &[&Frame], zoom: usize) -> Result<String, PictureError> {
    let data = base64(&contact_sheet(frames, frames.len(), 1)?);
    let (gap, count) = (if frames.len() == 1 { 0 } else { 2 }, frames.len());
    let (width, height) = (zoom * (count * (64 + gap) + gap), zoom * (64 + 2 * gap));
    Ok(format!(
        "<img alt=\"\" width=\"{width}\" height=\"{height}\" style=\"image-rendering:pixelated\" src=\"data:image/png;base64,{data}\">"
    ))
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
