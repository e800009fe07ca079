//! SQLite: one file, one writer, several readers.
//!
//! WAL with `synchronous=FULL`: a commit is on disk before it is answered, and readers never wait for the writer.

mod keys;
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
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;

use crate::sqlite::writer::{Append, Done, Job, Order};
use crate::{Card, CardId, CardKey, Logged, NewCard, NewPlay, Pending, Play, PlayId, PlayKey, Stale, Store, StoreError};

/// How long one process waits for another that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections for reading.
const READERS: u32 = 4;
/// Prepared statements of a connection.
const STATEMENTS: usize = 256;
/// Rows that a connection reads ahead.
const ROWS: usize = 256;

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
        let writer = tokio::spawn(writer::run(connection, queue, Arc::clone(&commits)));
        Ok(Self { readers, orders, writer, commits })
    }

    /// How many transactions were committed since the file was opened.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
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
    fn open_card(&self, card: NewCard) -> Pending<'_, ()> {
        self.order(Order::OpenCard(card))
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
                Done::Nothing | Done::Play(_) | Done::Key(_) => Ok(Vec::new()),
            }
        })
    }

    fn resume(&self, at_ms: u64) -> Pending<'_, ()> {
        self.order(Order::Resume { at_ms })
    }

    fn open_play(&self, play: NewPlay) -> Pending<'_, PlayKey> {
        Box::pin(async move {
            match self.write(Order::OpenPlay(Box::new(play))).await? {
                Done::Play(key) => Ok(key),
                Done::Nothing | Done::Cards(_) | Done::Key(_) => Err(StoreError::Corrupt("a play without a key".to_owned())),
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

    fn append(&self, play: PlayKey, card: CardKey, index: u32, entry: Entry, at_ms: u64) -> Pending<'_, ()> {
        self.order(Order::Append(Append { play, card, index, entry, at_ms }))
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

    fn commits(&self) -> u64 {
        self.commits()
    }
}
