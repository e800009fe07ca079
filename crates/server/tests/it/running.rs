//! A server that runs in this process, on a real socket, with a clock that tests set.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::GameId;
use rhae_server::{ApiKey, Clock, Config, Server, serve};
use rhae_session::{Builtin, Catalog};
use rhae_store::{GameSet, GameSets, Key, KeyStore, Scopes, SqliteOptions, SqliteStore};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::client::Client;

/// A clock that stands still until it is moved.
pub(crate) struct Hands(AtomicU64);

impl Clock for Hands {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Hands {
    pub(crate) fn forward_minutes(&self, minutes: u64) {
        self.0.fetch_add(minutes * 60_000, Ordering::SeqCst);
    }
}

/// Who may do what.
#[derive(Default)]
pub(crate) struct Access {
    /// Whether keys are asked for.
    pub(crate) keys: bool,
    /// The set of each environment; all are public if absent.
    pub(crate) sets: Option<HashMap<GameId, GameSet>>,
}

pub(crate) struct Running {
    db: PathBuf,
    address: SocketAddr,
    pub(crate) server: Arc<Server>,
    pub(crate) clock: Arc<Hands>,
    pub(crate) runtime: Runtime,
    store: Arc<SqliteStore>,
    url: String,
    stop: Arc<Notify>,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
}

impl Running {
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, Config::default(), SqliteOptions::default())
    }

    pub(crate) fn start_with(folder: &Path, config: Config, options: SqliteOptions) -> Self {
        Self::begin(
            folder,
            Arc::new(Builtin),
            config,
            options,
            &Access::default(),
        )
    }

    pub(crate) fn start_catalog(
        folder: &Path,
        catalog: Arc<dyn Catalog>,
        config: Config,
        options: SqliteOptions,
    ) -> Self {
        Self::begin(folder, catalog, config, options, &Access::default())
    }

    pub(crate) fn start_as(
        folder: &Path,
        config: Config,
        options: SqliteOptions,
        access: &Access,
    ) -> Self {
        Self::begin(folder, Arc::new(Builtin), config, options, access)
    }

    fn begin(
        folder: &Path,
        catalog: Arc<dyn Catalog>,
        config: Config,
        options: SqliteOptions,
        access: &Access,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let clock = Arc::new(Hands(AtomicU64::new(1_800_000_000_000)));
        let db = folder.join("rhae.db");
        let store = Arc::new(runtime.block_on(SqliteStore::open(&db, options)).unwrap());
        let mut server = Server::new(
            catalog,
            Builtin.list(),
            Arc::clone(&store) as _,
            Arc::clone(&clock) as _,
            config,
        );
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
        let told = Arc::clone(&stop);
        let serving = runtime.spawn(serve(listener, Arc::clone(&server), async move {
            told.notified().await
        }));
        Self {
            db,
            address,
            server,
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

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// A new key that may see some sets.
    pub(crate) fn key(&self, sets: &[GameSet]) -> String {
        self.create_key(Scopes {
            sets: sets.iter().copied().collect(),
            sources: false,
            admin: false,
            visitor: false,
        })
    }

    /// A new key that may do everything.
    pub(crate) fn admin_key(&self) -> String {
        self.create_key(Scopes {
            sets: GameSets::default(),
            sources: true,
            admin: true,
            visitor: false,
        })
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
            invitation: None,
        };
        self.runtime
            .block_on(self.store.create_key(stored))
            .unwrap();
        key.reveal().to_owned()
    }

    /// The same file, as another process would open it.
    pub(crate) fn open_store_again(&self) -> SqliteStore {
        self.runtime
            .block_on(SqliteStore::open(&self.db, SqliteOptions::default()))
            .unwrap()
    }

    /// Tells the server to end, without waiting.
    pub(crate) fn tell_to_stop(&self) {
        self.stop.notify_one();
    }

    /// Ends the server as it should end. Clients must be gone, because they keep their connections.
    pub(crate) fn stop(self) {
        self.stop.notify_one();
        self.runtime.block_on(self.serving).unwrap().unwrap();
        drop(self.server);
        // What a request left to be finished in the background may hold the store for a moment longer.
        let mut store = self.store;
        for _ in 0..500 {
            match Arc::try_unwrap(store) {
                Ok(store) => return self.runtime.block_on(store.close()),
                Err(shared) => store = shared,
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("a request is still under way");
    }
}
