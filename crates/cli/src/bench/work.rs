//! `rhae bench work`: the cost of distributing plays.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use clap::Args;
use rhae_bench::{WorkBench, WorkOptions};

use crate::output;

/// Measure what distributing plays costs: the time of a unit besides its work, and how well workers are
/// used, compared with one process.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae bench work
  rhae bench work --on local:2 --on slurm --on ray:127.0.0.1:6379 --python venv/bin/python
  rhae bench work --on slurm --units 4")]
pub(crate) struct WorkArgs {
    /// Engine of `rhae run --on`; may be repeated. One that cannot start here is skipped and named
    /// [default: local with --workers, slurm and ray]
    #[arg(long, value_name = "ENGINE")]
    on: Vec<String>,
    /// Number of workers
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: u32,
    /// Number of plays that take no time
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    short_units: u32,
    /// Number of plays that take --unit-seconds
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    units: u32,
    /// Duration of a play in seconds
    #[arg(long, default_value_t = 10.0)]
    unit_seconds: f64,
    /// Python interpreter with the package `ray`
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &WorkArgs) -> Result<ExitCode> {
    ensure!(
        args.unit_seconds > 0.0 && args.unit_seconds <= 3600.0,
        "--unit-seconds must be more than 0 and at most 3,600"
    );
    let mut arguments = Vec::new();
    if let Some(python) = &args.python {
        arguments.extend(["--python".into(), python.into()]);
    }
    let engines = if args.on.is_empty() {
        let local = format!("local:{}", args.workers);
        vec![local, "slurm".to_owned(), "ray".to_owned()]
    } else {
        args.on.clone()
    };
    let options = WorkOptions {
        program: std::env::current_exe()?,
        engines,
        arguments,
        workers: args.workers,
        short_units: args.short_units,
        units: args.units,
        unit_seconds: args.unit_seconds,
    };
    let bench = WorkBench::measure(&options, &mut |name| {
        if !args.json {
            eprintln!("{name}");
        }
    })?;
    if args.json {
        output::print_json(&bench)?;
    } else {
        output::print(bench.to_string().trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}
