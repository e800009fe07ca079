//! The results as CSV and Markdown.

use std::fmt::Write as _;

use rhae_protocol::EvalEnd;
use rhae_tasks::{Measure, Score};

use crate::results::{AttemptResult, EvalResults};

/// The columns of the CSV file.
const COLUMNS: [&str; 14] = [
    "set",
    "task",
    "test",
    "attempt",
    "request",
    "outcome",
    "right",
    "seconds",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cost_usd",
    "how",
];

/// Formats the results as CSV, one line for each attempt.
pub fn csv(results: &EvalResults) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let written = std::iter::once(COLUMNS.map(str::to_owned))
        .chain(results.attempt_results.iter().map(record))
        .try_for_each(|record| writer.write_record(record));
    written.expect("writing to memory does not fail");
    let bytes = writer
        .into_inner()
        .expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("all fields are text")
}

fn record(one: &AttemptResult) -> [String; COLUMNS.len()] {
    let spent = &one.spent;
    let priced = spent.unpriced == 0;
    [
        field(&one.set),
        one.task.to_string(),
        (one.test + 1).to_string(),
        one.attempt.to_string(),
        one.request
            .map_or_else(String::new, |request| request.to_string()),
        outcome(one).to_owned(),
        one.right
            .map_or_else(String::new, |right| right.to_string()),
        format!("{:.3}", one.ms as f64 / 1000.0),
        spent.input_tokens.to_string(),
        spent.cached_tokens.to_string(),
        spent.output_tokens.to_string(),
        spent.reasoning_tokens.to_string(),
        if priced {
            spent.cost_usd.to_string()
        } else {
            String::new()
        },
        field(one.how.as_deref().unwrap_or_default()),
    ]
}

fn outcome(one: &AttemptResult) -> &'static str {
    match (&one.grid, one.right) {
        (Ok(_), Some(true)) => "solved",
        (Ok(_), Some(false)) => "wrong",
        (Ok(_), None) => "answered",
        (Err(failure), _) => failure.reason.name(),
    }
}

/// Makes external text safe for a spreadsheet: control characters become spaces, and a leading
/// formula character is prefixed with an apostrophe, so that the field is treated as text.
fn field(text: &str) -> String {
    let flat: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if flat.starts_with(['=', '+', '-', '@']) {
        format!("'{flat}")
    } else {
        flat
    }
}

/// Formats the results as a Markdown page.
pub fn markdown(results: &EvalResults) -> String {
    let mut text = format!("# {}\n", line(&results.solver));
    if !results.finished {
        let why = results
            .ended
            .as_ref()
            .map_or("its process was killed", EvalEnd::text);
        let _ = writeln!(
            text,
            "\n**The run is not finished** ({}). Missing answers count as not solved.",
            line(why)
        );
    }
    for set in &results.sets {
        let _ = writeln!(
            text,
            "\n## {}\n\nRevision `{}`, {} tasks, {} test inputs, {} attempts, parser {}.\n",
            line(&set.set),
            set.revision,
            set.tasks,
            set.test_inputs,
            results.attempts,
            results.parser
        );
        match &set.score {
            Some(score) => text += &scores(score),
            None => text.push_str("The solutions are unknown, so there is no score.\n"),
        }
    }
    if results.sets.len() > 1
        && let Some(average) = results.average()
    {
        let _ = writeln!(
            text,
            "\nAverage of the {} sets: **{:.2} %**",
            results.sets.len(),
            100.0 * average
        );
    }
    let spent = &results.spent;
    let _ = writeln!(
        text,
        "\n## Cost\n\n| | |\n| --- | ---: |\n| seconds | {:.1} |\n| seconds per task, sum of its requests: median, mean, maximum | {:.2}, {:.2}, {:.2} |\n\
         | requests | {} |\n| requests lost in flight | {} |\n| input tokens, of which cached | {}, {} |\n| output tokens, of which reasoning | {}, {} |\n| cost | {} |\n",
        results.seconds,
        results.task_seconds.median,
        results.task_seconds.mean,
        results.task_seconds.max,
        results.requests,
        results.lost_in_flight,
        spent.input_tokens,
        spent.cached_tokens,
        spent.output_tokens,
        spent.reasoning_tokens,
        spent.cost()
    );
    if spent.unmeasured > 0 {
        let _ = writeln!(
            text,
            "{} transmissions failed before they reported their tokens. These numbers do not include them.\n",
            spent.unmeasured
        );
    }
    let _ = writeln!(
        text,
        "Created by {}, run {}.",
        line(&results.software),
        line(&results.run_id)
    );
    text
}

fn scores(score: &Score) -> String {
    let mut text = String::from("| | % | 95 % interval | |\n| --- | ---: | :---: | ---: |\n");
    for (name, measure) in [
        ("mean task score", score.mean_task_score),
        ("tasks solved", score.tasks_solved),
        ("test inputs solved", score.test_inputs_solved),
        ("pass@1", score.pass_at_1),
    ] {
        let Measure {
            value,
            count,
            of,
            interval,
        } = measure;
        let count = count.map_or_else(String::new, |count| format!("{count}/{of}"));
        let (low, high) = (100.0 * interval.low, 100.0 * interval.high);
        let _ = writeln!(
            text,
            "| {name} | {:.2} | {low:.2} – {high:.2} | {count} |",
            100.0 * value
        );
    }
    if !score.failures.is_empty() {
        text.push_str("\n| not solved because | tests | % |\n| --- | ---: | ---: |\n");
        for failure in &score.failures {
            let _ = writeln!(
                text,
                "| {} | {} | {:.2} |",
                failure.reason,
                failure.count,
                100.0 * failure.share
            );
        }
    }
    text
}

/// Escapes an external text for a single line of Markdown.
fn line(text: &str) -> String {
    let mut flat = String::new();
    for letter in text.chars() {
        match letter {
            _ if letter.is_control() => flat.push(' '),
            '<' | '>' | '*' | '_' | '`' | '[' | ']' | '|' | '\\' | '#' | '!' => {
                flat.push('\\');
                flat.push(letter);
            }
            _ => flat.push(letter),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_lines_are_escaped() {
        assert_eq!(field("plain"), "plain");
        assert_eq!(field("a,b \"c\"\n"), "a,b \"c\" ");
        assert_eq!(field("=1+1"), "'=1+1");
        assert_eq!(line("<b> a|b\n"), "\\<b\\> a\\|b ");
    }
}
