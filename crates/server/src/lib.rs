//! The ARC-AGI-3 REST API, as the official clients use it, over a [`Store`](rhae_store::Store).
//!
//! * **An answer is sent after its action is committed.** A play in memory is a copy of its log; if a commit fails, the copy
//!   is dropped and made again from the log when the play is next touched.
//! * **One request at a time per play**, in the order of arrival; plays never wait for each other.
//! * **Deny by default**: every route is behind the gate, and what a key may not see is answered like what does not exist.
//! * **Every error is JSON** with a code and a message; all of them are in `error`.
//!
//! What this crate deliberately does not know: SQL, flags, which environments exist.

mod access;
mod body;
mod cards;
mod clock;
mod commands;
mod connection;
mod error;
mod events;
mod games;
mod gate;
mod key;
mod limits;
mod listen;
mod listeners;
mod live;
mod metrics;
mod once;
mod play_api;
mod plays;
mod rate;
mod rebuild;
mod routes;
mod server;
mod tls;
mod web;

pub use clock::{Clock, SystemClock};
pub use error::{ApiError, Code};
pub use key::ApiKey;
pub use limits::Limits;
pub use listen::{serve, serve_metrics, serve_tls};
pub use routes::router;
pub use server::{Config, Server, Visitors};
pub use tls::{Tls, TlsError};
