//! The built-in catalogue with counters for opened environments and executed commands.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::{
    Action, Catalog, CatalogError, Environment, EnvironmentError, GameInfo, Observation,
};
use rhae_games::Builtin;
use rhae_server::Config;
use rhae_store::SqliteOptions;

use crate::test_server::TestServer;

#[derive(Debug, Default)]
pub(crate) struct Counts {
    opened: AtomicU64,
    acted: AtomicU64,
}

impl Counts {
    /// Returns how many environments were opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::SeqCst)
    }

    /// Returns how many commands the environments executed.
    pub(crate) fn acted(&self) -> u64 {
        self.acted.load(Ordering::SeqCst)
    }
}

/// Starts a server with empty memory on the database in `folder`, and returns its counters.
pub(crate) fn counted_server(folder: &Path) -> (TestServer, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let catalog = Arc::new(CountingCatalog(Arc::clone(&counts)));
    (
        TestServer::start_catalog(folder, catalog, Config::default(), SqliteOptions::default()),
        counts,
    )
}

struct CountingCatalog(Arc<Counts>);

impl Catalog for CountingCatalog {
    fn list(&self) -> Vec<GameInfo> {
        Builtin.list()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Builtin.find(name)
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        self.0.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(CountingEnvironment(
            Builtin.open(name, seed)?,
            Arc::clone(&self.0),
        )))
    }
}

struct CountingEnvironment(Box<dyn Environment>, Arc<Counts>);

impl Environment for CountingEnvironment {
    fn info(&self) -> &GameInfo {
        self.0.info()
    }

    fn observation(&self) -> &Observation {
        self.0.observation()
    }

    fn act(&mut self, action: Action) -> Result<&Observation, EnvironmentError> {
        self.1.acted.fetch_add(1, Ordering::SeqCst);
        self.0.act(action)
    }

    fn snapshot(&self) -> Result<Option<Vec<u8>>, EnvironmentError> {
        self.0.snapshot()
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<&Observation, EnvironmentError> {
        self.0.restore(snapshot)
    }
}
