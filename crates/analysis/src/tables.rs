//! Comparisons and reports as CSV.

use rhae_protocol::{AnalysedRun, PublishedResult, RunComparison, RunsReport};

/// Formats a comparison as CSV: for each pair one row for each environment, followed by one for each
/// of its levels.
pub fn comparison_csv(comparison: &RunComparison) -> String {
    let header = [
        "run_a",
        "run_b",
        "environment",
        "level",
        "a",
        "b",
        "difference",
        "repeats_a",
        "repeats_b",
        "completed_a",
        "completed_b",
        "actions_a",
        "actions_b",
        "forced",
    ];
    let forced = if comparison.forced.is_empty() {
        ""
    } else {
        "forced"
    };
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for pair in comparison.all_pairs() {
        for environment in &pair.environments {
            let start = |level: String| {
                vec![
                    field(&pair.run_a),
                    field(&pair.run_b),
                    field(&environment.id),
                    level,
                ]
            };
            let repeats = [environment.repeats_a, environment.repeats_b].map(|n| n.to_string());
            let mut row = start(String::new());
            row.extend([environment.a, environment.b, environment.difference].map(number));
            row.extend(repeats.clone());
            row.extend(["", "", "", "", forced].map(str::to_owned));
            rows.push(row);
            for level in &environment.levels {
                let mut row = start(level.level.to_string());
                row.extend([level.a, level.b, level.a - level.b].map(number));
                row.extend(repeats.clone());
                row.extend([level.completed_a, level.completed_b].map(|n| n.to_string()));
                row.extend([level.actions_a, level.actions_b].map(optional));
                row.push(forced.to_owned());
                rows.push(row);
            }
        }
    }
    csv(&rows)
}

/// Formats a report as CSV: one row for each run, then one for each published result.
pub fn report_csv(report: &RunsReport) -> String {
    let header = [
        "system",
        "kind",
        "score",
        "low",
        "high",
        "environments",
        "repeats",
        "missing",
        "failed",
        "levels_completed",
        "levels",
        "actions",
        "resets",
        "deaths",
        "distinct_states",
        "excess_actions",
        "excess_levels",
        "seconds",
        "cost_usd",
        "input_tokens",
        "output_tokens",
        "method",
        "budget",
        "date",
        "source",
        "interpretation",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(report.runs.iter().map(run_row));
    let columns = header.len();
    rows.extend(
        report
            .published
            .iter()
            .map(|one| published_row(one, columns)),
    );
    csv(&rows)
}

fn run_row(run: &AnalysedRun) -> Vec<String> {
    let behaviour = &run.behaviour;
    let mut row = vec![field(&run.label), run.kind.name().to_owned()];
    row.extend([run.score.mean, run.score.interval[0], run.score.interval[1]].map(number));
    row.extend(
        [run.score.environments, run.repeats, run.missing, run.failed].map(|n| n.to_string()),
    );
    row.push(number(run.levels_completed));
    row.push(run.levels.to_string());
    row.extend(
        [
            behaviour.actions,
            behaviour.resets,
            behaviour.deaths,
            behaviour.distinct_states,
            behaviour.excess_actions,
            behaviour.excess_levels,
            run.seconds,
            run.cost_usd,
            run.input_tokens,
            run.output_tokens,
        ]
        .map(optional),
    );
    row.push(field(&run.method));
    row.push(field(run.budget.as_deref().unwrap_or_default()));
    row.push(run.started_ms.map_or_else(String::new, date));
    row.push(field(&run.folder));
    row.push(field(run.interpretation.as_deref().unwrap_or_default()));
    row
}

fn published_row(result: &PublishedResult, columns: usize) -> Vec<String> {
    let text = |value: &Option<String>| field(value.as_deref().unwrap_or_default());
    let mut row = vec![String::new(); columns];
    row[0] = field(&format!("{} ({})", result.system, result.provider));
    row[1] = "published".to_owned();
    row[2] = number(result.score);
    row[columns - 5] = text(&result.method);
    row[columns - 3] = text(&result.date);
    row[columns - 2] = field(&format!("{}; {}", result.source, result.set));
    row
}

/// Formats the date of a Unix time in milliseconds.
pub(crate) fn date(unix_ms: u64) -> String {
    rhae_protocol::rfc3339_utc(unix_ms)
        .chars()
        .take(10)
        .collect()
}

/// Formats a number with up to nine decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.9}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

fn optional(value: Option<f64>) -> String {
    value.map_or_else(String::new, number)
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

fn csv(rows: &[Vec<String>]) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    rows.iter()
        .try_for_each(|row| writer.write_record(row))
        .expect("writing rows of equal length to memory does not fail");
    let bytes = writer
        .into_inner()
        .expect("writing to memory does not fail");
    String::from_utf8(bytes).expect("all fields are text")
}

#[cfg(test)]
mod tests {
    use rhae_protocol::{EnvironmentDifference, LevelDifference, PairComparison, RunKind};

    use super::*;

    #[test]
    fn numbers_have_no_trailing_zeros() {
        assert_eq!(
            [12.5, 0.0, -0.0, 100.0, 1.0 / 3.0].map(number),
            ["12.5", "0", "0", "100", "0.333333333"]
        );
    }

    #[test]
    fn environments_are_followed_by_their_levels() {
        let comparison = RunComparison {
            forced: vec!["budget".to_owned()],
            pair: Some(PairComparison {
                run_a: "=a".to_owned(),
                run_b: "b, c".to_owned(),
                environments: vec![EnvironmentDifference {
                    id: "ab12-v1".to_owned(),
                    a: 2.0,
                    b: 0.5,
                    difference: 1.5,
                    repeats_a: 1,
                    repeats_b: 3,
                    levels: vec![LevelDifference {
                        level: 1,
                        a: 20.0,
                        b: 5.0,
                        completed_a: 1,
                        completed_b: 2,
                        actions_a: Some(40.0),
                        actions_b: None,
                    }],
                }],
                ..PairComparison::default()
            }),
            ..RunComparison::default()
        };
        assert_eq!(
            comparison_csv(&comparison),
            "run_a,run_b,environment,level,a,b,difference,repeats_a,repeats_b,completed_a,completed_b,actions_a,actions_b,forced\n\
             '=a,\"b, c\",ab12-v1,,2,0.5,1.5,1,3,,,,,forced\n\
             '=a,\"b, c\",ab12-v1,1,20,5,15,1,3,1,2,40,,forced\n"
        );
    }

    #[test]
    fn published_results_follow_the_runs() {
        let report = crate::report(vec![AnalysedRun {
            label: "mine".to_owned(),
            kind: RunKind::Plays,
            started_ms: Some(1_794_736_800_123),
            ..AnalysedRun::default()
        }]);
        let text = report_csv(&report);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 1 + 6);
        assert!(lines[1].contains("2026-11-15"), "{}", lines[1]);
        assert!(lines[2].starts_with("Gemini 3.1 Pro Preview (Google),published,0.37,"));
        assert!(lines[2].contains("2026-03-24"));
    }
}
