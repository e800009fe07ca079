//! `rhae score levels`: computes a score from action counts.

use anyhow::{Result, bail, ensure};
use clap::Args;
use rhae_report::level_table;
use rhae_scoring::Method;
use rhae_session::score_levels;

use crate::listed;
use crate::output;

/// Score action counts, given one baseline and one count for each level.
#[derive(Args)]
pub(crate) struct LevelsArgs {
    /// Scoring method
    #[arg(long, default_value = Method::DEFAULT.name(), value_parser = listed::method())]
    method: Method,
    /// Comma-separated baselines of the levels
    #[arg(
        long,
        required = true,
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    baselines: Vec<String>,
    /// Comma-separated action counts of the levels; `-` for a level that was not completed
    #[arg(
        long,
        required = true,
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    actions: Vec<String>,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &LevelsArgs) -> Result<()> {
    let baselines: Vec<u32> = args
        .baselines
        .iter()
        .map(|text| count("baseline", text))
        .collect::<Result<_>>()?;
    let actions: Vec<Option<u32>> = args
        .actions
        .iter()
        .map(|text| {
            if text.trim() == "-" {
                Ok(None)
            } else {
                count("action count", text).map(Some)
            }
        })
        .collect::<Result<_>>()?;
    ensure!(
        baselines.len() == actions.len(),
        "found {} baselines and {} action counts, expected one of each per level (`-` for a level that was not completed)",
        baselines.len(),
        actions.len()
    );
    let scores = score_levels(args.method, &baselines, &actions)?;
    if args.json {
        return output::print_json(&scores);
    }
    output::print(&level_table(&scores))
}

/// Parses a positive count. `noun` names the count in error messages.
fn count(noun: &str, text: &str) -> Result<u32> {
    match text.trim().parse::<i64>() {
        Ok(number) if number < 1 => {
            bail!("`{number}` is not a valid {noun}: a level takes at least one action")
        }
        Ok(number) => match u32::try_from(number) {
            Ok(count) => Ok(count),
            Err(_) => bail!("`{number}` is too large for a {noun}"),
        },
        Err(_) => {
            bail!(
                "`{text}` is not a valid {noun}: expected a whole number above 0 (or `-` for a level that was not completed)"
            )
        }
    }
}
