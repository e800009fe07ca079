//! Recordings in files, and the agent `replay:FILE`.

use std::path::Path;

use rhae_engine::Catalog;
use rhae_protocol::Recording;
use rhae_runs::RunsError;

use crate::HarnessError;
use crate::selection::{ALL, select_games};

/// Reads a recording in any supported format.
///
/// # Errors
///
/// Returns an error if the file cannot be read or is not a recording.
pub fn read_recording(path: &Path) -> Result<Recording, HarnessError> {
    if path.is_dir() {
        return Err(HarnessError::Request(format!(
            "`{0}` is a folder; name the recordings in it, such as {0}/recordings/*.jsonl",
            path.display()
        )));
    }
    let bytes = std::fs::read(path).map_err(RunsError::file("read", path))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        HarnessError::Request(format!(
            "`{}` is not a recording: it is not UTF-8 text",
            path.display()
        ))
    })?;
    Recording::parse(&text).map_err(|error| {
        HarnessError::Request(format!(
            "cannot read `{}` as a recording: {error}",
            path.display()
        ))
    })
}

/// Returns the agent, the environment and the environment seed for the agent `replay:FILE`.
/// Environment and seed are those of the recording; a request that selects others is rejected.
pub(crate) fn replayed_play(
    catalog: &dyn Catalog,
    file: &Path,
    games: Option<&str>,
    env_seed: u64,
) -> Result<(String, Option<String>, u64), HarnessError> {
    let recording = read_recording(file)?;
    let id = recording.header.game_id.to_string();
    let named = games.filter(|&names| names != ALL);
    let selected = match named {
        None => vec![catalog.find(&id)?.id.to_string()],
        Some(names) => select_games(catalog, names)?,
    };
    let seed = recording.header.seed;
    let restarts = recording
        .entries
        .iter()
        .skip(1)
        .any(|entry| entry.full_reset);
    let problem = if selected != [id.clone()] {
        Some(format!(
            "the recording is of `{id}`; it cannot be replayed on `{}`",
            named.unwrap_or_default()
        ))
    } else if env_seed != 0 && env_seed != seed {
        Some(format!(
            "the recording was made under the environment seed {seed}, not {env_seed}"
        ))
    } else {
        restarts.then(|| {
            "the recording restarts the whole game, which a run does not allow; use `rhae score recording`"
                .to_owned()
        })
    };
    if let Some(problem) = problem {
        return Err(HarnessError::Request(problem));
    }
    let path = file.canonicalize().map_err(RunsError::file("find", file))?;
    Ok((format!("replay:{}", path.display()), Some(id), seed))
}
