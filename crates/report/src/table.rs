//! The result of a run as a plain-text table for a terminal.
//!
//! Invariants: no line is wider than the requested width (at least 56 columns), and no control
//! character reaches the terminal, whatever the names of environments and agents contain.

use std::fmt::Write as _;

use rhae_protocol::{RunSummary, Scorecard, is_replay};

use crate::result::{Row, count, interval, missing, rows, spent_text, tally, total};

/// The minimum width at which every column fits.
const MIN_WIDTH: usize = 56;

/// Formats the table: one line for each environment, a total, and notes that qualify the numbers.
///
/// With several cards every number is a mean over the cards. A `width` below 56 is treated as 56.
///
/// # Examples
///
/// ```
/// use rhae_protocol::{RunSummary, Scorecard};
/// use rhae_report::card_table;
///
/// let card: Scorecard = serde_json::from_str(r#"{
///     "card_id": "c1", "score": 6.25, "method": "docs-2026-04", "software": "rhae 0.1.0",
///     "environments": [], "total_environments_completed": 0, "total_environments": 1,
///     "total_levels_completed": 1, "total_levels": 2, "total_actions": 47
/// }"#)?;
/// let summary: RunSummary = serde_json::from_str(r#"{
///     "software": "rhae 0.1.0", "run_id": "r1", "agent": "random", "seed": 7,
///     "method": "docs-2026-04", "budget": "5x", "score": 6.25, "card_scores": [6.25],
///     "finished": true, "failed_plays": 0, "provisional_baselines": false,
///     "environments": [{
///         "game_id": "ab12-v1", "score": 6.25, "levels_completed": 1.0, "levels": 2,
///         "actions": 47.0, "baseline_actions": [10, 12], "baseline_source": ["solver", "solver"],
///         "endings": ["budget"]
///     }],
///     "folder": "runs/x", "report": "runs/x/report.html", "seconds": 0.8
/// }"#)?;
/// let table = card_table(&[card], &summary, 80);
/// assert_eq!(table, "\
/// environment  score %  levels  actions  ended
/// ─────────────────────────────────────────────
/// ab12-v1         6.25     1/2       47  budget
/// ─────────────────────────────────────────────
/// total           6.25     1/2       47
/// ");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn card_table(cards: &[Scorecard], summary: &RunSummary, width: usize) -> String {
    let width = width.max(MIN_WIDTH);
    let rows = rows(cards, summary);
    let header = ["environment", "score %", "levels", "actions", "ended"].map(str::to_owned);
    let mut lines = vec![header];
    lines.extend(rows.iter().map(|row| cells(row, cards.len())));
    let total_line = lines.len();
    let mut all = Row {
        score: summary.score,
        ..total(&rows)
    };
    if let Some(valid) = &summary.valid_results {
        all.name = format!("total (n = {})", valid.of);
    }
    lines.push(cells(&all, cards.len()));
    if let Some(valid) = missing(summary) {
        let score = valid
            .score
            .map_or_else(|| "–".to_owned(), |score| format!("{score:.2}"));
        let name = format!("valid (n = {})", valid.n);
        lines.push([name, score, String::new(), String::new(), String::new()]);
    }
    let mut widths: [usize; 5] = std::array::from_fn(|column| {
        lines
            .iter()
            .map(|line| line[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    // If the table is too wide, the first column is shortened, then the last.
    let gaps = 2 * (widths.len() - 1);
    let numbers: usize = widths[1..4].iter().sum();
    widths[0] = widths[0].min(
        width
            .saturating_sub(numbers + gaps + widths[4].min(8))
            .max(7),
    );
    widths[4] = widths[4].min(width.saturating_sub(numbers + gaps + widths[0]));

    let mut text = String::new();
    let rule = "─".repeat(width.min(widths.iter().sum::<usize>() + gaps));
    for (index, line) in lines.iter().enumerate() {
        if index == 1 || index == total_line {
            let _ = writeln!(text, "{rule}");
        }
        let mut out = String::new();
        for (column, cell) in line.iter().enumerate() {
            let (cell, room) = (shortened(cell, widths[column]), widths[column]);
            let _ = match column {
                0 => write!(out, "{cell:<room$}"),
                4 => write!(out, "  {cell}"),
                _ => write!(out, "  {cell:>room$}"),
            };
        }
        let line: String = out.trim_end().chars().take(width).collect();
        let _ = writeln!(text, "{line}");
    }
    for note in notes(cards, summary) {
        text.push('\n');
        for line in wrap_text(&note, width) {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn cells(row: &Row, cards: usize) -> [String; 5] {
    [
        clean(&row.name),
        format!("{:.2}", row.score),
        format!("{}/{}", count(row.levels_completed, cards), row.levels),
        count(row.actions, cards),
        clean(&tally(&row.endings)),
    ]
}

/// Returns the notes that qualify the numbers, the most important first.
fn notes(cards: &[Scorecard], summary: &RunSummary) -> Vec<String> {
    let mut notes = Vec::new();
    if is_replay(&summary.agent) {
        notes.push(REPLAY_NOTE.to_owned());
    }
    if cards.len() > 1 {
        let interval = interval(summary).map_or_else(String::new, |[low, high]| {
            format!(" (95 % interval of the mean: {low:.2} to {high:.2})")
        });
        notes.push(format!(
            "Score {:.2} %{interval} over {} repeats; all numbers are means.",
            summary.score,
            cards.len()
        ));
    }
    if let Some(spent) = &summary.spent {
        notes.push(format!("Spent: {}.", spent_text(spent, summary)));
    }
    if !summary.finished {
        notes.push("The run did not finish: some plays are missing or cut short.".to_owned());
    }
    match summary.failed_plays {
        0 => {}
        1 => notes.push("1 play ended because the agent failed.".to_owned()),
        failed => notes.push(format!("{failed} plays ended because the agent failed.")),
    }
    match summary.failed_environments {
        0 => {}
        1 => notes.push("1 play ended because the environment failed.".to_owned()),
        failed => notes.push(format!(
            "{failed} plays ended because the environment failed."
        )),
    }
    if let Some(valid) = missing(summary) {
        notes.push(missing_note(valid.of - valid.n));
    }
    if summary.provisional_baselines {
        notes.push(PROVISIONAL_BASELINES_NOTE.to_owned());
    }
    notes
}

/// Explains the two totals of a run in which results are missing.
pub(crate) fn missing_note(missing: u32) -> String {
    let results = if missing == 1 {
        "1 result is missing. It counts as 0 in the total and is".to_owned()
    } else {
        format!("{missing} results are missing. They count as 0 in the total and are")
    };
    format!("{results} left out of the valid results.")
}

/// The note that accompanies every score of a repeated recording.
pub const REPLAY_NOTE: &str =
    "Replay: the actions were recorded earlier. The score says nothing about an agent.";

/// The note that accompanies every score with a baseline that is not derived from plays by people.
pub const PROVISIONAL_BASELINES_NOTE: &str = "Baselines are provisional: those of source `solver` are twice the optimal count found by search, because no people have played these levels yet.";

/// Replaces control characters and marks that change the writing direction.
fn clean(text: &str) -> String {
    let hostile = |c: char| {
        c.is_control()
            || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| if hostile(c) { '\u{FFFD}' } else { c })
        .collect()
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars()
        .take(width.saturating_sub(1))
        .chain((width > 0).then_some('…'))
        .collect()
}

/// Breaks a text between words into lines of at most `width` characters. A word that is longer than
/// `width` is not broken.
///
/// ```
/// assert_eq!(rhae_report::wrap_text("one two three", 8), ["one two", "three"]);
/// ```
pub fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{Ending, ValidResults};

    use super::*;
    use crate::run_page::tests::report;

    #[test]
    fn single_card_fits_eighty_columns() {
        let report = report(1);
        insta::assert_snapshot!(card_table(&report.cards, &report.summary, 80));
    }

    #[test]
    fn interruption_and_failures_are_noted() {
        let mut report = report(3);
        report.summary.finished = false;
        report.summary.failed_plays = 2;
        report.summary.environments[1].endings =
            vec![Ending::Budget, Ending::Failed, Ending::Failed];
        insta::assert_snapshot!(card_table(&report.cards, &report.summary, 80));
    }

    #[test]
    fn total_is_shown_over_all_and_over_valid_results() {
        let mut report = report(3);
        report.summary.failed_environments = 2;
        report.summary.environments[1].endings = vec![
            Ending::Budget,
            Ending::EnvironmentFailed,
            Ending::EnvironmentFailed,
        ];
        report.summary.valid_results = Some(ValidResults {
            score: Some(66.125),
            n: 4,
            of: 6,
        });
        // The interval does not leave the range of scores.
        (report.summary.score, report.summary.score_half_width) = (0.08, Some(0.98));
        report.summary.score_interval = None;
        insta::assert_snapshot!(card_table(&report.cards, &report.summary, 80));
        report.summary.valid_results = Some(ValidResults {
            score: None,
            n: 0,
            of: 6,
        });
        let table = card_table(&report.cards, &report.summary, 80);
        assert!(table.contains("valid (n = 0)        –\n"), "{table}");
    }

    #[test]
    fn lines_fit_the_width_and_control_characters_are_replaced() {
        let mut report = report(2);
        for environment in &mut report.summary.environments {
            environment.game_id = "\u{1b}[31mred\u{202e}\n".repeat(20);
            environment.endings = vec![
                "won\r".into(),
                "\u{7}failed at something rather long".repeat(4).into(),
            ];
        }
        for width in [0, 56, 60, 80, 132] {
            let table = card_table(&report.cards, &report.summary, width);
            assert!(
                table
                    .lines()
                    .all(|line| line.chars().count() <= width.max(MIN_WIDTH)),
                "{table}"
            );
            assert!(
                table
                    .chars()
                    .all(|c| c == '\n' || !c.is_control() && c != '\u{202e}')
            );
            assert_eq!(
                table.lines().filter(|line| line.contains("[31m")).count(),
                2
            );
        }
    }
}
