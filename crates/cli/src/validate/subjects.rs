//! Opens the selected environments as subjects of validation, together with their recordings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use rhae_engine::{Action, Catalog, CatalogError, EnvironmentError, Game, GameInfo};
use rhae_explore::Identity;
use rhae_games::Visitor;
use rhae_protocol::Recording;
use rhae_pyhost::Games;
use rhae_session::replay;
use rhae_validate::{
    EnvironmentSubject, GraphLimits, NativeSubject, Options, StoredRecording, Subject,
};

use super::{ValidateArgs, is_hosted};
use crate::run::read_recording;

/// An environment to validate, with its options.
pub(super) struct Candidate<'a> {
    pub(super) info: GameInfo,
    pub(super) options: Options,
    /// The opened environment, or the reason why it does not open.
    pub(super) subject: Result<Box<dyn Subject + 'a>, String>,
}

/// A recording, with the path of its file for messages.
pub(super) struct RecordingFile {
    name: String,
    recording: Recording,
}

/// Reads all recordings in `folders` and in the folders of hosted games.
pub(super) fn recordings(games: &Games, folders: &[PathBuf]) -> Result<Vec<RecordingFile>> {
    let mut found = Vec::new();
    for folder in folders {
        read_all(folder, &mut found)?;
    }
    for game in games.folders() {
        for folder in [game.path.clone(), game.path.join("recordings")] {
            if folder.is_dir() {
                read_all(&folder, &mut found)?;
            }
        }
    }
    Ok(found)
}

fn read_all(folder: &Path, found: &mut Vec<RecordingFile>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    for file in files.into_iter().filter(|file| {
        file.extension()
            .is_some_and(|extension| extension == "jsonl")
    }) {
        found.push(RecordingFile {
            name: file.display().to_string(),
            recording: read_recording(&file)?,
        });
    }
    Ok(())
}

impl RecordingFile {
    fn replayed(&self, games: &Games) -> StoredRecording {
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

/// Opens an environment with the options from the arguments. A hosted game that does not open is
/// not an error: it becomes a candidate without a subject, which fails the rule `loads`.
pub(super) fn candidate<'a>(
    args: &ValidateArgs,
    games: &'a Games,
    info: &GameInfo,
    found: &[RecordingFile],
    interrupt: &Arc<AtomicBool>,
) -> Result<Candidate<'a>> {
    let hosted = is_hosted(games, info);
    let options = args.options(hosted);
    let subject: Result<Box<dyn Subject + 'a>, String> = if hosted {
        let identity = if args.deep {
            Identity::Deep
        } else {
            Identity::FrameAndHidden
        };
        match open_hosted(games, info, args.env_seed, options.limits, identity, found) {
            Ok(subject) => {
                let interrupt = Arc::clone(interrupt);
                let subject =
                    subject.with_should_continue(move || !interrupt.load(Ordering::Relaxed));
                Ok(Box::new(
                    subject.with_random_search(options.seed, options.steps),
                ))
            }
            Err(error) => Err(error.to_string()),
        }
    } else {
        let stored = recordings_of(info, found)
            .map(|found| found.replayed(games))
            .collect();
        Ok(native_subject(info.id.as_str(), args.env_seed, stored)?)
    };
    Ok(Candidate {
        info: info.clone(),
        options,
        subject,
    })
}

/// Returns a native game as a subject, with recordings that must replay.
fn native_subject(id: &str, seed: u64, stored: Vec<StoredRecording>) -> Result<Box<dyn Subject>> {
    rhae_games::visit(id, OpenNative { seed, stored })
        .context("the environment is not in the registry of native games")
}

/// Returns a hosted game as a subject, with the recordings of its folder. `rhae explore` uses it.
pub(crate) fn hosted_subject<'a>(
    games: &'a Games,
    info: &GameInfo,
    seed: u64,
    limits: GraphLimits,
    identity: Identity,
) -> Result<EnvironmentSubject<'a>> {
    Ok(open_hosted(
        games,
        info,
        seed,
        limits,
        identity,
        &recordings(games, &[])?,
    )?)
}

fn recordings_of<'f>(
    info: &GameInfo,
    found: &'f [RecordingFile],
) -> impl Iterator<Item = &'f RecordingFile> {
    let id = info.id.clone();
    found
        .iter()
        .filter(move |found| found.recording.header.game_id == id)
}

fn open_hosted<'a>(
    games: &'a Games,
    info: &GameInfo,
    seed: u64,
    limits: GraphLimits,
    identity: Identity,
    found: &[RecordingFile],
) -> Result<EnvironmentSubject<'a>, EnvironmentError> {
    let id = info.id.to_string();
    let open = move |seed: u64| {
        games.open(&id, seed).map_err(|error| match error {
            CatalogError::Environment(error) => error,
            other @ CatalogError::Unknown(_) => EnvironmentError::Failed(other.to_string()),
        })
    };
    let solutions = recordings_of(info, found)
        .map(|found| found.solutions(seed))
        .max_by_key(Vec::len)
        .unwrap_or_default();
    let stored = recordings_of(info, found)
        .map(|found| found.replayed(games))
        .collect();
    Ok(EnvironmentSubject::new(open, seed, limits)?
        .with_solutions(solutions)
        .with_recordings(stored)
        .with_identity(identity))
}

struct OpenNative {
    seed: u64,
    stored: Vec<StoredRecording>,
}

impl Visitor for OpenNative {
    type Output = Box<dyn Subject>;

    fn visit<G: Game>(self) -> Box<dyn Subject> {
        Box::new(NativeSubject::<G>::new(self.seed, self.stored))
    }
}
