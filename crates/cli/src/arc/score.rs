//! `rhae arc score`: scores submissions.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use rhae_eval::revision_warning;
use rhae_report::score_table;
pub(super) use rhae_report::{score_measures as measures, score_warnings as warnings};
use rhae_tasks::{Parser, Protocol, ScoreReport, average, score};

use super::data::{DataArgs, SelectArgs, load_submission};
use super::protocol::{Failures, protocol_parser};
use crate::output;

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
    #[arg(long, value_parser = protocol_parser(), default_value_t = Protocol::Standard)]
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
    if args.json {
        output::print_json(&ScoreReport::new(args.protocol, &scores)?)?;
    } else {
        for score in &scores {
            output::print(&output::plain(&score_table(
                args.protocol,
                score,
                args.tasks,
            )))?;
        }
        if scores.len() > 1 {
            output::print(&format!(
                "average of the {} sets: {:.2} %",
                scores.len(),
                100.0 * average(args.protocol, &scores)
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
