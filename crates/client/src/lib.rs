//! A client of the ARC-AGI-3 REST API, for the official servers and for Rhae's own.
//!
//! | type | role |
//! | --- | --- |
//! | [`Server`] | a connection to a server, with its list of environments |
//! | [`Card`] | an open scorecard on the server |
//! | [`RemoteEnvironment`] | a play on a card, as an [`Environment`] like any local game |
//! | [`RemoteCatalog`] | the server's environments as a [`Catalog`] with one card |
//! | [`Heartbeat`] | a thread that keeps cards open while agents think |
//! | [`RetryPolicy`] | timeouts, number of attempts and backoff |
//!
//! All calls block the calling thread.
//!
//! # Invariants
//!
//! - **No action is executed twice.** An action without a response is sent again only if this
//!   cannot execute it twice: the request never left this machine, the server said that it was not
//!   executed, it carries an idempotency key that the server supports, or the card shows that the
//!   action was not counted. Otherwise the play ends with [`ClientError::OutcomeUnknown`]. It also
//!   ends in this way if a delayed first attempt turns out to have been executed after all.
//! - **Responses are untrusted.** Their size is limited, every field that is used is checked, and
//!   an error names the path and the fault.
//! - **The API key is sent only to the address of the server.** Redirects are not followed,
//!   and no message contains the key.
//!
//! This crate knows nothing about files, command-line flags or how scores are computed.
//!
//! # Examples
//!
//! Connect to a server, list its environments and look one up:
//!
//! ```
//! # use std::io::{Read, Write};
//! # // A minimal server that answers `GET /api/games`.
//! # let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
//! # let address = format!("http://{}", listener.local_addr()?);
//! # std::thread::spawn(move || {
//! #     let (mut stream, _) = listener.accept().unwrap();
//! #     let _ = stream.read(&mut [0; 4096]);
//! #     let body = r#"[{"game_id": "ab12-v1", "title": "AB", "baseline_actions": [4, 9]}]"#;
//! #     let length = body.len();
//! #     write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
//! # });
//! use rhae_client::{CardOptions, RemoteCatalog, RetryPolicy, Server};
//! use rhae_engine::Catalog;
//!
//! let server = Server::connect(&address, Some("my-api-key"), RetryPolicy::default())?;
//! assert_eq!(server.games().len(), 1);
//!
//! let options = CardOptions { tags: vec!["my-agent".to_owned()], competition: false };
//! let catalog = RemoteCatalog::new(server, options);
//! let info = catalog.find("ab12")?;
//! assert_eq!(info.id.as_str(), "ab12-v1");
//! assert!(catalog.card().is_none(), "the card is opened with the first play");
//! // `catalog.open("ab12", 0)` opens the card and starts a play on it.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Environment`]: rhae_engine::Environment
//! [`Catalog`]: rhae_engine::Catalog

mod card;
mod catalog;
mod cookies;
mod environment;
mod heartbeat;
mod response;
mod retry_policy;
mod server;
mod transport;

pub use card::{Card, CardOptions, ServerCard, ServerEnvironment, ServerRun};
pub use catalog::RemoteCatalog;
pub use environment::RemoteEnvironment;
pub use heartbeat::Heartbeat;
pub use retry_policy::RetryPolicy;
pub use server::Server;

/// An error of a request to a server, after all attempts that the [`RetryPolicy`] allows.
///
/// In every variant, `path` is the path of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The address of the server is malformed.
    #[error("`{address}` is not the address of a server: {reason}")]
    Address {
        address: String,
        reason: &'static str,
    },
    /// The API key contains characters that an HTTP header cannot contain.
    #[error("the API key contains characters that an HTTP header cannot contain")]
    Key,
    /// The server could not be reached or did not respond.
    #[error("{path}: the server did not respond: {reason}")]
    NoResponse { path: String, reason: String },
    /// The server responded with an error status.
    #[error("{path}: the server responded with status {status}{}{message}", if message.is_empty() { "" } else { ": " })]
    Rejected {
        path: String,
        /// The HTTP status.
        status: u16,
        /// The machine-readable error code, or an empty string if the server sent none.
        code: String,
        /// The server's explanation.
        message: String,
    },
    /// The response violates the API contract.
    #[error("{path}: the response is invalid: {reason}")]
    InvalidResponse { path: String, reason: String },
    /// A command was executed, or may have been, but its response is lost. It must not be sent
    /// again.
    #[error("{path}: {reason}; sending it again could execute the action twice")]
    OutcomeUnknown { path: String, reason: String },
}
