//! The environments that the server offers, and who may see them.
//!
//! **Invariant:** a handler finds an environment only through a [`Caller`], so that an environment
//! that the caller may not see is handled like one that does not exist.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use rhae_engine::{ActionSet, Catalog, Environment, GameId, GameInfo};
use rhae_store::GameSet;

use crate::access::Caller;
use crate::blocking::blocking;
use crate::game_executor::{Admission, GameExecutor};
use crate::{ApiError, Config};

/// The seed of every play opened through the API. Seed 0 gives the canonical game.
pub(crate) const SEED: u64 = 0;
/// The animation speed of an environment that is no longer served.
const DEFAULT_FRAMES_PER_SECOND: u8 = 10;

/// The served environments, each with the set that a key needs to see it.
pub(crate) struct Games {
    catalog: Arc<dyn Catalog>,
    executor: Arc<GameExecutor>,
    /// The hosted games whose source on disk is no longer the one that is played.
    changed: Arc<Mutex<HashSet<GameId>>>,
    /// Older versions of an environment come before newer ones.
    served: Vec<(GameInfo, GameSet)>,
}

impl Games {
    /// Serves these environments of a catalogue to every caller.
    pub(crate) fn new(catalog: Arc<dyn Catalog>, games: Vec<GameInfo>, config: &Config) -> Self {
        let served = games.into_iter().map(|info| (info, GameSet::Public));
        Self {
            executor: Arc::new(GameExecutor::new(catalog.as_ref(), config)),
            changed: Arc::default(),
            catalog,
            served: served.collect(),
        }
    }

    /// Serves only the environments that `sets` names, each to the callers of its set.
    pub(crate) fn with_sets(&self, sets: &HashMap<GameId, GameSet>) -> Self {
        let served = self
            .served
            .iter()
            .filter_map(|(info, _)| sets.get(&info.id).map(|&set| (info.clone(), set)));
        Self {
            catalog: Arc::clone(&self.catalog),
            executor: Arc::clone(&self.executor),
            changed: Arc::clone(&self.changed),
            served: served.collect(),
        }
    }

    pub(crate) const fn catalog(&self) -> &Arc<dyn Catalog> {
        &self.catalog
    }

    /// The environments that the caller may see, older versions of an environment before newer
    /// ones.
    pub(crate) fn visible(&self, caller: &Caller) -> impl DoubleEndedIterator<Item = &GameInfo> {
        let caller = *caller;
        self.served
            .iter()
            .filter(move |(_, set)| caller.can_see_set(*set))
            .map(|(info, _)| info)
    }

    /// Finds an environment that the caller may see. `name` is a full id, or a four-character name,
    /// which selects the newest version.
    pub(crate) fn find(&self, caller: &Caller, name: &str) -> Option<&GameInfo> {
        let exact = self.visible(caller).find(|info| info.id.as_str() == name);
        exact.or_else(|| {
            self.visible(caller)
                .rev()
                .find(|info| info.id.base() == name)
        })
    }

    /// Whether the caller may see an environment.
    pub(crate) fn can_see(&self, caller: &Caller, id: &GameId) -> bool {
        self.visible(caller).any(|info| info.id == *id)
    }

    /// Returns the metadata of an environment. An environment that is neither served nor in the
    /// catalogue any more stays on its cards, without baselines.
    pub(crate) fn info(&self, id: &GameId) -> GameInfo {
        let unknown = || GameInfo {
            id: id.clone(),
            title: id.base().to_owned(),
            baselines: Vec::new(),
            actions: ActionSet::EMPTY,
            tags: Vec::new(),
            frames_per_second: 0,
            seeded: false,
            levels: None,
            class_name: None,
            source_digest: None,
        };
        let in_catalog = || {
            let found = self.catalog.find(id.as_str()).ok();
            found.filter(|info| info.id == *id)
        };
        let mut info = self
            .served_info(id)
            .cloned()
            .or_else(in_catalog)
            .unwrap_or_else(unknown);
        if info.levels.is_none() {
            // A hosted game states its number of levels when its first play is opened.
            info.levels = in_catalog().and_then(|info| info.levels);
        }
        info
    }

    /// Whether the source of a hosted game on disk is no longer the one that is played.
    pub(crate) fn is_changed(&self, id: &GameId) -> bool {
        let changed = self.changed.lock();
        changed.unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Whether the catalogue has hosted games, whose sources may change.
    pub(crate) fn has_hosted(&self) -> bool {
        !self.catalog.hosted_games().is_empty()
    }

    /// Compares the sources of hosted games on disk with those that are played, and logs each change.
    /// The server keeps playing the sources that it read at start, because the plays in progress
    /// depend on them.
    pub(crate) async fn check_sources(&self) {
        let catalog = Arc::clone(&self.catalog);
        let Ok(found) = blocking(move || catalog.changed_games()).await else {
            return;
        };
        let found: HashSet<GameId> = found.into_iter().collect();
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        for game in found.difference(&changed) {
            tracing::warn!(%game, "the source of a hosted game has changed on disk; the server plays the source that it read at start until it is restarted");
        }
        for game in changed.difference(&found) {
            tracing::info!(%game, "the source of a hosted game on disk is again the one that is played");
        }
        *changed = found;
    }

    /// The animation speed of an environment.
    pub(crate) fn frames_per_second(&self, id: &GameId) -> u8 {
        self.served_info(id)
            .map_or(DEFAULT_FRAMES_PER_SECOND, |info| info.frames_per_second)
    }

    /// Runs work that calls an environment, which may take long or block.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        id: &GameId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.executor.run(id, work).await
    }

    /// Admits a command to a play of an environment; see [`GameExecutor::admit`].
    pub(crate) fn admit(&self, id: &GameId) -> Result<Option<Admission<'_>>, ApiError> {
        self.executor.admit(id)
    }

    /// Refuses all calls of hosted games that have not started, because the server is stopping.
    pub(crate) fn close(&self) {
        self.executor.close();
    }

    /// Opens a play of an environment.
    pub(crate) async fn open(&self, id: &GameId) -> Result<Box<dyn Environment>, ApiError> {
        let (catalog, name) = (Arc::clone(&self.catalog), id.clone());
        self.run(id, move || catalog.open(name.as_str(), SEED))
            .await?
            .map_err(|error| ApiError::Failed(error.to_string()))
    }

    /// Returns the Python source of an environment, or `None` if it is native.
    pub(crate) async fn source(&self, id: &GameId) -> Result<Option<String>, ApiError> {
        let (catalog, name) = (Arc::clone(&self.catalog), id.clone());
        self.run(id, move || catalog.source(name.as_str()))
            .await?
            .map_err(|error| ApiError::Failed(error.to_string()))
    }

    fn served_info(&self, id: &GameId) -> Option<&GameInfo> {
        let mut infos = self.served.iter().map(|(info, _)| info);
        infos.find(|info| info.id == *id)
    }
}
