//! What must survive: cards, plays and their action logs, and the keys of those who may use them.
//!
//! [`Store`] and [`KeyStore`] are all that a server asks of a database; [`SqliteStore`] is the implementation for one server with a file.
//! Frames are not stored: an entry of a log carries the hash of those it gave, and a replay gives them again.
//!
//! **Invariants:** what a call has answered with success is on disk. A log has no gaps and no entry twice: an entry is
//! accepted only directly after the last. A closed card accepts nothing. Times and ids are passed in.
//!
//! What this crate deliberately does not know: games, scores, HTTP.

mod error;
mod keys;
mod model;
mod sqlite;
mod store;

pub use error::StoreError;
pub use keys::{GameSet, GameSets, Key, KeyId, KeyIdError, KeyStore, Scopes};
pub use model::{Card, CardId, CardKey, Logged, NewCard, NewPlay, Owner, Play, PlayId, PlayKey, Stale};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{Pending, Store};
