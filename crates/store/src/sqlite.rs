//! SQLite: one file, one writer, several readers.
//!
//! The database is in WAL mode with `synchronous=FULL`: a commit is on disk before the caller gets
//! its result, and readers never wait for the writer. Only the database of a simulation is not synced.

mod boards;
pub(crate) mod copy;
mod counts;
pub(crate) mod identities;
mod keys;
mod plays;
mod readers;
mod requests;
mod rows;
mod schema;
mod shares;
mod simulation;
mod studies;
mod work_logs;
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
use crate::sqlite::writer::{Append, Command, Job, Output};
use crate::{
    Card, CardId, CardKey, CompletedRequest, IdempotencyKey, LogEntry, NewCard, NewPlay, Owner,
    Pending, PlayFacts, PlayId, PlayKey, PlayLog, PlayRuns, RunCounts, Snapshot, StaleCutoffs,
    Store, StoreError, StoredPlay,
};

/// How long a process waits for another process that has locked the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The capacity of a connection's statement cache. It exceeds the number of distinct statements, so
/// that none is evicted.
const STATEMENT_CACHE: usize = 64;
/// The number of notifications buffered for each subscriber. A subscriber that falls further behind
/// misses the oldest ones.
const NOTIFICATIONS: usize = 4096;

/// Selects the index of the next entry of a play's log.
const HEAD: &str = "SELECT coalesce(max(entry) + 1, 0) FROM log WHERE play = ?1";

/// Options for [`SqliteStore::open`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SqliteOptions {
    /// Rejects all writes. The file must exist and have the current schema.
    pub read_only: bool,
    /// The maximum size of the file in pages of 4,096 bytes. `None` means no limit.
    pub max_pages: Option<u32>,
}

/// A [`Store`] and [`KeyStore`](crate::KeyStore) in one SQLite file.
///
/// One thread executes all writes. It takes every pending write, executes them in one transaction,
/// commits, and then completes the callers' futures, so throughput grows with the number of
/// concurrent callers. Reads use a few connections of their own and run in parallel.
///
/// Several processes may open the same file, for example a server and a command-line tool.
/// [`Store::subscribe`] reports only the changes of this process.
///
/// Call [`close`](Self::close) before the process exits to wait for pending writes.
pub struct SqliteStore {
    readers: Readers,
    jobs: Sender<Job>,
    writer: JoinHandle<()>,
    commits: Arc<AtomicU64>,
    advanced: broadcast::Sender<PlayId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    /// Creates the file if it does not exist.
    Write,
}

fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    let access = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    };
    // Only one thread uses a connection at a time, so SQLite's own mutex is not needed.
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    // The query planner stability guarantee. Without it SQLite prepares a cached statement again
    // whenever the bound values might allow a better plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")?;
    Ok(connection)
}

/// Opens the writer's connection and migrates the schema.
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
    if simulation::is_simulated(&connection)? {
        // The processes of a simulation are killed, but its data need not survive a loss of power.
        connection.execute_batch("PRAGMA synchronous = OFF")?;
    }
    Ok(connection)
}

impl SqliteStore {
    /// Opens a database file, creates it if it does not exist, and migrates its schema.
    ///
    /// # Errors
    ///
    /// [`StoreError::NewerSchema`] if a newer version of this software wrote the file;
    /// [`StoreError::Foreign`] if it is a database of another application; [`StoreError::ReadOnly`]
    /// if the file needs a migration but `read_only` is set; [`StoreError::Unavailable`] if the
    /// file cannot be opened or is not a database. The contents of a rejected database are left
    /// unchanged.
    pub async fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let failed = |reason: &str| StoreError::Unavailable(reason.to_owned());
        let readers = Readers::new(path);
        let path = path.to_owned();
        let opening = spawn_blocking(move || connect_writer(&path, options));
        let connection = opening
            .await
            .map_err(|_| failed("opening the file was cancelled"))??;
        let commits = Arc::new(AtomicU64::new(0));
        let (jobs, queue) = writer::queue();
        let advanced = broadcast::Sender::new(NOTIFICATIONS);
        let (counted, announced) = (Arc::clone(&commits), advanced.clone());
        let thread = std::thread::Builder::new().name("store-writer".to_owned());
        let writer = thread.spawn(move || writer::run(connection, queue, &counted, &announced));
        let writer = writer
            .map_err(|error| failed(&format!("could not start the writer thread: {error}")))?;
        Ok(Self {
            readers,
            jobs,
            writer,
            commits,
            advanced,
        })
    }

    /// Waits for pending writes and closes the file.
    pub async fn close(self) {
        drop(self.jobs);
        // If the writer panicked, the callers of later writes have received errors, so there is
        // nothing to report here.
        let _ = spawn_blocking(move || self.writer.join()).await;
        self.readers.close().await;
    }

    /// Sends a command to the writer and waits for its commit.
    async fn write(&self, command: Command) -> Result<Output, StoreError> {
        let stopped = || "the writer thread has stopped".to_owned();
        let (job, reply) = Job::new(command);
        let sent = self.jobs.send(job).await;
        sent.map_err(|_| StoreError::Unavailable(stopped()))?;
        // The writer has taken the command and may have committed it before it stopped.
        reply
            .await
            .map_err(|_| StoreError::CommitUnknown(stopped()))?
    }

    fn execute(&self, command: Command) -> Pending<'_, ()> {
        Box::pin(async move { self.write(command).await.map(|_| ()) })
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
    fn open_card_idempotent(
        &self,
        card: NewCard,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, ()> {
        self.execute(Command::OpenCard(card, idempotency_key))
    }

    fn card(&self, id: CardId) -> Pending<'_, Option<Card>> {
        self.read(move |connection| {
            first(
                connection,
                "SELECT * FROM cards WHERE id = ?1",
                [id.0.as_bytes()],
                rows::card,
            )
        })
    }

    fn touch_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()> {
        self.execute(Command::TouchCard { card, at_ms })
    }

    fn close_card(&self, card: CardKey, at_ms: u64) -> Pending<'_, ()> {
        self.execute(Command::CloseCard { card, at_ms })
    }

    fn close_stale(&self, cutoffs: StaleCutoffs) -> Pending<'_, Vec<CardId>> {
        Box::pin(async move {
            match self.write(Command::CloseStale(cutoffs)).await? {
                Output::Cards(ids) => Ok(ids),
                Output::Nothing | Output::StoredPlay(_) | Output::Count(_) | Output::Changed(_) => {
                    Ok(Vec::new())
                }
            }
        })
    }

    fn restart_idle_timers(&self, at_ms: u64) -> Pending<'_, ()> {
        self.execute(Command::RestartIdleTimers { at_ms })
    }

    fn open_play_idempotent(
        &self,
        play: NewPlay,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, PlayKey> {
        Box::pin(async move {
            match self
                .write(Command::OpenPlay(Box::new(play), idempotency_key))
                .await?
            {
                Output::StoredPlay(key) => Ok(key),
                Output::Nothing | Output::Cards(_) | Output::Count(_) | Output::Changed(_) => {
                    Err(StoreError::Corrupt("a play without a key".to_owned()))
                }
            }
        })
    }

    fn play(&self, id: PlayId) -> Pending<'_, Option<StoredPlay>> {
        self.read(move |connection| {
            first(
                connection,
                &format!("{} WHERE plays.id = ?1", plays::PLAYS),
                [id.0.as_bytes()],
                rows::play,
            )
        })
    }

    fn append_idempotent(
        &self,
        play: PlayKey,
        card: CardKey,
        index: u32,
        entry: Entry,
        at_ms: u64,
        idempotency_key: Option<IdempotencyKey>,
    ) -> Pending<'_, ()> {
        self.execute(Command::Append(Append {
            play,
            card,
            index,
            entry,
            at_ms,
            idempotency_key,
        }))
    }

    fn completed_request<'a>(
        &'a self,
        owner: Owner,
        key: &'a str,
    ) -> Pending<'a, Option<CompletedRequest>> {
        let statement = "SELECT digest, requests.card, entry, plays.id AS play FROM requests LEFT JOIN plays ON plays.key = play
             WHERE owner = ?1 AND requests.key = ?2";
        let key = key.to_owned();
        self.read(move |connection| {
            first(
                connection,
                statement,
                (owner.0, key),
                rows::completed_request,
            )
        })
    }

    fn delete_idempotency_keys(&self, age_ms: u64, now_ms: u64) -> Pending<'_, u64> {
        Box::pin(async move {
            match self
                .write(Command::DeleteIdempotencyKeys {
                    before_ms: now_ms.saturating_sub(age_ms),
                })
                .await?
            {
                Output::Count(count) => Ok(count),
                Output::Nothing | Output::StoredPlay(_) | Output::Cards(_) | Output::Changed(_) => {
                    Ok(0)
                }
            }
        })
    }

    fn head(&self, play: PlayKey) -> Pending<'_, u32> {
        self.read(move |connection| {
            u32::try_from(number(connection, HEAD, [play.0])?).map_err(|_| rows::corrupt("entry"))
        })
    }

    fn log(&self, play: PlayKey) -> Pending<'_, Vec<Entry>> {
        self.read(move |connection| plays::log(connection, play))
    }

    fn card_log(&self, card: CardKey) -> Pending<'_, Vec<PlayLog>> {
        self.read(move |connection| plays::card_log(connection, card))
    }

    fn log_from(&self, play: PlayKey, from: u32, limit: u32) -> Pending<'_, Vec<LogEntry>> {
        self.read(move |connection| plays::log_from(connection, play, from, limit))
    }

    fn runs(&self, play: PlayKey) -> Pending<'_, Vec<RunCounts>> {
        self.read(move |connection| plays::runs(connection, play))
    }

    fn card_runs(&self, card: CardKey) -> Pending<'_, Vec<PlayRuns>> {
        self.read(move |connection| plays::card_runs(connection, card))
    }

    fn play_facts(&self, id: PlayId) -> Pending<'_, Option<PlayFacts>> {
        self.read(move |connection| plays::facts(connection, id))
    }

    fn owner_plays(&self, owner: Owner, limit: u32) -> Pending<'_, Vec<PlayFacts>> {
        self.read(move |connection| plays::of_owner(connection, owner, limit))
    }

    fn active_plays(
        &self,
        owner: Option<Owner>,
        age_ms: u64,
        now_ms: u64,
        limit: u32,
    ) -> Pending<'_, Vec<PlayFacts>> {
        self.read(move |connection| {
            plays::active(connection, owner, now_ms.saturating_sub(age_ms), limit)
        })
    }

    fn cards_before(
        &self,
        owner: Option<Owner>,
        before: Option<CardKey>,
        limit: u32,
    ) -> Pending<'_, Vec<Card>> {
        self.read(move |connection| plays::cards_before(connection, owner, before, limit))
    }

    fn plays_after(&self, play: Option<PlayKey>, limit: u32) -> Pending<'_, Vec<StoredPlay>> {
        self.read(move |connection| plays::after(connection, play, limit))
    }

    fn stored_bytes(&self, owner: Owner) -> Pending<'_, u64> {
        self.read(move |connection| {
            number(connection, plays::STORED_BYTES, [owner.0]).map(i64::cast_unsigned)
        })
    }

    fn play_count(&self) -> Pending<'_, u64> {
        self.read(|connection| {
            number(connection, "SELECT count(*) FROM plays", []).map(i64::cast_unsigned)
        })
    }

    fn save_snapshot(&self, play: PlayKey, snapshot: Snapshot) -> Pending<'_, ()> {
        self.execute(Command::SaveSnapshot { play, snapshot })
    }

    fn snapshots(&self, play: PlayKey) -> Pending<'_, Vec<Snapshot>> {
        self.read(move |connection| plays::snapshots(connection, play))
    }

    fn drop_snapshots(&self, play: PlayKey) -> Pending<'_, ()> {
        self.execute(Command::DropSnapshots { play })
    }

    fn subscribe(&self) -> broadcast::Receiver<PlayId> {
        self.advanced.subscribe()
    }

    fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}
