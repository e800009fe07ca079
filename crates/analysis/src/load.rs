//! Loading runs of both kinds, with labels that tell them from each other.

use std::path::{Path, PathBuf};

use rhae_engine::Catalog;
use rhae_protocol::{AnalysedRun, MeanScore, REPLAY_MARK, RunKind, is_replay};
use rhae_runs::describe_run;
use rhae_stats::bootstrap_repeats_95;

use crate::{AnalysisError, evaluation, played};

/// Loads runs and gives each a unique label: its name or agent, if necessary with its seed or its
/// folder.
///
/// # Errors
///
/// Returns the errors of [`load_run`].
pub fn load_runs(
    folders: &[PathBuf],
    catalog: &dyn Catalog,
) -> Result<Vec<AnalysedRun>, AnalysisError> {
    let mut runs = folders
        .iter()
        .map(|folder| load_run(folder, catalog))
        .collect::<Result<Vec<_>, _>>()?;
    make_labels_unique(&mut runs);
    Ok(runs)
}

/// Loads the run in a folder, of `rhae run` or of `rhae arc eval`. The catalogue is needed only if
/// the run was killed before it wrote its scorecards.
///
/// # Errors
///
/// Returns an error if the folder contains no run, or no results.
pub fn load_run(folder: &Path, catalog: &dyn Catalog) -> Result<AnalysedRun, AnalysisError> {
    let listing = describe_run(folder)?;
    let mut run = if listing.kind == RunKind::Plays {
        played::load(folder, catalog)?
    } else {
        evaluation::load(folder)?
    };
    run.folder = folder.display().to_string();
    run.label = match listing.identity.name {
        Some(name) if is_replay(&run.agent) => format!("{name} ({REPLAY_MARK})"),
        Some(name) => name,
        None => run.agent.clone(),
    };
    run.kind = listing.kind;
    run.started_ms = listing.started_ms;
    run.score = mean_score(&run).ok_or_else(|| AnalysisError::NoResults {
        folder: folder.to_owned(),
        reason: "it has no environments".to_owned(),
    })?;
    Ok(run)
}

/// Returns the mean over the environments of a run with its interval; `None` without environments.
fn mean_score(run: &AnalysedRun) -> Option<MeanScore> {
    let scores: Vec<Vec<f64>> = run
        .environments
        .iter()
        .map(|environment| environment.scores.clone())
        .collect();
    let interval = bootstrap_repeats_95(&scores)?;
    let means = run
        .environments
        .iter()
        .map(|environment| environment.score());
    Some(MeanScore {
        mean: means.sum::<f64>() / run.environments.len() as f64,
        interval: [interval.low, interval.high],
        interval_method: interval.method().to_owned(),
        interval_error: Some(interval.error).filter(|&error| error > 0.0),
        environments: run.environments.len(),
    })
}

/// Adds the seed to equal labels and, if they are still equal, the name of the folder.
fn make_labels_unique(runs: &mut [AnalysedRun]) {
    let seed = |run: &AnalysedRun| run.seed.map(|seed| format!("seed {seed}"));
    let folder = |run: &AnalysedRun| {
        let name = Path::new(&run.folder).file_name();
        name.map(|name| name.to_string_lossy().into_owned())
    };
    let number = |index: usize| Some(format!("#{}", index + 1));
    for round in 0..3 {
        let labels: Vec<String> = runs.iter().map(|run| run.label.clone()).collect();
        for (index, run) in runs.iter_mut().enumerate() {
            if labels.iter().filter(|label| **label == run.label).count() > 1 {
                let suffix = match round {
                    0 => seed(run),
                    1 => folder(run),
                    _ => number(index),
                };
                if let Some(suffix) = suffix {
                    run.label = format!("{}, {suffix}", run.label);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_labels_get_seeds_then_folders_then_numbers() {
        let run = |label: &str, seed, folder: &str| AnalysedRun {
            label: label.to_owned(),
            seed: Some(seed),
            folder: folder.to_owned(),
            ..AnalysedRun::default()
        };
        let mut runs = [
            run("random", 1, "runs/a"),
            run("random", 2, "runs/b"),
            run("random", 2, "runs/c"),
            run("explorer", 0, "runs/d"),
            run("twice", 0, "x/e"),
            run("twice", 0, "y/e"),
        ];
        make_labels_unique(&mut runs);
        assert_eq!(
            runs.map(|run| run.label),
            [
                "random, seed 1",
                "random, seed 2, b",
                "random, seed 2, c",
                "explorer",
                "twice, seed 0, e, #5",
                "twice, seed 0, e, #6"
            ]
        );
    }
}
