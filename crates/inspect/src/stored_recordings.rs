//! Recordings that are stored with hosted games or named by the caller: they must replay, and they
//! show how levels are won.

use std::fs;
use std::path::{Path, PathBuf};

use rhae_engine::{Action, Catalog, GameInfo};
use rhae_protocol::Recording;
use rhae_session::replay;
use rhae_validate::StoredRecording;

use crate::InspectError;

/// All recordings that a command reads.
pub(crate) struct StoredRecordings(Vec<RecordingFile>);

/// A recording, with the path of its file for messages.
pub(crate) struct RecordingFile {
    name: String,
    recording: Recording,
}

impl StoredRecordings {
    /// Reads all recordings in `folders` and in the folders of hosted games.
    pub(crate) fn read(games: &dyn Catalog, folders: &[PathBuf]) -> Result<Self, InspectError> {
        let mut found = Vec::new();
        for folder in folders {
            read_all(folder, &mut found)?;
        }
        for game in games.hosted_games() {
            for folder in [game.folder.clone(), game.folder.join("recordings")] {
                if folder.is_dir() {
                    read_all(&folder, &mut found)?;
                }
            }
        }
        Ok(Self(found))
    }

    /// Replays the recordings of one environment.
    pub(crate) fn replayed(&self, games: &dyn Catalog, info: &GameInfo) -> Vec<StoredRecording> {
        self.of(info).map(|file| file.replayed(games)).collect()
    }

    /// Returns the actions that first completed each level, from the recording of one environment
    /// that completes the most levels.
    pub(crate) fn solutions(&self, info: &GameInfo, seed: u64) -> Vec<Option<Vec<Action>>> {
        self.of(info)
            .map(|file| file.solutions(seed))
            .max_by_key(Vec::len)
            .unwrap_or_default()
    }

    fn of(&self, info: &GameInfo) -> impl Iterator<Item = &RecordingFile> {
        let id = info.id.clone();
        self.0
            .iter()
            .filter(move |file| file.recording.header.game_id == id)
    }
}

fn read_all(folder: &Path, found: &mut Vec<RecordingFile>) -> Result<(), InspectError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| InspectError::Read { path, error }
    };
    let entries = fs::read_dir(folder).map_err(failed(folder))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    for path in files.into_iter().filter(|file| {
        file.extension()
            .is_some_and(|extension| extension == "jsonl")
    }) {
        let text = fs::read_to_string(&path).map_err(failed(&path))?;
        let name = path.display().to_string();
        let recording =
            Recording::parse(&text).map_err(|error| InspectError::Recording { path, error })?;
        found.push(RecordingFile { name, recording });
    }
    Ok(())
}

impl RecordingFile {
    fn replayed(&self, games: &dyn Catalog) -> StoredRecording {
        let replayed = match replay(games, &self.recording) {
            Err(error) => Err(error.to_string()),
            Ok(replayed) => match replayed.mismatch {
                Some(mismatch) => Err(format!("entry {}: {}", mismatch.entry + 1, mismatch.reason)),
                None => {
                    let seen = replayed.play.current().observation;
                    Ok(format!(
                        "{}, {} of {} levels",
                        seen.state.name(),
                        seen.levels_completed,
                        seen.win_levels
                    ))
                }
            },
        };
        StoredRecording {
            name: self.name.clone(),
            replayed,
        }
    }

    /// Returns the actions that first completed each level, or an empty list if the recording has
    /// another seed.
    fn solutions(&self, seed: u64) -> Vec<Option<Vec<Action>>> {
        let mut solutions = Vec::new();
        if self.recording.header.seed != seed {
            return solutions;
        }
        let (mut actions, mut completed) = (Vec::new(), 0);
        for entry in self.recording.entries.iter().skip(1) {
            actions.push(entry.action);
            if entry.full_reset && completed > 0 {
                break;
            }
            // Actions before a level reset are not part of the win.
            if entry.action == Action::Reset {
                actions.clear();
            }
            if entry.levels_completed > completed {
                solutions.push(Some(std::mem::take(&mut actions)));
                completed = entry.levels_completed;
            }
        }
        solutions
    }
}
