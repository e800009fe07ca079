//! A server in the test process, on a real socket, with a clock that tests control.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::{Catalog, GameId, GameInfo};
use rhae_games::Builtin;
use rhae_server::{AddressRange, ApiKey, Clock, Config, Identities, Server, new_key, serve};
use rhae_store::{
    BoardStore, GameSet, GameSets, Invitation, Key, KeyLimits, KeyStore, Scopes, SqliteOptions,
    SqliteStore, open_identities,
};
use rhae_study_service::IdentityKey;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::client::Client;

/// A clock that moves only when a test moves it.
pub(crate) struct ManualClock(AtomicU64);

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl ManualClock {
    pub(crate) fn forward_minutes(&self, minutes: u64) {
        self.forward_ms(minutes * 60_000);
    }

    pub(crate) fn set_ms(&self, at_ms: u64) {
        self.0.store(at_ms, Ordering::SeqCst);
    }

    pub(crate) fn forward_ms(&self, millis: u64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

/// Access control of a test server.
#[derive(Default)]
pub(crate) struct Access {
    /// Whether the server requires keys.
    pub(crate) keys: bool,
    /// The set of each environment; `None` makes all of them public.
    pub(crate) sets: Option<HashMap<GameId, GameSet>>,
    pub(crate) trusted_proxies: Vec<AddressRange>,
    /// Whether the server has studies, with an identity key.
    pub(crate) studies: bool,
    /// Whether the identity key is missing.
    pub(crate) no_identities: bool,
    /// Host names besides those of the loopback interface.
    pub(crate) hosts: Vec<String>,
}

pub(crate) struct TestServer {
    db: PathBuf,
    address: SocketAddr,
    pub(crate) inner: Arc<Server>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) runtime: Runtime,
    store: Arc<SqliteStore>,
    url: String,
    stop: Arc<Notify>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl TestServer {
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, Config::default(), SqliteOptions::default())
    }

    pub(crate) fn start_with(folder: &Path, config: Config, options: SqliteOptions) -> Self {
        Self::launch(
            folder,
            Arc::new(Builtin),
            config,
            options,
            &Access::default(),
        )
    }

    /// Starts a server with studies and open access.
    pub(crate) fn start_studies(folder: &Path) -> Self {
        let access = Access {
            studies: true,
            ..Access::default()
        };
        Self::start_with_access(folder, Config::default(), SqliteOptions::default(), &access)
    }

    /// Starts a server with studies, but without a key for contact data.
    pub(crate) fn start_studies_without_identities(folder: &Path) -> Self {
        let access = Access {
            studies: true,
            no_identities: true,
            ..Access::default()
        };
        Self::start_with_access(folder, Config::default(), SqliteOptions::default(), &access)
    }

    /// Creates the key of a visitor.
    pub(crate) fn visitor_key(&self) -> String {
        self.create_key(Scopes {
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            visitor: true,
        })
    }

    /// Executes what is due in studies.
    pub(crate) fn settle(&self) {
        self.runtime.block_on(self.inner.settle_studies()).unwrap();
    }

    pub(crate) fn start_catalog(
        folder: &Path,
        catalog: Arc<dyn Catalog>,
        config: Config,
        options: SqliteOptions,
    ) -> Self {
        Self::launch(folder, catalog, config, options, &Access::default())
    }

    /// Starts a server for the environments of another catalogue.
    pub(crate) fn start_fixtures(
        folder: &Path,
        catalog: Arc<dyn Catalog>,
        config: Config,
        options: SqliteOptions,
        access: &Access,
    ) -> Self {
        let games = catalog.list();
        Self::launch_games(folder, catalog, games, config, options, access)
    }

    pub(crate) fn start_with_access(
        folder: &Path,
        config: Config,
        options: SqliteOptions,
        access: &Access,
    ) -> Self {
        Self::launch(folder, Arc::new(Builtin), config, options, access)
    }

    fn launch(
        folder: &Path,
        catalog: Arc<dyn Catalog>,
        config: Config,
        options: SqliteOptions,
        access: &Access,
    ) -> Self {
        Self::launch_games(folder, catalog, Builtin.list(), config, options, access)
    }

    fn launch_games(
        folder: &Path,
        catalog: Arc<dyn Catalog>,
        games: Vec<GameInfo>,
        config: Config,
        options: SqliteOptions,
        access: &Access,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let clock = Arc::new(ManualClock(AtomicU64::new(1_800_000_000_000)));
        let db = folder.join("rhae.db");
        let store = Arc::new(runtime.block_on(SqliteStore::open(&db, options)).unwrap());
        let mut server = Server::new(
            catalog,
            games,
            Arc::clone(&store) as _,
            Arc::clone(&clock) as _,
            config,
        );
        server = server
            .with_trusted_proxies(access.trusted_proxies.clone())
            .with_hosts(&access.hosts)
            .with_shares(Arc::clone(&store) as _)
            .with_boards(Arc::clone(&store) as _, Vec::new());
        if access.studies {
            let at = folder.join("rhae-identities.db");
            let identities = Identities {
                store: runtime.block_on(open_identities(&at)).unwrap(),
                key: Arc::new(IdentityKey::from_hex(&"1f".repeat(32)).unwrap()),
            };
            let identities = Some(identities).filter(|_| !access.no_identities);
            server = server.with_studies(Arc::clone(&store) as _, identities);
        }
        if access.keys {
            server = server.with_keys(Arc::clone(&store) as _);
        }
        if let Some(sets) = &access.sets {
            server = server.with_sets(sets);
        }
        let server = Arc::new(server);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let url = format!("http://{address}");
        let stop = Arc::new(Notify::new());
        let shutdown = Arc::clone(&stop);
        let serving = runtime.spawn(serve(listener, Arc::clone(&server), async move {
            shutdown.notified().await;
        }));
        Self {
            db,
            address,
            inner: server,
            clock,
            runtime,
            store,
            url,
            stop,
            serving,
        }
    }

    pub(crate) fn client(&self, key: &str) -> Client {
        Client::new(&self.url, key)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Creates a key that may see some sets.
    pub(crate) fn key(&self, sets: &[GameSet]) -> String {
        self.create_key(Scopes {
            sets: sets.iter().copied().collect(),
            sources: false,
            admin: false,
            visitor: false,
        })
    }

    /// Creates a key with all permissions.
    pub(crate) fn admin_key(&self) -> String {
        self.create_key(Scopes {
            sets: GameSets::default(),
            sources: true,
            admin: true,
            visitor: false,
        })
    }

    /// Creates a key for the public environments with its own limits.
    pub(crate) fn limited_key(&self, limits: KeyLimits) -> String {
        self.store_key(|key| key.limits = limits)
    }

    /// Creates a key for the public environments that expires.
    pub(crate) fn expiring_key(&self, expires_ms: u64) -> String {
        self.store_key(|key| key.expires_ms = Some(expires_ms))
    }

    /// Creates a key for the public environments, after a change to its record.
    fn store_key(&self, change: impl FnOnce(&mut Key)) -> String {
        let scopes = Scopes {
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            visitor: false,
        };
        let (secret, mut key) = new_key("test".to_owned(), scopes, None, 1).unwrap();
        change(&mut key);
        self.runtime.block_on(self.store.create_key(key)).unwrap();
        secret.reveal().to_owned()
    }

    fn create_key(&self, scopes: Scopes) -> String {
        let key = ApiKey::generate().unwrap();
        let stored = Key {
            id: key.id(),
            hash: key.hash(),
            name: "test".to_owned(),
            scopes,
            created_ms: 1,
            revoked_ms: None,
            expires_ms: None,
            limits: KeyLimits::default(),
            invitation: None,
        };
        self.runtime
            .block_on(self.store.create_key(stored))
            .unwrap();
        key.reveal().to_owned()
    }

    /// Creates an invitation to the public environments and returns the path of its link.
    pub(crate) fn invitation(&self, invitation: Invitation) -> String {
        let scopes = Scopes {
            sets: GameSets::PUBLIC,
            sources: false,
            admin: false,
            visitor: true,
        };
        let created = new_key("study".to_owned(), scopes, Some(invitation), 1);
        let (secret, key) = created.unwrap();
        self.runtime.block_on(self.store.create_key(key)).unwrap();
        format!("/invite/{}", secret.reveal())
    }

    /// Returns the leaderboards of the database.
    pub(crate) fn board_store(&self) -> Arc<dyn BoardStore> {
        Arc::clone(&self.store) as _
    }

    /// Opens the same database file, as another process would.
    pub(crate) fn reopen_store(&self) -> SqliteStore {
        self.runtime
            .block_on(SqliteStore::open(&self.db, SqliteOptions::default()))
            .unwrap()
    }

    /// Starts a graceful shutdown without waiting for it.
    pub(crate) fn request_shutdown(&self) {
        self.stop.notify_one();
    }

    /// Shuts down gracefully. Clients must be dropped first, because they keep their connections
    /// open.
    pub(crate) fn stop(self) {
        self.stop.notify_one();
        self.runtime.block_on(self.serving).unwrap().unwrap();
        drop(self.inner);
        // A detached request may hold the store for a moment longer.
        let mut store = self.store;
        for _ in 0..500 {
            match Arc::try_unwrap(store) {
                Ok(store) => return self.runtime.block_on(store.close()),
                Err(shared) => store = shared,
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("a request is still in progress");
    }
}
