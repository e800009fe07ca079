//! Catalogues of environments.

use rhae_engine::{Environment, EnvironmentError, GameInfo};
use rhae_games::UnknownGame;

/// The reason why a catalogue could not find or open an environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// The catalogue has no such environment.
    #[error(transparent)]
    Unknown(#[from] UnknownGame),
    /// The environment exists but could not be started.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
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
/// ```
/// use rhae_engine::Action;
/// use rhae_session::{Builtin, Catalog};
///
/// let catalog: &dyn Catalog = &Builtin;
/// assert!(catalog.list().iter().any(|info| info.id.as_str() == "kq19-v1"));
/// assert_eq!(catalog.find("kq19")?.id.as_str(), "kq19-v1");
/// assert!(catalog.find("zz99").is_err());
///
/// let mut environment = catalog.open("kq19", 0)?;
/// assert_eq!(environment.observation().levels_completed, 0);
/// environment.act(Action::Action1)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
}

/// The catalogue of the native games that ship with Rhae.
#[derive(Clone, Copy, Debug, Default)]
pub struct Builtin;

impl Catalog for Builtin {
    fn list(&self) -> Vec<GameInfo> {
        rhae_games::ALL
            .iter()
            .map(|entry| GameInfo::from(entry.facts))
            .collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Ok(GameInfo::from(rhae_games::find(name)?.facts))
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        Ok(rhae_games::find(name)?.open(seed))
    }
}
