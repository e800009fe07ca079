//! The ARC-AGI-3 REST API, as the official clients use it, over a [`Store`](rhae_store::Store).
//!
//! * **An answer is sent after its action is committed.** A play in memory is a copy of its log; if a commit fails, the copy
//!   is dropped and made again from the log when the play is next touched.
//! * **One request at a time per play**, in the order of arrival; plays never wait for each other.
//! * **Every error is JSON** with a code and a message; all of them are in `error`.
//!
//! What this crate deliberately does not know: SQL, flags, which environments exist.

mod body;
mod cards;
mod clock;
mod commands;
mod error;
mod events;
mod games;
mod listeners;
mod live;
mod once;
mod play_api;
mod plays;
mod rebuild;
mod routes;
mod server;

pub use clock::{Clock, SystemClock};
pub use error::{ApiError, Code};
pub use routes::{router, serve};
pub use server::{Config, Server};
