//! SQLite: one file, one writer, several readers.
//!
//! WAL with `synchronous=FULL`: a commit is on disk before it is answered, and readers never wait for the writer.

mod counts;
mod keys;
mod plays;
mod readers;
mod requests;
mod rows;
mod schema;
mod writer;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rhae_protocol::Entry;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::broadcast;
use tokio::sync::mpsc::Sender;
use tokio::task::spawn_blocking;

use crate::sqlite::readers::{Readers, first, number};
use crate::sqlite::writer::{Append, Done, Job, Order};
use crate::{
    Card, CardId, CardKey, Kept, Logged, NewCard, NewPlay, Once, Owner, Pending, Play, PlayFacts,
    PlayId, PlayKey, RunCounts, Snapshot, Stale, Store, StoreError, Summed, Timed,
};

/// How long one process waits for another that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Prepared statements of a connection: more than there are different ones.
const STATEMENTS: usize = 64;
/// Announcements that wait for a slow listener, who then misses some.
const ANNOUNCEMENTS: usize = 4096;

/// The index of the next entry of a play's log.
const HEAD: &str = "SELECT coalesce(max(entry) + 1, 0) FROM log WHERE play = ?1";

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
    readers: Readers,
    orders: Sender<Job>,
    writer: JoinHandle<()>,
    commits: Arc<AtomicU64>,
    advanced: broadcast::Sender<PlayId>,
}

/// What a connection may do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// The file is made if it is missing.
    Write,
}

fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    let access = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    };
    // A connection is used by one thread at a time, so that it needs no lock of its own.
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise SQLite plans a prepared statement anew whenever values are bound that it might use for a better plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")?;
    Ok(connection)
}

/// The connection that writes, with the schema up to date.
fn connect_writer(path: &Path, options: SqliteOptions) -> Result<Connection, StoreError> {
    let mut connection = connect(
        path,
        if options.read_only {
            Access::Read
        } else {
            Access::Write
        },
    )?;
    if !options.read_only {
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    }
    if let Some(pages) = options.max_pages {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    schema::prepare(&mut connection, options.read_only)?;
    Ok(connection)
}

impl SqliteStore {
    /// Opens a file, makes it if it is missing, and brings its schema up to date.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let failed = |reason: &str| StoreError::Unavailable(reason.to_owned());
        let readers = Readers::of(path);
        let path = path.to_owned();
        let opening = spawn_blocking(move || connect_writer(&path, options));
        let connection = opening
            .await
            .map_err(|_| failed("opening it was broken off"))??;
        let commits = Arc::new(AtomicU64::new(0));
        let (orders, queue) = writer::queue();
        let advanced = broadcast::Sender::new(ANNOUNCEMENTS);
        let (counted, announced) = (Arc::clone(&commits), advanced.clone());
        let thread = std::thread::Builder::new().name("store-writer".to_owned());
        let writer = thread.spawn(move || writer::run(connection, queue, &counted, &announced));
        let writer = writer
            .map_err(|error| failed(&format!("there is no thread for its writer: {error}")))?;
        Ok(Self {
            readers,
            orders,
            writer,
            commits,
            advanced,
        })
    }

    /// Finishes what is queued and closes the file.
    pub async fn close(self) {
        drop(self.orders);
        // A writer that panicked has answered nobody with success since.
        let _ = spawn_blocking(move || self.writer.join()).await;
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

    fn read<T, F>(&self, work: F) -> Pending<'_, T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        Box::pin(self.readers.read(work))
    }
}

impl Store for SqliteStore {
    fn open_card_once(&self, card: NewCard, once: Option<Once>) -> Pending<'_, ()> {
        self.order(Order::OpenCard(card, once))
    }

    fn card(&self, id: CardId) -> Pending<'_, Option<Card>> {
        self.read(move |file| {
            first(
                file,
                "SELECT * FROM cards WHERE id = ?1",
                [id.0.as_bytes()],
                rows::card,
            )
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
        self.read(move |file| {
            first(
                file,
                &format!("{} WHERE plays.id = ?1", plays::PLAYS),
                [id.0.as_bytes()],
                rows::play,
            )
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
        self.order(Order::Append(Append {
            play,
            card,
            index,
            entry,
            at_ms,
            once,
        }))
    }

    fn recall<'a>(&'a self, owner: Owner, key: &'a str) -> Pending<'a, Option<Kept>> {
        let statement = "SELECT digest, requests.card, entry, plays.id AS play FROM requests LEFT JOIN plays ON plays.key = play
             WHERE owner = ?1 AND requests.key = ?2";
        let key = key.to_owned();
        self.read(move |file| first(file, statement, (owner.0, key), rows::kept))
    }

    fn forget(&self, age_ms: u64, now_ms: u64) -> Pending<'_, u64> {
        Box::pin(async move {
            match self
                .write(Order::Forget {
                    before_ms: now_ms.saturating_sub(age_ms),
                })
                .await?
            {
                Done::Count(count) => Ok(count),
                Done::Nothing | Done::Play(_) | Done::Cards(_) | Done::Key(_) => Ok(0),
            }
        })
    }

    fn head(&self, play: PlayKey) -> Pending<'_, u32> {
        self.read(move |file| {
            u32::try_from(number(file, HEAD, [play.0])?).map_err(|_| rows::corrupt("entry"))
        })
    }

    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>> {
        self.read(move |file| plays::log(file, play))
    }

    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<Logged>> {
        self.read(move |file| plays::card_log(file, card))
    }

    fn log_from(&self, play: PlayKey, from: u32, most: u32) -> Pending<'_, Vec<Timed>> {
        self.read(move |file| plays::log_from(file, play, from, most))
    }

    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>> {
        self.read(move |file| plays::runs(file, play))
    }

    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<Summed>> {
        self.read(move |file| plays::card_runs(file, card))
    }

    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>> {
        self.read(move |file| plays::facts(file, id))
    }

    fn owner_plays(&self, owner: Owner, most: u32) -> Pending<'_, Vec<PlayFacts>> {
        self.read(move |file| plays::of_owner(file, owner, most))
    }

    fn plays_under_way(
        &self,
        owner: Option<Owner>,
        age_ms: u64,
        now_ms: u64,
        most: u32,
    ) -> Pending<'_, Vec<PlayFacts>> {
        self.read(move |file| plays::under_way(file, owner, now_ms.saturating_sub(age_ms), most))
    }

    fn cards_before(
        &self,
        owner: Option<Owner>,
        before: Option<CardKey>,
        most: u32,
    ) -> Pending<'_, Vec<Card>> {
        self.read(move |file| plays::cards_before(file, owner, before, most))
    }

    fn plays_after(&self, play: Option<PlayKey>, most: u32) -> Pending<'_, Vec<Play>> {
        self.read(move |file| plays::after(file, play, most))
    }

    fn play_count(&self) -> Pending<'_, u64> {
        self.read(|file| number(file, "SELECT count(*) FROM plays", []).map(i64::cast_unsigned))
    }

    fn keep_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()> {
        self.order(Order::KeepSnapshot { play, snapshot })
    }

    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>> {
        self.read(move |file| plays::snapshots(file, play))
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
