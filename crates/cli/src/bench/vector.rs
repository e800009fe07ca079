//! `rhae bench vector`: the speed of vector environments as a share of copying.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rhae_bench::{VectorBench, VectorOptions};

use crate::output;

/// Measure the vector environments of the Python package: steps per second, compared with copying a
/// buffer of the size of all observations with the same number of threads.
///
/// Actions are sampled among those that are available. Sampling is not measured.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae bench vector --python .venv/bin/python
  rhae bench vector --only kq19 --only pz19 --rounds 50 --json")]
pub(crate) struct VectorArgs {
    /// Python interpreter with `rhae` and `gymnasium` installed
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Number of plays
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    plays: u32,
    /// Number of threads
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// Number of rounds of 32 steps, which alternate with copies
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Environment to measure instead of all built-in ones; may be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &VectorArgs) -> Result<ExitCode> {
    let options = VectorOptions {
        python: args.python.clone(),
        plays: args.plays,
        threads: args.threads,
        rounds: args.rounds,
        only: args.only.clone(),
    };
    if args.json {
        output::print_json(&VectorBench::measure(&options)?)?;
    } else {
        output::print(&VectorBench::table(&options)?)?;
    }
    Ok(ExitCode::SUCCESS)
}
