//! An HTTP server for the ARC-AGI-3 REST API and the Rhae web app.
//!
//! The API is the one that the official clients use: list environments, open a scorecard, open
//! plays on it with RESET, send actions, close the card. [`Server`] holds the state that all
//! requests share: the environments, the [`Store`](rhae_store::Store), the clock and the plays in
//! memory. [`router`] turns it into an axum router, and [`serve`] and [`serve_tls`] accept
//! connections for it. [`serve_metrics`] exposes its counters to Prometheus.
//!
//! # The path of a request
//!
//! 1. `listen` accepts a connection, up to [`Limits::connections`] at a time, which clients share
//!    fairly (`connections`), and closes it if the client is too slow.
//! 2. `middleware` assigns a request id, finds the caller by its API key (`access`), applies the
//!    rate limit, and reads the body within its size and time limits. With open access it refuses
//!    foreign host names (`network`).
//! 3. `routes` selects a handler: `game_api`, `card_api`, `commands`, `play_api`, `events`,
//!    `share_api`, `sitting_api`, `study_api`, `board_api`, or a page in `web`. The handler gets the services that
//!    it needs (`state`): `games`, `access`, `cards`, `plays`, `listeners`, `shares` or `studies`,
//!    each with its own state.
//! 4. A command takes its play out of the play's slot in memory (`plays`). If the play is not in
//!    memory, `plays::rebuild` restores it from a snapshot and the log.
//! 5. The command is executed and its log entry committed to the store. Only then is the play put
//!    back into its slot.
//! 6. `middleware` adds the common headers, counts the request and logs it.
//!
//! # Invariants
//!
//! * **The response to an action is sent only after the action is committed.** A play in memory is
//!   a copy of its log. If a commit fails, the copy is dropped, and the next request for the play
//!   rebuilds it from the log.
//! * **One request at a time per play**, in order of arrival. Requests for different plays run
//!   concurrently.
//! * **Deny by default.** Every route is behind `middleware`. A request for a resource that the key
//!   may not see gets the same response as a request for one that does not exist.
//! * **Every error is JSON** with a [`Code`] and a message. [`ApiError`] lists them all. Only
//!   browsers that ask for HTML get an error page instead.
//!
//! This crate deliberately knows nothing about SQL, command-line flags, or which environments
//! exist.
//!
//! # Examples
//!
//! Start a server on a free port of the loopback interface, send one request, and shut down:
//!
//! ```
//! use std::sync::Arc;
//!
//! use rhae_engine::Catalog;
//! use rhae_games::Builtin;
//! use rhae_server::{Config, Server, SystemClock, serve};
//! use rhae_store::{SqliteOptions, SqliteStore};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let store = SqliteStore::open(&folder.path().join("rhae.db"), SqliteOptions::default()).await?;
//! let server = Server::new(
//!     Arc::new(Builtin),
//!     Builtin.list(),
//!     Arc::new(store),
//!     Arc::new(SystemClock),
//!     Config::default(),
//! );
//!
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! let address = listener.local_addr()?;
//! let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
//! let serving = tokio::spawn(serve(listener, Arc::new(server), async {
//!     let _ = stopped.await;
//! }));
//!
//! let mut client = TcpStream::connect(address).await?;
//! let request = "GET /api/healthcheck HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
//! client.write_all(request.as_bytes()).await?;
//! let mut response = String::new();
//! client.read_to_string(&mut response).await?;
//! assert!(response.starts_with("HTTP/1.1 200 OK"));
//! assert!(response.ends_with("okay"));
//!
//! // `serve` returns after the requests in progress have finished.
//! stop.send(()).unwrap();
//! serving.await??;
//! # Ok(())
//! # }
//! ```

mod access;
mod blocking;
mod board_api;
mod boards;
mod body;
mod card_api;
mod cards;
mod clock;
mod commands;
mod connection;
mod connections;
mod detach_on_drop;
mod error;
mod events;
mod fair_pool;
mod folder_archive;
mod game_api;
mod game_executor;
mod game_sets;
mod games;
mod idempotency;
mod key;
mod limits;
mod listen;
mod listeners;
mod metrics;
mod middleware;
mod network;
mod openapi;
mod play_api;
mod plays;
mod query;
mod quotas;
mod routes;
mod run_pages;
mod server;
mod share_api;
mod share_token;
mod shares;
mod sitting_api;
mod state;
mod studies;
mod study_api;
mod study_report_api;
mod tls;
mod verify;
mod web;
mod work_endpoint;

pub use clock::{Clock, SystemClock};
pub use error::{ApiError, Code};
pub use game_sets::{SetsError, read_game_sets};
pub use key::{ApiKey, KeyError, new_key};
pub use limits::Limits;
pub use listen::{serve, serve_metrics, serve_tls};
pub use network::{AddressRange, AddressRangeError};
pub use routes::router;
pub use server::{Config, Server, Visitors};
pub use studies::Identities;
pub use tls::{Tls, TlsError};
pub use verify::{VerifyProgress, verify};
pub use work_endpoint::{WorkEndpoint, WorkHandler};
