//! Durable storage for scorecards, plays with their action logs, and API keys.
//!
//! A server talks to its database through traits: [`Store`] holds cards, plays and logs, [`KeyStore`]
//! API keys, [`ShareStore`] published links, [`StudyStore`] the logs of human studies,
//! [`IdentityStore`] the contact data of their participants, [`BoardStore`] the logs of boards, and
//! [`WorkStore`] the logs of coordinators. Two implementations pass the same tests:
//!
//! | type | use |
//! | --- | --- |
//! | [`SqliteStore`] | one server with one database file |
//! | [`PostgresStore`] | several servers that share one database |
//!
//! A [`Card`] (scorecard) belongs to an [`Owner`] and groups plays. A [`StoredPlay`] records how a client
//! plays an environment: its log of [entries](rhae_protocol::Entry) starts with the opening RESET
//! and grows by one entry per action. Frames are not stored. Each entry carries the hash of the
//! frames that the action produced, and a replay of the log reproduces them. [`RunCounts`] holds
//! the action counts that a scorecard shows; the store updates them together with the log.
//!
//! # Invariants
//!
//! - When a write returns `Ok`, its change is on disk: it survives a crash of the process and of
//!   the machine.
//! - A log has no gaps and no duplicates. An entry is accepted only directly after the last entry.
//! - A closed card accepts no plays and no entries.
//! - An [`IdempotencyKey`] is written in the same transaction as the change that it protects.
//! - The counts of a play change in the same transaction as its log.
//! - Callers pass in ids and times; this crate generates no ids and reads no clock. For cards,
//!   plays and logs, [`PostgresStore`] uses the database's clock instead of the passed times,
//!   because the clocks of several servers may differ.
//!
//! This crate knows nothing about game rules, scores or HTTP.
//!
//! # Examples
//!
//! Open a card, start a play on it, and append an action:
//!
//! ```
//! use rhae_engine::{Action, PlayState};
//! use rhae_protocol::{Details, Entry, ResetRule};
//! use rhae_store::{CardId, NewCard, NewPlay, Owner, PlayId, SqliteOptions, SqliteStore, Store};
//! use uuid::Uuid;
//!
//! fn entry(action: Action) -> Entry {
//!     Entry {
//!         action,
//!         hash: 0, // the hash of the frames that the action produced
//!         frames: None,
//!         state: PlayState::NotFinished,
//!         levels_completed: 0,
//!         full_reset: action == Action::Reset,
//!         counted: action != Action::Reset,
//!         changed: Some(true),
//!         details: Details::default(),
//!     }
//! }
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let folder = tempfile::tempdir()?;
//! let store =
//!     SqliteStore::open(&folder.path().join("rhae.db"), SqliteOptions::default()).await?;
//!
//! let card_id = CardId(Uuid::from_u128(1));
//! store
//!     .open_card(NewCard {
//!         id: card_id,
//!         owner: Owner([7; 32]),
//!         tags: vec!["example".to_owned()],
//!         source_url: None,
//!         opaque: None,
//!         competition: false,
//!         games: Vec::new(),
//!         only_one: false,
//!         max_open: None,
//!         lasting: false,
//!         opened_ms: 1_000,
//!     })
//!     .await?;
//! let card = store.card(card_id).await?.expect("the card was just opened");
//!
//! let play = store
//!     .open_play(NewPlay {
//!         id: PlayId(Uuid::from_u128(2)),
//!         card: card.key,
//!         game_id: "ab12-v1".parse()?,
//!         seed: 0,
//!         rule: ResetRule::Official,
//!         win_levels: 3,
//!         source_digest: None,
//!         only_one: false,
//!         max_plays: None,
//!         opening: entry(Action::Reset),
//!         at_ms: 2_000,
//!     })
//!     .await?;
//!
//! // Entry 0 is the opening RESET, so the first action has index 1.
//! store.append(play, card.key, 1, entry(Action::Action1), 3_000).await?;
//! assert_eq!(store.log(play).await?.len(), 2);
//! assert_eq!(store.runs(play).await?[0].actions(), 1);
//! store.close().await;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod backup;
mod boards;
mod database;
mod error;
mod idempotency;
mod identities;
mod keys;
mod model;
mod play_cache;
#[cfg(feature = "postgres")]
mod postgres;
mod shares;
mod sqlite;
mod store;
mod studies;
mod summary;
#[cfg(any(feature = "postgres", test))]
mod tables;
mod usage;
mod work_logs;

pub use boards::{BoardAppend, BoardFile, BoardStore};
pub use database::Database;
pub use error::StoreError;
pub use idempotency::{CompletedRequest, IdempotencyKey, RequestOutcome};
pub use identities::{
    IdentityRead, IdentityStore, SealedIdentity, default_identities, open_identities,
};
pub use keys::{
    GameSet, GameSets, Invitation, Key, KeyId, KeyIdError, KeyLimits, KeyStore, Scopes,
};
pub use model::{
    Card, CardId, CardKey, LogEntry, NewCard, NewPlay, Owner, PlayFacts, PlayId, PlayKey, PlayLog,
    PlayRuns, Snapshot, StaleCutoffs, StoredPlay,
};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresAddress, PostgresStore};
pub use shares::{Share, ShareId, ShareIdError, ShareStore, ShareTarget};
pub use sqlite::{SqliteOptions, SqliteStore};
pub use store::{Pending, Store};
pub use studies::{StudyAppend, StudyFile, StudyStore};
pub use summary::RunCounts;
pub use usage::{card_bytes, opening_bytes, reasoning_bytes};
pub use work_logs::{StoreLog, WorkAppend, WorkStore};

/// Returns whether a text starts with a PostgreSQL scheme, as opposed to a file name.
///
/// ```
/// assert!(rhae_store::is_postgres_url("postgres://db.example.org/cards"));
/// assert!(!rhae_store::is_postgres_url("cards.db"));
/// ```
pub fn is_postgres_url(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}
