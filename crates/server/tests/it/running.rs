//! A server that runs in this process, on a real socket, with a clock that tests set.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_server::{Clock, Config, Server, serve};
use rhae_session::{Builtin, Catalog};
use rhae_store::{SqliteOptions, SqliteStore};
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

pub(crate) struct Running {
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
        Self::start_catalog(folder, Arc::new(Builtin), config, options)
    }

    pub(crate) fn start_catalog(folder: &Path, catalog: Arc<dyn Catalog>, config: Config, options: SqliteOptions) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let clock = Arc::new(Hands(AtomicU64::new(1_800_000_000_000)));
        let store = Arc::new(runtime.block_on(SqliteStore::open(&folder.join("rhae.db"), options)).unwrap());
        let server = Server::new(catalog, Builtin.list(), Arc::clone(&store) as _, Arc::clone(&clock) as _, config);
        let server = Arc::new(server);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = Arc::new(Notify::new());
        let told = Arc::clone(&stop);
        let serving = runtime.spawn(serve(listener, Arc::clone(&server), async move { told.notified().await }));
        Self { server, clock, runtime, store, url, stop, serving }
    }

    /// The address that it listens at.
    pub(crate) fn address(&self) -> &str {
        self.url.trim_start_matches("http://")
    }

    pub(crate) fn client(&self, key: &str) -> Client {
        Client::new(&self.url, key)
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
