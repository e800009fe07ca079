//! `rhae bench validate`: the cost of validating the built-in environments, which should grow
//! linearly with the number of steps.
//!
//! All checks run on this thread and are measured in its CPU time. Checks that need a new process
//! are not run.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use rhae_protocol::SOFTWARE;
use rhae_validate::{Options, Part, Subject, check, parts};
use serde::Serialize;

use super::cpu_time;
use crate::output;
use crate::validate::{native_subject, progress_bar};

/// Measure the cost of `rhae validate --all` for an increasing number of random steps.
#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// Steps per regime of random play in the last row; the rows before have 1/5 and 1/25 of them
    #[arg(long, default_value_t = 250_000, value_parser = clap::value_parser!(u64).range(2_500..=1_000_000_000))]
    steps: u64,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ValidateBench {
    software: &'static str,
    rows: Vec<Row>,
}

/// The cost of validating all environments with `steps` steps per regime.
#[derive(Serialize)]
struct Row {
    steps: u64,
    /// Random steps in total, over all regimes, levels and environments.
    random_steps: u64,
    random_cpu_s: f64,
    ns_per_step: f64,
    /// CPU time of the other checks: structure, laws, state graphs, design and memory. Of these,
    /// only the memory check depends on the number of steps.
    rest_cpu_s: f64,
}

pub(crate) fn run(args: &ValidateArgs) -> Result<ExitCode> {
    let subjects = rhae_games::ALL
        .iter()
        .map(|entry| native_subject(entry.facts.id, 0, Vec::new()))
        .collect::<Result<Vec<_>>>()?;
    let options = [25, 5, 1].map(|part| Options {
        steps: args.steps / part,
        ..Options::default()
    });
    let work = |options: &Options| {
        subjects
            .iter()
            .flat_map(|subject| parts(&**subject, options))
            .map(|(_, weight)| weight.0)
            .sum::<u64>()
    };
    let bar = progress_bar(args.json);
    bar.set_length(options.iter().map(work).sum());
    let rows = options
        .iter()
        .map(|options| row(&subjects, options, &bar))
        .collect();
    bar.finish_and_clear();
    let bench = ValidateBench {
        software: SOFTWARE,
        rows,
    };
    if args.json {
        output::print_json(&bench)?;
        return Ok(ExitCode::SUCCESS);
    }
    output::print("steps/regime  random steps   CPU s  ns/step      other CPU s")?;
    for row in &bench.rows {
        output::print(&format!(
            "{:>12} {:>13} {:>7.1} {:>8.0} {:>16.1}",
            row.steps, row.random_steps, row.random_cpu_s, row.ns_per_step, row.rest_cpu_s
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn row(subjects: &[Box<dyn Subject>], options: &Options, bar: &ProgressBar) -> Row {
    let (mut random_steps, mut random, mut rest) = (0, Duration::ZERO, Duration::ZERO);
    for subject in subjects {
        for (part, weight) in parts(&**subject, options) {
            bar.set_message(format!("{} {}", subject.info().id, part.name()));
            let started = cpu_time();
            check(&**subject, part, options, &());
            let spent = cpu_time() - started;
            if matches!(part, Part::Start | Part::Luck(_) | Part::Fuzz(_)) {
                random_steps += weight.0;
                random += spent;
            } else {
                rest += spent;
            }
            bar.inc(weight.0);
        }
    }
    Row {
        steps: options.steps,
        random_steps,
        random_cpu_s: random.as_secs_f64(),
        ns_per_step: 1e9 * random.as_secs_f64() / random_steps as f64,
        rest_cpu_s: rest.as_secs_f64(),
    }
}
