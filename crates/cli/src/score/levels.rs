//! `rhae score levels`: computes a score from action counts.

use anyhow::{Result, bail, ensure};
use clap::Args;
use rhae_scoring::{LevelCount, LevelResult, Method, score_game};
use serde::Serialize;

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

#[derive(Serialize)]
struct Scores {
    method: &'static str,
    levels: Vec<Level>,
    /// The score in percent.
    score: f64,
    /// The maximum score of the completed levels, in percent.
    cap: f64,
}

#[derive(Serialize)]
struct Level {
    level: usize,
    baseline: u32,
    actions: Option<u32>,
    score: f64,
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
    let results: Vec<LevelResult> = actions
        .iter()
        .map(|count| {
            count.map_or(LevelResult::NotCompleted, |count| {
                LevelResult::Completed(LevelCount::all_effective(count))
            })
        })
        .collect();
    let game = score_game(args.method, &baselines, &results)?;
    let levels = baselines.iter().zip(&actions).zip(&game.levels).enumerate();
    let scores = Scores {
        method: args.method.name(),
        levels: levels
            .map(|(index, ((&baseline, &actions), score))| Level {
                level: index + 1,
                baseline,
                actions,
                score: 100.0 * score,
            })
            .collect(),
        score: 100.0 * game.score,
        cap: 100.0 * game.cap,
    };
    if args.json {
        return output::print_json(&scores);
    }
    output::print(&format!(
        "method {}\n\nlevel  baseline  actions  score %",
        scores.method
    ))?;
    for level in &scores.levels {
        let actions = level
            .actions
            .map_or_else(|| "-".to_owned(), |count| count.to_string());
        output::print(&format!(
            "{:>5}  {:>8}  {actions:>7}  {:>7.2}",
            level.level, level.baseline, level.score
        ))?;
    }
    output::print(&format!(
        "\ngame {:.2} %, at most {:.2} % possible with the completed levels",
        scores.score, scores.cap
    ))
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
