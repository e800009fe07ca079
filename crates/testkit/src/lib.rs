//! Test support: the conformance suite for native games, and fixtures for the tests of other
//! crates.
//!
//! * [`conforms`] checks a native game against the rules that every game must satisfy. The tests of
//!   `rhae-games` call it for every registered game.
//! * [`page_outline`] shows the structure of an HTML page, for snapshots.
//! * [`playthrough()`] renders the stored solutions of a game as text, for golden files.
//! * [`ModelServer`] is a local server with the APIs of the model providers, which injects faults
//!   on demand.
//! * [`skip()`], [`arc_data`] and [`full`] report tests that cannot run, or only in a short form.
//! * `Postgres` is a temporary PostgreSQL server for a single test (Unix only).
//!
//! Only tests depend on this crate.
//!
//! # Examples
//!
//! Send a request to a model server and inspect its log:
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//!
//! use rhae_testkit::{Faults, ModelServer};
//!
//! # fn main() -> std::io::Result<()> {
//! let server = ModelServer::start(Faults::none(), |request| {
//!     format!("{} turns", request.turns.len())
//! });
//! let body = r#"{"messages": [{"role": "user", "content": "hello"}]}"#;
//! let mut stream = TcpStream::connect(server.url().trim_start_matches("http://"))?;
//! write!(
//!     stream,
//!     "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}",
//!     body.len()
//! )?;
//! let mut response = [0; 15];
//! stream.read_exact(&mut response)?;
//! assert_eq!(&response, b"HTTP/1.1 200 OK");
//!
//! let served = server.served();
//! assert_eq!(served.len(), 1);
//! assert!(served[0].input_tokens > 0);
//! # Ok(())
//! # }
//! ```

mod conformance;
mod model_server;
mod outline;
mod playthrough;
#[cfg(unix)]
mod postgres;
mod skip;

pub use conformance::conforms;
pub use model_server::{
    Answer, Fault, Faults, ModelAnswer, ModelRequest, ModelServer, ServedRequest, WireFormat,
};
pub use outline::page_outline;
pub use playthrough::playthrough;
#[cfg(unix)]
pub use postgres::Postgres;
pub use skip::{FULL, SKIP_MISSING, SKIP_REPORT, SkipKind, SkipRecord, arc_data, full, skip};
