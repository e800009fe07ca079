//! Replays of the same environments by several agents.

use std::path::Path;

use rhae_engine::Catalog;
use rhae_harness::{read_recording, recording_film};
use rhae_protocol::AnalysedRun;
use rhae_report::{EnvironmentReplays, RunFilm};

/// The maximum number of actions that a replay shows. A page with many long plays would otherwise
/// need gigabytes of memory.
const MAX_ACTIONS: usize = 4_000;

/// Replays the first repeat of every environment that at least two runs have. A recording that
/// cannot be replayed is left out, and a note says why.
pub fn replays(
    runs: &[AnalysedRun],
    catalog: &dyn Catalog,
) -> (Vec<EnvironmentReplays>, Vec<String>) {
    let mut notes = Vec::new();
    let mut all: Vec<EnvironmentReplays> = Vec::new();
    for run in runs
        .iter()
        .filter(|run| !crate::comparable::is_evaluation(run))
    {
        for environment in &run.environments {
            match film(run, &environment.id, catalog) {
                Ok(film) => match all.iter_mut().find(|one| one.id == environment.id) {
                    Some(known) => known.films.push(film),
                    None => all.push(EnvironmentReplays {
                        id: environment.id.clone(),
                        films: vec![film],
                    }),
                },
                Err(reason) => notes.push(format!(
                    "No replay of {} by {}: {reason}.",
                    environment.id, run.label
                )),
            }
        }
    }
    all.retain(|one| one.films.len() > 1);
    (all, notes)
}

fn film(run: &AnalysedRun, id: &str, catalog: &dyn Catalog) -> Result<RunFilm, String> {
    let path = Path::new(&run.folder).join(format!("recordings/1-{id}.jsonl"));
    let mut recording = read_recording(&path).map_err(|error| error.to_string())?;
    let is_cut = recording.entries.len() > MAX_ACTIONS;
    recording.entries.truncate(MAX_ACTIONS);
    let mut film = recording_film(catalog, &recording).map_err(|error| error.to_string())?;
    if is_cut {
        film.subtitle = format!("{}; only the first {MAX_ACTIONS} actions", film.subtitle);
    }
    Ok(RunFilm {
        label: run.label.clone(),
        film,
    })
}
