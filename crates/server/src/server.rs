//! The state that all requests share: environments, store, clock, plays in memory, counters.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use rhae_engine::{Catalog, GameId, GameInfo};
use rhae_store::{Card, CardId, GameSet, KeyStore, StaleCutoffs, Store, StoreError};

use crate::access::Keys;
use crate::listeners::Listeners;
use crate::metrics::Metrics;
use crate::middleware::RequestIds;
use crate::plays::Plays;
use crate::web::{NewKeyLimiter, Thumbnails};
use crate::{ApiError, Clock, Limits};

/// Which clients may use a server that requires keys without having received a key from its
/// operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visitors {
    /// No one: every client needs a key.
    #[default]
    Off,
    /// Anyone: a visitor gets a key for the public environments when starting to play for the first
    /// time.
    Public,
    /// Holders of an invitation link.
    Invite,
}

/// The settings of a [`Server`].
///
/// # Examples
///
/// ```
/// use rhae_server::{Config, Limits};
///
/// // A competition in which each key may have one scorecard with at most 100 plays.
/// let config = Config {
///     competition: true,
///     limits: Limits { plays_per_card: Some(100), ..Limits::default() },
///     ..Config::default()
/// };
/// assert_eq!(config.idle_ms, 15 * 60 * 1000);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Whether every card is a competition card. Each key can then open only one card.
    pub competition: bool,
    /// How long a card may go unused before the server closes it. Cards opened in a browser are
    /// exempt.
    pub idle_ms: u64,
    /// How long a card may stay open, used or not, before the server closes it. Cards opened in a
    /// browser are exempt.
    pub open_ms: u64,
    /// The number of plays kept in memory. Others are rebuilt from the store when they are used.
    pub plays_in_memory: usize,
    /// A snapshot of a play is saved each time its log has grown by this number of entries. Hosted
    /// plays are saved at least every 50 entries.
    pub snapshot_every: u32,
    /// The number of clients that may follow plays or download recordings at the same time.
    pub listeners: usize,
    /// How long an event stream may be silent before the server sends a keep-alive comment.
    pub keep_alive_ms: u64,
    pub visitors: Visitors,
    /// Limits on request sizes, rates and durations.
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

/// The server behind the routes: environments, store, clock, settings and the plays in memory.
///
/// A server made by [`Server::new`] has open access: every client may use it with any key or none,
/// and all environments are public. [`Server::with_keys`] requires API keys, and
/// [`Server::with_sets`] assigns environments to sets that keys give access to.
///
/// Several servers may share one store. Each keeps its own plays in memory and notices when another
/// server has advanced a play.
pub struct Server {
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) games: Vec<GameInfo>,
    /// The sets of the environments, in the order of `games`.
    pub(crate) sets: Vec<GameSet>,
    /// `None` if access is open.
    pub(crate) keys: Option<Keys>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) config: Config,
    pub(crate) plays: Plays,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) metrics: Metrics,
    pub(crate) request_ids: RequestIds,
    pub(crate) thumbnails: Thumbnails,
    pub(crate) new_key_limiter: NewKeyLimiter,
    pub(crate) started: Instant,
}

impl Server {
    /// Creates a server with open access for the given environments of a catalogue.
    ///
    /// `games` must list older versions of an environment before newer ones.
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
        let (thumbnails, new_key_limiter, started) = (
            Thumbnails::default(),
            NewKeyLimiter::default(),
            Instant::now(),
        );
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
            thumbnails,
            new_key_limiter,
            started,
        }
    }

    /// Makes the server require an API key from this store, except for public paths such as the
    /// health check.
    pub fn with_keys(self, keys: Arc<dyn KeyStore>) -> Self {
        Self {
            keys: Some(Keys::new(keys)),
            ..self
        }
    }

    /// Assigns the environments to sets. Environments that `sets` does not name are not served.
    pub fn with_sets(self, sets: &HashMap<GameId, GameSet>) -> Self {
        let served = self
            .games
            .into_iter()
            .filter_map(|info| sets.get(&info.id).map(|&set| (info, set)));
        let (games, sets) = served.unzip();
        Self {
            games,
            sets,
            ..self
        }
    }

    /// Restarts the idle time of every open card, because no client could use a card while no
    /// server was running. Call it once, at start-up.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn restart_idle_timers(&self) -> Result<(), StoreError> {
        self.store.restart_idle_timers(self.clock.now_ms()).await
    }

    /// Closes the cards that have been idle or open for too long, and returns their ids.
    /// [`serve`](crate::serve) calls it every few seconds.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn close_stale(&self) -> Result<Vec<CardId>, StoreError> {
        let now_ms = self.clock.now_ms();
        let before = |age: u64| now_ms.saturating_sub(age);
        let Config {
            idle_ms, open_ms, ..
        } = self.config;
        self.store
            .close_stale(StaleCutoffs {
                used_before_ms: before(idle_ms),
                opened_before_ms: before(open_ms),
                now_ms,
            })
            .await
    }

    /// The number of plays in memory, at most [`Config::plays_in_memory`] plus those in use.
    pub fn plays_in_memory(&self) -> usize {
        self.plays.len()
    }

    /// Returns the card with this id, regardless of its owner; `None` also if `id` is not a UUID.
    pub(crate) async fn card(&self, id: &str) -> Result<Option<Card>, ApiError> {
        let Ok(id) = id.parse::<CardId>() else {
            return Ok(None);
        };
        Ok(self.store.card(id).await?)
    }
}
