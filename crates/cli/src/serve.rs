//! `rhae serve`: the ARC-AGI-3 REST API.

pub(crate) mod database;
mod log;
mod order;
mod sets;
mod settings;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rhae_server::{Server, SystemClock, serve, serve_metrics, serve_tls};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::output;
use database::Database;
use order::Order;
use settings::{Auth, Settings};

/// How long requests that are under way may take after the server was told to stop.
const STOPPING: Duration = Duration::from_secs(10);

/// Serve the ARC-AGI-3 REST API, which the official clients use unchanged.
///
/// Every acknowledged action is on disk: plays and scorecards survive a crash, and clients go on with them after a restart.
///
/// Every setting is a flag, an environment variable, or a line of the file given by `--config` (`idle-minutes = 30`), in this order.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae serve
  rhae serve --addr 127.0.0.1:9000 --db /var/lib/rhae/rhae.db --games kq19,ny40
  rhae serve --games-dir environment_files
  rhae serve --db postgres://rhae@db.example.org/rhae     (password in PGPASSWORD or ~/.pgpass)
  rhae serve --addr 0.0.0.0:8001 --auth keys --sets sets.toml --tls-cert cert.pem --tls-key key.pem
  ARC_BASE_URL=http://127.0.0.1:8001 OPERATION_MODE=online python my_agent.py")]
pub(crate) struct ServeArgs {
    /// A TOML file with settings
    #[arg(long, env = "RHAE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(args: ServeArgs) -> Result<ExitCode> {
    let file = args
        .config
        .as_deref()
        .map(Settings::read)
        .transpose()?
        .unwrap_or_default();
    let order = Order::resolve(args.settings.over(file))?;
    log::begin(order.log, order.log_level);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the server's threads")?;
    runtime.block_on(listen(order))?;
    Ok(ExitCode::SUCCESS)
}

async fn listen(order: Order) -> Result<()> {
    let database = Database::open(&order.db).await?;
    let bind = async |address: SocketAddr| {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen at {address}"))?;
        let address = listener.local_addr()?;
        anyhow::Ok((listener, address))
    };
    let (listener, address) = bind(order.address).await?;
    let mut server = Server::new(
        Arc::new(order.catalog),
        order.games,
        database.store(),
        Arc::new(SystemClock),
        order.config,
    );
    if let Some(sets) = &order.sets {
        server = server.with_sets(sets);
    }
    if order.auth == Auth::Keys {
        server = server.with_keys(database.keys());
    }
    let (server, count) = (Arc::new(server), order.count);
    server.resume().await?;
    // Whoever reads that it listens may ask it to end at once.
    let ending = signal();
    let (stop, stopped) = watch::channel(false);
    let told = || {
        let mut stopped = stopped.clone();
        // The sender lives until the end of this function.
        async move { drop(stopped.wait_for(|stopped| *stopped).await) }
    };
    let (showing, metrics) = match order.metrics {
        Some(address) => {
            let (listener, address) = bind(address).await?;
            let serving = tokio::spawn(serve_metrics(listener, Arc::clone(&server), told()));
            (
                Some(serving),
                format!(", metrics at http://{address}/metrics"),
            )
        }
        None => (None, String::new()),
    };
    let (mut serving, scheme) = match order.tls {
        Some(tls) => (
            tokio::spawn(serve_tls(listener, tls, server, told())),
            "https",
        ),
        None => (tokio::spawn(serve(listener, server, told())), "http"),
    };
    output::print(&format!(
        "listening at {scheme}://{address} ({count} environments, database {database}{metrics})"
    ))?;
    tracing::info!(%address, auth = ?order.auth, tls = scheme == "https", environments = count, "started");
    tokio::select! {
        ended = &mut serving => return Ok(ended??),
        () = ending => tracing::info!("stopping"),
    }
    // Everybody who listens is told, or has ended.
    let _ = stop.send(true);
    match tokio::time::timeout(STOPPING, serving).await {
        Ok(ended) => ended??,
        Err(_) => tracing::warn!(
            seconds = STOPPING.as_secs(),
            "some clients did not finish their requests in time"
        ),
    }
    if let Some(showing) = showing {
        // Whoever reads the metrics for so long reads what nobody needs any more.
        let _ = tokio::time::timeout(STOPPING, showing).await;
    }
    let commits = database.store().commits();
    database.close().await;
    output::print(&format!("stopped after {commits} commits"))?;
    tracing::info!(commits, "stopped");
    Ok(())
}

/// Waits until the process is asked to end. The handlers are there as soon as this is called, not only when it is waited for.
#[cfg(unix)]
fn signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let ends = signal(SignalKind::interrupt())
        .and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)));
    async move {
        match ends {
            Ok((mut interrupt, mut terminate)) => {
                tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
            }
            // Without handlers the system ends the process, which loses nothing either.
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
