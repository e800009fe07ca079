//! The parts of the report about individual plays: levels, failures and recordings.

use std::fmt::Write as _;

use rhae_protocol::{Ending, EnvironmentScore, ModelUsage, RunScore, Scorecard};

use super::{PlayFilm, RunReport};
use crate::html::Escaped;
use crate::replay_page::player;
use crate::result::{best_index, dollars, find, grouped};

/// A play that ended because the agent failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure<'a> {
    pub(super) repeat: usize,
    pub(super) game_id: &'a str,
    pub(super) message: Option<&'a str>,
}

/// Returns every failed play once. Failures are taken from the cards and, if a card does not
/// mention a failure, from the recordings.
pub(super) fn failures(report: &RunReport) -> Vec<Failure<'_>> {
    let mut failures: Vec<Failure<'_>> = Vec::new();
    for (index, card) in report.cards.iter().enumerate() {
        for run in card
            .environments
            .iter()
            .flat_map(|environment| &environment.runs)
            .filter(|run| is_failed(run))
        {
            failures.push(Failure {
                repeat: index + 1,
                game_id: &run.id,
                message: run.message.as_deref(),
            });
        }
    }
    for play in report
        .films
        .iter()
        .filter(|play| play.ending == Some(Ending::Failed))
    {
        let repeat = play.repeat as usize;
        if !failures
            .iter()
            .any(|known| known.repeat == repeat && known.game_id == play.game_id)
        {
            failures.push(Failure {
                repeat,
                game_id: &play.game_id,
                message: play.message.as_deref(),
            });
        }
    }
    failures
}

fn is_failed(run: &RunScore) -> bool {
    run.ending == Some(Ending::Failed)
}

/// Writes a table of the levels of each card. With several cards each table can be collapsed.
pub(super) fn levels(body: &mut String, report: &RunReport) {
    body.push_str("<section>\n<h2>Levels</h2>\n");
    for (index, card) in report.cards.iter().enumerate() {
        if report.cards.len() > 1 {
            let open = if index == 0 { " open" } else { "" };
            let _ = writeln!(
                body,
                "<details class=\"fold\"{open}><summary>Repeat {} <span class=\"quiet\">{:.2} %</span></summary>",
                index + 1,
                card.score
            );
        }
        level_table(body, report, index + 1, card);
        if report.cards.len() > 1 {
            body.push_str("</details>\n");
        }
    }
    body.push_str("<p class=\"quiet note\">✕ not completed. Unchanged actions changed nothing but were counted.</p>\n</section>\n");
}

fn level_table(body: &mut String, report: &RunReport, repeat: usize, card: &Scorecard) {
    let head = if card.spent.is_some() {
        "<th class=\"num\">Tokens</th><th class=\"num\">Cost</th>"
    } else {
        ""
    };
    let _ = writeln!(
        body,
        "<div class=\"wide\"><table class=\"levels\">\n<thead><tr><th>Environment</th><th class=\"num\">Level</th><th class=\"num\">Actions</th>\
         <th class=\"num\" title=\"Actions that changed nothing\">Unchanged</th><th class=\"num\">Baseline</th><th>Source</th>\
         <th class=\"num\">Score %</th>{head}</tr></thead>",
    );
    for environment in &card.environments {
        let Some(best) = best_index(environment) else {
            continue;
        };
        let tallies = film_of(report, repeat, &environment.id).map(|play| play.film.tallies());
        let unchanged = tallies.as_ref().and_then(|runs| runs.get(best));
        body.push_str("<tbody>\n");
        for level in 0..environment.level_count as usize {
            let unchanged = unchanged
                .and_then(|levels| levels.get(level))
                .map(|tally| tally.unchanged);
            let spent = environment.runs[best]
                .level_spent
                .get(level)
                .filter(|spent| spent.calls > 0);
            level_row(
                body,
                environment,
                best,
                level,
                unchanged,
                &spent_cells(card, spent),
            );
        }
        body.push_str("</tbody>\n");
    }
    body.push_str("</table></div>\n");
}

/// Returns the table cells with the model usage on a level; empty if no model played.
fn spent_cells(card: &Scorecard, spent: Option<&ModelUsage>) -> String {
    let cells = |tokens: &str, cost: &str| {
        format!("<td class=\"num\">{tokens}</td><td class=\"num\">{cost}</td>")
    };
    match (card.spent, spent) {
        (None, _) => String::new(),
        (Some(_), None) => cells("–", "–"),
        (Some(_), Some(spent)) => cells(
            &grouped(spent.input_tokens.saturating_add(spent.output_tokens)),
            &dollars(spent),
        ),
    }
}

fn level_row(
    body: &mut String,
    environment: &EnvironmentScore,
    best: usize,
    level: usize,
    unchanged: Option<u64>,
    spent: &str,
) {
    let run = &environment.runs[best];
    let completed = level < run.levels_completed as usize;
    let actions = run.level_actions.get(level).copied().unwrap_or(0);
    let reached = completed || actions > 0;
    let name = match (level, environment.runs.len()) {
        (0, 1) => format!("<code>{}</code>", Escaped(&environment.id)),
        (0, runs) => format!(
            "<code>{}</code> <span class=\"quiet\">best of {runs} runs</span>",
            Escaped(&environment.id)
        ),
        _ => String::new(),
    };
    let dash = || "–".to_owned();
    let actions = match (reached, completed) {
        (false, _) => dash(),
        (true, true) => actions.to_string(),
        (true, false) => {
            format!("<span class=\"quiet\" title=\"not completed\">✕</span> {actions}")
        }
    };
    let unchanged = unchanged
        .filter(|_| reached)
        .map_or_else(dash, |unchanged| unchanged.to_string());
    let baseline = run
        .level_baseline_actions
        .get(level)
        .filter(|&&baseline| baseline > 0)
        .map_or_else(dash, i64::to_string);
    let source = environment
        .baseline_source
        .get(level)
        .map_or("–", String::as_str);
    let score = run
        .level_scores
        .get(level)
        .filter(|_| reached)
        .map_or_else(dash, |score| format!("{score:.2}"));
    let _ = writeln!(
        body,
        "<tr{}><td>{name}</td><td class=\"num\">{}</td><td class=\"num\">{actions}</td><td class=\"num\">{unchanged}</td>\
         <td class=\"num\">{baseline}</td><td>{}</td><td class=\"num\">{score}</td>{spent}</tr>",
        if reached { "" } else { " class=\"faint\"" },
        level + 1,
        Escaped(source),
    );
}

/// Writes a collapsed player for each recording, ordered by repeat.
pub(super) fn recordings(body: &mut String, report: &RunReport) {
    if report.films.is_empty() {
        return;
    }
    body.push_str("<section class=\"recordings\">\n<h2>Recordings</h2>\n");
    let mut plays: Vec<&PlayFilm> = report.films.iter().collect();
    plays.sort_by_key(|play| play.repeat);
    let mut repeat = None;
    for play in plays {
        if report.cards.len() > 1 && repeat != Some(play.repeat) {
            let _ = writeln!(body, "<h3>Repeat {}</h3>", play.repeat);
            repeat = Some(play.repeat);
        }
        recording(body, report, play);
    }
    body.push_str("</section>\n");
}

fn recording(body: &mut String, report: &RunReport, play: &PlayFilm) {
    let card = (play.repeat as usize)
        .checked_sub(1)
        .and_then(|index| report.cards.get(index));
    let score = card
        .and_then(|card| find(card, &play.game_id))
        .map_or_else(String::new, |environment| {
            format!("{:.2} %", environment.score)
        });
    let levels = play
        .film
        .moments
        .iter()
        .map(|moment| moment.levels_completed)
        .max()
        .unwrap_or(0);
    let _ = writeln!(
        body,
        "<details class=\"play\"><summary><code>{}</code><span class=\"num\">{score}</span><span class=\"num\">{levels} / {} levels</span>\
         <span class=\"num\">{} actions</span><span>{}</span></summary>",
        Escaped(&play.game_id),
        play.film.win_levels,
        play.film.actions(),
        Escaped(play.ending.as_ref().map_or("", Ending::name)),
    );
    if let Some(message) = &play.message {
        let _ = writeln!(body, "<p class=\"message\">{}</p>", Escaped(message));
    }
    let _ = writeln!(body, "{}\n</details>", player(&play.film));
}

fn film_of<'a>(report: &'a RunReport, repeat: usize, game_id: &str) -> Option<&'a PlayFilm> {
    report
        .films
        .iter()
        .find(|play| play.repeat as usize == repeat && play.game_id == game_id)
}
