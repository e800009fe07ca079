//! The one writer: takes all orders that wait, carries them out in one transaction, commits, and answers.
//!
//! It never lingers: while one commit is on its way to the disk the next orders gather by themselves, so that throughput
//! rises with the number of callers. An order that is refused (a closed card, an entry out of turn) leaves no trace and hinders no
//! other; a failure of the database fails every order of the transaction.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::GameId;
use rhae_protocol::Entry;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::sqlite::rows;
use crate::{CardId, CardKey, NewCard, NewPlay, PlayKey, Stale, StoreError};

/// The most orders of one transaction, which bounds how long the first of them waits.
const MOST_ORDERS: usize = 512;
/// The time of a card's last use is kept to this precision, so that not every action writes its card.
const USE_PRECISION_MS: u64 = 1000;

/// What is to be written.
pub(crate) enum Order {
    OpenCard(NewCard),
    TouchCard { card: CardKey, at_ms: u64 },
    CloseCard { card: CardKey, at_ms: u64 },
    CloseStale(Stale),
    Resume { at_ms: u64 },
    OpenPlay(Box<NewPlay>),
    Append { play: PlayKey, card: CardKey, index: u32, entry: Entry, at_ms: u64 },
}

/// What an order led to.
pub(crate) enum Done {
    Nothing,
    Play(PlayKey),
    Cards(Vec<CardId>),
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
pub(crate) async fn run(mut connection: SqliteConnection, mut queue: Receiver<Job>, commits: Arc<AtomicU64>) {
    let mut jobs = Vec::with_capacity(MOST_ORDERS);
    while queue.recv_many(&mut jobs, MOST_ORDERS).await > 0 {
        let (orders, callers): (Vec<Order>, Vec<oneshot::Sender<Answer>>) =
            jobs.drain(..).map(|job| (job.order, job.answer)).unzip();
        let answers = match transaction(&mut connection, orders).await {
            Ok(answers) => {
                commits.fetch_add(1, Ordering::Relaxed);
                answers
            }
            Err(error) => {
                // SQLite may have rolled back by itself, and then says that there is nothing to roll back.
                let _ = sqlx::query("ROLLBACK").execute(&mut connection).await;
                callers.iter().map(|_| Err(error.clone())).collect()
            }
        };
        for (caller, answer) in callers.into_iter().zip(answers) {
            // A caller that no longer waits finds out by reading.
            let _ = caller.send(answer);
        }
    }
    let _ = connection.close().await;
}

/// Carries out orders and commits. An error is one of the database, after which nothing has happened.
async fn transaction(connection: &mut SqliteConnection, orders: Vec<Order>) -> Result<Vec<Answer>, StoreError> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let mut batch = Batch { connection, open: HashSet::new() };
    let mut answers = Vec::with_capacity(orders.len());
    for order in orders {
        match batch.carry_out(order).await {
            Err(error) if is_failure(&error) => return Err(error),
            answer => answers.push(answer),
        }
    }
    sqlx::query("COMMIT").execute(&mut *batch.connection).await?;
    Ok(answers)
}

/// Whether the database failed, as opposed to an order that is refused.
const fn is_failure(error: &StoreError) -> bool {
    !matches!(error, StoreError::Conflict(_) | StoreError::CardNotOpen | StoreError::PlayedBefore | StoreError::OpenedBefore)
}

struct Batch<'a> {
    connection: &'a mut SqliteConnection,
    /// Cards that are known in this transaction to be open, with their use noted.
    open: HashSet<CardKey>,
}

impl Batch<'_> {
    async fn carry_out(&mut self, order: Order) -> Answer {
        match order {
            Order::OpenCard(card) => self.open_card(&card).await,
            Order::TouchCard { card, at_ms } => self.use_card(card, at_ms).await.map(|()| Done::Nothing),
            Order::CloseCard { card, at_ms } => self.close_card(card, at_ms).await,
            Order::CloseStale(stale) => self.close_stale(stale).await,
            Order::Resume { at_ms } => {
                let query = sqlx::query("UPDATE cards SET used_ms = max(used_ms, ?1) WHERE closed_ms IS NULL");
                query.bind(at_ms.cast_signed()).execute(&mut *self.connection).await?;
                Ok(Done::Nothing)
            }
            Order::OpenPlay(play) => self.open_play(&play).await,
            Order::Append { play, card, index, entry, at_ms } => {
                self.use_card(card, at_ms).await?;
                self.append(play, index, &entry, at_ms).await
            }
        }
    }

    async fn open_card(&mut self, card: &NewCard) -> Answer {
        if card.only_one {
            let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM cards WHERE owner = ?1)");
            if query.bind(card.owner.0.to_vec()).fetch_one(&mut *self.connection).await? {
                return Err(StoreError::OpenedBefore);
            }
        }
        let tags = serde_json::Value::from(card.tags.clone()).to_string();
        let query = sqlx::query(
            "INSERT INTO cards (id, owner, tags, source_url, opaque, competition, games, opened_ms, used_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)",
        );
        let query = query.bind(card.id.0.as_bytes().to_vec()).bind(card.owner.0.to_vec()).bind(tags);
        let query = query.bind(card.source_url.clone()).bind(card.opaque.as_ref().map(ToString::to_string));
        let games: Vec<&str> = card.games.iter().map(GameId::as_str).collect();
        query
            .bind(card.competition)
            .bind(games.join(" "))
            .bind(card.opened_ms.cast_signed())
            .execute(&mut *self.connection)
            .await?;
        Ok(Done::Nothing)
    }

    /// Makes sure that a card is open and notes its use.
    async fn use_card(&mut self, card: CardKey, at_ms: u64) -> Result<(), StoreError> {
        if self.open.contains(&card) {
            return Ok(());
        }
        let query = sqlx::query("SELECT used_ms FROM cards WHERE key = ?1 AND closed_ms IS NULL").bind(card.0);
        let row = query.fetch_optional(&mut *self.connection).await?.ok_or(StoreError::CardNotOpen)?;
        let used_ms = row.try_get::<i64, _>(0)?.cast_unsigned();
        if at_ms >= used_ms.saturating_add(USE_PRECISION_MS) {
            let query = sqlx::query("UPDATE cards SET used_ms = ?2 WHERE key = ?1").bind(card.0).bind(at_ms.cast_signed());
            query.execute(&mut *self.connection).await?;
        }
        self.open.insert(card);
        Ok(())
    }

    async fn close_card(&mut self, card: CardKey, at_ms: u64) -> Answer {
        self.open.remove(&card);
        let query = sqlx::query("UPDATE cards SET closed_ms = ?2 WHERE key = ?1 AND closed_ms IS NULL");
        let done = query.bind(card.0).bind(at_ms.cast_signed()).execute(&mut *self.connection).await?;
        if done.rows_affected() == 0 { Err(StoreError::CardNotOpen) } else { Ok(Done::Nothing) }
    }

    async fn close_stale(&mut self, stale: Stale) -> Answer {
        self.open.clear();
        let query = sqlx::query(
            "UPDATE cards SET closed_ms = ?3 WHERE closed_ms IS NULL AND (used_ms < ?1 OR opened_ms < ?2) RETURNING id",
        );
        let query = query.bind(stale.used_before_ms.cast_signed()).bind(stale.opened_before_ms.cast_signed());
        let closed: Vec<SqliteRow> = query.bind(stale.now_ms.cast_signed()).fetch_all(&mut *self.connection).await?;
        closed.iter().map(rows::card_id).collect::<Result<_, _>>().map(Done::Cards)
    }

    async fn open_play(&mut self, play: &NewPlay) -> Answer {
        self.use_card(play.card, play.at_ms).await?;
        if play.only_one {
            let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM plays WHERE card = ?1 AND substr(game_id, 1, 4) = ?2)");
            if query.bind(play.card.0).bind(play.game_id.base()).fetch_one(&mut *self.connection).await? {
                return Err(StoreError::PlayedBefore);
            }
        }
        let query = sqlx::query("INSERT INTO plays (id, card, game_id, seed, rule, win_levels) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        let query = query.bind(play.id.0.as_bytes().to_vec()).bind(play.card.0).bind(play.game_id.as_str());
        let query = query.bind(play.seed.cast_signed()).bind(play.rule.name()).bind(play.win_levels);
        let key = PlayKey(query.execute(&mut *self.connection).await?.last_insert_rowid());
        self.append(key, 0, &play.opening, play.at_ms).await?;
        Ok(Done::Play(key))
    }

    /// Appends an entry if it is the next.
    async fn append(&mut self, play: PlayKey, index: u32, entry: &Entry, at_ms: u64) -> Answer {
        let query = sqlx::query(
            "INSERT INTO log (play, entry, action, hash, state, levels_completed, counted, changed, full_reset, reasoning, at_ms)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
             WHERE ?2 = (SELECT coalesce(max(entry) + 1, 0) FROM log WHERE play = ?1)",
        );
        let query = query.bind(play.0).bind(index).bind(entry.action.to_string()).bind(entry.hash.cast_signed());
        let query = query.bind(entry.state.name()).bind(entry.levels_completed).bind(entry.counted);
        let query = query.bind(entry.changed.unwrap_or(true)).bind(entry.full_reset);
        let query = query.bind(entry.details.reasoning.as_ref().map(ToString::to_string)).bind(at_ms.cast_signed());
        let done = query.execute(&mut *self.connection).await?;
        if done.rows_affected() == 0 { Err(StoreError::Conflict(index)) } else { Ok(Done::Nothing) }
    }
}
