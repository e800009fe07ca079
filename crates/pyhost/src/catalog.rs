//! The catalogue of the games in a user's folders, which extends the catalogue of the built-in ones.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use rhae_engine::{
    Catalog, CatalogError, Environment, EnvironmentError, GameId, GameInfo, HostedGame, UnknownGame,
};
use rhae_sandbox::Layers;

use crate::game::{Game, HostConfig};
use crate::play::HostedPlay;
use crate::pool::Pool;
use crate::{GameFolder, HostError, Limits};

/// Options for [`Games::load`].
#[derive(Clone, Debug)]
pub struct GamesOptions {
    /// Folders that are searched for games.
    pub folders: Vec<PathBuf>,
    /// The launcher: a program, for example `rhae-sandboxed`, and its first arguments. The program
    /// must pass the arguments that follow these to [`launch`](rhae_sandbox::launch).
    pub launcher: Vec<OsString>,
    /// The Python interpreter for games. `None` searches for a suitable one.
    pub python: Option<PathBuf>,
    /// Whether games run even if required layers of the sandbox are missing.
    pub unsafe_host: bool,
    pub limits: Limits,
}

/// The catalogue of the built-in environments, followed by the hosted games of the user's folders.
///
/// Clones share the pool of processes. The catalogue of built-in environments is passed to
/// [`Games::load`], and their plays run in this process. A hosted game runs in a sandboxed process,
/// which is started when its first play is opened.
#[derive(Clone)]
pub struct Games {
    builtin: Arc<dyn Catalog>,
    hosted: Vec<Arc<Game>>,
    /// For each game that was skipped, the reason.
    skipped: Arc<[String]>,
    pool: Arc<Pool>,
}

impl Games {
    /// Reads the folders and adds their games to the `builtin` environments. No process is started
    /// before a play is opened.
    ///
    /// A game that cannot be loaded is skipped, and so is a game with the id of a built-in
    /// environment or of an earlier game; see [`Catalog::skipped_games`].
    ///
    /// # Errors
    ///
    /// The errors of [`GameFolder::find`].
    pub fn load(builtin: Arc<dyn Catalog>, options: GamesOptions) -> Result<Self, HostError> {
        let builtin_games = builtin.list();
        let mut hosted: Vec<Arc<Game>> = Vec::new();
        let mut skipped: Vec<String> = Vec::new();
        for folder in &options.folders {
            let found = GameFolder::find(folder)?;
            skipped.extend(found.skipped.iter().map(ToString::to_string));
            for folder in found.games {
                if hosted.iter().any(|game| game.folder.path == folder.path) {
                    // The user named this folder twice, or a folder that contains it.
                    continue;
                }
                let id = folder.metadata.id.clone();
                let existing = if builtin_games.iter().any(|info| info.id == id) {
                    Some("a built-in environment".to_owned())
                } else {
                    let twin = hosted.iter().find(|game| game.info.id == id);
                    twin.map(|game| format!("`{}`", game.folder.path.display()))
                };
                match existing {
                    Some(first) => skipped.push(format!(
                        "`{}` has the id `{id}`, which {first} also has; change the `game_id` of one",
                        folder.path.display()
                    )),
                    None => hosted.push(Arc::new(Game::new(folder))),
                }
            }
        }
        // As in the toolkit, the version that was downloaded last is the newest.
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
            builtin,
            hosted,
            skipped: skipped.into(),
            pool: Arc::new(Pool::new(HostConfig::new(
                launcher,
                python,
                unsafe_host,
                limits,
            ))),
        })
    }

    /// Returns the folders of the hosted games, in the order of [`Catalog::list`].
    pub fn folders(&self) -> impl Iterator<Item = &GameFolder> {
        self.hosted.iter().map(|game| &game.folder)
    }

    /// Returns the layers of the sandbox that this system provides.
    pub fn layers(&self) -> Result<Layers, HostError> {
        self.pool.config.layers()
    }

    /// Finds a hosted game by its full id. For an id without a version, returns the newest version.
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
        self.builtin
            .list()
            .into_iter()
            .chain(self.hosted.iter().map(|game| game.current_info()))
            .collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        match self.hosted(name) {
            Some(game) => Ok(game.current_info()),
            None => self
                .builtin
                .find(name)
                .map_err(|error| self.with_suggestion(error)),
        }
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        match self.hosted(name) {
            Some(game) => Ok(Box::new(HostedPlay::open(&self.pool, game, seed)?)),
            None => self
                .builtin
                .open(name, seed)
                .map_err(|error| self.with_suggestion(error)),
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

    fn named_set(&self, name: &str) -> Option<Vec<GameId>> {
        self.builtin.named_set(name)
    }

    fn hosted_games(&self) -> Vec<HostedGame> {
        self.folders()
            .map(|folder| HostedGame {
                id: folder.metadata.id.clone(),
                folder: folder.path.clone(),
                source_digest: folder.digest(),
                changes: folder.changed.clone(),
            })
            .collect()
    }

    fn skipped_games(&self) -> Vec<String> {
        self.skipped.to_vec()
    }

    /// Checks the required layers of the sandbox and, for Python games, that there is an interpreter
    /// with an engine.
    fn ready(&self) -> Result<(), CatalogError> {
        let config = &self.pool.config;
        if !self.hosted.is_empty() {
            config
                .check_sandbox()
                .map_err(|error| unavailable(&error))?;
        }
        if self.hosted.iter().any(|game| game.folder.source.is_some()) {
            config
                .python_with_engine()
                .map_err(|error| unavailable(&error))?;
        }
        Ok(())
    }

    fn changed_games(&self) -> Vec<GameId> {
        self.folders()
            .filter(|folder| folder.is_changed())
            .map(|folder| folder.metadata.id.clone())
            .collect()
    }

    fn end_processes(&self) {
        self.pool.end_processes();
    }

    fn sandbox(&self) -> Result<Option<String>, CatalogError> {
        if self.hosted.is_empty() {
            return Ok(None);
        }
        let layers = self.layers().map_err(|error| unavailable(&error))?;
        let mut text = layers.to_string();
        let absent = [
            ("missing", layers.missing()),
            ("not available", layers.unavailable()),
        ];
        for (kind, names) in absent.into_iter().filter(|(_, names)| !names.is_empty()) {
            text.push_str(&format!("; {kind}: {}", names.join(", ")));
        }
        Ok(Some(text))
    }
}

/// Converts an error that concerns the system, not a particular game.
fn unavailable(error: &HostError) -> CatalogError {
    CatalogError::Unavailable(error.to_string())
}

impl Games {
    /// Adds a suggestion to an unknown name: a hosted game whose id differs in a single character.
    fn with_suggestion(&self, error: CatalogError) -> CatalogError {
        let CatalogError::Unknown(UnknownGame { name, nearest, .. }) = error else {
            return error;
        };
        let differs = |id: &str| {
            id.len() == name.len()
                && id.bytes().zip(name.bytes()).filter(|(a, b)| a != b).count() == 1
        };
        let similar = self
            .hosted
            .iter()
            .find(|game| differs(game.info.id.as_str()) || differs(game.info.id.base()));
        let hint = if self.hosted.is_empty() {
            "; games of your own need --games-dir"
        } else {
            ""
        };
        UnknownGame {
            nearest: similar.map(|game| game.info.id.to_string()).or(nearest),
            name,
            hint,
        }
        .into()
    }
}
