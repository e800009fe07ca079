//! The report of many runs: one row each, next to published results.

use rhae_protocol::{ANALYSIS_VERSION, AnalysedRun, RunsReport};

use crate::comparable::{differences, is_evaluation};
use crate::compare::{mark_frontier, run_notes};
use crate::published_for;

/// Reports runs. Runs that are not comparable are reported too, and the report says why they are not.
pub fn report(mut runs: Vec<AnalysedRun>) -> RunsReport {
    let differences = differences(&runs);
    let mut notes = run_notes(&runs);
    let ids = |run: &AnalysedRun| -> Vec<String> {
        let mut ids: Vec<String> = run.environments.iter().map(|one| one.id.clone()).collect();
        ids.sort();
        ids
    };
    if runs.windows(2).all(|pair| ids(&pair[0]) == ids(&pair[1])) {
        mark_frontier(&mut runs);
    } else {
        notes.push(
            "The runs have different environments, so their scores are not comparable.".to_owned(),
        );
    }
    let published = published_for(&runs);
    if !published.is_empty() {
        notes.push(format!(
            "Published results were measured on other {} and give orientation only; their sources state no interval.",
            if runs.iter().all(is_evaluation) { "tasks or protocols" } else { "environments" }
        ));
    }
    RunsReport {
        version: ANALYSIS_VERSION,
        differences,
        notes,
        runs,
        published,
    }
}
