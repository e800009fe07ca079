//! A server process of a simulation: a real server on a loopback address, with a clock that only its
//! parent moves.
//!
//! The parent writes the time in milliseconds to the standard input of the process, one number per
//! line. For each line the server moves its clock, executes what has become due in studies, and
//! writes a line with `settled` or `failed` and the reason. It stops at the end of its standard
//! input, so it never survives its parent. No client can move the clock, and the server refuses a
//! database that was used with a real one.

use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_server::{Config, Identities, Server, serve};
use rhae_store::{Database, default_identities, open_identities};
use rhae_study_service::IdentityKey;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use crate::SimulationError;
use crate::alias::AliasCatalog;
use crate::clock::SimulatedClock;

/// The beginning of the first line that the process writes; its address follows.
pub(crate) const LISTENING: &str = "listening at http://";
/// The response to a new time.
pub(crate) const SETTLED: &str = "settled";
/// The beginning of the response to a new time if something due could not be executed.
pub(crate) const FAILED: &str = "failed: ";
/// How often a killed server's port is tried again before the new server gives up: for ten seconds.
const MAX_BINDS: u32 = 200;
const BIND_PAUSE: Duration = Duration::from_millis(50);

/// What the server of a simulation needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimulatedServer {
    /// A SQLite file, or a PostgreSQL URL.
    pub db: PathBuf,
    /// The port on the loopback address; 0 for any free one.
    pub port: u16,
    /// The time at the start, in milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// The ids of participants follow from the seed, because assignment depends on them.
    pub seed: u64,
    /// The number of built-in environments under generated ids; `None` for all under their own ids.
    pub aliases: Option<u32>,
}

impl SimulatedServer {
    /// Serves until the end of the input, which contains the times.
    ///
    /// # Errors
    ///
    /// Returns [`SimulationError`] if the database or the port cannot be opened, or if a line of the
    /// input is not a time.
    pub fn run(&self, input: impl BufRead, mut output: impl Write) -> Result<(), SimulationError> {
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let clock = Arc::new(SimulatedClock::new(self.now_ms));
        let (database, server) = runtime.block_on(self.assemble(&clock))?;
        let listener = runtime.block_on(self.bind())?;
        writeln!(output, "{LISTENING}{}", listener.local_addr()?)?;
        output.flush()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = runtime.spawn(serve(listener, Arc::clone(&server), async {
            let _ = stopped.await;
        }));
        for line in input.lines() {
            clock.advance_to(parse_time(&line?)?);
            match runtime.block_on(server.settle_studies()) {
                Ok(()) => writeln!(output, "{SETTLED}")?,
                Err(error) => writeln!(output, "{FAILED}{}", one_line(&error.to_string()))?,
            }
            output.flush()?;
        }
        let _ = stop.send(());
        stop_server(runtime, serving, server, database);
        Ok(())
    }

    async fn assemble(
        &self,
        clock: &Arc<SimulatedClock>,
    ) -> Result<(Database, Arc<Server>), SimulationError> {
        let key = IdentityKey::from_hex(&format!("{:064x}", self.seed))
            .expect("the number has 64 hexadecimal digits");
        let database = Database::open(&self.db).await?;
        if !database.is_simulated().await? && !database.start_simulation().await? {
            return Err(SimulationError::DatabaseInUse);
        }
        // The key protects no real person.
        let identities = Identities {
            store: open_identities(&default_identities(&self.db)).await?,
            key: Arc::new(key),
        };
        let catalog: Arc<dyn Catalog> = match self.aliases {
            Some(count) => Arc::new(AliasCatalog::new(count)),
            None => Arc::new(Builtin),
        };
        let config = Config {
            // What is due depends on the simulated time alone, not on the speed of the machine.
            settle_studies: false,
            ..Config::default()
        };
        let games = catalog.list();
        let clock = Arc::clone(clock);
        let server = Server::new(catalog, games, database.store(), clock, config)
            .with_studies(database.studies(), Some(identities));
        Ok((database, Arc::new(server)))
    }

    /// Binds the port. That of a server that was just killed may be in use for a moment.
    async fn bind(&self) -> Result<TcpListener, SimulationError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let mut attempt = 0;
        loop {
            attempt += 1;
            match TcpListener::bind(address).await {
                Err(_) if attempt < MAX_BINDS => tokio::time::sleep(BIND_PAUSE).await,
                bound => return Ok(bound?),
            }
        }
    }
}

/// Completes the requests in progress and the pending writes.
fn stop_server(
    runtime: Runtime,
    serving: tokio::task::JoinHandle<std::io::Result<()>>,
    server: Arc<Server>,
    database: Database,
) {
    runtime.block_on(async {
        let _ = serving.await;
        drop(server);
        database.close().await;
    });
    runtime.shutdown_background();
}

fn parse_time(line: &str) -> Result<u64, SimulationError> {
    line.trim()
        .parse()
        .map_err(|_| SimulationError::Unexpected {
            path: "standard input".to_owned(),
            reason: format!("`{line}` is not a time in milliseconds"),
        })
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
