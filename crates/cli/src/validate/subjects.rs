//! From names to what is checked: native games as they are, hosted ones with the recordings that come with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use rhae_engine::{Action, EnvironmentError, Game, GameInfo};
use rhae_explore::Identity;
use rhae_games::Visitor;
use rhae_protocol::Recording;
use rhae_pyhost::Games;
use rhae_session::{Catalog, CatalogError, replay};
use rhae_validate::{GraphLimits, NativeSubject, OpenedSubject, Options, Stored, Subject};

use super::{ValidateArgs, is_hosted};
use crate::run::read_recording;

/// An environment and how it is checked.
pub(super) struct Checked<'a> {
    pub(super) info: GameInfo,
    pub(super) options: Options,
    /// An environment that does not even open has no subject.
    pub(super) subject: Result<Box<dyn Subject + 'a>, String>,
}

/// A recording that was found, and the play in it.
pub(super) struct Found {
    name: String,
    recording: Recording,
}

/// All recordings of the folders named, and of the folders of games.
pub(super) fn recordings(games: &Games, folders: &[PathBuf]) -> Result<Vec<Found>> {
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

fn read_all(folder: &Path, found: &mut Vec<Found>) -> Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    for file in files
        .into_iter()
        .filter(|file| file.extension().is_some_and(|ending| ending == "jsonl"))
    {
        found.push(Found {
            name: file.display().to_string(),
            recording: read_recording(&file)?,
        });
    }
    Ok(())
}

impl Found {
    fn replayed(&self, games: &Games) -> Stored {
        let replayed = match replay(games, &self.recording) {
            Err(error) => Err(error.to_string()),
            Ok(replayed) => match replayed.mismatch {
                Some(mismatch) => Err(format!("entry {}: {}", mismatch.entry + 1, mismatch.what)),
                None => {
                    let seen = replayed.play.opening().observation;
                    Ok(format!(
                        "{}, {} of {} levels",
                        seen.state.name(),
                        seen.levels_completed,
                        seen.win_levels
                    ))
                }
            },
        };
        Stored {
            name: self.name.clone(),
            replayed,
        }
    }

    /// The line that completed each level first, if the recording is of the environment's first play.
    fn solutions(&self, seed: u64) -> Vec<Option<Vec<Action>>> {
        let mut solutions = Vec::new();
        if self.recording.header.seed != seed {
            return solutions;
        }
        let (mut line, mut completed) = (Vec::new(), 0);
        for entry in self.recording.entries.iter().skip(1) {
            line.push(entry.action);
            if entry.full_reset && completed > 0 {
                break;
            }
            // What was tried before a RESET of the level has no part in the win.
            if entry.action == Action::Reset {
                line.clear();
            }
            if entry.levels_completed > completed {
                solutions.push(Some(std::mem::take(&mut line)));
                completed = entry.levels_completed;
            }
        }
        solutions
    }
}

pub(super) fn subject<'a>(
    args: &ValidateArgs,
    games: &'a Games,
    info: &GameInfo,
    found: &[Found],
    interrupt: &Arc<AtomicBool>,
) -> Result<Checked<'a>> {
    let hosted = is_hosted(games, info);
    let options = args.options(hosted);
    let subject: Result<Box<dyn Subject + 'a>, String> = if hosted {
        let identity = if args.deep {
            Identity::Deep
        } else {
            Identity::FrameAndHidden
        };
        match opened(games, info, args.env_seed, options.limits, identity, found) {
            Ok(subject) => {
                let interrupt = Arc::clone(interrupt);
                let subject = subject.as_long_as(move || !interrupt.load(Ordering::Relaxed));
                Ok(Box::new(subject.with_luck(options.seed, options.steps)))
            }
            Err(error) => Err(error.to_string()),
        }
    } else {
        let stored = own(info, found)
            .map(|found| found.replayed(games))
            .collect();
        Ok(native_subject(info.id.as_str(), args.env_seed, stored)?)
    };
    Ok(Checked {
        info: info.clone(),
        options,
        subject,
    })
}

/// A built-in environment with recordings that must replay.
pub(crate) fn native_subject(id: &str, seed: u64, stored: Vec<Stored>) -> Result<Box<dyn Subject>> {
    rhae_games::visit(id, Native { seed, stored }).context("the registry lists it")
}

/// A hosted game with the recordings of its folder, for other commands.
pub(crate) fn hosted_subject<'a>(
    games: &'a Games,
    info: &GameInfo,
    seed: u64,
    limits: GraphLimits,
    identity: Identity,
) -> Result<OpenedSubject<'a>> {
    Ok(opened(
        games,
        info,
        seed,
        limits,
        identity,
        &recordings(games, &[])?,
    )?)
}

fn own<'f>(info: &GameInfo, found: &'f [Found]) -> impl Iterator<Item = &'f Found> {
    let id = info.id.clone();
    found
        .iter()
        .filter(move |found| found.recording.header.game_id == id)
}

fn opened<'a>(
    games: &'a Games,
    info: &GameInfo,
    seed: u64,
    limits: GraphLimits,
    identity: Identity,
    found: &[Found],
) -> Result<OpenedSubject<'a>, EnvironmentError> {
    let id = info.id.to_string();
    let open = move |seed: u64| {
        games.open(&id, seed).map_err(|error| match error {
            CatalogError::Environment(error) => error,
            other @ CatalogError::Unknown(_) => EnvironmentError::Failed(other.to_string()),
        })
    };
    let solutions = own(info, found)
        .map(|found| found.solutions(seed))
        .max_by_key(Vec::len)
        .unwrap_or_default();
    let stored = own(info, found)
        .map(|found| found.replayed(games))
        .collect();
    Ok(OpenedSubject::new(open, seed, limits)?
        .with_solutions(solutions)
        .with_stored(stored)
        .told_apart_by(identity))
}

struct Native {
    seed: u64,
    stored: Vec<Stored>,
}

impl Visitor for Native {
    type Output = Box<dyn Subject>;

    fn visit<G: Game>(self) -> Box<dyn Subject> {
        Box::new(NativeSubject::<G>::new(self.seed, self.stored))
    }
}
