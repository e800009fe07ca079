//! Reports as the table of a paper: Markdown and LaTeX.
//!
//! Both formats have the same columns. Columns without any number are left out, so that the table of
//! agents without a model has no costs and that of static tasks no actions.

use std::fmt::Write as _;

use rhae_protocol::{AnalysedRun, PublishedResult, RunsReport};

use crate::tables::date;

/// A column of the table: its heading and the text of a run, `None` if the number is unknown.
struct Column {
    heading: &'static str,
    text: fn(&AnalysedRun) -> Option<String>,
}

const COLUMNS: [Column; 13] = [
    Column {
        heading: "Score %",
        text: |run| Some(format!("{:.2}", run.score.mean)),
    },
    Column {
        heading: "95 % interval",
        text: |run| {
            let [low, high] = run.score.interval;
            Some(format!("{low:.2} to {high:.2}"))
        },
    },
    Column {
        heading: "n",
        text: |run| Some(sample_size(run)),
    },
    Column {
        heading: "Levels",
        text: |run| {
            Some(format!(
                "{}/{}",
                count(run.levels_completed, run),
                run.levels
            ))
        },
    },
    Column {
        heading: "Actions",
        text: |run| run.behaviour.actions.map(|value| count(value, run)),
    },
    Column {
        heading: "Beyond optimum",
        text: |run| {
            let (actions, levels) = (run.behaviour.excess_actions?, run.behaviour.excess_levels?);
            Some(format!("{} on {}", count(actions, run), count(levels, run)))
        },
    },
    Column {
        heading: "States",
        text: |run| run.behaviour.distinct_states.map(|value| count(value, run)),
    },
    Column {
        heading: "Deaths",
        text: |run| run.behaviour.deaths.map(|value| count(value, run)),
    },
    Column {
        heading: "Resets",
        text: |run| run.behaviour.resets.map(|value| count(value, run)),
    },
    Column {
        heading: "Time",
        text: |run| run.seconds.map(|seconds| format!("{seconds:.2} s")),
    },
    Column {
        heading: "Tokens in/out",
        text: |run| {
            Some(format!(
                "{:.0}/{:.0}",
                run.input_tokens?, run.output_tokens?
            ))
        },
    },
    Column {
        heading: "Cost USD",
        text: |run| {
            run.cost_usd
                .filter(|&usd| usd > 0.0)
                .map(|usd| format!("{usd:.4}"))
        },
    },
    Column {
        heading: "Missing/failed",
        text: |run| {
            (run.missing + run.failed > 0).then(|| format!("{}/{}", run.missing, run.failed))
        },
    },
];

const NOTE: &str = "Intervals are 95 % bootstrap intervals over environments and repeats. All numbers except the time are means over the repeats. Beyond optimum: actions beyond the proved optimum on completed levels, and the number of these levels. States: different observations.";

/// Returns the number of environments and, if there are several, of repeats.
fn sample_size(run: &AnalysedRun) -> String {
    if run.repeats > 1 {
        format!("{} × {}", run.score.environments, run.repeats)
    } else {
        run.score.environments.to_string()
    }
}

/// Formats a count, or a mean over several repeats with one decimal.
fn count(value: f64, run: &AnalysedRun) -> String {
    if run.repeats > 1 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// Returns the headings and the rows of the columns that have a number.
fn columns(report: &RunsReport) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let used: Vec<&Column> = COLUMNS
        .iter()
        .filter(|column| report.runs.iter().any(|run| (column.text)(run).is_some()))
        .collect();
    let row = |run: &AnalysedRun| {
        let cells = used.iter().map(|column| (column.text)(run));
        std::iter::once(run.label.clone())
            .chain(cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned())))
            .collect()
    };
    let mut headings = vec!["System"];
    headings.extend(used.iter().map(|column| column.heading));
    (headings, report.runs.iter().map(row).collect())
}

fn published_cells(result: &PublishedResult) -> [String; 6] {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "not stated".to_owned());
    [
        format!("{} ({})", result.system, result.provider),
        format!("{:.2}", result.score),
        result.set.clone(),
        or_dash(&result.method),
        or_dash(&result.date),
        result.source.clone(),
    ]
}

const PUBLISHED_HEADINGS: [&str; 6] = ["Published", "Score %", "Set", "Method", "Date", "Source"];

/// Returns the settings that all runs share, or a sentence that they differ.
fn settings(report: &RunsReport) -> Vec<String> {
    if !report.differences.is_empty() {
        let mut lines = vec!["The runs are not comparable with each other:".to_owned()];
        lines.extend(report.differences.iter().map(|one| format!("{one}.")));
        return lines;
    }
    let Some(run) = report.runs.first() else {
        return Vec::new();
    };
    let mut dates: Vec<String> = report
        .runs
        .iter()
        .filter_map(|run| run.started_ms.map(date))
        .collect();
    dates.sort();
    dates.dedup();
    let budget = run.budget.as_ref();
    let budget = budget.map_or_else(String::new, |budget| format!(" Budget: {budget}."));
    vec![format!(
        "Method: {}.{budget} Date: {}.",
        run.method,
        dates.join(", ")
    )]
}

/// Formats a report as Markdown.
pub fn report_markdown(report: &RunsReport) -> String {
    let (headings, rows) = columns(report);
    let mut text = String::new();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text += &line(headings.iter().map(|&one| one.to_owned()).collect());
    let rule = |index: usize| if index == 0 { "---" } else { "---:" }.to_owned();
    text += &line((0..headings.len()).map(rule).collect());
    for row in rows {
        text += &line(row.iter().map(|cell| markdown(cell)).collect());
    }
    for run in &report.runs {
        if let Some(interpretation) = &run.interpretation {
            let _ = write!(
                text,
                "\n{}, {:.2} %: {interpretation}\n",
                markdown(&run.label),
                run.score.mean
            );
        }
    }
    for sentence in settings(report)
        .iter()
        .chain([&NOTE.to_owned()])
        .chain(&report.notes)
    {
        let _ = write!(text, "\n{}\n", markdown(sentence));
    }
    if !report.published.is_empty() {
        text.push('\n');
        text += &line(PUBLISHED_HEADINGS.map(str::to_owned).to_vec());
        text += &line(
            ["---", "---:", "---", "---", "---", "---"]
                .map(str::to_owned)
                .to_vec(),
        );
        for result in &report.published {
            text += &line(published_cells(result).map(|cell| markdown(&cell)).to_vec());
        }
    }
    text
}

/// Escapes external text for one line of Markdown. Back-ticks stay, because notes use them for code.
fn markdown(text: &str) -> String {
    let mut flat = String::new();
    for letter in text.chars() {
        match letter {
            _ if letter.is_control() => flat.push(' '),
            '<' | '>' | '*' | '_' | '[' | ']' | '|' | '\\' => {
                flat.push('\\');
                flat.push(letter);
            }
            _ => flat.push(letter),
        }
    }
    flat
}

/// Formats a report as LaTeX for the packages `booktabs` and `graphicx`: a table of the runs and one
/// of the published results.
pub fn report_latex(report: &RunsReport) -> String {
    let (headings, rows) = columns(report);
    let mut text = String::from("% Needs \\usepackage{booktabs,graphicx}.\n");
    let mut caption = settings(report).join(" ");
    caption.push(' ');
    caption.push_str(NOTE);
    for run in &report.runs {
        if let Some(interpretation) = &run.interpretation {
            let _ = write!(
                caption,
                " {}, {:.2} %: {interpretation}.",
                run.label, run.score.mean
            );
        }
    }
    caption.push(' ');
    caption.push_str(&report.notes.join(" "));
    let alignment = format!("l{}", "r".repeat(headings.len() - 1));
    let headings: Vec<String> = headings.iter().map(|one| latex(one)).collect();
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| latex(cell)).collect())
        .collect();
    text += &latex_table(&alignment, &headings, &rows, caption.trim(), "runs");
    if !report.published.is_empty() {
        text.push('\n');
        text += &latex_published(&report.published);
    }
    text
}

/// Formats published results. Their sources are numbered and listed in the caption, because they are
/// long and mostly the same.
fn latex_published(published: &[PublishedResult]) -> String {
    let mut sources: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for result in published {
        let known = sources.iter().position(|one| *one == result.source);
        let number = known.unwrap_or(sources.len()) + 1;
        if known.is_none() {
            sources.push(&result.source);
        }
        let mut row = published_cells(result).map(|cell| latex(&cell));
        row[5] = format!("[{number}]");
        rows.push(row.to_vec());
    }
    let listed = (1..).zip(&sources);
    let listed: Vec<String> = listed
        .map(|(number, one)| format!("[{number}] {one}"))
        .collect();
    let caption = format!("Published results. Sources: {}.", listed.join("; "));
    let headings = PUBLISHED_HEADINGS.map(latex);
    latex_table("lrllll", &headings, &rows, &caption, "published")
}

fn latex_table(
    alignment: &str,
    headings: &[String],
    rows: &[Vec<String>],
    caption: &str,
    label: &str,
) -> String {
    let line = |cells: &[String]| format!("{} \\\\\n", cells.join(" & "));
    let rows: String = rows.iter().map(|row| line(row)).collect();
    format!(
        "\\begin{{table}}\n\\centering\n\\resizebox{{\\linewidth}}{{!}}{{%\n\\begin{{tabular}}{{{alignment}}}\n\\toprule\n{}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}}}\n\\caption{{{}}}\n\\label{{tab:{label}}}\n\\end{{table}}\n",
        line(headings),
        latex(caption)
    )
}

/// Escapes external text for LaTeX. Text between two back-ticks is code.
fn latex(text: &str) -> String {
    if text.matches('`').count() % 2 == 1 {
        return latex_plain(text);
    }
    let parts = text.split('`').map(latex_plain).enumerate();
    parts
        .map(|(index, part)| match index % 2 {
            0 => part,
            _ => format!("\\texttt{{{part}}}"),
        })
        .collect()
}

fn latex_plain(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            _ if letter.is_control() => escaped.push(' '),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' => escaped.push_str("\\textless{}"),
            '>' => escaped.push_str("\\textgreater{}"),
            '–' => escaped.push_str("--"),
            '−' => escaped.push_str("$-$"),
            '×' => escaped.push_str("$\\times$"),
            '“' => escaped.push_str("``"),
            '”' => escaped.push_str("''"),
            '`' => escaped.push_str("\\textasciigrave{}"),
            // After the end of a row or a rule, LaTeX reads these as its optional argument.
            '[' | ']' | '*' => {
                escaped.push('{');
                escaped.push(letter);
                escaped.push('}');
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{Behaviour, MeanScore, RunKind};

    use super::*;

    fn report() -> RunsReport {
        let run = AnalysedRun {
            label: "my_agent <1>".to_owned(),
            kind: RunKind::Plays,
            method: "docs-2026-04".to_owned(),
            budget: Some("5x".to_owned()),
            repeats: 3,
            finished: true,
            started_ms: Some(1_794_736_800_123),
            score: MeanScore {
                mean: 0.334,
                interval: [0.0, 0.71],
                interval_method: "exact-bootstrap".to_owned(),
                interval_error: None,
                environments: 6,
            },
            interpretation: Some("“0%: never”".to_owned()),
            levels_completed: 4.0,
            levels: 48,
            behaviour: Behaviour {
                actions: Some(734.0),
                deaths: Some(2.5),
                ..Behaviour::default()
            },
            cost_usd: Some(0.0),
            ..AnalysedRun::default()
        };
        crate::report(vec![run])
    }

    #[test]
    fn markdown_has_one_row_per_run_and_the_interpretation() {
        let text = report_markdown(&report());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "| System | Score % | 95 % interval | n | Levels | Actions | Deaths |"
        );
        assert_eq!(
            lines[2],
            "| my\\_agent \\<1\\> | 0.33 | 0.00 to 0.71 | 6 × 3 | 4.0/48 | 734.0 | 2.5 |"
        );
        assert!(
            text.contains("my\\_agent \\<1\\>, 0.33 %: “0%: never”"),
            "{text}"
        );
        assert!(text.contains("Method: docs-2026-04. Budget: 5x. Date: 2026-11-15."));
        assert!(text.contains("| StochasticGoose (Tufa Labs) | 12.58 |"));
    }

    #[test]
    fn latex_is_escaped_and_complete() {
        let text = report_latex(&report());
        assert!(text.contains(
            "my\\_agent \\textless{}1\\textgreater{} & 0.33 & 0.00 to 0.71 & 6 $\\times$ 3"
        ));
        assert!(text.contains("``0\\%: never''"));
        assert!(text.contains("& 12.58 & three hidden environments of the preview competition"));
        assert!(text.contains("Sources: {[}1{]} ARC-AGI-3: A New Challenge"));
        assert_eq!(latex("from `a_b`"), "from \\texttt{a\\_b}");
        assert_eq!(latex("one ` only"), "one \\textasciigrave{} only");
        assert_eq!(text.matches("\\begin{table}").count(), 2);
        assert_eq!(text.matches("\\end{table}").count(), 2);
        let unescaped = text.lines().skip(1).any(|line| {
            line.match_indices('%')
                .any(|(at, _)| at > 0 && !line[..at].ends_with('\\') && !line.ends_with("{%"))
        });
        assert!(!unescaped, "{text}");
    }
}
