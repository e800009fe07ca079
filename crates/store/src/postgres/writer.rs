//! The writer task of a server: takes all pending entries, appends them in one transaction,
//! commits, and replies to their callers.
//!
//! It never waits for a batch to fill. The entries that arrive while a commit is in flight form the
//! next batch. A rejected entry changes nothing and does not affect the others. A database error
//! fails every entry of the transaction, and the next transaction uses a new connection.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_protocol::Entry;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Postgres, Row, Transaction};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::play_cache::PlayCache;
use crate::postgres::deadline::Deadlines;
use crate::postgres::{PostgresAddress, cards, counts, listener, requests, rows, session};
use crate::usage;
use crate::{CardKey, IdempotencyKey, PlayId, PlayKey, StoreError};

/// The maximum number of entries per transaction, which bounds the latency of the first entry.
const MAX_BATCH: usize = 512;

pub(crate) struct Append {
    pub(crate) play: PlayKey,
    pub(crate) card: CardKey,
    pub(crate) index: u32,
    pub(crate) entry: Entry,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
}

impl Append {
    /// Returns the index in the database's type. Logs never reach the upper bound.
    fn index(&self) -> i32 {
        i32::try_from(self.index).unwrap_or(i32::MAX)
    }

    /// Returns the bytes that the entry takes.
    pub(crate) fn bytes(&self) -> i64 {
        let reasoning = self.entry.details.reasoning.as_ref();
        usage::entry_bytes(reasoning.map(ToString::to_string).as_deref())
    }
}

type Reply = Result<(), StoreError>;

/// An entry with the channel for its reply.
pub(crate) struct Job {
    append: Append,
    reply: oneshot::Sender<Reply>,
}

impl Job {
    pub(crate) fn new(append: Append) -> (Self, oneshot::Receiver<Reply>) {
        let (reply, receiver) = oneshot::channel();
        (Self { append, reply }, receiver)
    }
}

/// Creates the writer's queue. Callers wait while it is full.
pub(crate) fn queue() -> (Sender<Job>, Receiver<Job>) {
    channel(MAX_BATCH)
}

/// The state of the writer task.
pub(crate) struct Writer {
    address: PostgresAddress,
    /// `None` after a failure, until the next transaction connects again.
    connection: Option<PgConnection>,
    play_cache: PlayCache,
    deadlines: Arc<Deadlines>,
}

impl Writer {
    pub(crate) fn new(
        address: PostgresAddress,
        connection: PgConnection,
        deadlines: Arc<Deadlines>,
    ) -> Self {
        Self {
            address,
            connection: Some(connection),
            play_cache: PlayCache::default(),
            deadlines,
        }
    }

    /// Runs until all senders are dropped.
    pub(crate) async fn run(mut self, mut queue: Receiver<Job>, commits: Arc<AtomicU64>) {
        let mut pending = VecDeque::new();
        let mut arrived = Vec::with_capacity(MAX_BATCH);
        loop {
            if pending.is_empty() && queue.recv_many(&mut arrived, MAX_BATCH).await == 0 {
                break;
            }
            pending.extend(arrived.drain(..));
            let (appends, callers): (Vec<Append>, Vec<oneshot::Sender<Reply>>) =
                take_independent(&mut pending)
                    .into_iter()
                    .map(|job| (job.append, job.reply))
                    .unzip();
            let replies = match self.attempt(&appends).await {
                Ok(replies) => {
                    commits.fetch_add(1, Ordering::Relaxed);
                    replies
                }
                Err(error) => {
                    // Closing the connection rolls the transaction back and releases all locks,
                    // whatever state the connection is in.
                    drop(self.connection.take());
                    self.play_cache.clear();
                    callers.iter().map(|_| Err(error.clone())).collect()
                }
            };
            for (caller, reply) in callers.into_iter().zip(replies) {
                // The caller may have dropped its future. It can then find out the result by
                // reading the log.
                let _ = caller.send(reply);
            }
            if self.deadlines.is_silent() {
                // The callers of these entries have waited long enough. No entry was sent.
                pending.extend(std::iter::from_fn(|| queue.try_recv().ok()));
                for job in pending.drain(..) {
                    let silent = StoreError::Unavailable("it does not answer".to_owned());
                    let _ = job.reply.send(Err(silent));
                }
            }
        }
        if let Some(connection) = self.connection {
            let _ = connection.close().await;
        }
    }

    /// Appends entries of different plays in one transaction.
    ///
    /// Returns an error if the database failed. Nothing was written then, unless the error is
    /// [`StoreError::CommitUnknown`], after which the transaction may or may not have taken effect.
    async fn attempt(&mut self, appends: &[Append]) -> Result<Vec<Reply>, StoreError> {
        let Self {
            address,
            connection,
            play_cache,
            deadlines,
        } = self;
        let prepare = async {
            let connection = match connection {
                Some(connection) => connection,
                None => connection.insert(address.connect().await?),
            };
            let transaction = connection.begin().await?;
            prepare(transaction, play_cache, appends).await
        };
        let (transaction, replies) = deadlines.read(prepare).await?;
        deadlines.write(session::commit(transaction)).await?;
        Ok(replies)
    }
}

/// Takes entries that can share a transaction. A second entry of the same play, or with the same
/// idempotency key, stays pending until the first is committed.
fn take_independent(pending: &mut VecDeque<Job>) -> Vec<Job> {
    let (mut plays, mut keys) = (HashSet::new(), HashSet::new());
    let (mut taken, mut deferred) = (Vec::new(), VecDeque::new());
    for job in pending.drain(..) {
        let name = job
            .append
            .idempotency_key
            .as_ref()
            .map(|idempotency_key| (idempotency_key.owner, idempotency_key.key.clone()));
        if taken.len() < MAX_BATCH
            && !plays.contains(&job.append.play)
            && !name.as_ref().is_some_and(|name| keys.contains(name))
        {
            plays.insert(job.append.play);
            keys.extend(name);
            taken.push(job);
        } else {
            // Later entries of the same play or key must not overtake this one.
            plays.insert(job.append.play);
            keys.extend(name);
            deferred.push_back(job);
        }
    }
    *pending = deferred;
    taken
}

/// Appends entries of different plays, and returns the transaction that is ready to be committed,
/// with the replies that follow from its commit.
async fn prepare<'a>(
    mut transaction: Transaction<'a, Postgres>,
    play_cache: &mut PlayCache,
    appends: &[Append],
) -> Result<(Transaction<'a, Postgres>, Vec<Reply>), StoreError> {
    let open = lock_cards(&mut transaction, appends).await?;
    let heads = lock_plays(&mut transaction, appends).await?;
    let is_next = |append: &Append| {
        heads
            .get(&append.play)
            .is_some_and(|&(head, _)| head == append.index())
    };
    let mut accepted: Vec<&Append> = appends
        .iter()
        .filter(|append| open.contains(&append.card) && is_next(append))
        .collect();
    let keyed = accepted
        .iter()
        .filter_map(|append| {
            Some((
                append.idempotency_key.as_ref()?,
                append.play,
                append.index(),
            ))
        })
        .collect();
    let claimed = requests::claim(&mut transaction, keyed).await?;
    let is_free = |append: &Append| {
        append
            .idempotency_key
            .as_ref()
            .is_none_or(|idempotency_key| claimed.contains(idempotency_key))
    };
    accepted.retain(|append| is_free(append));
    insert(&mut transaction, &accepted).await?;
    let advanced: Vec<(&Append, PlayId)> = accepted
        .iter()
        .filter_map(|&append| Some((append, PlayId(heads.get(&append.play)?.1))))
        .collect();
    counts::update(&mut transaction, play_cache, &advanced).await?;
    let ids: Vec<Uuid> = advanced.iter().map(|(_, id)| id.0).collect();
    listener::notify(&mut transaction, &ids).await?;
    let reply = |append: &Append| {
        if !open.contains(&append.card) {
            Err(StoreError::CardNotOpen)
        } else if !is_next(append) {
            Err(StoreError::Conflict(append.index))
        } else if !is_free(append) {
            Err(StoreError::KeyUsed)
        } else {
            Ok(())
        }
    };
    let replies = appends.iter().map(reply).collect();
    Ok((transaction, replies))
}

/// Finds out which cards of the entries are open, locks these cards until the commit, and returns
/// them.
async fn lock_cards(
    connection: &mut PgConnection,
    appends: &[Append],
) -> Result<HashSet<CardKey>, StoreError> {
    let cards: Vec<i64> = appends.iter().map(|append| append.card.0).collect();
    let query = sqlx::query(
        "SELECT key FROM rhae.cards WHERE key = ANY ($1) AND closed_ms IS NULL ORDER BY key FOR SHARE",
    );
    let rows = query.bind(cards).fetch_all(connection).await?;
    rows.iter()
        .map(|row| Ok(CardKey(row.try_get(0)?)))
        .collect()
}

/// Locks the plays until the commit, so that no other server appends to them, and returns the
/// lengths of their logs and their ids.
async fn lock_plays(
    connection: &mut PgConnection,
    appends: &[Append],
) -> Result<HashMap<PlayKey, (i32, Uuid)>, StoreError> {
    let plays: Vec<i64> = appends.iter().map(|append| append.play.0).collect();
    let query = sqlx::query(
        "SELECT key, head, id FROM rhae.plays WHERE key = ANY ($1) ORDER BY key FOR NO KEY UPDATE",
    );
    let rows = query.bind(plays).fetch_all(connection).await?;
    let head = |row: &sqlx::postgres::PgRow| {
        let id = Uuid::from_slice(row.try_get(2)?).map_err(|_| rows::corrupt("id"))?;
        Ok((PlayKey(row.try_get(0)?), (row.try_get(1)?, id)))
    };
    rows.iter().map(head).collect()
}

/// Inserts entries, whose indices must be the next ones of their logs, and records the use of their
/// cards.
pub(crate) async fn insert(
    connection: &mut PgConnection,
    appends: &[&Append],
) -> Result<(), StoreError> {
    if appends.is_empty() {
        return Ok(());
    }
    let query = sqlx::query(
        "WITH moved AS (UPDATE rhae.plays SET head = head + 1 WHERE key = ANY ($1))
         INSERT INTO rhae.log
             (play, entry, action, hash, state, levels_completed, counted, changed, full_reset, reasoning, at_ms)
         SELECT *, rhae.now_ms() FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::bigint[], $5::text[], $6::smallint[],
             $7::boolean[], $8::boolean[], $9::boolean[], $10::text[])",
    );
    let query = query
        .bind(column(appends, |append| append.play.0))
        .bind(column(appends, Append::index));
    let query = query.bind(column(appends, |append| append.entry.action.to_string()));
    let query = query.bind(column(appends, |append| append.entry.hash.cast_signed()));
    let query = query.bind(column(appends, |append| append.entry.state.name()));
    let query = query.bind(column(appends, |append| {
        i16::from(append.entry.levels_completed)
    }));
    let query = query.bind(column(appends, |append| append.entry.counted));
    let query = query.bind(column(appends, |append| {
        append.entry.changed.unwrap_or(true)
    }));
    let query = query.bind(column(appends, |append| append.entry.full_reset));
    let query = query.bind(column(appends, |append| {
        append
            .entry
            .details
            .reasoning
            .as_ref()
            .map(ToString::to_string)
    }));
    query.execute(&mut *connection).await?;
    cards::record_use(connection, &column(appends, |append| append.card.0)).await
}

/// Collects one column of all rows, for `unnest`.
fn column<T>(appends: &[&Append], value: impl Fn(&Append) -> T) -> Vec<T> {
    appends.iter().map(|append| value(append)).collect()
}
