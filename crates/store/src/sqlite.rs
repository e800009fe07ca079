//! SQLite: one file, one writer, several readers.
//!
//! WAL with `synchronous=FULL`: a commit is on disk before it is answered, and readers never wait for the writer.

mod counts;
mod keys;
mod plays;
mod requests;
mod rows;
mod schema;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rhae_protocol::Entry;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::broadcast;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

use crate::sqlite::writer::{Append, Done, Job, Order};
use crate::{
    Card, CardId, CardKey, Kept, Logged, NewCard, NewPlay, Once, Owner, Pending, Play, PlayFacts, PlayId, PlayKey, RunCounts,
    Snapshot, Stale, Store, StoreError, Summed, Timed,
};

/// How long one process waits for another that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections for reading.
const READERS: u32 = 4;
/// Prepared statements of a connection.
const STATEMENTS: usize = 256;
/// Rows that a connection reads ahead.
const ROWS: usize = 256;
/// Announcements that wait for a slow listener, who then misses some.
const ANNOUNCEMENTS: usize = 4096;

/// How to open a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct SqliteOptions {
    /// Whether nothing is to be written; the file must exist.
    pub read_only: bool,
    /// The most pages of 4,096 bytes that the file may grow to; unbounded if absent.
    pub max_pages: Option<u32>,
}

/// A database in a file.
pub struct SqliteStore {
    readers: SqlitePool,
    orders: Sender<Job>,
    writer: JoinHandle<()>,
    commits: Arc<AtomicU64>,
    advanced: broadcast::Sender<PlayId>,
}

impl SqliteStore {
    /// Opens a file, makes it if it is missing, and brings its schema up to date.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let mut connect = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(!options.read_only)
            .read_only(options.read_only)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY_TIMEOUT)
            .statement_cache_capacity(STATEMENTS)
            .row_buffer_size(ROWS)
            .disable_statement_logging();
        let readers = SqlitePoolOptions::new().max_connections(READERS).min_connections(0);
        let readers = readers.connect_lazy_with(connect.clone().read_only(true).create_if_missing(false));
        if !options.read_only {
            connect = connect.journal_mode(SqliteJournalMode::Wal);
        }
        if let Some(pages) = options.max_pages {
            connect = connect.pragma("max_page_count", pages.to_string());
        }
        let mut connection: SqliteConnection = connect.connect().await?;
        if let Err(error) = schema::prepare(&mut connection, options.read_only).await {
            // The reason is what matters; a connection that does not close changes nothing.
            let _ = connection.close().await;
            return Err(error);
        }
        let commits = Arc::new(AtomicU64::new(0));
        let (orders, queue) = writer::queue();
        let advanced = broadcast::Sender::new(ANNOUNCEMENTS);
        let writer = tokio::spawn(writer::run(connection, queue, Arc::clone(&commits), advanced.clone()));
        Ok(Self { readers, orders, writer, commits, advanced })
    }

    /// Finishes what is queued and closes the file.
    pub async fn close(self) {
        drop(self.orders);
        // A writer that panicked has answered nobody with success since.
        let _ = self.writer.await;
        self.readers.close().await;
    }

    /// Gives an order to the writer and waits for its commit.
    async fn write(&self, order: Order) -> Result<Done, StoreError> {
        let gone = || StoreError::Unavailable("the writer has ended".to_owned());
        let (job, answer) = Job::new(order);
        self.orders.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    fn order(&self, order: Order) -> Pending<'_, ()> {
        Box::pin(async move { self.write(order).await.map(|_| ()) })
    }
}

impl Store for SqliteStore {
    fn open_card_once(&self, card: NewCard, once: Option<Once>) -> Pending<'_, ()> {
        self.order(Order::OpenCard(card, once))
    }

    fn card(&self, id: CardId) -> Pending<'_, Option<Card>> {
        Box::pin(async move {
            let query = sqlx::query("SELECT * FROM cards WHERE id = ?1").bind(id.0.as_bytes().to_vec());
            query.fetch_optional(&self.readers).await?.as_ref().map(rows::card).transpose()
        })
    }

    fn touch_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()> {
        self.order(Order::TouchCard { card, at_ms })
    }

    fn close_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()> {
        self.order(Order::CloseCard { card, at_ms })
    }

    fn close_stale(&self, stale: Stale) -> Pending<'_, Vec<CardId>> {
        Box::pin(async move {
            match self.write(Order::CloseStale(stale)).await? {
                Done::Cards(ids) => Ok(ids),
                Done::Nothing | Done::Play(_) | Done::Count(_) | Done::Key(_) => Ok(Vec::new()),
            }
        })
    }

    fn resume(&self, at_ms: u64) -> Pending<'_, ()> {
        self.order(Order::Resume { at_ms })
    }

    fn open_play_once(&self, play: NewPlay, once: Option<Once>) -> Pending<'_, PlayKey> {
        Box::pin(async move {
            match self.write(Order::OpenPlay(Box::new(play), once)).await? {
                Done::Play(key) => Ok(key),
                Done::Nothing | Done::Cards(_) | Done::Count(_) | Done::Key(_) => {
                    Err(StoreError::Corrupt("a play without a key".to_owned()))
                }
            }
        })
    }

    fn play(&self, id: PlayId) -> Pending<'_, Option<Play>> {
        Box::pin(async move {
            let query = sqlx::query("SELECT plays.*, owner FROM plays JOIN cards ON cards.key = plays.card WHERE plays.id = ?1");
            let query = query.bind(id.0.as_bytes().to_vec());
            query.fetch_optional(&self.readers).await?.as_ref().map(rows::play).transpose()
        })
    }

    fn append_once(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        at_ms: u64,
        once: Option<Once>,
    ) -> Pending<'_, ()> {
        self.order(Order::Append(Append { play, card, index, entry, at_ms, once }))
    }

    fn recall<'a>(&'a self, owner: Owner, key: &'a str) -> Pending<'a, Option<Kept>> {
        Box::pin(async move {
            let query = sqlx::query(
                "SELECT digest, requests.card, entry, plays.id AS play FROM requests LEFT JOIN plays ON plays.key = play
                 WHERE owner = ?1 AND requests.key = ?2",
            );
            let row = query.bind(owner.0.to_vec()).bind(key).fetch_optional(&self.readers).await?;
            row.as_ref().map(rows::kept).transpose()
        })
    }

    fn forget(&self, age_ms: u64, now_ms: u64) -> Pending<'_, u64> {
        Box::pin(async move {
            match self.write(Order::Forget { before_ms: now_ms.saturating_sub(age_ms) }).await? {
                Done::Count(count) => Ok(count),
                Done::Nothing | Done::Play(_) | Done::Cards(_) | Done::Key(_) => Ok(0),
            }
        })
    }

    fn head(&self, play: PlayKey) -> Pending<'_, u32> {
        Box::pin(async move {
            let query = sqlx::query_scalar("SELECT coalesce(max(entry) + 1, 0) FROM log WHERE play = ?1").bind(play.0);
            Ok(query.fetch_one(&self.readers).await?)
        })
    }

    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>> {
        Box::pin(async move {
            let query = sqlx::query("SELECT * FROM log WHERE play = ?1 ORDER BY entry").bind(play.0);
            query.fetch_all(&self.readers).await?.iter().map(rows::entry).collect()
        })
    }

    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<Logged>> {
        Box::pin(async move {
            let query = sqlx::query(
                "SELECT plays.*, owner FROM plays JOIN cards ON cards.key = plays.card WHERE card = ?1 ORDER BY plays.key",
            );
            let plays = query.bind(card.0).fetch_all(&self.readers).await?;
            let mut logged = Vec::with_capacity(plays.len());
            for play in &plays {
                let play = rows::play(play)?;
                let query = sqlx::query(
                    "SELECT action, hash, state, levels_completed, counted, changed, full_reset, NULL AS reasoning
                     FROM log WHERE play = ?1 ORDER BY entry",
                );
                let entries = query.bind(play.key.0).fetch_all(&self.readers).await?;
                let entries = entries.iter().map(rows::entry).collect::<Result<_, _>>()?;
                logged.push(Logged { play, entries });
            }
            Ok(logged)
        })
    }

    fn log_from(&self, play: PlayKey, from: u32, most: u32) -> Pending<'_, Vec<Timed>> {
        Box::pin(plays::log_from(&self.readers, play, from, most))
    }

    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>> {
        Box::pin(plays::runs(&self.readers, play))
    }

    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<Summed>> {
        Box::pin(plays::card_runs(&self.readers, card))
    }

    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>> {
        Box::pin(plays::facts(&self.readers, id))
    }

    fn owner_plays(&self, owner: Owner, most: u32) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(plays::of_owner(&self.readers, owner, most))
    }

    fn plays_under_way(&self, owner: Option<Owner>, age_ms: u64, now_ms: u64, most: u32) -> Pending<'_, Vec<PlayFacts>> {
        Box::pin(plays::under_way(&self.readers, owner, now_ms.saturating_sub(age_ms), most))
    }

    fn cards_before(&self, owner: Option<Owner>, before: Option<CardKey>, most: u32) -> Pending<'_, Vec<Card>> {
        Box::pin(plays::cards_before(&self.readers, owner, before, most))
    }

    fn plays_after(&self, play: Option<PlayKey>, most: u32) -> Pending<'_, Vec<Play>> {
        Box::pin(plays::after(&self.readers, play, most))
    }

    fn play_count(&self) -> Pending<'_, u64> {
        Box::pin(plays::count(&self.readers))
    }

    fn keep_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()> {
        self.order(Order::KeepSnapshot { play, snapshot })
    }

    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>> {
        Box::pin(plays::snapshots(&self.readers, play))
    }

    fn drop_snapshots(&self, play: PlayKey) -> Pending<'_, ()> {
        self.order(Order::DropSnapshots { play })
    }

    fn advanced(&self) -> broadcast::Receiver<PlayId> {
        self.advanced.subscribe()
    }

    fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
