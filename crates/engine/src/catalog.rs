//! Catalogues of environments.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Environment, EnvironmentError, GameId, GameInfo};

/// The error for a name that a catalogue does not contain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no environment `{name}`{}; `rhae games list` shows all{hint}", .nearest.as_ref().map_or_else(String::new, |nearest| format!(", the nearest is `{nearest}`")))]
pub struct UnknownGame {
    /// The requested name, in lower case.
    pub name: String,
    /// The id in the catalogue that is most similar to the name, if one is similar.
    pub nearest: Option<String>,
    /// A further suggestion that the catalogue appends to the message; may be empty.
    pub hint: &'static str,
}

/// The reason why a catalogue could not find or open an environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The catalogue has no such environment.
    #[error(transparent)]
    Unknown(#[from] UnknownGame),
    /// The environment exists but could not be started.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The system cannot run the hosted games of the catalogue.
    #[error("{0}")]
    Unavailable(String),
}

/// A hosted game of a catalogue: a game in a folder, which runs in its own process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostedGame {
    pub id: GameId,
    /// The absolute path of the game's folder.
    pub folder: PathBuf,
    /// The SHA-256 digest of the game's source in hexadecimal. It identifies the game as it was
    /// played.
    pub source_digest: String,
    /// One message per file that was changed or removed since it was downloaded.
    pub changes: Vec<String>,
}

/// A set of environments that can be listed and opened.
///
/// Commands, servers and agents work with `&dyn Catalog` and do not know whether an environment is
/// a native game, a hosted game in another process, or a game on a remote server.
///
/// A name is either a full id such as `kq19-v1`, or its first four characters, which select the
/// newest version.
///
/// # Examples
///
/// A catalogue that shows a single environment of another one:
///
/// ```
/// use rhae_engine::{Catalog, CatalogError, Environment, GameId, GameInfo, UnknownGame};
///
/// struct Only<C> {
///     id: GameId,
///     all: C,
/// }
///
/// impl<C: Catalog> Catalog for Only<C> {
///     fn list(&self) -> Vec<GameInfo> {
///         let mut games = self.all.list();
///         games.retain(|info| info.id == self.id);
///         games
///     }
///
///     fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
///         let info = self.all.find(name)?;
///         if info.id == self.id {
///             return Ok(info);
///         }
///         let (name, nearest) = (name.to_ascii_lowercase(), Some(self.id.to_string()));
///         Err(UnknownGame { name, nearest, hint: "" }.into())
///     }
///
///     fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
///         self.all.open(self.find(name)?.id.as_str(), seed)
///     }
/// }
/// ```
pub trait Catalog: Send + Sync {
    /// Returns the metadata of all environments, in a fixed order.
    fn list(&self) -> Vec<GameInfo>;

    /// Returns the metadata of the environment with this name.
    ///
    /// # Errors
    ///
    /// Returns [`CatalogError::Unknown`] if there is no such environment.
    fn find(&self, name: &str) -> Result<GameInfo, CatalogError>;

    /// Opens a new environment with this name, in the state after its first RESET.
    ///
    /// # Errors
    ///
    /// Returns [`CatalogError::Unknown`] if there is no such environment, and
    /// [`CatalogError::Environment`] if it could not be started.
    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError>;

    /// Returns the Python source of the environment with this full id; `None` if it has none. By
    /// default no environment has one.
    ///
    /// # Errors
    ///
    /// Returns a [`CatalogError`] if there is no such environment or its source cannot be read.
    fn source(&self, id: &str) -> Result<Option<String>, CatalogError> {
        let _ = id;
        Ok(None)
    }

    /// Returns the environments of the named set, such as `easy`; `None` if there is no such set. The
    /// default implementation has no sets.
    fn named_set(&self, name: &str) -> Option<Vec<GameId>> {
        let _ = name;
        None
    }

    /// Returns the hosted games of the catalogue, in the order of [`list`](Self::list). The default
    /// implementation returns an empty list.
    fn hosted_games(&self) -> Vec<HostedGame> {
        Vec::new()
    }

    /// Returns one message for each hosted game that was found but cannot be loaded. The default
    /// implementation returns an empty list.
    fn skipped_games(&self) -> Vec<String> {
        Vec::new()
    }

    /// Checks that the system can run the hosted games. The default implementation succeeds.
    ///
    /// # Errors
    ///
    /// Returns [`CatalogError::Unavailable`] with the reason, which concerns the system and not a
    /// particular game.
    fn ready(&self) -> Result<(), CatalogError> {
        Ok(())
    }

    /// Returns the hosted games whose source on disk is no longer the one that this catalogue runs,
    /// in the order of [`list`](Self::list). The call reads the files. The default implementation
    /// returns an empty list.
    fn changed_games(&self) -> Vec<GameId> {
        Vec::new()
    }

    /// Ends the processes of all hosted games. The calls that wait for them fail. The default
    /// implementation does nothing.
    fn end_processes(&self) {}

    /// Describes the sandbox in which hosted games run on this system; `None` if the catalogue has no
    /// hosted games, as in the default implementation.
    ///
    /// # Errors
    ///
    /// Returns [`CatalogError::Unavailable`] if the sandbox cannot be tested.
    fn sandbox(&self) -> Result<Option<String>, CatalogError> {
        Ok(None)
    }
}

/// A shared catalogue. Every method is forwarded.
impl Catalog for Arc<dyn Catalog> {
    fn list(&self) -> Vec<GameInfo> {
        (**self).list()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        (**self).find(name)
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        (**self).open(name, seed)
    }

    fn source(&self, id: &str) -> Result<Option<String>, CatalogError> {
        (**self).source(id)
    }

    fn named_set(&self, name: &str) -> Option<Vec<GameId>> {
        (**self).named_set(name)
    }

    fn hosted_games(&self) -> Vec<HostedGame> {
        (**self).hosted_games()
    }

    fn skipped_games(&self) -> Vec<String> {
        (**self).skipped_games()
    }

    fn ready(&self) -> Result<(), CatalogError> {
        (**self).ready()
    }

    fn changed_games(&self) -> Vec<GameId> {
        (**self).changed_games()
    }

    fn end_processes(&self) {
        (**self).end_processes();
    }

    fn sandbox(&self) -> Result<Option<String>, CatalogError> {
        (**self).sandbox()
    }
}
