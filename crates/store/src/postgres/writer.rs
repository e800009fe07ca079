//! The one writer of a server: takes all entries that wait, appends them in one transaction, commits, and answers.
//!
//! It never lingers: while one commit is on its way to the disk the next entries gather by themselves. An entry that is refused leaves
//! no trace and hinders no other; a failure of the database fails every entry of the transaction, and the next one has a new connection.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_protocol::Entry;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Row};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::postgres::{PostgresAddress, cards, counts, listener, requests, rows, session};
use crate::remembered::Remembered;
use crate::{CardKey, Once, PlayId, PlayKey, StoreError};

/// The most entries of one transaction, which bounds how long the first of them waits.
const MOST_ENTRIES: usize = 512;

/// An entry to be appended.
pub(crate) struct Append {
    pub(crate) play: PlayKey,
    pub(crate) card: CardKey,
    pub(crate) index: u32,
    pub(crate) entry: Entry,
    pub(crate) once: Option<Once>,
}

impl Append {
    /// The index as the database has it; beyond its range nothing was ever stored.
    fn index(&self) -> i32 {
        i32::try_from(self.index).unwrap_or(i32::MAX)
    }
}

type Answer = Result<(), StoreError>;

/// An entry and whom to tell.
pub(crate) struct Job {
    append: Append,
    answer: oneshot::Sender<Answer>,
}

impl Job {
    pub(crate) fn new(append: Append) -> (Self, oneshot::Receiver<Answer>) {
        let (answer, receiver) = oneshot::channel();
        (Self { append, answer }, receiver)
    }
}

/// The queue of the writer. Callers wait where it is full.
pub(crate) fn queue() -> (Sender<Job>, Receiver<Job>) {
    channel(MOST_ENTRIES)
}

/// Works until all senders are gone.
pub(crate) async fn run(
    address: PostgresAddress,
    first: PgConnection,
    mut queue: Receiver<Job>,
    commits: Arc<AtomicU64>,
) {
    let mut connection = Some(first);
    let mut remembered = Remembered::default();
    let mut waiting = VecDeque::new();
    let mut arrived = Vec::with_capacity(MOST_ENTRIES);
    loop {
        if waiting.is_empty() && queue.recv_many(&mut arrived, MOST_ENTRIES).await == 0 {
            break;
        }
        waiting.extend(arrived.drain(..));
        let (appends, callers): (Vec<Append>, Vec<oneshot::Sender<Answer>>) =
            independent(&mut waiting)
                .into_iter()
                .map(|job| (job.append, job.answer))
                .unzip();
        let answers = match attempt(&address, &mut connection, &mut remembered, &appends).await {
            Ok(answers) => {
                commits.fetch_add(1, Ordering::Relaxed);
                answers
            }
            Err(error) => {
                // Whatever state it is in, what it holds is let go when it is closed.
                drop(connection.take());
                remembered.forget();
                callers.iter().map(|_| Err(error.clone())).collect()
            }
        };
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller that no longer waits finds out by reading.
            let _ = caller.send(answer);
        }
    }
    if let Some(connection) = connection {
        let _ = connection.close().await;
    }
}

/// Takes those entries that can be judged together. A second one of a play, or with the same key, waits for the first.
fn independent(waiting: &mut VecDeque<Job>) -> Vec<Job> {
    let (mut plays, mut keys) = (HashSet::new(), HashSet::new());
    let (mut taken, mut left) = (Vec::new(), VecDeque::new());
    for job in waiting.drain(..) {
        let name = job
            .append
            .once
            .as_ref()
            .map(|once| (once.owner, once.key.clone()));
        if taken.len() < MOST_ENTRIES
            && !plays.contains(&job.append.play)
            && !name.as_ref().is_some_and(|name| keys.contains(name))
        {
            plays.insert(job.append.play);
            keys.extend(name);
            taken.push(job);
        } else {
            // What waits for this one must not overtake it.
            plays.insert(job.append.play);
            keys.extend(name);
            left.push_back(job);
        }
    }
    *waiting = left;
    taken
}

async fn attempt(
    address: &PostgresAddress,
    connection: &mut Option<PgConnection>,
    remembered: &mut Remembered,
    appends: &[Append],
) -> Result<Vec<Answer>, StoreError> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(address.connect().await?),
    };
    transaction(connection, remembered, appends).await
}

/// Appends entries of different plays and commits. An error is one of the database, after which nothing has happened, or after
/// which nobody knows, and says which.
async fn transaction(
    connection: &mut PgConnection,
    remembered: &mut Remembered,
    appends: &[Append],
) -> Result<Vec<Answer>, StoreError> {
    let mut transaction = connection.begin().await?;
    let open = hold_cards(&mut transaction, appends).await?;
    let heads = hold_plays(&mut transaction, appends).await?;
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
        .filter_map(|append| Some((append.once.as_ref()?, append.play, append.index())))
        .collect();
    let taken = requests::take(&mut transaction, keyed).await?;
    let is_free = |append: &Append| append.once.as_ref().is_none_or(|once| taken.contains(once));
    accepted.retain(|append| is_free(append));
    insert(&mut transaction, &accepted).await?;
    let advanced: Vec<(&Append, PlayId)> = accepted
        .iter()
        .filter_map(|&append| Some((append, PlayId(heads.get(&append.play)?.1))))
        .collect();
    counts::update(&mut transaction, remembered, &advanced).await?;
    let ids: Vec<Uuid> = advanced.iter().map(|(_, id)| id.0).collect();
    listener::announce(&mut transaction, &ids).await?;
    session::commit(transaction).await?;
    let answer = |append: &Append| {
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
    Ok(appends.iter().map(answer).collect())
}

/// Keeps those of the cards open that are, until the commit.
async fn hold_cards(
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

/// Keeps everybody else from appending to these plays until the commit, and gives the lengths of their logs and their ids.
async fn hold_plays(
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

/// Inserts entries that are the next of their logs, and notes that their cards are in use.
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
    cards::note_use(connection, &column(appends, |append| append.card.0)).await
}

/// One column of many rows.
fn column<T>(appends: &[&Append], value: impl Fn(&Append) -> T) -> Vec<T> {
    appends.iter().map(|append| value(append)).collect()
}
