//! `rhae arc score`: scores submissions.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use rhae_protocol::EvalConfig;
use rhae_runs::load_config;
use rhae_tasks::{Parser, Score, TaskSet, Warning, score};
use serde::Serialize;
use serde_json::Value;

use super::data::{DataArgs, SelectArgs, load_submission};
use super::protocol::{Failures, Protocol};
use crate::output;

/// Number of warnings of one kind that are printed; further ones are only counted.
const MAX_SHOWN_WARNINGS: usize = 3;

/// Score submissions: prints all measures with 95 % intervals, failure reasons and warnings.
///
/// A submission is Kaggle's `submission.json`, a folder of the official harness, or a file with one
/// text for each task. The denominators are the counts of tasks and tests in the data, so a missing
/// answer counts as not solved. For several submissions give one `--set` each; their average is
/// printed too.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc score submission.json --data data/arc --set arc-agi-2-evaluation
  rhae arc score runs/v1 runs/v2 --data data/arc --set arc-agi-1-evaluation --set arc-agi-2-evaluation --protocol nejumi")]
pub(super) struct ScoreArgs {
    /// Submissions to score, files or folders
    #[arg(required = true)]
    submissions: Vec<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    select: SelectArgs,
    /// Rules to score by: they set the parser, the number of attempts and the headline measure
    #[arg(long, value_enum, default_value_t = Protocol::Standard)]
    protocol: Protocol,
    /// Number of attempts at a test that count, instead of the protocol's
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    attempts: Option<u32>,
    /// Parser that finds grids in answers, instead of the protocol's: lenient, official, nejumi or
    /// plan
    #[arg(long)]
    parser: Option<Parser>,
    /// Effect of a missing or unreadable answer: `soft` counts it as not solved, `hard` ends with
    /// an error
    #[arg(long, value_enum, default_value_t = Failures::Soft)]
    failures: Failures,
    /// Fail unless the data have this revision; at least its first 8 digits
    #[arg(long, value_name = "SHA256")]
    revision: Option<String>,
    /// Print a line for each task
    #[arg(long)]
    tasks: bool,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
}

/// The JSON output. One score is flattened into the document; several are listed with their
/// average.
#[derive(Serialize)]
#[serde(untagged)]
enum ScoreReport {
    One {
        protocol: &'static str,
        headline: &'static str,
        #[serde(flatten)]
        score: Value,
    },
    Several {
        protocol: &'static str,
        headline: &'static str,
        average: f64,
        scores: Vec<Value>,
    },
}

pub(super) fn run(args: &ScoreArgs) -> Result<ExitCode> {
    let sets = args.data.sets()?;
    ensure!(
        sets.len() == args.submissions.len(),
        "{} submissions were given for {} sets; give one `--set` for each submission",
        args.submissions.len(),
        sets.len()
    );
    let mut rules = args.protocol.rules();
    rules.attempts = args
        .attempts
        .map_or(rules.attempts, |attempts| attempts as usize);
    rules.parser = args.parser.unwrap_or(rules.parser);
    let mut scores = Vec::new();
    for (path, set) in args.submissions.iter().zip(&sets) {
        if let Some(wanted) = &args.revision {
            let (found, wanted) = (set.revision(), wanted.to_lowercase());
            ensure!(
                wanted.len() >= 8,
                "the revision `{wanted}` is too short; give at least its first 8 digits"
            );
            ensure!(
                found.starts_with(&wanted),
                "`{}` has revision {found}, expected {wanted}",
                set.name
            );
        }
        let mut score = score(
            set,
            &args.select.selection(set)?,
            &load_submission(path)?,
            rules,
        )?;
        score.warnings.extend(revision_warning(path, set));
        scores.push(score);
    }
    let (headline, measure) = args.protocol.headline();
    let average =
        scores.iter().map(|score| measure(score).value).sum::<f64>() / scores.len() as f64;
    if args.json {
        let protocol = args.protocol.name();
        let mut values: Vec<Value> = scores
            .iter()
            .map(|score| score_json(args.protocol, score))
            .collect::<Result<_>>()?;
        output::print_json(&match values.len() {
            1 => ScoreReport::One {
                protocol,
                headline,
                score: values.remove(0),
            },
            _ => ScoreReport::Several {
                protocol,
                headline,
                average,
                scores: values,
            },
        })?;
    } else {
        for score in &scores {
            output::print(&output::plain(&table(args, score)))?;
        }
        if scores.len() > 1 {
            output::print(&format!(
                "average of the {} sets: {:.2} %",
                scores.len(),
                100.0 * average
            ))?;
        }
    }
    if args.failures == Failures::Hard {
        let tests = scores
            .iter()
            .flat_map(|score| &score.results)
            .flat_map(|result| &result.tests);
        let failed = tests.filter(|test| test.outcome.is_failure()).count();
        ensure!(
            failed == 0,
            "{failed} tests have no readable answer, which `--failures hard` does not allow"
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a warning if `run` is the folder of a run on another revision of the data.
fn revision_warning(run: &Path, set: &TaskSet) -> Option<Warning> {
    let revisions: Vec<String> = load_config::<EvalConfig>(run)
        .ok()?
        .sets
        .into_iter()
        .map(|set| set.revision)
        .collect();
    let known = revisions.iter().any(|revision| *revision == set.revision());
    (!known).then(|| {
        let short: Vec<&str> = revisions
            .iter()
            .map(|revision| revision.get(..12).unwrap_or(revision))
            .collect();
        let message = format!(
            "the run used revision {}, but the data have revision {}; scores of different revisions \
             cannot be compared",
            short.join(", "),
            &set.revision()[..12]
        );
        Warning {
            kind: "other-revision",
            task: None,
            message,
        }
    })
}

/// Converts a score to JSON. Under the protocol `plan`, tasks have that harness's ids, which start
/// with `arc-`.
fn score_json(protocol: Protocol, score: &Score) -> Result<Value> {
    let mut value = serde_json::to_value(score)?;
    if protocol == Protocol::Plan
        && let Some(results) = value["results"].as_array_mut()
    {
        for (result, task) in results.iter_mut().zip(&score.results) {
            result["task"] = Value::from(task.task.problem_id());
        }
    }
    Ok(value)
}

fn table(args: &ScoreArgs, score: &Score) -> String {
    let (headline, _) = args.protocol.headline();
    let mut text = format!(
        "{}, revision {}, {} tasks, {} test inputs, {} attempts, parser {}\n\n",
        score.set,
        &score.revision[..12],
        score.tasks,
        score.test_inputs,
        score.attempts,
        score.parser
    );
    text += &measures(score, headline);
    if args.tasks {
        text.push_str("\ntask              score %  tests\n");
        for result in &score.results {
            let tests: Vec<&str> = result
                .tests
                .iter()
                .map(|test| test.outcome.name())
                .collect();
            let id = if args.protocol == Protocol::Plan {
                result.task.problem_id()
            } else {
                result.task.to_string()
            };
            let _ = writeln!(
                text,
                "{id:<16}  {:>7.2}  {}",
                100.0 * result.score,
                tests.join(", ")
            );
        }
    }
    text + &warnings(score)
}

/// Formats the measures with their intervals, and the failure reasons.
pub(super) fn measures(score: &Score, headline: &str) -> String {
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

/// Formats the warnings, at most [`MAX_SHOWN_WARNINGS`] of each kind.
pub(super) fn warnings(score: &Score) -> String {
    let mut text = String::new();
    let mut kinds: Vec<&str> = Vec::new();
    for warning in &score.warnings {
        if !kinds.contains(&warning.kind) {
            kinds.push(warning.kind);
        }
    }
    for kind in kinds {
        let of_kind: Vec<_> = score
            .warnings
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
