//! The server of a simulation: a real one, in this process, on a loopback address, with a database
//! and a simulated clock.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_engine::Catalog;
use rhae_server::{Config, Identities, Server, serve};
use rhae_store::{Database, Store, default_identities, open_identities};
use rhae_study_service::IdentityKey;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::SimulationError;
use crate::alias::AliasCatalog;
use crate::clock::SimulatedClock;

/// A running server.
pub(crate) struct Host {
    runtime: Runtime,
    server: Arc<Server>,
    database: Database,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
}

impl Host {
    /// Starts a server. The ids of participants follow from the seed, because assignment depends on
    /// them; the identity key protects no real person.
    pub(crate) fn start(
        db: &Path,
        seed: u64,
        environments: u32,
        clock: Arc<SimulatedClock>,
    ) -> Result<Self, SimulationError> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let key = IdentityKey::from_hex(&format!("{seed:064x}"))
            .expect("the number has 64 hexadecimal digits");
        let (database, identities) = runtime.block_on(async {
            let database = Database::open(db).await?;
            Ok::<_, SimulationError>((database, open_identities(&default_identities(db)).await?))
        })?;
        let catalog: Arc<dyn Catalog> = Arc::new(AliasCatalog::new(environments));
        let identities = Identities {
            store: identities,
            key: Arc::new(key),
        };
        let games = catalog.list();
        let server = Server::new(catalog, games, database.store(), clock, Config::default())
            .with_studies(database.studies(), Some(identities));
        let server = Arc::new(server);
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        runtime.spawn(serve(listener, Arc::clone(&server), async {
            let _ = stopped.await;
        }));
        Ok(Self {
            runtime,
            server,
            database,
            address,
            stop,
        })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Executes what has become due at the simulated time.
    pub(crate) fn settle(&self) -> Result<(), SimulationError> {
        let settled = self.runtime.block_on(self.server.settle_studies());
        settled.map_err(|error| SimulationError::Unexpected {
            path: "settle_studies".to_owned(),
            reason: error.to_string(),
        })
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.database.store()
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(crate) fn stop(self) {
        let Self {
            runtime,
            server,
            database,
            stop,
            ..
        } = self;
        let _ = stop.send(());
        drop(server);
        runtime.block_on(database.close());
        runtime.shutdown_background();
    }
}

/// Returns the database of a simulation: the given one, which must be new, or a temporary file.
pub(crate) fn database(given: Option<&Path>, folder: &Path) -> Result<PathBuf, SimulationError> {
    match given {
        Some(db) if db.exists() => Err(SimulationError::DatabaseExists(db.to_owned())),
        Some(db) => Ok(db.to_owned()),
        None => Ok(folder.join("rhae.db")),
    }
}
