//! The report of a validation as a page: what holds, what does not, and pictures of what shows it.

use std::fmt::Write as _;

use rhae_engine::Frame;
use rhae_protocol::base64;

use crate::html::{Text, page};
use crate::picture::{PictureError, contact_sheet};

/// What the report of a validation is made from.
pub struct ValidationPage {
    /// What made it.
    pub software: String,
    /// Whether any win by luck failed.
    pub strict: bool,
    /// The environments in their order.
    pub games: Vec<ValidatedGame>,
}

/// One environment of the report.
pub struct ValidatedGame {
    /// Its id with the version.
    pub game_id: String,
    /// How it turned out: `pass`, `fail`, or `open` if it was interrupted.
    pub verdict: &'static str,
    /// How it was checked.
    pub subtitle: String,
    /// The first frame of each level.
    pub levels: Vec<Frame>,
    /// All rules, group by group.
    pub rules: Vec<ShownRule>,
}

/// A rule as it is shown.
pub struct ShownRule {
    /// What it is about.
    pub group: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it asks for.
    pub asks: &'static str,
    /// `pass`, `warn`, `fail` or `open`.
    pub verdict: &'static str,
    /// One sentence.
    pub summary: String,
    /// What was found, by level.
    pub findings: Vec<ShownFinding>,
}

/// A finding as it is shown.
pub struct ShownFinding {
    /// The level, from 1.
    pub level: Option<u8>,
    /// As of the rule.
    pub verdict: &'static str,
    /// A sentence for the author.
    pub text: String,
    /// What shows it.
    pub evidence: Vec<ShownEvidence>,
}

/// A play that shows a finding.
pub struct ShownEvidence {
    /// What it shows.
    pub shows: String,
    /// The command that shows its recording, if it was written.
    pub replay: Option<String>,
    /// How many actions it has, and the last in words.
    pub actions: usize,
    pub last: Option<String>,
    /// Its last pictures.
    pub frames: Vec<Frame>,
}

/// The report as a self-contained page.
pub fn validation_page(report: &ValidationPage) -> Result<String, PictureError> {
    let turned_out = |verdict: &str| {
        report
            .games
            .iter()
            .filter(|game| game.verdict == verdict)
            .count()
    };
    let headline = match (report.games.len(), turned_out("fail"), turned_out("open")) {
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
        Text(&title),
        Text(&report.software)
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
            id = Text(&game.game_id)
        );
        for verdict in ["fail", "warn", "pass", "open"] {
            let _ = write!(body, "<td class=\"num\">{}</td>", count(game, verdict));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
}

/// A verdict by shape and word, so that colour is never all that tells.
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
        Text(&game.subtitle),
        id = Text(&game.game_id),
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
            Text(&rule.summary),
            Text(rule.asks),
        );
        findings(body, rule)?;
        body.push_str("</details>\n");
    }
    body.push_str("</section>\n");
    Ok(())
}

fn findings(body: &mut String, rule: &ShownRule) -> Result<(), PictureError> {
    body.push_str("<ul class=\"findings\">\n");
    for finding in &rule.findings {
        let level = finding.level.map_or_else(String::new, |level| {
            format!("<span class=\"quiet\">level {level}</span> ")
        });
        let _ = writeln!(
            body,
            "<li>{} {level}<span>{}</span>",
            badge(finding.verdict),
            Text(&finding.text)
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
                Text(&evidence.shows),
                evidence.actions,
                Text(&last)
            );
            if let Some(replay) = &evidence.replay {
                let _ = write!(body, "<br><code>{}</code>", Text(replay));
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
    fn what_comes_from_outside_is_shown_and_not_run() {
        let finding = ShownFinding {
            level: Some(2),
            verdict: "fail",
            text: "the game raised <script>alert(1)</script>".to_owned(),
            evidence: vec![ShownEvidence {
                shows: "it".to_owned(),
                replay: None,
                actions: 3,
                last: Some("ACTION6 at 1, 2".to_owned()),
                frames: vec![Frame::filled(3)],
            }],
        };
        let rule = ShownRule {
            group: "robustness",
            name: "failures",
            asks: "No input makes it stop.",
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
