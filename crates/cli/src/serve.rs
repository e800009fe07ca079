//! `rhae serve`: the ARC-AGI-3 REST API.

mod config;
mod log;
mod settings;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use rhae_report::counted;
use rhae_server::{Identities, Server, SystemClock, serve, serve_metrics, serve_tls};
use rhae_store::{Database, default_identities, open_identities};
use rhae_study_service::IdentityKey;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::board::published_references;
use crate::output;
use config::ServeConfig;
use settings::{Auth, Settings};

/// How long work that continues after the shutdown timeout may take before the process exits.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Serve the ARC-AGI-3 REST API for unmodified official clients, and the web app.
///
/// Every acknowledged action is on disk. Plays and scorecards survive a crash, and clients continue
/// them after a restart.
///
/// Every setting is a flag, an environment variable, or a line of the file given by `--config`
/// (`idle-minutes = 30`). Flags override variables, and variables override the file.
#[derive(Args)]
#[command(after_help = "Examples:
  rhae serve
  rhae serve --addr 127.0.0.1:9000 --db /var/lib/rhae/rhae.db --games kq19,ny40
  rhae serve --games-dir environment_files
  rhae serve --db postgres://rhae@db.example.org/rhae     (password in PGPASSWORD or ~/.pgpass)
  rhae serve --addr 0.0.0.0:8001 --auth keys --sets sets.toml --tls-cert cert.pem --tls-key key.pem
  ARC_BASE_URL=http://127.0.0.1:8001 OPERATION_MODE=online python my_agent.py")]
pub(crate) struct ServeArgs {
    /// TOML file with settings
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
    let config = ServeConfig::resolve(args.settings.or(file))?;
    log::init(config.log, config.log_level);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the server's threads")?;
    let served = runtime.block_on(listen(config));
    // Dropping the runtime would wait for work that nothing can interrupt, such as a long replay.
    // Everything that was acknowledged is on disk.
    runtime.shutdown_timeout(EXIT_TIMEOUT);
    served.map(|()| ExitCode::SUCCESS)
}

async fn listen(config: ServeConfig) -> Result<()> {
    let database = Database::open(&config.db).await?;
    let bind = async |address: SocketAddr| {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}"))?;
        let address = listener.local_addr()?;
        anyhow::Ok((listener, address))
    };
    let (listener, address) = bind(config.address).await?;
    let identities = open_identity_key(&config).await?;
    let server = build_server(&config, &database, identities);
    let (server, count) = (Arc::new(server), config.count);
    server.restart_idle_timers().await?;
    // On Unix this call already registers the signal handlers: a reader of the "listening" line may
    // send a signal immediately.
    let stop_signal = shutdown_signal();
    let (stop, stopped) = watch::channel(false);
    let shutdown = || {
        let mut stopped = stopped.clone();
        // An error means that the sender was dropped because `listen` returned; that also ends the
        // wait.
        async move { drop(stopped.wait_for(|stopped| *stopped).await) }
    };
    let (serving_metrics, metrics) = match config.metrics {
        Some(address) => {
            let (listener, address) = bind(address).await?;
            let serving = tokio::spawn(serve_metrics(listener, Arc::clone(&server), shutdown()));
            (
                Some(serving),
                format!(", metrics at http://{address}/metrics"),
            )
        }
        None => (None, String::new()),
    };
    let (mut serving, scheme) = match config.tls {
        Some(tls) => (
            tokio::spawn(serve_tls(listener, tls, server, shutdown())),
            "https",
        ),
        None => (tokio::spawn(serve(listener, server, shutdown())), "http"),
    };
    output::print(&format!(
        "listening at {scheme}://{address} ({}, database {database}{metrics})",
        counted(count as u64, "environment")
    ))?;
    tracing::info!(%address, auth = ?config.auth, tls = scheme == "https", environments = count, "started");
    tokio::select! {
        ended = &mut serving => return Ok(ended??),
        () = stop_signal => tracing::info!("stopping"),
    }
    // Cannot fail: `stopped` is still a receiver.
    let _ = stop.send(true);
    let deadline = tokio::time::Instant::now() + config.shutdown_timeout;
    match tokio::time::timeout_at(deadline, serving).await {
        Ok(ended) => ended??,
        Err(_) => tracing::warn!(
            seconds = config.shutdown_timeout.as_secs(),
            "some clients did not finish their requests in time"
        ),
    }
    // A game that hangs would outlive the server.
    config.catalog.end_processes();
    if let Some(serving) = serving_metrics {
        let _ = tokio::time::timeout_at(deadline, serving).await;
    }
    let commits = database.store().commits();
    database.close().await;
    output::print(&format!("stopped after {commits} commits"))?;
    tracing::info!(commits, "stopped");
    Ok(())
}

/// Opens the contact data of study participants, if there is a key for it.
async fn open_identity_key(config: &ServeConfig) -> Result<Option<Identities>> {
    let Some(file) = &config.identity_key else {
        return Ok(None);
    };
    let key = if file.exists() {
        IdentityKey::read(file)?
    } else {
        IdentityKey::create(file)?
    };
    Ok(Some(Identities {
        store: open_identities(&default_identities(&config.db)).await?,
        key: Arc::new(key),
    }))
}

/// Creates the server that the configuration describes.
fn build_server(
    config: &ServeConfig,
    database: &Database,
    identities: Option<Identities>,
) -> Server {
    let mut server = Server::new(
        Arc::clone(&config.catalog),
        config.games.clone(),
        database.store(),
        Arc::new(SystemClock),
        config.server,
    );
    server = server
        .with_hosts(&config.hosts)
        .with_trusted_proxies(config.trusted_proxies.clone())
        .with_shares(database.shares())
        .with_studies(database.studies(), identities)
        .with_boards(database.boards(), published_references());
    if let Some(sets) = &config.sets {
        server = server.with_sets(sets);
    }
    if config.auth == Auth::Keys {
        server = server.with_keys(database.keys());
    }
    server
}

/// Returns a future that completes when the process gets SIGINT or SIGTERM. The handlers are
/// registered by this call, not when the future is polled.
#[cfg(unix)]
fn shutdown_signal() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};
    let signals = signal(SignalKind::interrupt())
        .and_then(|interrupt| Ok((interrupt, signal(SignalKind::terminate())?)));
    async move {
        match signals {
            Ok((mut interrupt, mut terminate)) => {
                tokio::select! { _ = interrupt.recv() => (), _ = terminate.recv() => () }
            }
            // If registration fails, a signal without a handler ends the process by its default
            // action. No acknowledged action is lost.
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(not(unix))]
async fn shutdown_signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
