//! The one writer: takes all orders that wait, carries them out in one transaction, commits, and answers.
//!
//! It never lingers: while one commit is on its way to the disk the next orders gather by themselves, so that throughput
//! rises with the number of callers. An order that is refused (a closed card, an entry out of turn) leaves no trace and hinders no
//! other; a failure of the database fails every order of the transaction.
//!
//! It has a thread of its own and talks to SQLite without anything between, so that an entry costs four short prepared statements and no
//! change of threads.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::GameId;
use rhae_protocol::Entry;
use rusqlite::{Connection, TransactionBehavior, params};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{broadcast, oneshot};

use crate::sqlite::counts::Counts;
use crate::sqlite::keys::{self, KeyOrder};
use crate::sqlite::readers::{all, first, number};
use crate::sqlite::{HEAD, requests, rows};
use crate::{
    CardId, CardKey, NewCard, NewPlay, Once, PlayId, PlayKey, Snapshot, Stale, StoreError,
};

/// The most orders of one transaction, which bounds how long the first of them waits.
const MOST_ORDERS: usize = 512;
/// The time of a card's last use is kept to this precision, so that not every action writes its card.
const USE_PRECISION_MS: u64 = 1000;

/// What is to be written.
pub(crate) enum Order {
    OpenCard(NewCard, Option<Once>),
    TouchCard { card: CardKey, at_ms: u64 },
    CloseCard { card: CardKey, at_ms: u64 },
    CloseStale(Stale),
    Resume { at_ms: u64 },
    OpenPlay(Box<NewPlay>, Option<Once>),
    Append(Append),
    KeepSnapshot { play: PlayKey, snapshot: Snapshot },
    DropSnapshots { play: PlayKey },
    Forget { before_ms: u64 },
    Key(KeyOrder),
}

/// An entry to be appended.
pub(crate) struct Append {
    pub(crate) play: PlayKey,
    pub(crate) card: CardKey,
    pub(crate) index: u32,
    pub(crate) entry: Entry,
    pub(crate) at_ms: u64,
    pub(crate) once: Option<Once>,
}

/// What an order led to.
pub(crate) enum Done {
    Nothing,
    Play(PlayKey),
    Cards(Vec<CardId>),
    Count(u64),
    /// Whether a key was changed.
    Key(bool),
}

type Answer = Result<Done, StoreError>;

/// An order and whom to tell.
pub(crate) struct Job {
    order: Order,
    answer: oneshot::Sender<Answer>,
}

impl Job {
    pub(crate) fn new(order: Order) -> (Self, oneshot::Receiver<Answer>) {
        let (answer, receiver) = oneshot::channel();
        (Self { order, answer }, receiver)
    }
}

/// The queue of the writer. Callers wait where it is full.
pub(crate) fn queue() -> (Sender<Job>, Receiver<Job>) {
    channel(MOST_ORDERS)
}

/// Works until all senders are gone.
pub(crate) fn run(
    mut connection: Connection,
    mut queue: Receiver<Job>,
    commits: &AtomicU64,
    advanced: &broadcast::Sender<PlayId>,
) {
    let mut jobs = Vec::with_capacity(MOST_ORDERS);
    let mut counts = Counts::default();
    while queue.blocking_recv_many(&mut jobs, MOST_ORDERS) > 0 {
        let (orders, callers): (Vec<Order>, Vec<oneshot::Sender<Answer>>) =
            jobs.drain(..).map(|job| (job.order, job.answer)).unzip();
        let answers = match transaction(&mut connection, &mut counts, orders) {
            Ok(answers) => {
                commits.fetch_add(1, Ordering::Relaxed);
                answers
            }
            Err(error) => {
                counts.forget();
                callers.iter().map(|_| Err(error.clone())).collect()
            }
        };
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller that no longer waits finds out by reading.
            let _ = caller.send(answer);
        }
        for play in counts.appended.drain(..) {
            // Mostly nobody listens.
            let _ = advanced.send(play);
        }
    }
}

/// Carries out orders and commits. An error is one of the database, after which nothing has happened.
fn transaction(
    connection: &mut Connection,
    counts: &mut Counts,
    orders: Vec<Order>,
) -> Result<Vec<Answer>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut batch = Batch {
        connection: &transaction,
        counts,
        open: HashSet::new(),
    };
    let mut answers: Vec<Answer> = Vec::with_capacity(orders.len());
    for order in orders {
        match batch.carry_out(order) {
            Err(error) if is_failure(&error) => return Err(error),
            answer => answers.push(answer),
        }
    }
    transaction.commit()?;
    Ok(answers)
}

/// Whether the database failed, as opposed to an order that is refused.
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
    )
}

struct Batch<'a> {
    connection: &'a Connection,
    counts: &'a mut Counts,
    /// Cards that are known in this transaction to be open, with their use noted.
    open: HashSet<CardKey>,
}

impl Batch<'_> {
    fn carry_out(&mut self, order: Order) -> Answer {
        match order {
            Order::OpenCard(card, once) => self.open_card(&card, once.as_ref()),
            Order::TouchCard { card, at_ms } => self.use_card(card, at_ms).map(|()| Done::Nothing),
            Order::CloseCard { card, at_ms } => self.close_card(card, at_ms),
            Order::CloseStale(stale) => self.close_stale(stale),
            Order::Resume { at_ms } => {
                let statement =
                    "UPDATE cards SET used_ms = max(used_ms, ?1) WHERE closed_ms IS NULL";
                self.connection.execute(statement, [at_ms.cast_signed()])?;
                Ok(Done::Nothing)
            }
            Order::OpenPlay(play, once) => self.open_play(&play, once),
            Order::Key(order) => keys::carry_out(self.connection, order).map(Done::Key),
            Order::Append(append) => self.append(&append),
            Order::KeepSnapshot { play, snapshot } => self.keep_snapshot(play, &snapshot),
            Order::DropSnapshots { play } => {
                self.connection
                    .execute("DELETE FROM snapshots WHERE play = ?1", [play.0])?;
                Ok(Done::Nothing)
            }
            Order::Forget { before_ms } => {
                requests::forget(self.connection, before_ms).map(Done::Count)
            }
        }
    }

    fn open_card(&self, card: &NewCard, once: Option<&Once>) -> Answer {
        requests::check(self.connection, once)?;
        if card.only_one
            && number(
                self.connection,
                "SELECT count(*) FROM cards WHERE owner = ?1",
                [card.owner.0],
            )? > 0
        {
            return Err(StoreError::OpenedBefore);
        }
        if let Some(most) = card.most_open {
            let statement = "SELECT count(*) FROM cards WHERE owner = ?1 AND closed_ms IS NULL";
            if number(self.connection, statement, [card.owner.0])? >= i64::from(most) {
                return Err(StoreError::TooManyCards(most));
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
        if let Some(once) = once {
            requests::keep_card(self.connection, once, card.id, card.opened_ms)?;
        }
        Ok(Done::Nothing)
    }

    /// Makes sure that a card is open and notes its use.
    fn use_card(&mut self, card: CardKey, at_ms: u64) -> Result<(), StoreError> {
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

    fn close_card(&mut self, card: CardKey, at_ms: u64) -> Answer {
        self.open.remove(&card);
        let statement = "UPDATE cards SET closed_ms = ?2 WHERE key = ?1 AND closed_ms IS NULL";
        if self
            .connection
            .execute(statement, (card.0, at_ms.cast_signed()))?
            == 0
        {
            return Err(StoreError::CardNotOpen);
        }
        self.announce_plays(card)?;
        Ok(Done::Nothing)
    }

    /// Lets those who listen to a closed card's plays look at them again.
    fn announce_plays(&mut self, card: CardKey) -> Result<(), StoreError> {
        let plays = all(
            self.connection,
            "SELECT id FROM plays WHERE card = ?1",
            [card.0],
            rows::play_id,
        )?;
        self.counts.appended.extend(plays);
        Ok(())
    }

    fn close_stale(&mut self, stale: Stale) -> Answer {
        self.open.clear();
        let statement =
            "UPDATE cards SET closed_ms = ?3 WHERE closed_ms IS NULL AND NOT lasting AND (used_ms < ?1 OR opened_ms < ?2)
             RETURNING id, key";
        let Stale {
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
            self.announce_plays(card)?;
        }
        Ok(Done::Cards(closed.into_iter().map(|(id, _)| id).collect()))
    }

    /// Keeps a snapshot and the newest of those before it.
    fn keep_snapshot(&self, play: PlayKey, snapshot: &Snapshot) -> Answer {
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
        Ok(Done::Nothing)
    }

    fn open_play(&mut self, play: &NewPlay, once: Option<Once>) -> Answer {
        requests::check(self.connection, once.as_ref())?;
        self.use_card(play.card, play.at_ms)?;
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
        if let Some(most) = play.most_plays
            && number(
                self.connection,
                "SELECT count(*) FROM plays WHERE card = ?1",
                [play.card.0],
            )? >= i64::from(most)
        {
            return Err(StoreError::TooManyPlays(most));
        }
        let statement = "INSERT INTO plays (id, card, game_id, seed, rule, win_levels) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let NewPlay {
            id,
            card,
            ref game_id,
            seed,
            rule,
            win_levels,
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
            win_levels
        ];
        let key = PlayKey(self.connection.prepare_cached(statement)?.insert(values)?);
        let opening = Append {
            play: key,
            card,
            index: 0,
            entry: opening.clone(),
            at_ms,
            once,
        };
        self.counts.begin(key, id);
        self.insert(&opening)?;
        Ok(Done::Play(key))
    }

    /// Appends an entry if its card is open, its key is new and it is the next of its log.
    fn append(&mut self, append: &Append) -> Answer {
        // A request that was carried out before is known also after its card was closed.
        requests::check(self.connection, append.once.as_ref())?;
        self.use_card(append.card, append.at_ms)?;
        self.insert(append)?;
        Ok(Done::Nothing)
    }

    /// Inserts an entry if it is the next of its log, with its key, and counts it.
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
        // A statement that inserts plain values needs no journal of its own.
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
            entry.details.reasoning.as_ref().map(ToString::to_string),
            at_ms.cast_signed(),
        ])?;
        requests::keep(self.connection, append)?;
        self.counts.update(self.connection, append)
    }
}
