//! `rhae serve`: the ARC-AGI-3 REST API on this machine.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rhae_engine::GameInfo;
use rhae_pyhost::Games;
use rhae_server::{Config, Server, SystemClock, serve};
use rhae_session::Catalog;
use rhae_store::{SqliteOptions, SqliteStore};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::output;
use crate::outside::OutsideArgs;
use crate::run::chosen_games;

/// How long requests that are under way may take after the server was told to stop.
const STOPPING: Duration = Duration::from_secs(10);

/// Serve the ARC-AGI-3 REST API, which the official clients use unchanged.
///
/// Every acknowledged action is on disk: plays and scorecards survive a crash, and clients go on with them after a restart.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae serve
  rhae serve --addr 127.0.0.1:9000 --db /var/lib/rhae/rhae.db --games kq19,ny40
  ARC_BASE_URL=http://127.0.0.1:8001 OPERATION_MODE=online python my_agent.py")]
pub(crate) struct ServeArgs {
    /// Where to listen; only this machine can reach it, because everybody who reaches it may use it
    #[arg(long, default_value = "127.0.0.1:8001")]
    addr: String,
    /// The database file, which is made if it is missing
    #[arg(long, default_value = "rhae.db")]
    db: PathBuf,
    /// Environments, separated by commas, or `all`
    #[arg(long, default_value = "all")]
    games: String,
    /// Open every scorecard in competition mode, one for each key
    #[arg(long)]
    competition: bool,
    /// Minutes without a command or heartbeat after which a scorecard is closed
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    idle_minutes: u64,
    /// Minutes after which a scorecard is closed in any case
    #[arg(long, default_value_t = 24 * 60, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    open_minutes: u64,
    #[command(flatten)]
    outside: OutsideArgs,
}

pub(crate) fn run(args: &ServeArgs) -> Result<ExitCode> {
    let address = loopback(&args.addr)?;
    let catalog = args.outside.games()?;
    let games = chosen_games(&catalog, &args.games)?.iter().map(|id| catalog.find(id)).collect::<Result<Vec<_>, _>>()?;
    let config = Config {
        competition: args.competition,
        idle_ms: args.idle_minutes * 60_000,
        open_ms: args.open_minutes * 60_000,
        ..Config::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start the server's threads")?;
    runtime.block_on(listen(address, &args.db, catalog, games, config))?;
    Ok(ExitCode::SUCCESS)
}

/// The address to listen at. Keys do not protect anything yet, so nobody else may reach it.
fn loopback(text: &str) -> Result<SocketAddr> {
    let addresses = text.to_socket_addrs().with_context(|| format!("`{text}` is not an address such as 127.0.0.1:8001"))?;
    let addresses: Vec<SocketAddr> = addresses.collect();
    let Some(&address) = addresses.first() else {
        bail!("`{text}` leads to no address");
    };
    ensure!(
        addresses.iter().all(|address| address.ip().is_loopback()),
        "`{text}` can be reached from other machines, and access is open to everybody: use 127.0.0.1 or [::1]"
    );
    Ok(address)
}

async fn listen(address: SocketAddr, db: &Path, catalog: Games, games: Vec<GameInfo>, config: Config) -> Result<()> {
    let store = SqliteStore::open(db, SqliteOptions::default()).await;
    let store = Arc::new(store.with_context(|| format!("cannot open the database `{}`", db.display()))?);
    let listener = TcpListener::bind(address).await.with_context(|| format!("cannot listen at {address}"))?;
    let (count, address) = (games.len(), listener.local_addr()?);
    let server = Arc::new(Server::new(Arc::new(catalog), games, Arc::clone(&store) as _, Arc::new(SystemClock), config));
    server.resume().await?;
    let stop = Arc::new(Notify::new());
    let told = Arc::clone(&stop);
    let serving = tokio::spawn(serve(listener, server, async move { told.notified().await }));
    output::print(&format!("listening at http://{address} ({count} environments, database {})", db.display()))?;
    let mut serving = serving;
    tokio::select! {
        ended = &mut serving => return Ok(ended??),
        () = signal() => stop.notify_one(),
    }
    match tokio::time::timeout(STOPPING, serving).await {
        Ok(ended) => ended??,
        Err(_) => eprintln!("some clients did not finish their requests within {} s", STOPPING.as_secs()),
    }
    // Whoever still holds the store belongs to a request that nobody waits for.
    if let Some(store) = Arc::into_inner(store) {
        store.close().await;
    }
    Ok(())
}

/// Waits until the process is asked to end.
#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let ends = signal(SignalKind::interrupt()).and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)));
    match ends {
        Ok((mut interrupt, mut terminate)) => {
            tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
        }
        // Without handlers the system ends the process, which loses nothing either.
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
