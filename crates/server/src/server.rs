//! The services behind the routes, and the settings from which they are built.

use std::collections::HashMap;
use std::sync::Arc;

use rhae_engine::{Catalog, GameId, GameInfo};
use rhae_protocol::PublishedResult;
use rhae_store::{
    BoardStore, CardId, GameSet, KeyStore, ShareStore, Store, StoreError, StudyStore,
};

use crate::access::Access;
use crate::boards::Boards;
use crate::cards::Cards;
use crate::games::Games;
use crate::idempotency::Idempotency;
use crate::listeners::Listeners;
use crate::metrics::Metrics;
use crate::middleware::RequestIds;
use crate::network::Network;
use crate::plays::Plays;
use crate::quotas::Quotas;
use crate::shares::Shares;
use crate::studies::{Identities, Studies};
use crate::web::Thumbnails;
use crate::{AddressRange, ApiError, Clock, Limits};

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
    /// The number of clients that may follow plays or download recordings at the same time. They
    /// share it fairly by address; see also [`Limits::streams_per_key`].
    pub listeners: usize,
    /// How long an event stream may be silent before the server sends a keep-alive comment.
    pub keep_alive_ms: u64,
    pub visitors: Visitors,
    /// Limits on request sizes, rates and durations.
    pub limits: Limits,
    /// Executes all work on the threads of the runtime. Simulations need it to be deterministic; in
    /// a real server one slow request would delay the others.
    pub single_threaded: bool,
    /// Whether [`serve`](crate::serve) executes what is due in studies. A simulation calls
    /// [`Server::settle_studies`] itself, so that a run can be repeated.
    pub settle_studies: bool,
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
            single_threaded: false,
            settle_studies: true,
        }
    }
}

/// The server behind the routes: environments, access, cards, plays and listeners, each a service
/// with its own state.
///
/// A server made by [`Server::new`] has open access: every client may use it with any key or none,
/// and all environments are public. [`Server::with_keys`] requires API keys, and
/// [`Server::with_sets`] assigns environments to sets that keys give access to.
///
/// Several servers may share one store. Each keeps its own plays in memory and notices when another
/// server has advanced a play.
pub struct Server {
    pub(crate) games: Arc<Games>,
    pub(crate) access: Arc<Access>,
    pub(crate) boards: Arc<Boards>,
    pub(crate) cards: Arc<Cards>,
    pub(crate) plays: Arc<Plays>,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) shares: Arc<Shares>,
    pub(crate) studies: Arc<Studies>,
    pub(crate) thumbnails: Arc<Thumbnails>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) request_ids: RequestIds,
    pub(crate) network: Arc<Network>,
    pub(crate) config: Config,
    idempotency: Arc<Idempotency>,
    storage: Storage,
    share_store: Option<Arc<dyn ShareStore>>,
}

/// What the services share: the store and the clock.
type Storage = (Arc<dyn Store>, Arc<dyn Clock>);

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
        let access = Access::open(config.visitors, config.limits, Arc::clone(&clock));
        Self::assemble(
            Games::new(catalog, games, &config),
            Arc::new(access),
            (store, clock),
            config,
        )
    }

    /// Creates the services that depend on the environments.
    fn assemble(games: Games, access: Arc<Access>, storage: Storage, config: Config) -> Self {
        let (store, clock) = storage.clone();
        let (games, metrics) = (Arc::new(games), Arc::new(Metrics::default()));
        let idempotency = Arc::new(Idempotency::new(Arc::clone(&store), clock));
        let quotas = Arc::new(Quotas::new(Arc::clone(&store), config.limits));
        let cards = Arc::new(Cards::new(
            Arc::clone(&games),
            Arc::clone(&idempotency),
            Arc::clone(&quotas),
            storage.clone(),
            config,
        ));
        let plays = Arc::new(Plays::new(
            Arc::clone(&games),
            Arc::clone(&cards),
            Arc::clone(&idempotency),
            quotas,
            Arc::clone(&metrics),
            storage.clone(),
            &config,
        ));
        let shares = Shares::new(
            None,
            Arc::clone(&storage.1),
            Arc::clone(&games),
            Arc::clone(&cards),
            Arc::clone(&plays),
        );
        let studies = Studies::new(
            None,
            Arc::clone(&storage.1),
            Arc::clone(&games),
            Arc::clone(&plays),
        );
        let boards = Boards::new(
            None,
            Vec::new(),
            Arc::clone(&games),
            (Arc::clone(&store), Arc::clone(&storage.1)),
        );
        Self {
            boards: Arc::new(boards),
            shares: Arc::new(shares),
            studies: Arc::new(studies),
            thumbnails: Arc::new(Thumbnails::new(Arc::clone(&games), Arc::clone(&plays))),
            listeners: Arc::new(Listeners::new(store, &config)),
            games,
            access,
            cards,
            plays,
            metrics,
            request_ids: RequestIds::new(),
            network: Arc::default(),
            config,
            idempotency,
            storage,
            share_store: None,
        }
    }

    /// Makes the server require an API key from this store, except for public paths such as the
    /// health check.
    pub fn with_keys(self, keys: Arc<dyn KeyStore>) -> Self {
        Self {
            access: Arc::new(self.access.with_keys(keys)),
            ..self
        }
    }

    /// Assigns the environments to sets. Environments that `sets` does not name are not served.
    pub fn with_sets(self, sets: &HashMap<GameId, GameSet>) -> Self {
        let studies = Arc::clone(&self.studies);
        let boards = Arc::clone(&self.boards);
        let assembled = Self::assemble(
            self.games.with_sets(sets),
            self.access,
            self.storage,
            self.config,
        );
        let studies = studies.rebuilt(&assembled.games, &assembled.plays);
        let server = Self {
            network: self.network,
            studies: Arc::new(studies),
            boards: Arc::new(boards.rebuilt(&assembled.games)),
            ..assembled
        };
        match self.share_store {
            Some(store) => server.with_shares(store),
            None => server,
        }
    }

    /// Lets owners publish cards and plays by links, which are kept in this store.
    pub fn with_shares(self, store: Arc<dyn ShareStore>) -> Self {
        let shares = Shares::new(
            Some(Arc::clone(&store)),
            Arc::clone(&self.storage.1),
            Arc::clone(&self.games),
            Arc::clone(&self.cards),
            Arc::clone(&self.plays),
        );
        Self {
            shares: Arc::new(shares),
            share_store: Some(store),
            ..self
        }
    }

    /// Lets people take part in the studies of this store, and lets researchers run them.
    /// `identities` is required for recruiting platforms and for seats of a testing room.
    pub fn with_studies(self, store: Arc<dyn StudyStore>, identities: Option<Identities>) -> Self {
        let studies = Studies::new(
            Some((store, identities)),
            Arc::clone(&self.storage.1),
            Arc::clone(&self.games),
            Arc::clone(&self.plays),
        );
        Self {
            studies: Arc::new(studies),
            ..self
        }
    }

    /// Serves the leaderboards of this store. `references` are published results that every board
    /// shows for orientation.
    pub fn with_boards(self, store: Arc<dyn BoardStore>, references: Vec<PublishedResult>) -> Self {
        let boards = Boards::new(
            Some(store),
            references,
            Arc::clone(&self.games),
            self.storage.clone(),
        );
        Self {
            boards: Arc::new(boards),
            ..self
        }
    }

    /// Sets the host names by which clients may reach a server with open access, in addition to
    /// `localhost` and the loopback addresses. Requests to other names are refused, so that a web
    /// page of a foreign site cannot use the server under its own name (DNS rebinding).
    pub fn with_hosts(mut self, hosts: &[String]) -> Self {
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase());
        Arc::make_mut(&mut self.network).hosts = hosts.collect();
        self
    }

    /// Sets the proxies whose `X-Forwarded-For` header names the client for limits per address.
    pub fn with_trusted_proxies(mut self, proxies: Vec<AddressRange>) -> Self {
        Arc::make_mut(&mut self.network).trusted_proxies = proxies;
        self
    }

    /// Restarts the idle time of every open card, because no client could use a card while no
    /// server was running. Call it once, at start-up.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn restart_idle_timers(&self) -> Result<(), StoreError> {
        self.cards.restart_idle_timers().await
    }

    /// Closes the cards that have been idle or open for too long, and returns their ids.
    /// [`serve`](crate::serve) calls it every few seconds.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn close_stale(&self) -> Result<Vec<CardId>, StoreError> {
        self.cards.close_stale().await
    }

    /// Deletes idempotency keys older than 24 hours and returns their number.
    /// [`serve`](crate::serve) calls it every few seconds.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn delete_expired_keys(&self) -> Result<u64, StoreError> {
        self.idempotency.delete_expired().await
    }

    /// Executes everything that is due in studies by the server's clock: prompts, and the ends of
    /// attempts and sittings. [`serve`](crate::serve) calls it every second unless
    /// [`Config::settle_studies`] is false.
    ///
    /// # Errors
    ///
    /// Fails if a study cannot be read or changed.
    pub async fn settle_studies(&self) -> Result<(), ApiError> {
        self.studies.settle().await
    }

    /// The number of plays in memory, at most [`Config::plays_in_memory`] plus those in use.
    pub fn plays_in_memory(&self) -> usize {
        self.plays.in_memory()
    }

    /// Returns all metrics in the OpenMetrics text format, which Prometheus reads.
    pub fn metrics(&self) -> String {
        self.metrics
            .text(self.storage.0.commits(), self.plays.in_memory())
    }
}
