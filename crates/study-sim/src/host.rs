//! The servers of a simulation: processes on loopback addresses, with one database and a simulated
//! clock. A killed server loses its connections, its requests in progress and everything that it
//! remembers outside the database.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_protocol::{ParticipantId, StudyId};
use rhae_store::{Database, Store, is_postgres_url};
use rhae_study_service::{StudyError, StudyService};
use tokio::runtime::{Builder, Runtime};

use crate::SimulationError;
use crate::research::STUDY;
use crate::server_process::ServerProcess;
use crate::simulated_server::SimulatedServer;

/// What all servers have in common.
pub(crate) struct Setup {
    /// The program that has the command `study simulation-server`.
    pub(crate) program: PathBuf,
    pub(crate) db: PathBuf,
    pub(crate) seed: u64,
    pub(crate) environments: u32,
    pub(crate) now_ms: u64,
}

/// The running servers.
pub(crate) struct Host {
    setup: Setup,
    servers: Vec<ServerProcess>,
    runtime: Runtime,
    /// A connection of the simulation's own, which no kill affects.
    database: Database,
}

impl Host {
    /// Starts servers on free ports.
    pub(crate) fn start(setup: Setup, servers: u32) -> Result<Self, SimulationError> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let database = runtime.block_on(Database::open(&setup.db))?;
        if !runtime.block_on(database.start_simulation())? {
            return Err(SimulationError::DatabaseInUse);
        }
        runtime.block_on(database.set_simulated_time(setup.now_ms))?;
        let servers = (0..servers).map(|_| setup.start(0));
        let servers = servers.collect::<Result<_, _>>()?;
        Ok(Self {
            setup,
            servers,
            runtime,
            database,
        })
    }

    /// Moves the clocks of the database and of the servers, and executes what has become due. It must
    /// not depend on which participant sends a request first.
    pub(crate) fn settle_at(&mut self, now_ms: u64) -> Result<(), SimulationError> {
        self.setup.now_ms = now_ms;
        let set = self.database.set_simulated_time(now_ms);
        self.runtime.block_on(set)?;
        self.servers
            .iter_mut()
            .try_for_each(|server| server.settle_at(now_ms))
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.servers.iter().map(|one| one.address).collect()
    }

    /// Kills a server and starts another one at its address.
    pub(crate) fn kill(&mut self, number: usize) -> Result<(), SimulationError> {
        let killed = self.servers.remove(number);
        let port = killed.address.port();
        killed.kill()?;
        let started = self.setup.start(port)?;
        self.servers.insert(number, started);
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
        for server in self.servers {
            server.stop()?;
        }
        self.runtime.block_on(self.database.end_simulation())?;
        self.runtime.block_on(self.database.close());
        Ok(())
    }
}

impl Setup {
    fn start(&self, port: u16) -> Result<ServerProcess, SimulationError> {
        let server = SimulatedServer {
            db: self.db.clone(),
            port,
            now_ms: self.now_ms,
            seed: self.seed,
            aliases: Some(self.environments),
        };
        ServerProcess::start(&self.program, &server)
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
