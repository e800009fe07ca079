//! The servers of a simulation: real ones, in this process, on loopback addresses, with one database
//! and a simulated clock.
//!
//! Each server has its own runtime. A killed server loses its connections, its requests in progress
//! and everything that it remembers outside the database.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rhae_engine::Catalog;
use rhae_protocol::{ParticipantId, StudyId};
use rhae_server::{Config, Identities, Server, serve};
use rhae_store::{Database, Store, default_identities, is_postgres_url, open_identities};
use rhae_study_service::{IdentityKey, StudyError, StudyService};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::SimulationError;
use crate::alias::AliasCatalog;
use crate::clock::SimulatedClock;
use crate::research::STUDY;

/// How long the tasks of a killed server may take to be dropped.
const KILL_TIMEOUT: Duration = Duration::from_secs(60);

/// What all servers have in common.
pub(crate) struct Setup {
    pub(crate) db: PathBuf,
    pub(crate) seed: u64,
    pub(crate) environments: u32,
    pub(crate) clock: Arc<SimulatedClock>,
}

/// The running servers.
pub(crate) struct Host {
    setup: Setup,
    servers: Vec<RunningServer>,
    runtime: Runtime,
    /// A connection of the simulation's own, which no kill affects.
    database: Database,
}

struct RunningServer {
    runtime: Runtime,
    server: Arc<Server>,
    database: Database,
    address: SocketAddr,
    stop: oneshot::Sender<()>,
}

impl Host {
    /// Starts servers on free ports.
    pub(crate) fn start(setup: Setup, servers: u32) -> Result<Self, SimulationError> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let database = runtime.block_on(Database::open(&setup.db))?;
        if !runtime.block_on(database.start_simulation())? {
            return Err(SimulationError::DatabaseInUse);
        }
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let servers = (0..servers).map(|_| RunningServer::start(&setup, any));
        let servers = servers.collect::<Result<_, _>>()?;
        Ok(Self {
            setup,
            servers,
            runtime,
            database,
        })
    }

    /// Moves the clocks of the servers and of the database.
    pub(crate) fn advance_to(&self, now_ms: u64) -> Result<(), SimulationError> {
        self.setup.clock.advance_to(now_ms);
        let set = self.database.set_simulated_time(now_ms);
        Ok(self.runtime.block_on(set)?)
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.servers.iter().map(|one| one.address).collect()
    }

    /// Kills a server and starts another one at its address.
    pub(crate) fn kill(&mut self, number: usize) -> Result<(), SimulationError> {
        let killed = self.servers.remove(number);
        let address = killed.address;
        killed.kill();
        let started = RunningServer::start(&self.setup, address)?;
        self.servers.insert(number, started);
        Ok(())
    }

    /// Executes what has become due at the simulated time.
    pub(crate) fn settle(&self) -> Result<(), SimulationError> {
        for one in &self.servers {
            let settled = one.runtime.block_on(one.server.settle_studies());
            settled.map_err(|error| SimulationError::Unexpected {
                path: "settle_studies".to_owned(),
                reason: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// Returns the people with an open sitting, and their last contact that the log knows.
    pub(crate) fn logged_contacts(&self) -> Result<Vec<(ParticipantId, u64)>, SimulationError> {
        let service = StudyService::new(self.database.studies());
        let study = StudyId::from(STUDY);
        let read = service.read(&study, |study| {
            let open = study
                .state()
                .sittings
                .iter()
                .filter(|(_, one)| one.is_open());
            open.map(|(_, one)| (one.participant.clone(), one.clock.last_contact_ms))
                .collect()
        });
        let read: Result<Vec<_>, StudyError> = self.runtime.block_on(read);
        read.map_err(|error| SimulationError::Unexpected {
            path: STUDY.to_owned(),
            reason: error.to_string(),
        })
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.database.store()
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Stops all servers and restores the clock of the database.
    pub(crate) fn stop(self) -> Result<(), SimulationError> {
        for one in self.servers {
            let _ = one.stop.send(());
            drop(one.server);
            one.runtime.block_on(one.database.close());
            one.runtime.shutdown_background();
        }
        self.runtime.block_on(self.database.end_simulation())?;
        self.runtime.block_on(self.database.close());
        Ok(())
    }
}

impl RunningServer {
    /// Starts a server. The ids of participants follow from the seed, because assignment depends on
    /// them; the identity key protects no real person.
    fn start(setup: &Setup, address: SocketAddr) -> Result<Self, SimulationError> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let key = IdentityKey::from_hex(&format!("{:064x}", setup.seed))
            .expect("the number has 64 hexadecimal digits");
        let (database, identities) = runtime.block_on(async {
            let database = Database::open(&setup.db).await?;
            let identities = open_identities(&default_identities(&setup.db)).await?;
            Ok::<_, SimulationError>((database, identities))
        })?;
        let catalog: Arc<dyn Catalog> = Arc::new(AliasCatalog::new(setup.environments));
        let identities = Identities {
            store: identities,
            key: Arc::new(key),
        };
        let games = catalog.list();
        let clock = Arc::clone(&setup.clock);
        let server = Server::new(catalog, games, database.store(), clock, Config::default())
            .with_studies(database.studies(), Some(identities));
        let server = Arc::new(server);
        let listener = runtime.block_on(TcpListener::bind(address))?;
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

    /// Drops all tasks of the server, wherever they are.
    fn kill(self) {
        let Self {
            runtime,
            server,
            database,
            stop,
            ..
        } = self;
        {
            let _context = runtime.enter();
            drop(server);
            drop(database);
        }
        runtime.shutdown_timeout(KILL_TIMEOUT);
        // Without its sender the server would have been stopped in an orderly way.
        drop(stop);
    }
}

/// Returns the database of a simulation: a PostgreSQL URL, the given file, which must be new, or a
/// temporary file. Several servers need PostgreSQL.
pub(crate) fn database(
    given: Option<&Path>,
    folder: &Path,
    servers: u32,
) -> Result<PathBuf, SimulationError> {
    match given {
        Some(db) if db.to_str().is_some_and(is_postgres_url) => Ok(db.to_owned()),
        _ if servers > 1 => Err(SimulationError::SharedFile(servers)),
        Some(db) if db.exists() => Err(SimulationError::DatabaseExists(db.to_owned())),
        Some(db) => Ok(db.to_owned()),
        None => Ok(folder.join("rhae.db")),
    }
}
