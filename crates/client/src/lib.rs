//! A client of the ARC-AGI-3 REST API: any server of it, the official ones and ours.
//!
//! [`Server`] is a server that was reached, [`Card`] a scorecard on it, [`RemoteEnvironment`] a play on a card behind the same
//! interface as a local one, [`RemoteCatalog`] the server's environments.
//!
//! * **No action is played twice.** A request that failed is sent again only if it is known that nothing happened: it never left, the
//!   server said so, the server takes idempotency keys, or the card shows that the action was not counted. Where none of these
//!   tells, the play ends with the reason.
//! * **Answers are hostile.** They are bounded in size, every field is checked, and an error names the path and what was wrong.
//! * **The key goes to the server's address and nowhere else:** redirects are not followed, and no message contains it.
//!
//! What this crate deliberately does not know: files, flags, how scores are computed.

mod answer;
mod card;
mod catalog;
mod cookies;
mod environment;
mod heartbeat;
mod link;
mod patience;
mod server;

pub use card::{Card, CardOrder, ServerCard, ServerEnvironment, ServerRun};
pub use catalog::RemoteCatalog;
pub use environment::RemoteEnvironment;
pub use heartbeat::Heartbeat;
pub use patience::Patience;
pub use server::Server;

/// Why a server was of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// Not the address of a server.
    #[error("`{address}` is not the address of a server: {reason}")]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The key cannot be sent.
    #[error("the key has characters that no header can have")]
    Key,
    /// There was no answer, after all attempts.
    #[error("{path}: no answer: {reason}")]
    NoAnswer {
        /// What was asked.
        path: String,
        /// What happened instead.
        reason: String,
    },
    /// The server answered with an error.
    #[error("{path}: the server refused with status {status}{}{message}", if message.is_empty() { "" } else { ": " })]
    Refused {
        /// What was asked.
        path: String,
        /// The HTTP status.
        status: u16,
        /// The code of the error; empty if there is none.
        code: String,
        /// What the server said about it.
        message: String,
    },
    /// The answer breaks the contract.
    #[error("{path}: the answer cannot be used: {reason}")]
    BadAnswer {
        /// What was asked.
        path: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// A command that must not be sent again, because it was carried out or may have been.
    #[error("{path}: {reason}; sending it again could play the action twice")]
    Unsure {
        /// What was asked.
        path: String,
        /// What is known.
        reason: String,
    },
}
