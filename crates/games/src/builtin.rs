//! The built-in games as a catalogue.

use rhae_engine::{Catalog, CatalogError, Environment, GameId, GameInfo};

/// The catalogue of the native games that ship with Rhae.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Action, Catalog};
/// use rhae_games::Builtin;
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
#[derive(Clone, Copy, Debug, Default)]
pub struct Builtin;

impl Catalog for Builtin {
    fn list(&self) -> Vec<GameInfo> {
        crate::ALL
            .iter()
            .map(|entry| GameInfo::from(entry.facts))
            .collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Ok(GameInfo::from(crate::find(name)?.facts))
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        Ok(crate::find(name)?.open(seed))
    }

    fn named_set(&self, name: &str) -> Option<Vec<GameId>> {
        crate::named_sets().get(name).cloned()
    }
}
