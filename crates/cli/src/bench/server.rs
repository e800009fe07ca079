//! `rhae bench server`: the cost of an action on the server, optionally compared with the official
//! server.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rhae_bench::{ServerBench, ServerOptions, peer_python};

use crate::output;

/// Measure the cost of an action on the server: CPU time, commits and latency.
#[derive(Args)]
pub(crate) struct ServerArgs {
    /// Duration of each measurement, in seconds
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Also measure the official server, with a small game of as many frames per action
    #[arg(long)]
    peer: bool,
    /// Python interpreter with arc-agi installed [default: the one created by `cargo xtask test` in
    /// target/python]
    #[arg(long, requires = "peer")]
    python: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ServerArgs) -> Result<ExitCode> {
    let bench = ServerBench::measure(&ServerOptions {
        program: std::env::current_exe().context("cannot determine the path of this program")?,
        time: Duration::from_secs(args.seconds),
        peer: args
            .peer
            .then(|| peer_python(args.python.as_deref()))
            .transpose()?,
    })?;
    if args.json {
        output::print_json(&bench)?;
    } else {
        output::print(&bench.to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}
