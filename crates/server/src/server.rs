//! What all requests share: the environments, the store, the clock, the plays in memory.

use std::sync::Arc;

use axum::http::HeaderMap;
use rhae_engine::GameInfo;
use rhae_session::Catalog;
use rhae_store::{Card, CardId, Owner, Stale, Store, StoreError};
use sha2::{Digest, Sha256};

use crate::listeners::Listeners;
use crate::plays::Plays;
use crate::{ApiError, Clock};

/// What may be set.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Whether every card is a competition's, and each key opens one.
    pub competition: bool,
    /// How long a card may be idle before the clock closes it.
    pub idle_ms: u64,
    /// How long a card may be open before the clock closes it.
    pub open_ms: u64,
    /// How many plays are kept in memory; all others are on disk.
    pub plays_in_memory: usize,
    /// After how many actions of a play a snapshot is kept.
    pub snapshot_every: u32,
    /// How many clients may follow plays or download recordings at a time.
    pub listeners: usize,
    /// After how long without news a follower gets a sign of life.
    pub keep_alive_ms: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            competition: false,
            idle_ms: 15 * 60 * 1000,
            open_ms: 24 * 60 * 60 * 1000,
            plays_in_memory: 1024,
            snapshot_every: 1000,
            listeners: 256,
            keep_alive_ms: 15_000,
        }
    }
}

/// The server behind the routes.
pub struct Server {
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) games: Vec<GameInfo>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: Config,
    pub(crate) plays: Plays,
    pub(crate) listeners: Arc<Listeners>,
}

impl Server {
    /// A server of these environments of a catalogue, older versions of one before newer ones.
    pub fn new(
        catalog: Arc<dyn Catalog>,
        games: Vec<GameInfo>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        config: Config,
    ) -> Self {
        let listeners = Arc::new(Listeners::new(config.listeners));
        Self { catalog, games, store, clock, config, plays: Plays::new(config.plays_in_memory), listeners }
    }

    /// Lets idle times begin anew, because nobody could use a card while no server ran. To be called once, at the start.
    pub async fn resume(&self) -> Result<(), StoreError> {
        self.store.resume(self.clock.now_ms()).await
    }

    /// Closes the cards that the clock says are to be closed, and gives their ids.
    pub async fn close_stale(&self) -> Result<Vec<CardId>, StoreError> {
        let now_ms = self.clock.now_ms();
        let before = |age: u64| now_ms.saturating_sub(age);
        let Config { idle_ms, open_ms, .. } = self.config;
        self.store.close_stale(Stale { used_before_ms: before(idle_ms), opened_before_ms: before(open_ms), now_ms }).await
    }

    /// How many plays are in memory now.
    pub fn plays_in_memory(&self) -> usize {
        self.plays.len()
    }

    /// The environment with this id, or the newest version of the one with these four characters.
    pub(crate) fn game(&self, name: &str) -> Option<&GameInfo> {
        let exact = self.games.iter().find(|info| info.id.as_str() == name);
        exact.or_else(|| self.games.iter().rev().find(|info| info.id.base() == name))
    }

    /// The owner's card with this id.
    pub(crate) async fn card(&self, owner: Owner, id: &str) -> Result<Option<Card>, ApiError> {
        let Ok(id) = id.parse::<CardId>() else {
            return Ok(None);
        };
        Ok(self.store.card(id).await?.filter(|card| card.owner == owner))
    }
}

/// Who sends a request. Requests without a key have one owner in common.
pub(crate) fn owner(headers: &HeaderMap) -> Owner {
    let key = headers.get("x-api-key").map_or(&[][..], |value| value.as_bytes());
    Owner(Sha256::digest(key).into())
}
