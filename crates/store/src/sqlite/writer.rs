//! The writer thread: takes all pending commands, executes them in one transaction, commits, and
//! replies to their callers.
//!
//! It never waits for a batch to fill. The commands that arrive while a commit is being written to
//! disk form the next batch, so throughput grows with the number of callers. A rejected command (a
//! closed card, an index that is not the next) changes nothing and does not affect the others. A
//! database error fails every command of the transaction.
//!
//! The thread calls SQLite directly, so an entry costs four short prepared statements and no thread
//! switch.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::GameId;
use rhae_protocol::Entry;
use rusqlite::{Connection, TransactionBehavior, params};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{broadcast, oneshot};

use crate::sqlite::counts::Counts;
use crate::sqlite::keys::{self, KeyCommand};
use crate::sqlite::readers::{all, first, number};
use crate::sqlite::shares::{self, ShareCommand};
use crate::sqlite::{HEAD, boards, requests, rows, studies, work_logs};
use crate::usage;
use crate::{
    BoardAppend, CardId, CardKey, IdempotencyKey, NewCard, NewPlay, PlayId, PlayKey, Snapshot,
    StaleCutoffs, StoreError, StudyAppend, WorkAppend,
};

/// The maximum number of commands per transaction, which bounds the latency of the first command.
const MAX_BATCH: usize = 512;
/// The precision of a card's time of last use. Because it is coarse, most actions need not write
/// the card's row.
const USE_PRECISION_MS: u64 = 1000;

/// A change to the database.
pub(crate) enum Command {
    OpenCard(NewCard, Option<IdempotencyKey>),
    TouchCard { card: CardKey, at_ms: u64 },
    CloseCard { card: CardKey, at_ms: u64 },
    CloseStale(StaleCutoffs),
    RestartIdleTimers { at_ms: u64 },
    OpenPlay(Box<NewPlay>, Option<IdempotencyKey>),
    Append(Append),
    SaveSnapshot { play: PlayKey, snapshot: Snapshot },
    DropSnapshots { play: PlayKey },
    DeleteIdempotencyKeys { before_ms: u64 },
    Key(KeyCommand),
    Share(ShareCommand),
    AppendStudy(Box<StudyAppend>),
    AppendBoard(Box<BoardAppend>),
    AppendWork(Box<WorkAppend>),
}

pub(crate) struct Append {
    pub(crate) play: PlayKey,
    pub(crate) card: CardKey,
    pub(crate) index: u32,
    pub(crate) entry: Entry,
    pub(crate) at_ms: u64,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
}

/// The result of a successful command.
pub(crate) enum Output {
    Nothing,
    StoredPlay(PlayKey),
    Cards(Vec<CardId>),
    Count(u64),
    /// Whether the command changed a key or a link.
    Changed(bool),
}

type Reply = Result<Output, StoreError>;

/// A command with the channel for its reply.
pub(crate) struct Job {
    command: Command,
    reply: oneshot::Sender<Reply>,
}

impl Job {
    pub(crate) fn new(command: Command) -> (Self, oneshot::Receiver<Reply>) {
        let (reply, receiver) = oneshot::channel();
        (Self { command, reply }, receiver)
    }
}

/// Creates the writer's queue. Callers wait while it is full.
pub(crate) fn queue() -> (Sender<Job>, Receiver<Job>) {
    channel(MAX_BATCH)
}

/// Runs until all senders are dropped.
pub(crate) fn run(
    mut connection: Connection,
    mut queue: Receiver<Job>,
    commits: &AtomicU64,
    advanced: &broadcast::Sender<PlayId>,
) {
    let mut jobs = Vec::with_capacity(MAX_BATCH);
    let mut counts = Counts::default();
    while queue.blocking_recv_many(&mut jobs, MAX_BATCH) > 0 {
        let (commands, callers): (Vec<Command>, Vec<oneshot::Sender<Reply>>) =
            jobs.drain(..).map(|job| (job.command, job.reply)).unzip();
        let replies = match transaction(&mut connection, &mut counts, commands) {
            Ok(replies) => {
                commits.fetch_add(1, Ordering::Relaxed);
                replies
            }
            Err(error) => {
                counts.clear();
                callers.iter().map(|_| Err(error.clone())).collect()
            }
        };
        for (caller, reply) in callers.into_iter().zip(replies) {
            // The caller may have dropped its future. It can then find out the result by reading
            // the log.
            let _ = caller.send(reply);
        }
        for play in counts.appended.drain(..) {
            // An error means that there are no subscribers.
            let _ = advanced.send(play);
        }
    }
}

/// Executes commands and commits.
///
/// Returns an error if the database failed. Nothing was written then, unless the error is
/// [`StoreError::CommitUnknown`], after which the transaction may or may not have taken effect.
fn transaction(
    connection: &mut Connection,
    counts: &mut Counts,
    commands: Vec<Command>,
) -> Result<Vec<Reply>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut batch = Batch {
        connection: &transaction,
        counts,
        open: HashSet::new(),
    };
    let mut replies: Vec<Reply> = Vec::with_capacity(commands.len());
    for command in commands {
        match batch.execute(command) {
            Err(error) if is_failure(&error) => return Err(error),
            reply => replies.push(reply),
        }
    }
    transaction.commit().map_err(StoreError::of_commit)?;
    Ok(replies)
}

/// Returns whether the database failed, as opposed to a rejected command.
const fn is_failure(error: &StoreError) -> bool {
    !matches!(
        error,
        StoreError::Conflict(_)
            | StoreError::CardNotOpen
            | StoreError::PlayedBefore
            | StoreError::OpenedBefore
            | StoreError::KeyUsed
            | StoreError::TooManyCards(_)
            | StoreError::TooManyPlays(_)
            | StoreError::TooManyShares(_)
            | StoreError::StudyConflict(_)
            | StoreError::BoardConflict(_)
            | StoreError::WorkConflict(_)
    )
}

struct Batch<'a> {
    connection: &'a Connection,
    counts: &'a mut Counts,
    /// Cards that this transaction has found open and whose use it has recorded.
    open: HashSet<CardKey>,
}

impl Batch<'_> {
    fn execute(&mut self, command: Command) -> Reply {
        match command {
            Command::OpenCard(card, idempotency_key) => {
                self.open_card(&card, idempotency_key.as_ref())
            }
            Command::TouchCard { card, at_ms } => {
                self.touch_card(card, at_ms).map(|()| Output::Nothing)
            }
            Command::CloseCard { card, at_ms } => self.close_card(card, at_ms),
            Command::CloseStale(stale) => self.close_stale(stale),
            Command::RestartIdleTimers { at_ms } => {
                let statement =
                    "UPDATE cards SET used_ms = max(used_ms, ?1) WHERE closed_ms IS NULL";
                self.connection.execute(statement, [at_ms.cast_signed()])?;
                Ok(Output::Nothing)
            }
            Command::OpenPlay(play, idempotency_key) => self.open_play(&play, idempotency_key),
            Command::Key(command) => keys::execute(self.connection, command).map(Output::Changed),
            Command::Share(command) => {
                shares::execute(self.connection, command).map(Output::Changed)
            }
            Command::AppendStudy(append) => {
                studies::append(self.connection, &append).map(|()| Output::Nothing)
            }
            Command::AppendBoard(append) => {
                boards::append(self.connection, &append).map(|()| Output::Nothing)
            }
            Command::AppendWork(append) => {
                work_logs::append(self.connection, &append).map(|()| Output::Nothing)
            }
            Command::Append(append) => self.append(&append),
            Command::SaveSnapshot { play, snapshot } => self.save_snapshot(play, &snapshot),
            Command::DropSnapshots { play } => {
                self.connection
                    .execute("DELETE FROM snapshots WHERE play = ?1", [play.0])?;
                Ok(Output::Nothing)
            }
            Command::DeleteIdempotencyKeys { before_ms } => {
                requests::delete_old(self.connection, before_ms).map(Output::Count)
            }
        }
    }

    fn open_card(&self, card: &NewCard, idempotency_key: Option<&IdempotencyKey>) -> Reply {
        requests::check(self.connection, idempotency_key)?;
        if card.only_one
            && number(
                self.connection,
                "SELECT count(*) FROM cards WHERE owner = ?1",
                [card.owner.0],
            )? > 0
        {
            return Err(StoreError::OpenedBefore);
        }
        if let Some(limit) = card.max_open {
            let statement = "SELECT count(*) FROM cards WHERE owner = ?1 AND closed_ms IS NULL";
            if number(self.connection, statement, [card.owner.0])? >= i64::from(limit) {
                return Err(StoreError::TooManyCards(limit));
            }
        }
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO cards (id, owner, tags, source_url, opaque, competition, games, opened_ms, used_ms, lasting)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)",
        )?;
        let games: Vec<&str> = card.games.iter().map(GameId::as_str).collect();
        statement.execute(params![
            card.id.0.as_bytes(),
            card.owner.0,
            serde_json::Value::from(card.tags.clone()).to_string(),
            card.source_url,
            card.opaque.as_ref().map(ToString::to_string),
            card.competition,
            games.join(" "),
            card.opened_ms.cast_signed(),
            card.lasting,
        ])?;
        if let Some(idempotency_key) = idempotency_key {
            requests::record_card(self.connection, idempotency_key, card.id, card.opened_ms)?;
        }
        Ok(Output::Nothing)
    }

    /// Checks that a card is open and records its use.
    fn touch_card(&mut self, card: CardKey, at_ms: u64) -> Result<(), StoreError> {
        if self.open.contains(&card) {
            return Ok(());
        }
        let statement = "SELECT used_ms FROM cards WHERE key = ?1 AND closed_ms IS NULL";
        let used_ms = first(self.connection, statement, [card.0], |row| {
            rows::number::<u64>(row, "used_ms")
        })?;
        if at_ms
            >= used_ms
                .ok_or(StoreError::CardNotOpen)?
                .saturating_add(USE_PRECISION_MS)
        {
            let mut statement = self
                .connection
                .prepare_cached("UPDATE cards SET used_ms = ?2 WHERE key = ?1")?;
            statement.execute((card.0, at_ms.cast_signed()))?;
        }
        self.open.insert(card);
        Ok(())
    }

    fn close_card(&mut self, card: CardKey, at_ms: u64) -> Reply {
        self.open.remove(&card);
        let statement = "UPDATE cards SET closed_ms = ?2 WHERE key = ?1 AND closed_ms IS NULL";
        if self
            .connection
            .execute(statement, (card.0, at_ms.cast_signed()))?
            == 0
        {
            return Err(StoreError::CardNotOpen);
        }
        self.notify_plays(card)?;
        Ok(Output::Nothing)
    }

    /// Schedules notifications for the plays of a closed card. They are sent after the commit.
    fn notify_plays(&mut self, card: CardKey) -> Result<(), StoreError> {
        let plays = all(
            self.connection,
            "SELECT id FROM plays WHERE card = ?1",
            [card.0],
            rows::play_id,
        )?;
        self.counts.appended.extend(plays);
        Ok(())
    }

    fn close_stale(&mut self, stale: StaleCutoffs) -> Reply {
        self.open.clear();
        let statement =
            "UPDATE cards SET closed_ms = ?3 WHERE closed_ms IS NULL AND NOT lasting AND (used_ms < ?1 OR opened_ms < ?2)
             RETURNING id, key";
        let StaleCutoffs {
            used_before_ms,
            opened_before_ms,
            now_ms,
        } = stale;
        let values = (
            used_before_ms.cast_signed(),
            opened_before_ms.cast_signed(),
            now_ms.cast_signed(),
        );
        let closed = all(self.connection, statement, values, |row| {
            Ok((rows::card_id(row)?, CardKey(row.get("key")?)))
        })?;
        for &(_, card) in &closed {
            self.notify_plays(card)?;
        }
        Ok(Output::Cards(
            closed.into_iter().map(|(id, _)| id).collect(),
        ))
    }

    /// Stores a snapshot. Of the snapshots with fewer entries, only the newest is kept.
    fn save_snapshot(&self, play: PlayKey, snapshot: &Snapshot) -> Reply {
        let mut statement = self.connection.prepare_cached(
            "DELETE FROM snapshots WHERE play = ?1 AND entries < (SELECT max(entries) FROM snapshots WHERE play = ?1 AND entries < ?2)",
        )?;
        statement.execute((play.0, snapshot.entries))?;
        let statement =
            "INSERT OR REPLACE INTO snapshots (play, entries, bytes) VALUES (?1, ?2, ?3)";
        self.connection.prepare_cached(statement)?.execute((
            play.0,
            snapshot.entries,
            &snapshot.bytes,
        ))?;
        Ok(Output::Nothing)
    }

    fn open_play(&mut self, play: &NewPlay, idempotency_key: Option<IdempotencyKey>) -> Reply {
        requests::check(self.connection, idempotency_key.as_ref())?;
        self.touch_card(play.card, play.at_ms)?;
        if play.only_one {
            let statement =
                "SELECT count(*) FROM plays WHERE card = ?1 AND substr(game_id, 1, 4) = ?2";
            if number(
                self.connection,
                statement,
                (play.card.0, play.game_id.base()),
            )? > 0
            {
                return Err(StoreError::PlayedBefore);
            }
        }
        if let Some(limit) = play.max_plays
            && number(
                self.connection,
                "SELECT count(*) FROM plays WHERE card = ?1",
                [play.card.0],
            )? >= i64::from(limit)
        {
            return Err(StoreError::TooManyPlays(limit));
        }
        let statement = "INSERT INTO plays (id, card, game_id, seed, rule, win_levels, source_digest) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let NewPlay {
            id,
            card,
            ref game_id,
            seed,
            rule,
            win_levels,
            ref source_digest,
            ref opening,
            at_ms,
            ..
        } = *play;
        let values = params![
            id.0.as_bytes(),
            card.0,
            game_id.as_str(),
            seed.cast_signed(),
            rule.name(),
            win_levels,
            source_digest
        ];
        let key = PlayKey(self.connection.prepare_cached(statement)?.insert(values)?);
        let opening = Append {
            play: key,
            card,
            index: 0,
            entry: opening.clone(),
            at_ms,
            idempotency_key,
        };
        self.counts.start(key, id);
        self.insert(&opening)?;
        Ok(Output::StoredPlay(key))
    }

    /// Appends an entry if its idempotency key is free, its card is open and its index is the next
    /// of the log.
    fn append(&mut self, append: &Append) -> Reply {
        // The key is checked first: a retry must be recognised even after its card was closed.
        requests::check(self.connection, append.idempotency_key.as_ref())?;
        self.touch_card(append.card, append.at_ms)?;
        self.insert(append)?;
        Ok(Output::Nothing)
    }

    /// Inserts an entry if its index is the next of the log, records its idempotency key and
    /// updates the counts.
    fn insert(&mut self, append: &Append) -> Result<(), StoreError> {
        let Append {
            play,
            index,
            entry,
            at_ms,
            ..
        } = append;
        if number(self.connection, HEAD, [play.0])? != i64::from(*index) {
            return Err(StoreError::Conflict(*index));
        }
        let reasoning = entry.details.reasoning.as_ref().map(ToString::to_string);
        let bytes = usage::entry_bytes(reasoning.as_deref());
        // With plain values (no subquery) SQLite needs no statement journal.
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO log (play, entry, action, hash, state, levels_completed, counted, changed, full_reset, reasoning, at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        statement.execute(params![
            play.0,
            index,
            entry.action.to_string(),
            entry.hash.cast_signed(),
            entry.state.name(),
            entry.levels_completed,
            entry.counted,
            entry.changed.unwrap_or(true),
            entry.full_reset,
            reasoning,
            at_ms.cast_signed(),
        ])?;
        requests::record(self.connection, append)?;
        self.counts.update(self.connection, append, bytes)
    }
}
