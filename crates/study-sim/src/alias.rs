//! A catalogue that offers the shipped environments under generated ids, so that a simulated study
//! has as many environments as a real one.
//!
//! *Invariant:* number `n` is the shipped environment `n mod k`, so the number of environments does
//! not change what an id stands for.

use rhae_engine::{
    Action, Catalog, CatalogError, Environment, EnvironmentError, GameId, GameInfo, Observation,
    UnknownGame,
};
use rhae_games::Entry;

/// The first character of every generated id.
const PREFIX: char = 's';
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// The number of ids that fit into three digits.
pub(crate) const MAX_ENVIRONMENTS: u32 = 36 * 36 * 36;

/// Shipped environments under generated ids.
///
/// # Examples
///
/// ```
/// use rhae_engine::Catalog;
/// use rhae_study_sim::AliasCatalog;
///
/// let catalog = AliasCatalog::new(414);
/// let games = catalog.list();
/// assert_eq!((games.len(), games[413].id.as_str()), (414, "s0bh-v1"));
/// assert!(catalog.open("s0bh", 0).is_ok() && catalog.open("s0bi", 0).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AliasCatalog {
    count: u32,
}

impl AliasCatalog {
    /// Creates a catalogue of `count` environments.
    ///
    /// # Panics
    ///
    /// Panics if `count` is larger than 46,656, the number of generated ids.
    pub fn new(count: u32) -> Self {
        assert!(count <= MAX_ENVIRONMENTS, "the ids have three digits");
        Self { count }
    }

    fn number(self, name: &str) -> Option<u32> {
        let base = name.strip_suffix("-v1").unwrap_or(name);
        let digits = base
            .strip_prefix(PREFIX)
            .filter(|digits| digits.len() == 3)?;
        let mut number = 0;
        for digit in digits.bytes() {
            let digit = DIGITS.iter().position(|&one| one == digit)?;
            number = number * 36 + u32::try_from(digit).ok()?;
        }
        (number < self.count).then_some(number)
    }

    fn resolve(self, name: &str) -> Result<u32, UnknownGame> {
        let name = name.to_ascii_lowercase();
        self.number(&name).ok_or(UnknownGame {
            name,
            nearest: None,
            hint: "",
        })
    }
}

/// Returns the shipped environment behind a number.
pub(crate) fn shipped(number: u32) -> &'static Entry {
    &rhae_games::ALL[number as usize % rhae_games::ALL.len()]
}

/// Returns the id of a number.
pub(crate) fn alias(number: u32) -> GameId {
    let digit = |place: u32| char::from(DIGITS[(number / place % 36) as usize]);
    let id = format!("{PREFIX}{}{}{}-v1", digit(36 * 36), digit(36), digit(1));
    id.parse()
        .expect("the id has four characters and a version")
}

/// Returns the number of an id.
pub(crate) fn alias_number(id: &str) -> Option<u32> {
    AliasCatalog::new(MAX_ENVIRONMENTS).number(id)
}

fn info(number: u32) -> GameInfo {
    let id = alias(number);
    GameInfo {
        title: id.base().to_owned(),
        id,
        ..GameInfo::from(shipped(number).facts)
    }
}

impl Catalog for AliasCatalog {
    fn list(&self) -> Vec<GameInfo> {
        (0..self.count).map(info).collect()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Ok(info(self.resolve(name)?))
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        let number = self.resolve(name)?;
        Ok(Box::new(Aliased {
            info: info(number),
            inner: shipped(number).open(seed),
        }))
    }
}

/// A shipped environment under a generated id.
struct Aliased {
    info: GameInfo,
    inner: Box<dyn Environment>,
}

impl Environment for Aliased {
    fn info(&self) -> &GameInfo {
        &self.info
    }

    fn observation(&self) -> &Observation {
        self.inner.observation()
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        self.inner.act(action)
    }

    fn fork(&self) -> Option<Box<dyn Environment>> {
        Some(Box::new(Self {
            info: self.info.clone(),
            inner: self.inner.fork()?,
        }))
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        self.inner.snapshot()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        self.inner.restore(snapshot)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_round_trip() {
        let catalog = AliasCatalog::new(500);
        let ids: BTreeSet<GameId> = catalog.list().into_iter().map(|info| info.id).collect();
        assert_eq!(ids.len(), 500);
        for number in [0, 35, 36, 499] {
            let id = alias(number);
            assert_eq!(alias_number(id.as_str()), Some(number));
            assert_eq!(catalog.find(id.base()).unwrap().id, id);
        }
        for name in ["s0dw-v1", "kq19", "s00", "s000-v2", "S0é", ""] {
            assert!(catalog.find(name).is_err(), "{name}");
        }
    }

    #[test]
    fn aliased_environment_plays_like_the_shipped_one() {
        let catalog = AliasCatalog::new(20);
        let mut aliased = catalog.open("s007", 0).unwrap();
        let mut shipped = shipped(7).open(0);
        assert_eq!(aliased.info().id.as_str(), "s007-v1");
        for action in [Action::Action1, Action::Action4, Action::Reset] {
            let one = aliased.act(action).unwrap();
            let other = shipped.act(action).unwrap();
            assert_eq!(one.settled(), other.settled());
        }
        let snapshot = aliased.snapshot().unwrap().unwrap();
        let mut restored = catalog.open("s007", 0).unwrap();
        assert!(restored.restore(&snapshot).is_ok());
    }
}
