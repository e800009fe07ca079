//! `rhae score humans`: computes baselines from a table of human plays.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use rhae_datasets::HumanTable;

use crate::output;

/// Compute baselines under each method from a table of human plays.
///
/// The table is a CSV file with the columns participant, environment, level, actions and completed.
/// Only the first row of a participant for a level counts, because baselines are for first-time
/// plays.
#[derive(Args)]
pub(crate) struct HumansArgs {
    /// CSV file
    table: PathBuf,
    /// Print the baselines as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &HumansArgs) -> Result<()> {
    let name = args.table.display();
    let text =
        std::fs::read_to_string(&args.table).with_context(|| format!("cannot read `{name}`"))?;
    let table = HumanTable::parse(&text).with_context(|| format!("cannot use `{name}`"))?;
    if args.json {
        output::print_json(&table.levels)?;
    } else {
        output::print(&table.to_string())?;
    }
    let missing = table.missing();
    ensure!(
        missing.is_empty(),
        "some baselines cannot be computed:\n  {}",
        missing.join("\n  ")
    );
    Ok(())
}
