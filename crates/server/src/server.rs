//! What all requests share: the environments, the store, the clock, the plays in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rhae_engine::{GameId, GameInfo};
use rhae_session::Catalog;
use rhae_store::{Card, CardId, GameSet, KeyStore, Stale, Store, StoreError};

use crate::access::Keys;
use crate::gate::RequestIds;
use crate::listeners::Listeners;
use crate::metrics::Metrics;
use crate::plays::Plays;
use crate::web::{Entrances, Pictures};
use crate::{ApiError, Clock, Limits};

/// Who may come in without having been given a key, where keys are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visitors {
    /// Nobody.
    #[default]
    Off,
    /// Everybody: a visitor gets a key for the public environments.
    Public,
    /// Those who have a link that was made for them.
    Invite,
}

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
    /// Who may come in without a key.
    pub visitors: Visitors,
    /// What is taken from clients.
    pub limits: Limits,
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
            visitors: Visitors::default(),
            limits: Limits::default(),
        }
    }
}

/// The server behind the routes.
pub struct Server {
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) games: Vec<GameInfo>,
    /// The set of each of them.
    pub(crate) sets: Vec<GameSet>,
    /// The keys; absent if everybody may use the server.
    pub(crate) keys: Option<Keys>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: Config,
    pub(crate) plays: Plays,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) metrics: Metrics,
    pub(crate) request_ids: RequestIds,
    pub(crate) pictures: Pictures,
    pub(crate) entrances: Entrances,
    pub(crate) begun: Instant,
}

impl Server {
    /// A server of these environments of a catalogue, older versions of one before newer ones. Everybody may use it, and all of
    /// them are public.
    pub fn new(
        catalog: Arc<dyn Catalog>,
        games: Vec<GameInfo>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        config: Config,
    ) -> Self {
        let (sets, plays) = (
            vec![GameSet::Public; games.len()],
            Plays::new(config.plays_in_memory),
        );
        let (metrics, request_ids) = (Metrics::default(), RequestIds::new());
        let listeners = Arc::new(Listeners::new(config.listeners));
        let (pictures, entrances, begun) =
            (Pictures::default(), Entrances::default(), Instant::now());
        Self {
            catalog,
            games,
            sets,
            keys: None,
            store,
            clock,
            config,
            plays,
            listeners,
            metrics,
            request_ids,
            pictures,
            entrances,
            begun,
        }
    }

    /// The same server for those who have a key.
    pub fn with_keys(self, keys: Arc<dyn KeyStore>) -> Self {
        Self {
            keys: Some(Keys::new(keys)),
            ..self
        }
    }

    /// The same server with its environments in sets. What is in none is not served.
    pub fn with_sets(self, sets: &HashMap<GameId, GameSet>) -> Self {
        let placed = self
            .games
            .into_iter()
            .filter_map(|info| sets.get(&info.id).map(|&set| (info, set)));
        let (games, sets) = placed.unzip();
        Self {
            games,
            sets,
            ..self
        }
    }

    /// Lets idle times begin anew, because nobody could use a card while no server ran. To be called once, at the start.
    pub async fn resume(&self) -> Result<(), StoreError> {
        self.store.resume(self.clock.now_ms()).await
    }

    /// Closes the cards that the clock says are to be closed, and gives their ids.
    pub async fn close_stale(&self) -> Result<Vec<CardId>, StoreError> {
        let now_ms = self.clock.now_ms();
        let before = |age: u64| now_ms.saturating_sub(age);
        let Config {
            idle_ms, open_ms, ..
        } = self.config;
        self.store
            .close_stale(Stale {
                used_before_ms: before(idle_ms),
                opened_before_ms: before(open_ms),
                now_ms,
            })
            .await
    }

    /// How many plays are in memory now.
    pub fn plays_in_memory(&self) -> usize {
        self.plays.len()
    }

    /// The card with this id, whoever has opened it.
    pub(crate) async fn card(&self, id: &str) -> Result<Option<Card>, ApiError> {
        let Ok(id) = id.parse::<CardId>() else {
            return Ok(None);
        };
        Ok(self.store.card(id).await?)
    }
}
