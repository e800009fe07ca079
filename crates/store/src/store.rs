//! The storage interface of a server.

use std::pin::Pin;

use rhae_protocol::Entry;
use tokio::sync::broadcast;

use crate::{
    Card, CardId, CardKey, CompletedRequest, IdempotencyKey, LogEntry, NewCard, NewPlay, Owner,
    PlayFacts, PlayId, PlayKey, PlayLog, PlayRuns, RunCounts, Snapshot, StaleCutoffs, StoreError,
    StoredPlay,
};

/// The boxed future that every asynchronous method of [`Store`] and
/// [`KeyStore`](crate::KeyStore) returns.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A database of scorecards, plays and their action logs.
///
/// The trait is object-safe: a server holds an `Arc<dyn Store>` and does not know which database is
/// behind it.
///
/// # Invariants
///
/// Every implementation guarantees:
///
/// - **Durability.** A write that returned `Ok` survives a crash of the process and of the machine.
///   Pending appends share a transaction, and their futures complete only after its commit.
/// - **Append only after the last entry.** [`append`](Self::append) names the index of the new
///   entry and succeeds only if it equals the current length of the log. Of two servers that append
///   the same index, one gets [`StoreError::Conflict`].
/// - **A closed card stays closed.** It cannot be touched, and it accepts no play and no entry.
/// - **Idempotency.** The `_idempotent` methods write the [`IdempotencyKey`] in the same
///   transaction as the change. A key is therefore stored if and only if its request took effect. A
///   rejected request leaves no trace, not even its key.
/// - **Consistent counts.** Stored counts ([`runs`](Self::runs)) are the same as those computed
///   from the log.
/// - **One lock order.** Implementations with row locks lock cards by key, then plays by key, then
///   idempotency keys by name, so that transactions cannot deadlock.
///
/// # Cancellation
///
/// A write whose future is dropped before it completes may or may not take effect. To find out,
/// read [`head`](Self::head), or repeat the write under the same idempotency key.
///
/// # Times
///
/// All times are milliseconds since 1970. Callers pass in the current time;
/// [`PostgresStore`](crate::PostgresStore) ignores it and uses the clock of the database.
///
/// # Errors
///
/// Every method can fail with one of the database errors: [`StoreError::Unavailable`],
/// [`StoreError::Full`], [`StoreError::ReadOnly`], [`StoreError::Corrupt`] and, for writes,
/// [`StoreError::CommitUnknown`]. The methods below document the errors that they add.
/// [`StoreError::is_retryable`] says which errors are worth a retry.
///
/// # Examples
///
/// A retried request takes effect once:
///
/// ```
/// use rhae_store::{
///     CardId, IdempotencyKey, NewCard, Owner, RequestOutcome, SqliteOptions, SqliteStore, Store,
///     StoreError,
/// };
/// use uuid::Uuid;
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let store =
///     SqliteStore::open(&folder.path().join("rhae.db"), SqliteOptions::default()).await?;
///
/// let owner = Owner([7; 32]);
/// let new_card = |id| NewCard {
///     id: CardId(Uuid::from_u128(id)),
///     owner,
///     tags: Vec::new(),
///     source_url: None,
///     opaque: None,
///     competition: false,
///     games: Vec::new(),
///     only_one: false,
///     max_open: None,
///     lasting: false,
///     opened_ms: 1_000,
/// };
/// let key = IdempotencyKey { owner, key: "open-1".to_owned(), digest: [1; 32] };
///
/// store.open_card_idempotent(new_card(1), Some(key.clone())).await?;
/// let retried = store.open_card_idempotent(new_card(2), Some(key)).await;
/// assert_eq!(retried, Err(StoreError::KeyUsed));
///
/// // The second card was not opened. The record of the first request names the card it opened.
/// assert!(store.card(CardId(Uuid::from_u128(2))).await?.is_none());
/// let completed = store.completed_request(owner, "open-1").await?.expect("it was executed");
/// assert_eq!(completed.outcome, RequestOutcome::Card(CardId(Uuid::from_u128(1))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Store: Send + Sync {
    /// Opens a card.
    ///
    /// # Errors
    ///
    /// [`StoreError::OpenedBefore`] if [`NewCard::only_one`] is set and the owner has opened a card
    /// before; [`StoreError::TooManyCards`] if the owner has [`NewCard::max_open`] open cards.
    fn open_card(&self, card: NewCard) -> Pending<'_, ()> {
        self.open_card_idempotent(card, None)
    }

    /// Opens a card unless a request with the same idempotency key was executed before.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open_card`], and [`StoreError::KeyUsed`] if the key is taken.
    fn open_card_idempotent(
        &self,
        card: NewCard,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, ()>;

    /// Returns the card with this id, open or closed.
    fn card(&self, id: CardId) -> Pending<'_, Option<Card>>;

    /// Records that an open card is in use, which restarts its idle timer. The time of use is
    /// stored to the second.
    ///
    /// # Errors
    ///
    /// [`StoreError::CardNotOpen`] if the card is closed or does not exist.
    fn touch_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()>;

    /// Closes an open card permanently.
    ///
    /// # Errors
    ///
    /// [`StoreError::CardNotOpen`] if the card is closed already or does not exist.
    fn close_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()>;

    /// Closes the open cards that are idle or too old and returns their ids. Cards with
    /// [`NewCard::lasting`] are left open.
    fn close_stale(&self, cutoffs: StaleCutoffs) -> Pending<'_, Vec<CardId>>;

    /// Restarts the idle timers of all open cards. A server calls this when it starts, because no
    /// client could use a card while the server was down. [`PostgresStore`](crate::PostgresStore)
    /// restarts no timer if another server was running until now.
    fn restart_idle_timers(&self, at_ms: u64) -> Pending<'_, ()>;

    /// Opens a play on an open card, with its opening RESET as entry 0 of its log.
    ///
    /// # Errors
    ///
    /// [`StoreError::CardNotOpen`] if the card is closed or does not exist;
    /// [`StoreError::PlayedBefore`] if [`NewPlay::only_one`] is set and the card has a play of the
    /// same environment; [`StoreError::TooManyPlays`] if the card has [`NewPlay::max_plays`] plays.
    fn open_play(&self, play: NewPlay) -> Pending<'_, PlayKey> {
        self.open_play_idempotent(play, None)
    }

    /// Opens a play unless a request with the same idempotency key was executed before.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open_play`], and [`StoreError::KeyUsed`] if the key is taken.
    fn open_play_idempotent(
        &self,
        play: NewPlay,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, PlayKey>;

    /// Returns the play with this id, without its log.
    fn play(&self, id: PlayId) -> Pending<'_, Option<StoredPlay>>;

    /// Appends an entry to a play's log. `index` must be the current length of the log, and `card`,
    /// the card of the play, must be open.
    ///
    /// # Errors
    ///
    /// [`StoreError::CardNotOpen`] if the card is closed; [`StoreError::Conflict`] if `index` is
    /// not the next index of the log, for example because another server appended first.
    fn append(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        at_ms: u64,
    ) -> Pending<'_, ()> {
        self.append_idempotent(play, card, index, entry, at_ms, None)
    }

    /// Appends an entry unless a request with the same idempotency key was executed before.
    ///
    /// # Errors
    ///
    /// Those of [`Store::append`], and [`StoreError::KeyUsed`] if the key is taken.
    fn append_idempotent(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        at_ms: u64,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, ()>;

    /// Returns the record of the owner's request with this idempotency key, or `None` if no such
    /// request was executed or its key has been deleted.
    fn completed_request<'a>(
        &'a self,
        owner: Owner,
        key: &'a str,
    ) -> Pending<'a, Option<CompletedRequest>>;

    /// Deletes the idempotency keys of requests that were executed more than `age_ms` ago and
    /// returns their number.
    fn delete_idempotency_keys(&self, age_ms: u64, now_ms: u64) -> Pending<'_, u64>;

    /// Returns the length of a play's log, which is the index of its next entry. Other servers may
    /// append at any time.
    fn head(&self, play: PlayKey) -> Pending<'_, u32>;

    /// Returns all entries of a play.
    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>>;

    /// Returns all plays of a card in the order in which they were opened, with their entries but
    /// without the `reasoning` that clients attached to them.
    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<PlayLog>>;

    /// Returns at most `limit` entries of a play, starting with entry `from`.
    fn log_from(&self, play: PlayKey, from: u32, limit: u32) -> Pending<'_, Vec<LogEntry>>;

    /// Returns the stored counts of a play, one element per run. The list is empty if the database
    /// predates stored counts and the play has had no entry since.
    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>>;

    /// Returns all plays of a card in the order in which they were opened, with their counts.
    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<PlayRuns>>;

    /// Returns the play with this id and its current state.
    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>>;

    /// Returns at most `limit` plays of an owner, the most recently opened first.
    fn owner_plays(&self, owner: Owner, limit: u32) -> Pending<'_, Vec<PlayFacts>>;

    /// Returns at most `limit` plays on open cards, of one owner or of all, whose last entry is at
    /// most `age_ms` old. The play with the most recent entry comes first.
    fn active_plays(
        &self,
        owner: Option<Owner>,
        age_ms: u64,
        now_ms: u64,
        limit: u32,
    ) -> Pending<'_, Vec<PlayFacts>>;

    /// Returns at most `limit` cards, of one owner or of all, the most recently opened first. To
    /// get the next page, pass the key of the last card as `before`.
    fn cards_before(
        &self,
        owner: Option<Owner>,
        before: Option<CardKey>,
        limit: u32,
    ) -> Pending<'_, Vec<Card>>;

    /// Returns at most `limit` plays that follow `play`, in the order of their keys. `None` starts
    /// with the first play.
    fn plays_after(&self, play: Option<PlayKey>, limit: u32) -> Pending<'_, Vec<StoredPlay>>;

    /// Returns the approximate number of bytes that an owner has stored: cards, plays and log
    /// entries, without snapshots and idempotency keys. Entries are counted in the transactions
    /// that append them.
    fn stored_bytes(&self, owner: Owner) -> Pending<'_, u64>;

    /// Returns the number of plays in the database.
    fn play_count(&self) -> Pending<'_, u64>;

    /// Saves a snapshot of a play. The store keeps it and the newest one before it.
    ///
    /// A snapshot only saves time: it is not part of the record. A reader must cope with a snapshot
    /// that does not match the log, and with the absence of snapshots.
    fn save_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()>;

    /// Returns the snapshots of a play, the newest first.
    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>>;

    /// Deletes all snapshots of a play.
    fn drop_snapshots(&self, play: PlayKey) -> Pending<'_, ()>;

    /// Subscribes to changes. The receiver gets the id of each play to which an entry was
    /// committed, and of each play on a card that was closed.
    /// [`PostgresStore`](crate::PostgresStore) reports the changes of all servers,
    /// [`SqliteStore`](crate::SqliteStore) only those of this process.
    ///
    /// A notification is a hint to read the play again. Under load, or while the database cannot be
    /// reached, some notifications are lost.
    fn subscribe(&self) -> broadcast::Receiver<PlayId>;

    /// Returns the number of transactions that this server's writer has committed.
    fn commits(&self) -> u64;
}
