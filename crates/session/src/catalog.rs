//! Where environments come from.

use rhae_engine::{Environment, EnvironmentError, GameInfo};
use rhae_games::UnknownGame;

/// Why a catalogue gave no environment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// No such environment.
    #[error(transparent)]
    Unknown(#[from] UnknownGame),
    /// It exists but could not be started.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

/// A set of environments.
pub trait Catalog: Send + Sync {
    /// All of them, in a fixed order.
    fn list(&self) -> Vec<GameInfo>;

    /// The one with this id, or the newest version of the one with these four characters.
    fn find(&self, name: &str) -> Result<GameInfo, CatalogError>;

    /// A new play of the one with this name, as after its first RESET.
    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError>;

    /// The Python source of the one with this full id, if it has one.
    fn source(&self, id: &str) -> Result<Option<String>, CatalogError> {
        let _ = id;
        Ok(None)
    }
}

/// The environments that ship with Rhae.
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
