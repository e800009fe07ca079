//! `rhae arc sample`: draws a sample of a set and writes its manifest.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_datasets::write_tasks;
use rhae_tasks::{NejumiRule, sample, score};

use super::data::{DataArgs, RuleArgs, load_submission};
use crate::output;

/// Draw a sample of tasks, with one test of each, and write a manifest.
///
/// With a reference submission, the share of solved tasks in the sample matches the score of that
/// submission, as in Nejumi's samples. Without one, the sample is spread evenly over task sizes.
/// The other `rhae arc` commands accept the manifest with `--manifest`.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc sample --data data/arc --set arc-agi-1-evaluation --out sample.json
  rhae arc sample --data data/arc --set arc-agi-1-evaluation --reference o3.json --out sample.json --tasks-out sample/")]
pub(super) struct SampleArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// Number of tasks to draw
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    samples: u32,
    /// Seed of the random draw
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Maximum number of cells in a task's training pairs, inputs and outputs together
    #[arg(long, default_value_t = 2000)]
    max_cells: usize,
    /// Submission whose score sets the share of solved tasks
    #[arg(long, value_name = "SUBMISSION")]
    reference: Option<PathBuf>,
    /// Output file for the manifest
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Output folder for the sampled tasks, each with its sampled test only
    #[arg(long, value_name = "FOLDER")]
    tasks_out: Option<PathBuf>,
    /// Print the manifest as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SampleArgs) -> Result<ExitCode> {
    let set = args.data.one_set()?;
    let rule = NejumiRule {
        samples: args.samples as usize,
        seed: args.seed,
        max_cells: args.max_cells,
    };
    let reference = match &args.reference {
        Some(path) => {
            let name = path.file_stem().map_or_else(
                || "reference".to_owned(),
                |stem| stem.to_string_lossy().into_owned(),
            );
            Some((
                name,
                score(
                    &set,
                    &set.all_tests(),
                    &load_submission(path)?,
                    args.rules.rules(),
                )?,
            ))
        }
        None => None,
    };
    let manifest = sample(
        &set,
        rule,
        reference
            .as_ref()
            .map(|(name, score)| (name.as_str(), score)),
    )?;
    if let Some(path) = &args.out {
        let text = serde_json::to_string_pretty(&manifest)? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    if let Some(folder) = &args.tasks_out {
        write_tasks(&set.select(&manifest.selection(&set)?)?, folder)?;
    }
    if args.json {
        output::print_json(&manifest)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = output::plain(&manifest.set);
    let (chosen, candidates) = (manifest.chosen.len(), manifest.candidates);
    output::print(&format!(
        "{chosen} of {candidates} tasks of {name} with at most {} cells, seed {}",
        args.max_cells, args.seed
    ))?;
    if let Some(reference) = &manifest.reference {
        let solved = manifest
            .chosen
            .iter()
            .filter(|chosen| chosen.reference_correct == Some(true))
            .count();
        let (reference, score) = (output::plain(&reference.name), 100.0 * reference.score);
        output::print(&format!(
            "{solved} of them solved by {reference}, which scores {score:.2} % on the {candidates} candidates"
        ))?;
    }
    for chosen in &manifest.chosen {
        output::print(&format!("{} test {}", chosen.task, chosen.test + 1))?;
    }
    Ok(ExitCode::SUCCESS)
}
