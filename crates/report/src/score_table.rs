//! Scores of static tasks as text for a terminal.
//!
//! The texts may contain names and messages from files. Callers pass them through
//! [`plain`] before they print them.

use std::fmt::Write as _;

use rhae_tasks::{ComparisonReport, DataReport, Measure, Protocol, Score, TaskId, Warning};

use crate::plain;

/// Number of warnings of one kind that are printed; further ones are only counted.
const MAX_SHOWN_WARNINGS: usize = 3;

/// Formats a score: its measures, its warnings and, if `tasks` is set, a line for each task.
pub fn score_table(protocol: Protocol, score: &Score, tasks: bool) -> String {
    let mut text = format!(
        "{}, revision {}, {} tasks, {} test inputs, {} attempts, parser {}\n\n",
        score.set,
        &score.revision[..12],
        score.tasks,
        score.test_inputs,
        score.attempts,
        score.parser
    );
    text += &score_measures(score, protocol.headline());
    if tasks {
        let id = |task: &TaskId| {
            if protocol == Protocol::Plan {
                task.problem_id()
            } else {
                task.to_string()
            }
        };
        let width = id_width(score.results.iter().map(|result| id(&result.task)));
        let _ = writeln!(text, "\n{:<width$}  score %  tests", "task");
        for result in &score.results {
            let tests: Vec<&str> = result
                .tests
                .iter()
                .map(|test| test.outcome.name())
                .collect();
            let id = id(&result.task);
            let _ = writeln!(
                text,
                "{id:<width$}  {:>7.2}  {}",
                100.0 * result.score,
                tests.join(", ")
            );
        }
    }
    text + &score_warnings(&score.warnings)
}

/// Returns the width of a column of ids: that of the longest, but at least 16.
fn id_width(ids: impl Iterator<Item = impl AsRef<str>>) -> usize {
    ids.map(|id| id.as_ref().chars().count())
        .fold(16, usize::max)
}

/// Formats the measures with their intervals, and the failure reasons. `headline` is the JSON field
/// of the measure to mark.
pub fn score_measures(score: &Score, headline: &str) -> String {
    let mut text = String::new();
    for (key, name, measure) in [
        ("mean_task_score", "mean task score", score.mean_task_score),
        ("tasks_solved", "tasks solved", score.tasks_solved),
        (
            "test_inputs_solved",
            "test inputs solved",
            score.test_inputs_solved,
        ),
        ("pass_at_1", "pass@1", score.pass_at_1),
    ] {
        let count = measure
            .count
            .map_or_else(String::new, |count| format!("{count}/{}", measure.of));
        let (low, high) = (100.0 * measure.interval.low, 100.0 * measure.interval.high);
        let mark = if key == headline {
            "   <- headline"
        } else {
            ""
        };
        let interval = format!("[{low:.2}, {high:.2}]");
        let line = format!(
            "{name:<18}  {:>6.2} %  {interval:<15}  {count:>9}{mark}",
            100.0 * measure.value
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if !score.failures.is_empty() {
        text.push_str("\nnot solved, by reason\n");
        for failure in &score.failures {
            let _ = writeln!(
                text,
                "  {:<18}  {:>5}  {:>6.2} %",
                failure.reason,
                failure.count,
                100.0 * failure.share
            );
        }
    }
    text
}

/// Formats warnings, at most three of each kind.
pub fn score_warnings(warnings: &[Warning]) -> String {
    let mut text = String::new();
    let mut kinds: Vec<&str> = Vec::new();
    for warning in warnings {
        if !kinds.contains(&warning.kind) {
            kinds.push(warning.kind);
        }
    }
    for kind in kinds {
        let of_kind: Vec<_> = warnings
            .iter()
            .filter(|warning| warning.kind == kind)
            .collect();
        for warning in of_kind.iter().take(MAX_SHOWN_WARNINGS) {
            let task = warning
                .task
                .as_ref()
                .map_or_else(String::new, |task| format!("{task}: "));
            let _ = write!(text, "\nwarning ({kind}): {task}{}", warning.message);
        }
        if of_kind.len() > MAX_SHOWN_WARNINGS {
            let _ = write!(
                text,
                "\nwarning ({kind}): and {} more",
                of_kind.len() - MAX_SHOWN_WARNINGS
            );
        }
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// Formats the comparison of two submissions.
pub fn comparison_table(report: &ComparisonReport) -> String {
    let percent = |measure: Measure| format!("{:.2} %", 100.0 * measure.value);
    let comparison = &report.comparison;
    let mut text = format!(
        "{}, revision {}, {} tasks\n\nmean task score   first {}, second {}, difference {:+.2} points\n\
         tasks solved      by both {}, only by the first {}, only by the second {}, by neither {}\n\
         McNemar's test    p = {:.4} ({} tasks solved by only one submission)\n",
        report.set,
        &report.revision[..12],
        report.tasks_compared,
        percent(report.first),
        percent(report.second),
        100.0 * comparison.difference,
        comparison.both,
        comparison.only_first,
        comparison.only_second,
        comparison.neither,
        comparison.mcnemar.p,
        comparison.mcnemar.discordant,
    );
    if !comparison.tasks.is_empty() {
        let width = id_width(comparison.tasks.iter().map(|task| task.task.as_str()));
        let _ = writeln!(text, "\n{:<width$}  first %  second %", "task");
        for task in &comparison.tasks {
            let _ = writeln!(
                text,
                "{:<width$}  {:>7.2}  {:>8.2}",
                task.task.as_str(),
                100.0 * task.first,
                100.0 * task.second
            );
        }
    }
    text
}

/// Formats the sizes of all sets, and the notes about the data.
pub fn data_table(report: &DataReport) -> String {
    let names = report.sets.iter().map(|set| set.set.chars().count());
    let width = names.max().unwrap_or(0).max(3);
    let mut text = format!(
        "{:<width$}  tasks  pairs  tests  solutions  revision\n",
        "set"
    );
    for set in &report.sets {
        let _ = writeln!(
            text,
            "{:<width$}  {:>5}  {:>5}  {:>5}  {:>9}  {}",
            plain(&set.set),
            set.tasks,
            set.training_pairs,
            set.test_inputs,
            set.solutions,
            set.revision
        );
    }
    for note in &report.notes {
        let _ = writeln!(text, "{}", plain(&format!("note: {note}")));
    }
    text
}
