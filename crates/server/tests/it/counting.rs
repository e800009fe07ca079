//! The environments that ship with Rhae, with a count of what a server does to them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::{Action, Environment, EnvironmentError, GameInfo, Observation};
use rhae_server::Config;
use rhae_session::{Builtin, Catalog, CatalogError};
use rhae_store::SqliteOptions;

use crate::running::Running;

/// What was counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    opened: AtomicU64,
    acted: AtomicU64,
}

impl Counts {
    /// How often an environment was opened.
    pub(crate) fn opened(&self) -> u64 {
        self.opened.load(Ordering::SeqCst)
    }

    /// How many commands environments were given.
    pub(crate) fn acted(&self) -> u64 {
        self.acted.load(Ordering::SeqCst)
    }
}

/// A server that has nothing in memory, on what another may have left in a folder, and what is counted of it.
pub(crate) fn counted_server(folder: &Path) -> (Running, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let catalog = Arc::new(Counting(Arc::clone(&counts)));
    (
        Running::start_catalog(folder, catalog, Config::default(), SqliteOptions::default()),
        counts,
    )
}

struct Counting(Arc<Counts>);

impl Catalog for Counting {
    fn list(&self) -> Vec<GameInfo> {
        Builtin.list()
    }

    fn find(&self, name: &str) -> Result<GameInfo, CatalogError> {
        Builtin.find(name)
    }

    fn open(&self, name: &str, seed: u64) -> Result<Box<dyn Environment>, CatalogError> {
        self.0.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(Counted(
            Builtin.open(name, seed)?,
            Arc::clone(&self.0),
        )))
    }
}

struct Counted(Box<dyn Environment>, Arc<Counts>);

impl Environment for Counted {
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
