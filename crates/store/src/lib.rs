//! What must survive: cards, plays and their action logs, and the keys of those who may use them.
//!
//! [`Store`] and [`KeyStore`] are all that a server asks of a database; [`SqliteStore`] is the implementation for one server with a file,
//! [`PostgresStore`] the one for several servers that share a database.
//! Frames are not stored: an entry of a log carries the hash of those it gave, and a replay gives them again.
//!
//! **Invariants:** what a call has answered with success is on disk. A log has no gaps and no entry twice: an entry is
//! accepted only directly after the last. A closed card accepts nothing. Times and ids are passed in.
//!
//! What this crate deliberately does not know: games, scores, HTTP.

mod error;
mod keys;
mod model;
mod once;
mod postgres;
mod remembered;
mod sqlite;
mod store;
mod summary;

pub use error::StoreError;
pub use keys::{GameSet, GameSets, Invitation, Key, KeyId, KeyIdError, KeyStore, Scopes};
pub use model::{
    Card, CardId, CardKey, Logged, NewCard, NewPlay, Owner, Play, PlayFacts, PlayId, PlayKey,
    Snapshot, Stale, Summed, Timed,
};
pub use once::{Kept, Once, Outcome};
pub use postgres::{PostgresAddress, PostgresStore};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{Pending, Store};
pub use summary::RunCounts;
