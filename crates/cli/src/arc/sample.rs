//! `rhae arc sample`: a part of a set, with a manifest.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use rhae_tasks::{NejumiRule, sample, score};

use super::data::{DataArgs, RuleArgs, submission};
use crate::output;

/// Draw a sample of tasks, one test of each, and write a manifest of it.
///
/// With a reference submission the sample has solved and unsolved tasks in the proportion of its score, as Nejumi's samples do;
/// without one it is spread evenly over the tasks' sizes. `--manifest` of the other commands takes what is written here.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae arc sample --data data/arc --set arc-agi-1-evaluation --out sample.json
  rhae arc sample --data data/arc --set arc-agi-1-evaluation --reference o3.json --out sample.json --tasks-out sample/")]
pub(super) struct SampleArgs {
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    rules: RuleArgs,
    /// How many tasks
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    samples: u32,
    /// The seed of the draw
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// The most cells that a task's training pairs may have, inputs and outputs together
    #[arg(long, default_value_t = 2000)]
    max_cells: usize,
    /// A submission whose score sets the proportions
    #[arg(long, value_name = "SUBMISSION")]
    reference: Option<PathBuf>,
    /// Where the manifest goes
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A folder for the sampled tasks, each with its sampled test only
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
        most_cells: args.max_cells,
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
                    &set.everything(),
                    &submission(path)?,
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
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create `{}`", folder.display()))?;
        for (id, task) in &set.select(&manifest.selection(&set)?)?.tasks {
            let path = folder.join(format!("{id}.json"));
            fs::write(&path, task.to_json().to_string() + "\n")
                .with_context(|| format!("cannot write `{}`", path.display()))?;
        }
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
            "{solved} of them solved by {reference}, which scores {score:.2} % on the {candidates}"
        ))?;
    }
    for chosen in &manifest.chosen {
        output::print(&format!("{} test {}", chosen.task, chosen.test + 1))?;
    }
    Ok(ExitCode::SUCCESS)
}
