//! Accepting connections, at most so many at a time, until it is time to stop.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;

use axum::routing::get;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::Service;

use crate::connection::{Overdue, Pulse, Watched};
use crate::routes::{collapse_slashes, router};
use crate::{Limits, Server, Tls};

/// How often the clock is asked which cards are to be closed.
const CLOSING_INTERVAL: Duration = Duration::from_secs(5);
/// The most bytes that a connection holds of what it reads, and so of a request's head.
const MOST_BUFFERED: usize = 64 * 1024;
/// After an accept that failed, as when the process has no file handles left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `stop` is done, then finishes what is under way. Cards are closed by the clock meanwhile.
pub async fn serve(
    listener: TcpListener,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    serve_api(listener, None, server, stop).await
}

/// As [`serve`], over TLS.
pub async fn serve_tls(
    listener: TcpListener,
    tls: Tls,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    serve_api(listener, Some(tls), server, stop).await
}

/// Serves the counts at `/metrics` until `stop` is done.
pub async fn serve_metrics(
    listener: TcpListener,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let text = |server: Arc<Server>| async move {
        (
            [("content-type", "text/plain; version=0.0.4")],
            server.metrics(),
        )
    };
    let shared = Arc::clone(&server);
    let router = Router::new().route("/metrics", get(move || text(Arc::clone(&shared))));
    accept(
        listener,
        Door {
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

async fn serve_api(
    listener: TcpListener,
    tls: Option<Tls>,
    server: Arc<Server>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let closing = tokio::spawn(close_stale_cards(Arc::clone(&server)));
    let listeners = Arc::clone(&server.listeners);
    // Those who follow a play have requests that end only when they are told to.
    let stop = async move {
        stop.await;
        listeners.end();
    };
    accept(
        listener,
        Door {
            router: router(Arc::clone(&server)),
            tls,
            server,
            counted: true,
        },
        stop,
    )
    .await;
    closing.abort();
    Ok(())
}

async fn close_stale_cards(server: Arc<Server>) {
    let mut interval = tokio::time::interval(CLOSING_INTERVAL);
    loop {
        interval.tick().await;
        match server.close_stale().await {
            Ok(closed) => closed
                .iter()
                .for_each(|card| tracing::info!(%card, "the clock closed a scorecard")),
            // A database that fails now is asked again at the next tick.
            Err(error) => tracing::warn!(%error, "cannot close idle scorecards"),
        }
        if let Err(error) = server.forget_keys().await {
            tracing::warn!(%error, "cannot forget old idempotency keys");
        }
    }
}

/// What a connection leads to.
#[derive(Clone)]
struct Door {
    router: Router,
    tls: Option<Tls>,
    server: Arc<Server>,
    /// Whether connections are part of the metrics.
    counted: bool,
}

async fn accept(listener: TcpListener, door: Door, stop: impl Future<Output = ()>) {
    let slots = Arc::new(Semaphore::new(door.server.config.limits.connections));
    let graceful = GracefulShutdown::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots)
                .acquire_owned()
                .await
                .expect("nobody closes the semaphore");
            (slot, listener.accept().await)
        };
        let (slot, stream) = tokio::select! {
            (slot, accepted) = accepted => match accepted {
                Ok((stream, _)) => (slot, stream),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let (door, watcher) = (door.clone(), graceful.watcher());
        tokio::spawn(async move {
            let server = Arc::clone(&door.server);
            let counted = door.counted;
            if counted {
                server.metrics.connections.add_one();
            }
            if let Some(overdue) = connect(stream, door, watcher).await {
                tracing::debug!(waiting_for = overdue.name(), "a client took too long");
                if counted {
                    server.metrics.ended(overdue);
                }
            }
            if counted {
                server.metrics.connections_ended.add_one();
            }
            drop(slot);
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// Serves a connection, and says what its client took too long for, if it did.
async fn connect(stream: TcpStream, door: Door, watcher: Watcher) -> Option<Overdue> {
    // Answers are written whole, so that nothing is gained by waiting for more of them. A connection that does not take the option works.
    let _ = stream.set_nodelay(true);
    let limits = door.server.config.limits;
    let Some(tls) = &door.tls else {
        return drive(stream, door.router, &limits, watcher).await;
    };
    match tokio::time::timeout(limits.header_timeout, tls.acceptor.accept(stream)).await {
        Ok(Ok(stream)) => drive(stream, door.router, &limits, watcher).await,
        Ok(Err(error)) => {
            tracing::debug!(%error, "no TLS handshake");
            None
        }
        Err(_) => Some(Overdue::Handshake),
    }
}

async fn drive<S>(stream: S, router: Router, limits: &Limits, watcher: Watcher) -> Option<Overdue>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let pulse = Arc::new(Pulse::new());
    let noted = Arc::clone(&pulse);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        noted.busy();
        // Routers are always ready.
        let answer = router
            .clone()
            .call(collapse_slashes(request.map(axum::body::Body::new)));
        let noted = Arc::clone(&noted);
        async move {
            let answer = answer.await;
            noted.answered();
            answer
        }
    });
    let mut http = http1::Builder::new();
    // The pulse has all deadlines.
    http.header_read_timeout(None).max_buf_size(MOST_BUFFERED);
    let io = TokioIo::new(Watched {
        stream,
        pulse: Arc::clone(&pulse),
    });
    let mut connection = pin!(watcher.watch(http.serve_connection(io, service)));
    let mut looks = tokio::time::interval(limits.shortest_timeout() / 4);
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::trace!(%error, "a connection broke");
                }
                return None;
            }
            _ = looks.tick() => if let Some(overdue) = pulse.overdue(limits) {
                return Some(overdue);
            },
        }
    }
}
