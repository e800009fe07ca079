//! Recordings that are stored with hosted games or named by the caller: they must replay, and they
//! show how levels are won.
//!
//! **Invariant:** in a game's folder only regular files are read, and no link is followed, because a
//! foreign folder could otherwise make the command read any file.

use std::fs;
use std::path::{Path, PathBuf};

use rhae_engine::{Action, Catalog, GameId, GameInfo};
use rhae_protocol::Recording;
use rhae_session::replay;
use rhae_validate::StoredRecording;

use crate::InspectError;

/// All recordings that a command reads.
pub(crate) struct StoredRecordings {
    files: Vec<RecordingFile>,
    /// Links and other special files in the folders of games, which are not read.
    refused: Vec<(GameId, PathBuf)>,
}

/// A recording, with the path of its file for messages.
pub(crate) struct RecordingFile {
    name: String,
    recording: Recording,
}

impl StoredRecordings {
    /// Reads all recordings in `folders` and in the folders of hosted games.
    pub(crate) fn read(games: &dyn Catalog, folders: &[PathBuf]) -> Result<Self, InspectError> {
        let mut stored = Self {
            files: Vec::new(),
            refused: Vec::new(),
        };
        for folder in folders {
            for path in recordings_in(folder)? {
                stored.add(path)?;
            }
        }
        for game in games.hosted_games() {
            let recordings = game.folder.join("recordings");
            let is_folder = fs::symlink_metadata(&recordings).is_ok_and(|found| found.is_dir());
            for folder in [Some(game.folder), is_folder.then_some(recordings)]
                .into_iter()
                .flatten()
            {
                for path in recordings_in(&folder)? {
                    if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
                        stored.add(path)?;
                    } else {
                        stored.refused.push((game.id.clone(), path));
                    }
                }
            }
        }
        Ok(stored)
    }

    fn add(&mut self, path: PathBuf) -> Result<(), InspectError> {
        let text = fs::read_to_string(&path).map_err(|error| InspectError::Read {
            path: path.clone(),
            error,
        })?;
        let name = path.display().to_string();
        let recording =
            Recording::parse(&text).map_err(|error| InspectError::Recording { path, error })?;
        self.files.push(RecordingFile { name, recording });
        Ok(())
    }

    /// Replays the recordings of one environment. Files that were not read count as recordings that
    /// do not replay.
    pub(crate) fn replayed(&self, games: &dyn Catalog, info: &GameInfo) -> Vec<StoredRecording> {
        let own = self.refused.iter().filter(|(id, _)| *id == info.id);
        let refused = own.map(|(_, path)| StoredRecording {
            name: path.display().to_string(),
            replayed: Err(
                "not a regular file; links in a game's folder are not followed".to_owned(),
            ),
        });
        self.of(info)
            .map(|file| file.replayed(games))
            .chain(refused)
            .collect()
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
        self.files
            .iter()
            .filter(move |file| file.recording.header.game_id == id)
    }
}

/// Returns the files of a folder whose names end in `.jsonl`, sorted.
fn recordings_in(folder: &Path) -> Result<Vec<PathBuf>, InspectError> {
    let entries = fs::read_dir(folder).map_err(|error| InspectError::Read {
        path: folder.to_owned(),
        error,
    })?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    files.sort();
    Ok(files)
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

#[cfg(test)]
mod tests {
    use rhae_engine::{CatalogError, Environment, HostedGame};
    use rhae_games::Builtin;

    use super::*;

    /// The built-in environments, one of which claims to be a hosted game.
    struct OneHosted(PathBuf);

    impl Catalog for OneHosted {
        fn list(&self) -> Vec<GameInfo> {
            Builtin.list()
        }

        fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
            Builtin.find(name)
        }

        fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
            Builtin.open(name, seed)
        }

        fn hosted_games(&self) -> Vec<HostedGame> {
            vec![HostedGame {
                id: self.list()[0].id.clone(),
                folder: self.0.clone(),
                source_digest: String::new(),
                changes: Vec::new(),
            }]
        }
    }

    #[test]
    fn links_in_the_folder_of_a_game_are_not_followed() {
        let (game, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = elsewhere.path().join("secret.jsonl");
        fs::write(&secret, "secret").unwrap();
        std::os::unix::fs::symlink(&secret, game.path().join("win.jsonl")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), game.path().join("recordings")).unwrap();
        let games = OneHosted(game.path().to_owned());
        let stored = StoredRecordings::read(&games, &[]).unwrap();
        let infos = games.list();
        let [refused] = &stored.replayed(&games, &infos[0])[..] else {
            panic!("only the link in the folder itself is a recording")
        };
        assert!(refused.name.ends_with("win.jsonl"), "{}", refused.name);
        let reason = refused.replayed.as_ref().unwrap_err();
        assert!(reason.contains("not a regular file"), "{reason}");
        assert!(stored.replayed(&games, &infos[1]).is_empty());
    }
}
