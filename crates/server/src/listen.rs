//! Accepts connections, up to the configured number at a time, until shutdown. A client whose
//! connection is refused gets a response that says why, unless it uses TLS.

use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::Service;

use crate::connection::{Activity, ClientTimeout, MonitoredStream};
use crate::connections::Connections;
use crate::games::Games;
use crate::metrics::CONTENT_TYPE;
use crate::network::{Network, Peer};
use crate::routes::{collapse_slashes, router};
use crate::{ApiError, Limits, Server, Tls};

/// The interval between two searches for expired cards and idempotency keys.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(5);
/// The interval between two searches for what is due in studies.
const STUDY_INTERVAL: Duration = Duration::from_secs(1);
/// The interval between two comparisons of the sources of hosted games with those on disk.
const SOURCE_INTERVAL: Duration = Duration::from_secs(2);
/// The maximum size of a connection's read buffer. It also limits the size of a request's head.
const MAX_BUFFERED_BYTES: usize = 64 * 1024;
/// The pause after a failed accept, for example when the process has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The number of refused clients that are told the reason at the same time.
const MAX_REFUSALS: usize = 64;
/// How long a refused client may take to read the reason.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves the API and the web app until `stop` completes, then finishes the requests in progress.
///
/// While it runs, it also closes cards that have been idle or open for too long, deletes old
/// idempotency keys, and logs changes of the sources of hosted games. Event streams end at shutdown. The [crate docs](crate) have an example.
///
/// # Errors
///
/// Currently none: a failed accept is logged and retried.
pub async fn serve(
    listener: TcpListener,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    serve_api(listener, None, server, stop).await
}

/// Like [`serve`], over TLS. A certificate of [`Tls::from_files`] is read again when its files
/// change.
///
/// # Errors
///
/// Currently none: a failed accept or handshake is logged.
pub async fn serve_tls(
    listener: TcpListener,
    tls: Tls,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    serve_api(listener, Some(tls), server, stop).await
}

/// Serves the Prometheus metrics at `/metrics` until `stop` completes. Use a separate address: this
/// endpoint requires no key. On a loopback address it refuses foreign host names.
///
/// # Errors
///
/// Currently none: a failed accept is logged and retried.
pub async fn serve_metrics(
    listener: TcpListener,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let text =
        |server: Arc<Server>| async move { ([("content-type", CONTENT_TYPE)], server.metrics()) };
    let shared = Arc::clone(&server);
    let mut router = Router::new().route("/metrics", get(move || text(Arc::clone(&shared))));
    if listener
        .local_addr()
        .is_ok_and(|address| address.ip().is_loopback())
    {
        router = router.layer(from_fn_with_state(
            Arc::clone(&server.network),
            refuse_foreign_host,
        ));
    }
    accept(
        listener,
        Endpoint {
            router,
            tls: None,
            server,
            counted: false,
        },
        stop,
    )
    .await;
    Ok(())
}

/// Refuses requests to a host name that is neither this machine nor configured.
async fn refuse_foreign_host(
    axum::extract::State(network): axum::extract::State<Arc<Network>>,
    request: Request,
    next: Next,
) -> Response {
    match network.check_host(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

async fn serve_api(
    listener: TcpListener,
    tls: Option<Tls>,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let closing_cards = tokio::spawn(close_stale_cards(Arc::clone(&server)));
    let settling_studies = tokio::spawn(settle_studies(Arc::clone(&server)));
    let checking_sources = tokio::spawn(check_sources(Arc::clone(&server.games)));
    let watching_certificate = tls.clone().map(|tls| tokio::spawn(tls.watch()));
    let (listeners, games) = (Arc::clone(&server.listeners), Arc::clone(&server.games));
    // Event streams would otherwise keep their connections open forever.
    let stop = async move {
        stop.await;
        listeners.end();
        games.close();
    };
    accept(
        listener,
        Endpoint {
            router: router(Arc::clone(&server)),
            tls,
            server,
            counted: true,
        },
        stop,
    )
    .await;
    closing_cards.abort();
    settling_studies.abort();
    checking_sources.abort();
    if let Some(watching) = watching_certificate {
        watching.abort();
    }
    Ok(())
}

async fn check_sources(games: Arc<Games>) {
    if !games.has_hosted() {
        return;
    }
    let mut interval = tokio::time::interval(SOURCE_INTERVAL);
    loop {
        interval.tick().await;
        games.check_sources().await;
    }
}

async fn settle_studies(server: Arc<Server>) {
    if !server.config.settle_studies {
        return;
    }
    let mut interval = tokio::time::interval(STUDY_INTERVAL);
    loop {
        interval.tick().await;
        // The next tick tries again. Until then, requests of participants find limits themselves.
        if let Err(error) = server.settle_studies().await {
            tracing::warn!(%error, "cannot execute what is due in a study");
        }
    }
}

async fn close_stale_cards(server: Arc<Server>) {
    let mut interval = tokio::time::interval(EXPIRY_INTERVAL);
    loop {
        interval.tick().await;
        match server.close_stale().await {
            Ok(closed) => closed
                .iter()
                .for_each(|card| tracing::info!(%card, "closed an expired scorecard")),
            // The next tick tries again.
            Err(error) => tracing::warn!(%error, "cannot close expired scorecards"),
        }
        if let Err(error) = server.delete_expired_keys().await {
            tracing::warn!(%error, "cannot delete expired idempotency keys");
        }
    }
}

/// The service behind a listening socket.
#[derive(Clone)]
struct Endpoint {
    router: Router,
    tls: Option<Tls>,
    server: Arc<Server>,
    /// Whether connections are counted in the metrics.
    counted: bool,
}

async fn accept(listener: TcpListener, endpoint: Endpoint, stop: impl Future<Output = ()>) {
    let limits = &endpoint.server.config.limits;
    let connections = Arc::new(Connections::new(
        limits.connections,
        limits.connections_per_address,
        limits.header_timeout,
    ));
    let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => (stream, peer.ip()),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let (endpoint, watcher) = (endpoint.clone(), graceful.watcher());
        let (connections, refusals) = (Arc::clone(&connections), Arc::clone(&refusals));
        tokio::spawn(async move {
            let activity = Arc::new(Activity::new());
            let exempt = endpoint.server.network.is_trusted_proxy(peer);
            let slot = match connections.admit(peer, exempt, &activity).await {
                Ok(slot) => slot,
                Err(refused) => {
                    drop(watcher);
                    tracing::debug!(%peer, reason = %refused, "refused a connection");
                    if endpoint.tls.is_none() {
                        refuse(stream, &refused, &refusals).await;
                    }
                    return;
                }
            };
            let server = Arc::clone(&endpoint.server);
            let counted = endpoint.counted;
            if counted {
                server.metrics.connected();
            }
            let connected = connect(stream, peer, endpoint, activity, watcher);
            let timeout = tokio::select! {
                timeout = connected => timeout,
                () = slot.evicted() => {
                    tracing::debug!(%peer, "closed a connection in favour of another client");
                    None
                }
            };
            if let Some(timeout) = timeout {
                tracing::debug!(
                    waiting_for = timeout.name(),
                    "closed a connection that timed out"
                );
                if counted {
                    server.metrics.timed_out(timeout);
                }
            }
            if counted {
                server.metrics.disconnected();
            }
        });
    }
    drop(listener);
    connections.close();
    graceful.shutdown().await;
}

/// Tells a client why its connection is refused, if few enough clients are being told. Reads what
/// the client sends, because it might otherwise not see the response.
async fn refuse(mut stream: TcpStream, reason: &ApiError, refusals: &Semaphore) {
    let Ok(_permit) = refusals.try_acquire() else {
        return;
    };
    let told = async {
        stream
            .write_all(reason.connection_refusal().as_bytes())
            .await?;
        stream.shutdown().await?;
        let mut discarded = [0; 4096];
        while stream.read(&mut discarded).await? > 0 {}
        io::Result::Ok(())
    };
    // The client may be gone already.
    let _ = tokio::time::timeout(REFUSAL_TIMEOUT, told).await;
}

/// Serves a connection. Returns the timeout that ended the connection, if one did.
async fn connect(
    stream: TcpStream,
    peer: IpAddr,
    endpoint: Endpoint,
    activity: Arc<Activity>,
    watcher: Watcher,
) -> Option<ClientTimeout> {
    // Most responses are written in one piece, so Nagle's algorithm would only delay them. A
    // failure to set the option is harmless.
    let _ = stream.set_nodelay(true);
    let limits = endpoint.server.config.limits;
    let Some(tls) = &endpoint.tls else {
        return drive(stream, peer, endpoint.router, &limits, activity, watcher).await;
    };
    match tokio::time::timeout(limits.header_timeout, tls.acceptor.accept(stream)).await {
        Ok(Ok(stream)) => drive(stream, peer, endpoint.router, &limits, activity, watcher).await,
        Ok(Err(error)) => {
            tracing::debug!(%error, "TLS handshake failed");
            None
        }
        Err(_) => Some(ClientTimeout::Handshake),
    }
}

async fn drive<S>(
    stream: S,
    peer: IpAddr,
    router: Router,
    limits: &Limits,
    activity: Arc<Activity>,
    watcher: Watcher,
) -> Option<ClientTimeout>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let noted_activity = Arc::clone(&activity);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        noted_activity.busy();
        request.extensions_mut().insert(Peer(peer));
        // Routers are always ready, so `poll_ready` is not needed.
        let answer = router
            .clone()
            .call(collapse_slashes(request.map(axum::body::Body::new)));
        let noted_activity = Arc::clone(&noted_activity);
        async move {
            let answer = answer.await;
            noted_activity.answered();
            answer
        }
    });
    let mut http = http1::Builder::new();
    // Hyper's own timeout is disabled, because the checks of `Activity` below replace it.
    http.header_read_timeout(None)
        .max_buf_size(MAX_BUFFERED_BYTES);
    let io = TokioIo::new(MonitoredStream {
        stream,
        activity: Arc::clone(&activity),
    });
    let mut connection = pin!(watcher.watch(http.serve_connection(io, service)));
    let mut checks = tokio::time::interval(limits.shortest_timeout() / 4);
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::trace!(%error, "connection error");
                }
                return None;
            }
            _ = checks.tick() => if let Some(timeout) = activity.exceeded_timeout(limits) {
                return Some(timeout);
            },
        }
    }
}
