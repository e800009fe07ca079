//! The page of a scorecard. It shows the score with the sources of its baselines, tables and plots
//! of the environments and levels, and every run with a link to its replay.
//!
//! Invariant: everything that qualifies the score (provisional baselines, a card that is still
//! open) is stated directly below it.

use std::fmt::Write as _;

use rhae_protocol::{Ending, EnvironmentScore, RunScore, Scorecard};
use rhae_report::{Escaped, PROVISIONAL_BASELINES_NOTE, actions_plot, completion_plot};

use crate::page::{NavItem, Page, Viewer, time};
use crate::replay_page::state;
use crate::tree::tree;

/// A scorecard and its times.
#[derive(Clone, Debug)]
pub struct CardView {
    pub card: Scorecard,
    /// RFC 3339.
    pub opened_at: String,
    /// RFC 3339; `None` while the card is open.
    pub closed_at: Option<String>,
}

/// Renders the page of a scorecard.
pub fn card_page(viewer: Viewer, view: &CardView) -> String {
    let card = &view.card;
    let mut body = String::new();
    headline(&mut body, view);
    notices(&mut body, view);
    environments(&mut body, card);
    let cards = std::slice::from_ref(card);
    let plot = |title: &str, svg: String| {
        format!(
            "<section><h2>{title}</h2>\n<figure class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\">{svg}</figure></section>\n"
        )
    };
    if card
        .environments
        .iter()
        .any(|environment| environment.runs.iter().any(|run| run.actions > 0))
    {
        body.push_str(&plot("Completion by level", completion_plot(cards)));
        body.push_str(&plot("Actions against the baseline", actions_plot(cards)));
    }
    levels(&mut body, card);
    runs(&mut body, card);
    if let Some(opaque) = &card.opaque {
        let _ = writeln!(
            body,
            "<section><h2>Author's data</h2>{}</section>",
            tree(opaque)
        );
    }
    Page {
        title: "Scorecard",
        nav: NavItem::Cards,
        viewer,
        script: None,
        preload: None,
        body,
    }
    .html()
}

fn headline(body: &mut String, view: &CardView) {
    let card = &view.card;
    let id = Escaped(&card.card_id);
    let _ = writeln!(
        body,
        "<header class=\"result\"><div class=\"score\"><h1>Scorecard</h1>\n<p class=\"number\"><data data-show=\"score\" value=\"{}\">{:.2}</data><small> %</small></p>\n\
         <p class=\"quiet\">Relative human action efficiency</p>\n<p class=\"downloads\"><a class=\"button\" href=\"/scorecards/{id}/scorecard.json\" download=\"{id}.json\">JSON</a> \
         <a class=\"button\" href=\"/scorecards/{id}/scorecard.csv\" download=\"{id}.csv\">CSV</a></p></div>\n<dl class=\"facts\">",
        card.score, card.score
    );
    let tags: String = card
        .tags
        .iter()
        .map(|tag| format!("<span class=\"tag\">{}</span>", Escaped(tag)))
        .collect();
    let of = |done: u32, all: u32| format!("{done}<span class=\"quiet\"> / {all}</span>");
    let facts = [
        (
            "Method",
            Some(format!("<code>{}</code>", Escaped(&card.method))),
        ),
        ("Baselines", Some(Escaped(&sources(card)).to_string())),
        (
            "Environments won",
            Some(of(
                card.total_environments_completed,
                card.total_environments,
            )),
        ),
        (
            "Levels completed",
            Some(of(card.total_levels_completed, card.total_levels)),
        ),
        (
            "Actions",
            Some(format!(
                "<data data-show=\"actions\" value=\"{0}\">{0}</data>",
                card.total_actions
            )),
        ),
        ("Tags", Some(tags).filter(|tags| !tags.is_empty())),
        ("Opened", Some(time(&view.opened_at))),
        (
            "Closed",
            Some(
                view.closed_at
                    .as_deref()
                    .map_or_else(|| "open".to_owned(), time),
            ),
        ),
        ("Software", Some(Escaped(&card.software).to_string())),
        ("Source", card.source_url.as_deref().map(link)),
        ("Id", Some(format!("<code>{id}</code>"))),
    ];
    for (name, value) in facts
        .into_iter()
        .filter_map(|(name, value)| value.map(|value| (name, value)))
    {
        let class = if matches!(name, "Id" | "Source") {
            " class=\"line\""
        } else {
            ""
        };
        let _ = writeln!(body, "<div{class}><dt>{name}</dt><dd>{value}</dd></div>");
    }
    body.push_str("</dl></header>\n");
}

/// Renders a URL given by the author. It becomes a link only if it is an HTTP address.
fn link(url: &str) -> String {
    let text = Escaped(url);
    let web = url.starts_with("https://") || url.starts_with("http://");
    if web {
        format!("<a href=\"{text}\" rel=\"nofollow noopener noreferrer\">{text}</a>")
    } else {
        text.to_string()
    }
}

/// Lists the sources of the baselines, with the number of levels for each.
fn sources(card: &Scorecard) -> String {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for source in card
        .environments
        .iter()
        .flat_map(|environment| &environment.baseline_source)
    {
        match counted.iter_mut().find(|(name, _)| name == source) {
            Some((_, count)) => *count += 1,
            None => counted.push((source, 1)),
        }
    }
    if counted.is_empty() {
        return "none".to_owned();
    }
    counted
        .iter()
        .map(|(name, count)| format!("{name} ({count} levels)"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn notices(body: &mut String, view: &CardView) {
    if view.closed_at.is_none() {
        body.push_str(
            "<p class=\"notice\"><strong>This scorecard is open.</strong> Its plays may continue and its results may change.</p>\n",
        );
    }
    if view.card.competition_mode == Some(true) {
        body.push_str("<p class=\"notice\"><strong>Competition.</strong> Each environment could be played once. Unplayed environments count as 0.</p>\n");
    }
    let provisional = |environment: &EnvironmentScore| {
        environment
            .baseline_source
            .iter()
            .any(|source| source.starts_with("solver"))
    };
    if view.card.environments.iter().any(provisional) {
        let text = Escaped(PROVISIONAL_BASELINES_NOTE)
            .to_string()
            .replace("`solver`", "<code>solver</code>");
        let _ = writeln!(body, "<p class=\"notice\">{text}</p>");
    }
}

/// Renders a table with a heading. The user can scroll a table that is too wide with the keyboard.
fn table(body: &mut String, title: &str, head: &str, rows: &str) {
    let _ = writeln!(
        body,
        "<section><h2>{title}</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{title}\"><table>\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div></section>"
    );
}

fn head(names: &[(&str, bool)]) -> String {
    let cell = |&(name, number): &(&str, bool)| {
        let class = if number { " class=\"num\"" } else { "" };
        format!("<th scope=\"col\"{class}>{name}</th>")
    };
    names.iter().map(cell).collect()
}

fn environments(body: &mut String, card: &Scorecard) {
    let mut rows = String::new();
    for environment in &card.environments {
        let _ = writeln!(
            rows,
            "<tr data-environment=\"{id}\"><td><code>{id}</code></td><td class=\"num\"><data value=\"{}\">{:.2}</data></td>\
             <td class=\"num\">{}<span class=\"quiet\"> / {}</span></td><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td></tr>",
            environment.score,
            environment.score,
            environment.levels_completed,
            environment.level_count,
            environment.actions,
            environment.resets,
            environment
                .runs
                .iter()
                .filter(|run| !run.guid.is_empty())
                .count(),
            id = Escaped(&environment.id),
        );
    }
    if rows.is_empty() {
        body.push_str(
            "<p class=\"quiet\">No environment has been played on this scorecard yet.</p>\n",
        );
        return;
    }
    let names = [
        ("Environment", false),
        ("Score %", true),
        ("Levels", true),
        ("Actions", true),
        ("Level resets", true),
        ("Runs", true),
    ];
    table(body, "Environments", &head(&names), &rows);
}

/// Returns the run that determines the environment's score: the first of those with the highest
/// score.
fn best(environment: &EnvironmentScore) -> Option<&RunScore> {
    environment
        .runs
        .iter()
        .reduce(|best, run| if run.score > best.score { run } else { best })
}

fn levels(body: &mut String, card: &Scorecard) {
    let mut rows = String::new();
    for environment in &card.environments {
        let Some(run) = best(environment).filter(|run| run.actions > 0) else {
            continue;
        };
        for level in 0..run.level_actions.len() {
            let actions = run.level_actions[level];
            let completed = level < run.levels_completed as usize;
            if !completed && actions == 0 {
                continue;
            }
            let baseline = run
                .level_baseline_actions
                .get(level)
                .filter(|&&baseline| baseline > 0);
            let name = if level == 0 {
                format!("<code>{}</code>", Escaped(&environment.id))
            } else {
                String::new()
            };
            let _ = writeln!(
                rows,
                "<tr><td>{name}</td><td class=\"num\">{}</td><td class=\"num\">{actions}</td><td class=\"num\">{}</td><td>{}</td>\
                 <td class=\"num\">{:.2}</td><td>{}</td></tr>",
                level + 1,
                baseline.map_or_else(|| "–".to_owned(), ToString::to_string),
                Escaped(
                    environment
                        .baseline_source
                        .get(level)
                        .map_or("–", String::as_str)
                ),
                run.level_scores.get(level).copied().unwrap_or(0.0),
                if completed {
                    "completed"
                } else {
                    "not completed"
                },
            );
        }
    }
    if !rows.is_empty() {
        let names = [
            ("Environment", false),
            ("Level", true),
            ("Actions", true),
            ("Baseline", true),
            ("Source", false),
            ("Score %", true),
            ("", false),
        ];
        table(
            body,
            "Levels of the best runs",
            &head(&names).replace("<th scope=\"col\"></th>", "<td></td>"),
            &rows,
        );
    }
}

fn runs(body: &mut String, card: &Scorecard) {
    let mut rows = String::new();
    for run in card
        .environments
        .iter()
        .flat_map(|environment| &environment.runs)
        .filter(|run| !run.guid.is_empty())
    {
        let note = run
            .ending
            .as_ref()
            .map(Ending::name)
            .or(run.message.as_deref())
            .unwrap_or_default();
        let _ = writeln!(
            rows,
            "<tr><td><code>{}</code></td><td class=\"num\">{:.2}</td><td class=\"num\">{}<span class=\"quiet\"> / {}</span></td><td class=\"num\">{}</td>\
             <td class=\"num\">{}</td><td>{}</td><td>{}</td><td><a href=\"/replay/{}\">replay</a></td></tr>",
            Escaped(&run.id),
            run.score,
            run.levels_completed,
            run.number_of_levels,
            run.actions,
            run.unchanged_actions,
            state(&run.state),
            Escaped(note),
            Escaped(&run.guid),
        );
    }
    if !rows.is_empty() {
        let names = [
            ("Environment", false),
            ("Score %", true),
            ("Levels", true),
            ("Actions", true),
            ("No effect", true),
            ("State", false),
            ("Ended", false),
            ("Replay", false),
        ];
        table(body, "Runs", &head(&names), &rows);
    }
}

/// Renders every level of every run as CSV. Free-form text of the author is not included.
pub fn card_csv(card: &Scorecard) -> String {
    let mut text = String::from(
        "environment,guid,state,run_score,run_actions,level,completed,actions,baseline,baseline_source,level_score\r\n",
    );
    for environment in &card.environments {
        for run in &environment.runs {
            for level in 0..run.level_actions.len() {
                let baseline = run
                    .level_baseline_actions
                    .get(level)
                    .filter(|&&baseline| baseline > 0);
                let _ = write!(
                    text,
                    "{},{},{},{},{},{},{},{},{},{},{}\r\n",
                    environment.id,
                    run.guid,
                    run.state,
                    run.score,
                    run.actions,
                    level + 1,
                    level < run.levels_completed as usize,
                    run.level_actions[level],
                    baseline.map_or_else(String::new, ToString::to_string),
                    environment
                        .baseline_source
                        .get(level)
                        .map_or("", String::as_str),
                    run.level_scores.get(level).copied().unwrap_or(0.0),
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> CardView {
        let run = serde_json::json!({
            "id": "ab12-v1", "guid": "g1", "score": 62.5, "levels_completed": 1, "actions": 19, "unchanged_actions": 2, "resets": 1,
            "state": "NOT_FINISHED", "completed": false, "level_scores": [81.25, 0.0], "level_actions": [12, 7],
            "level_baseline_actions": [10, 20], "number_of_levels": 2, "number_of_environments": 1, "ending": "<i>stopped</i>"
        });
        let card = serde_json::json!({
            "card_id": "c1", "score": 62.5, "method": "docs-2026-04", "software": "rhae", "source_url": "javascript:alert(1)",
            "tags": ["<script>"], "opaque": {"note": "<img src=x onerror=alert(1)>"}, "total_environments_completed": 0,
            "total_environments": 1, "total_levels_completed": 1, "total_levels": 2, "total_actions": 19,
            "environments": [{"id": "ab12-v1", "runs": [run], "score": 62.5, "actions": 19, "levels_completed": 1, "completed": false,
                "level_count": 2, "resets": 1, "baseline_source": ["solver", "humans"]}]
        });
        let card = serde_json::from_value(card).unwrap();
        CardView {
            card,
            opened_at: "2026-11-16T04:05:06Z".to_owned(),
            closed_at: None,
        }
    }

    #[test]
    fn card_shows_its_results_and_escapes_text() {
        let page = card_page(Viewer::KeyHolder, &view());
        for shown in [
            "value=\"62.5\">62.50<",
            "solver (1 levels), humans (1 levels)",
            "/replay/g1",
            "This scorecard is open",
            "62.50",
        ] {
            assert!(page.contains(shown), "{shown}");
        }
        for hostile in ["<script>", "<img src=x", "href=\"javascript", "<i>stopped"] {
            assert!(!page.contains(hostile), "{hostile}");
        }
        assert_eq!(page.matches("class=\"plot\"").count(), 2);
    }

    #[test]
    fn csv_has_one_line_per_level_and_run() {
        let text = card_csv(&view().card);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(
            lines[1],
            "ab12-v1,g1,NOT_FINISHED,62.5,19,1,true,12,10,solver,81.25"
        );
    }
}
