//! PostgreSQL: several servers share one database, and each request may land on any of them.
//!
//! Entries go through one writer per server, which puts all that wait into one transaction; everything else is a transaction of its own on
//! a pooled connection. What decides is in the database: a play's row has the length of its log, and an entry is accepted only if it says so.
//!
//! **Invariant:** no two transactions wait for each other. Rows are locked in one order: cards by key, plays by key, idempotency keys
//! by name. Notes of use are never waited for.
//!
//! **Invariant:** times are the database's, so that the clocks of servers need not agree; the times that callers pass are not used.

mod cards;
mod counts;
mod keys;
mod listener;
mod plays;
mod requests;
mod rows;
mod schema;
mod session;
mod writer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rhae_protocol::Entry;
use sqlx::postgres::{PgPool, PgPoolOptions};
use tokio::sync::broadcast;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

use crate::postgres::writer::{Append, Job};
use crate::{
    Card, CardId, CardKey, Kept, Logged, NewCard, NewPlay, Once, Owner, Pending, Play, PlayFacts,
    PlayId, PlayKey, RunCounts, Snapshot, Stale, Store, StoreError, Summed, Timed,
};

pub use session::PostgresAddress;

/// Connections of a server besides the writer's. One of them listens.
const CONNECTIONS: u32 = 9;
/// How long a call waits for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// Announcements that wait for a slow listener.
const ANNOUNCEMENTS: usize = 4096;

/// A database that several servers share.
pub struct PostgresStore {
    pool: PgPool,
    orders: Sender<Job>,
    writer: JoinHandle<()>,
    listener: JoinHandle<()>,
    commits: Arc<AtomicU64>,
    advanced: broadcast::Sender<PlayId>,
}

impl PostgresStore {
    /// Connects and brings the schema up to date.
    pub async fn open(address: &PostgresAddress) -> Result<Self, StoreError> {
        let mut connection = address.connect().await?;
        schema::prepare(&mut connection).await?;
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(PATIENCE)
            .after_connect(|connection, _| Box::pin(session::prepare(connection)))
            .connect_lazy_with(address.options());
        let commits = Arc::new(AtomicU64::new(0));
        let (orders, queue) = writer::queue();
        let writer = tokio::spawn(writer::run(
            address.clone(),
            connection,
            queue,
            Arc::clone(&commits),
        ));
        let (advanced, _) = broadcast::channel(ANNOUNCEMENTS);
        let listener = tokio::spawn(listener::run(
            listener::begin(&pool).await?,
            advanced.clone(),
        ));
        Ok(Self {
            pool,
            orders,
            writer,
            listener,
            commits,
            advanced,
        })
    }

    /// Finishes what is queued and closes all connections.
    pub async fn close(self) {
        drop(self.orders);
        // A writer that panicked has answered nobody with success since.
        let _ = self.writer.await;
        self.listener.abort();
        let _ = self.listener.await;
        self.pool.close().await;
    }
}

impl Store for PostgresStore {
    fn open_card_once(&self, card: NewCard, once: Option<Once>) -> Pending<'_, ()> {
        Box::pin(async move { cards::open(&self.pool, &card, once.as_ref()).await })
    }

    fn card(&self, id: CardId) -> Pending<'_, Option<Card>> {
        Box::pin(cards::find(&self.pool, id))
    }

    fn touch_card(&self, card: CardKey, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(cards::touch(&self.pool, card))
    }

    fn close_card(&self, card: CardKey, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(cards::close(&self.pool, card))
    }

    fn close_stale(&self, stale: Stale) -> Pending<'_, Vec<CardId>> {
        Box::pin(cards::close_stale(&self.pool, stale))
    }

    fn resume(&self, _at_ms: u64) -> Pending<'_, ()> {
        Box::pin(cards::resume(&self.pool))
    }

    fn open_play_once(&self, play: NewPlay, once: Option<Once>) -> Pending<'_, PlayKey> {
        Box::pin(plays::open(&self.pool, play, once))
    }

    fn play(&self, id: PlayId) -> Pending<'_, Option<Play>> {
        Box::pin(plays::find(&self.pool, id))
    }

    fn append_once(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        _at_ms: u64,
        once: Option<Once>,
    ) -> Pending<'_, ()> {
        Box::pin(async move {
            let gone = || StoreError::Unavailable("the writer has ended".to_owned());
            let (job, answer) = Job::new(Append {
                play,
                card,
                index,
                entry,
                once,
            });
            self.orders.send(job).await.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        })
    }

    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>> {
        Box::pin(plays::log(&self.pool, play))
    }

    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<Logged>> {
        Box::pin(plays::card_log(&self.pool, card))
    }

    fn recall<'a>(&'a self, owner: Owner, key: &'a str) -> Pending<'a, Option<Kept>> {
        Box::pin(requests::recall(&self.pool, owner, key))
    }

    fn forget(&self, age_ms: u64, _now_ms: u64) -> Pending<'_, u64> {
        Box::pin(requests::forget(&self.pool, age_ms))
    }

    fn head(&self, play: PlayKey) -> Pending<'_, u32> {
        Box::pin(plays::head(&self.pool, play))
    }

    fn advanced(&self) -> broadcast::Receiver<PlayId> {
        self.advanced.subscribe()
    }

    fn log_from(&self, play: PlayKey, from: u32, most: u32) -> Pending<'_, Vec<Timed>> {
        Box::pin(plays::log_from(&self.pool, play, from, most))
    }

    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>> {
        Box::pin(plays::runs(&self.pool, play))
    }

    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<Summed>> {
        Box::pin(plays::card_runs(&self.pool, card))
    }

    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>> {
        Box::pin(plays::facts(&self.pool, id))
    }

    fn owner_plays(&self, owner: Owner, most: u32) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(plays::of_owner(&self.pool, owner, most))
    }

    fn plays_under_way(
        &self,
        owner: Option<Owner>,
        age_ms: u64,
        _now_ms: u64,
        most: u32,
    ) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(plays::under_way(&self.pool, owner, age_ms, most))
    }

    fn cards_before(
        &self,
        owner: Option<Owner>,
        before: Option<CardKey>,
        most: u32,
    ) -> Pending<'_, Vec<Card>> {
        Box::pin(cards::before(&self.pool, owner, before, most))
    }

    fn plays_after(&self, play: Option<PlayKey>, most: u32) -> Pending<'_, Vec<Play>> {
        Box::pin(plays::after(&self.pool, play, most))
    }

    fn play_count(&self) -> Pending<'_, u64> {
        Box::pin(plays::count(&self.pool))
    }

    fn keep_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()> {
        Box::pin(async move { plays::keep_snapshot(&self.pool, play, &snapshot).await })
    }

    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>> {
        Box::pin(plays::snapshots(&self.pool, play))
    }

    fn drop_snapshots(&self, play: PlayKey) -> Pending<'_, ()> {
        Box::pin(plays::drop_snapshots(&self.pool, play))
    }

    fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
