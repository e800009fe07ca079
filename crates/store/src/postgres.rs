//! PostgreSQL: several servers share one database, and each request may reach any of them.
//!
//! Each server has one writer, which appends all pending entries in one transaction. Every other
//! operation runs in a separate transaction on a pooled connection. The database decides which
//! append wins: the row of a play holds the length of its log, and an entry is accepted only if its
//! index equals that length.
//!
//! **Invariant:** all transactions lock rows in the same order (cards by key, plays by key,
//! idempotency keys by name), so they cannot deadlock. Updates of a card's time of last use skip
//! rows that another transaction has locked.
//!
//! **Invariant:** the times of cards, plays and log entries come from the database, so the clocks
//! of the servers need not agree. The times that callers pass are ignored, except for the times of
//! API keys and for the ages that a caller expresses as the difference of two times.

pub(crate) mod backup;
mod boards;
mod cards;
mod counts;
mod deadline;
pub(crate) mod identities;
mod keys;
mod listener;
mod plays;
mod requests;
mod rows;
mod schema;
mod session;
mod shares;
mod simulation;
mod studies;
mod work_logs;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rhae_protocol::Entry;
use sqlx::postgres::{PgPool, PgPoolOptions};
use tokio::sync::broadcast;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

use crate::postgres::deadline::Deadlines;
use crate::postgres::writer::{Append, Job};
use crate::{
    Card, CardId, CardKey, CompletedRequest, IdempotencyKey, LogEntry, NewCard, NewPlay, Owner,
    Pending, PlayFacts, PlayId, PlayKey, PlayLog, PlayRuns, RunCounts, Snapshot, StaleCutoffs,
    Store, StoreError, StoredPlay,
};

pub use session::PostgresAddress;

/// The maximum number of connections of a server, not counting the writer's. One of them receives
/// notifications.
const CONNECTIONS: u32 = 9;
/// How long a call waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The number of notifications buffered for each subscriber. A subscriber that falls further behind
/// misses the oldest ones.
const NOTIFICATIONS: usize = 4096;

/// A [`Store`] and [`KeyStore`](crate::KeyStore) in a PostgreSQL database that several servers may
/// share.
///
/// All tables are in the schema `rhae`. [`Store::subscribe`] reports the changes of all servers
/// through `LISTEN` and `NOTIFY`.
///
/// Call [`close`](Self::close) before the process exits to wait for pending writes.
pub struct PostgresStore {
    pool: PgPool,
    deadlines: Arc<Deadlines>,
    jobs: Sender<Job>,
    writer: JoinHandle<()>,
    listener: JoinHandle<()>,
    commits: Arc<AtomicU64>,
    advanced: broadcast::Sender<PlayId>,
}

impl PostgresStore {
    /// Connects to the database and migrates its schema.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] if the database cannot be reached;
    /// [`StoreError::NewerSchema`] if a newer version of this software migrated it;
    /// [`StoreError::Unsuitable`] if its encoding is not UTF-8.
    pub async fn open(address: &PostgresAddress) -> Result<Self, StoreError> {
        let mut connection = address.connect().await?;
        schema::prepare(&mut connection).await?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .after_connect(|connection, _| Box::pin(session::prepare(connection)))
            .connect_lazy_with(address.options());
        let commits = Arc::new(AtomicU64::new(0));
        let (jobs, queue) = writer::queue();
        let deadlines = Arc::new(Deadlines::default());
        let writer = writer::Writer::new(address.clone(), connection, Arc::clone(&deadlines));
        let writer = tokio::spawn(writer.run(queue, Arc::clone(&commits)));
        let (advanced, _) = broadcast::channel(NOTIFICATIONS);
        let listener = tokio::spawn(listener::run(
            listener::connect(&pool).await?,
            advanced.clone(),
        ));
        Ok(Self {
            pool,
            deadlines,
            jobs,
            writer,
            listener,
            commits,
            advanced,
        })
    }

    /// Waits for pending writes and closes all connections.
    pub async fn close(self) {
        drop(self.jobs);
        // If the writer panicked, the callers of later writes have received errors, so there is
        // nothing to report here.
        let _ = self.writer.await;
        self.listener.abort();
        let _ = self.listener.await;
        self.pool.close().await;
    }
}

impl Store for PostgresStore {
    fn open_card_idempotent(
        &self,
        card: NewCard,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, ()> {
        Box::pin(
            self.deadlines.write(async move {
                cards::open(&self.pool, &card, idempotency_key.as_ref()).await
            }),
        )
    }

    fn card(&self, id: CardId) -> Pending<'_, Option<Card>> {
        Box::pin(self.deadlines.read(cards::find(&self.pool, id)))
    }

    fn touch_card(&self, card: CardKey, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(self.deadlines.write(cards::touch(&self.pool, card)))
    }

    fn close_card(&self, card: CardKey, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(self.deadlines.write(cards::close(&self.pool, card)))
    }

    fn close_stale(&self, cutoffs: StaleCutoffs) -> Pending<'_, Vec<CardId>> {
        Box::pin(self.deadlines.long(cards::close_stale(&self.pool, cutoffs)))
    }

    fn restart_idle_timers(&self, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(self.deadlines.long(cards::restart_idle_timers(&self.pool)))
    }

    fn open_play_idempotent(
        &self,
        play: NewPlay,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, PlayKey> {
        Box::pin(
            self.deadlines
                .write(plays::open(&self.pool, play, idempotency_key)),
        )
    }

    fn play(&self, id: PlayId) -> Pending<'_, Option<StoredPlay>> {
        Box::pin(self.deadlines.read(plays::find(&self.pool, id)))
    }

    fn append_idempotent(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        _at_ms: u64,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, ()> {
        Box::pin(async move {
            let stopped = || "the writer has stopped".to_owned();
            let (job, reply) = Job::new(Append {
                play,
                card,
                index,
                entry,
                idempotency_key,
            });
            let sent = self.jobs.send(job).await;
            sent.map_err(|_| StoreError::Unavailable(stopped()))?;
            // The writer has taken the entry and may have committed it before it stopped.
            reply
                .await
                .map_err(|_| StoreError::CommitUnknown(stopped()))?
        })
    }

    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>> {
        Box::pin(self.deadlines.long(plays::log(&self.pool, play)))
    }

    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<PlayLog>> {
        Box::pin(self.deadlines.long(plays::card_log(&self.pool, card)))
    }

    fn completed_request<'a>(
        &'a self,
        owner: Owner,
        key: &'a str,
    ) -> Pending<'a, Option<CompletedRequest>> {
        Box::pin(
            self.deadlines
                .read(requests::completed_request(&self.pool, owner, key)),
        )
    }

    fn delete_idempotency_keys(&self, age_ms: u64, _now_ms: u64) -> Pending<'_, u64> {
        Box::pin(
            self.deadlines
                .long(requests::delete_old(&self.pool, age_ms)),
        )
    }

    fn head(&self, play: PlayKey) -> Pending<'_, u32> {
        Box::pin(self.deadlines.read(plays::head(&self.pool, play)))
    }

    fn subscribe(&self) -> broadcast::Receiver<PlayId> {
        self.advanced.subscribe()
    }

    fn log_from(&self, play: PlayKey, from: u32, limit: u32) -> Pending<'_, Vec<LogEntry>> {
        Box::pin(
            self.deadlines
                .read(plays::log_from(&self.pool, play, from, limit)),
        )
    }

    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>> {
        Box::pin(self.deadlines.read(plays::runs(&self.pool, play)))
    }

    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<PlayRuns>> {
        Box::pin(self.deadlines.read(plays::card_runs(&self.pool, card)))
    }

    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>> {
        Box::pin(self.deadlines.read(plays::facts(&self.pool, id)))
    }

    fn owner_plays(&self, owner: Owner, limit: u32) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(
            self.deadlines
                .read(plays::of_owner(&self.pool, owner, limit)),
        )
    }

    fn active_plays(
        &self,
        owner: Option<Owner>,
        age_ms: u64,
        _now_ms: u64,
        limit: u32,
    ) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(
            self.deadlines
                .read(plays::active(&self.pool, owner, age_ms, limit)),
        )
    }

    fn cards_before(
        &self,
        owner: Option<Owner>,
        before: Option<CardKey>,
        limit: u32,
    ) -> Pending<'_, Vec<Card>> {
        Box::pin(
            self.deadlines
                .read(cards::before(&self.pool, owner, before, limit)),
        )
    }

    fn plays_after(&self, play: Option<PlayKey>, limit: u32) -> Pending<'_, Vec<StoredPlay>> {
        Box::pin(self.deadlines.long(plays::after(&self.pool, play, limit)))
    }

    fn stored_bytes(&self, owner: Owner) -> Pending<'_, u64> {
        Box::pin(self.deadlines.read(plays::stored_bytes(&self.pool, owner)))
    }

    fn play_count(&self) -> Pending<'_, u64> {
        Box::pin(self.deadlines.long(plays::count(&self.pool)))
    }

    fn save_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()> {
        Box::pin(
            self.deadlines
                .write(async move { plays::save_snapshot(&self.pool, play, &snapshot).await }),
        )
    }

    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>> {
        Box::pin(self.deadlines.read(plays::snapshots(&self.pool, play)))
    }

    fn drop_snapshots(&self, play: PlayKey) -> Pending<'_, ()> {
        Box::pin(
            self.deadlines
                .write(plays::drop_snapshots(&self.pool, play)),
        )
    }

    fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
