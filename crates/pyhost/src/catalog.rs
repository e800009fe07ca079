//! Everything that can be played: the built-in environments and the games in a user's folders.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use rhae_engine::{Environment, EnvironmentError, GameInfo};
use rhae_games::UnknownGame;
use rhae_session::{Builtin, Catalog, CatalogError};

use crate::game::{Game, Setup};
use crate::play::HostedPlay;
use crate::pool::Pool;
use crate::{GameFolder, HostError, Layers, Limits};

/// Where games come from and how they are run.
#[derive(Clone, Debug)]
pub struct GamesOptions {
    /// Folders with games.
    pub folders: Vec<PathBuf>,
    /// The program that enters the sandbox by calling [`launch`](crate::launch), with its first arguments.
    pub launcher: Vec<OsString>,
    /// The Python that hosts games; one is looked for if none is named.
    pub python: Option<PathBuf>,
    /// Whether games are run even if the sandbox lacks what it should not lack.
    pub unsafe_host: bool,
    /// What a game's process may use.
    pub limits: Limits,
}

/// The built-in environments, and those of folders after them. Copies share the processes.
#[derive(Clone)]
pub struct Games {
    hosted: Vec<Arc<Game>>,
    pool: Arc<Pool>,
}

impl Games {
    /// Reads the folders. No game is run, and no process started, before a play is opened.
    pub fn load(options: GamesOptions) -> Result<Self, HostError> {
        let mut hosted: Vec<Arc<Game>> = Vec::new();
        for folder in &options.folders {
            for folder in GameFolder::find(folder)? {
                let id = folder.metadata.id.clone();
                let one = if rhae_games::ALL
                    .iter()
                    .any(|entry| entry.facts.id == id.as_str())
                {
                    Some("the built-in one".to_owned())
                } else {
                    let twin = hosted.iter().find(|game| game.info.id == id);
                    twin.map(|game| format!("`{}`", game.folder.path.display()))
                };
                if let Some(one) = one {
                    return Err(HostError::Twice {
                        id,
                        one,
                        other: format!("`{}`", folder.path.display()),
                    });
                }
                hosted.push(Arc::new(Game {
                    info: folder.metadata.info(),
                    folder,
                }));
            }
        }
        // As in the toolkit, the newest version is the one that was downloaded last.
        let date = |game: &Game| game.folder.metadata.date_downloaded.clone();
        hosted.sort_by_cached_key(|game| {
            (
                game.info.id.base().to_owned(),
                date(game),
                game.info.id.version().to_owned(),
            )
        });
        let GamesOptions {
            launcher,
            python,
            unsafe_host,
            limits,
            ..
        } = options;
        Ok(Self {
            hosted,
            pool: Arc::new(Pool::new(Setup::new(launcher, python, unsafe_host, limits))),
        })
    }

    /// The folders of games from outside, in the order of the list.
    pub fn folders(&self) -> impl Iterator<Item = &GameFolder> {
        self.hosted.iter().map(|game| &game.folder)
    }

    /// Whether games from outside can be run here at all: an error is no fault of theirs.
    pub fn ready(&self) -> Result<(), HostError> {
        let setup = &self.pool.setup;
        if !self.hosted.is_empty() {
            setup.sandboxed()?;
        }
        if self.hosted.iter().any(|game| game.folder.source.is_some()) {
            setup.with_engine()?;
        }
        Ok(())
    }

    /// The layers of the sandbox that this system has.
    pub fn layers(&self) -> Result<Layers, HostError> {
        self.pool.setup.layers()
    }

    /// The hosted game with this name: the full id, or four characters for the newest version.
    fn hosted(&self, name: &str) -> Option<&Arc<Game>> {
        let name = name.to_ascii_lowercase();
        let exact = self
            .hosted
            .iter()
            .find(|game| game.info.id.as_str() == name);
        exact.or_else(|| {
            self.hosted
                .iter()
                .rev()
                .find(|game| game.info.id.base() == name)
        })
    }
}

impl Catalog for Games {
    fn list(&self) -> Vec<GameInfo> {
        Builtin
            .list()
            .into_iter()
            .chain(self.hosted.iter().map(|game| game.info.clone()))
            .collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        match self.hosted(name) {
            Some(game) => Ok(game.info.clone()),
            None => Builtin.find(name).map_err(|error| self.nearest(error)),
        }
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        match self.hosted(name) {
            Some(game) => Ok(Box::new(HostedPlay::open(&self.pool, game, seed)?)),
            None => Builtin
                .open(name, seed)
                .map_err(|error| self.nearest(error)),
        }
    }

    fn source(&self, id: &str) -> Result<Option<String>, CatalogError> {
        let Some(game) = self.hosted(id) else {
            return Ok(None);
        };
        game.folder
            .source_text()
            .map_err(|error| EnvironmentError::Failed(error.to_string()).into())
    }
}

impl Games {
    /// An unknown name with the nearest one, where a folder has one that differs in a single character.
    fn nearest(&self, error: CatalogError) -> CatalogError {
        let CatalogError::Unknown(UnknownGame { name, nearest, .. }) = error else {
            return error;
        };
        let differs = |id: &str| {
            id.len() == name.len()
                && id.bytes().zip(name.bytes()).filter(|(a, b)| a != b).count() == 1
        };
        let near = self
            .hosted
            .iter()
            .find(|game| differs(game.info.id.as_str()) || differs(game.info.id.base()));
        let hint = if self.hosted.is_empty() {
            "; games of your own need --games-dir"
        } else {
            ""
        };
        UnknownGame {
            nearest: near.map(|game| game.info.id.to_string()).or(nearest),
            name,
            hint,
        }
        .into()
    }
}
