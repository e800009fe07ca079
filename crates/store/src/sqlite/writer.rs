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
use sqlx::{Connection, QueryBuilder, Row};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{broadcast, oneshot};

use crate::sqlite::counts::Counts;
use crate::sqlite::keys::{self, KeyOrder};
use crate::sqlite::{requests, rows};
use crate::{CardId, CardKey, NewCard, NewPlay, Once, PlayId, PlayKey, Snapshot, Stale, StoreError};

/// The most orders of one transaction, which bounds how long the first of them waits.
const MOST_ORDERS: usize = 512;
/// The most rows of one statement. Statements of every length up to it stay prepared.
const MOST_ROWS: usize = 64;
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

impl Append {
    /// Whether two entries can be judged by one statement. Those of one play and those with one key depend on each other.
    fn is_independent_of(&self, other: &Self) -> bool {
        let same_key = self.once.as_ref().is_some_and(|once| other.once.as_ref().map(Once::name) == Some(once.name()));
        self.play != other.play && !same_key
    }
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
pub(crate) async fn run(
    mut connection: SqliteConnection,
    mut queue: Receiver<Job>,
    commits: Arc<AtomicU64>,
    advanced: broadcast::Sender<PlayId>,
) {
    let mut jobs = Vec::with_capacity(MOST_ORDERS);
    let mut counts = Counts::default();
    while queue.recv_many(&mut jobs, MOST_ORDERS).await > 0 {
        let (orders, callers): (Vec<Order>, Vec<oneshot::Sender<Answer>>) =
            jobs.drain(..).map(|job| (job.order, job.answer)).unzip();
        let answers = match transaction(&mut connection, &mut counts, orders).await {
            Ok(answers) => {
                commits.fetch_add(1, Ordering::Relaxed);
                answers
            }
            Err(error) => {
                // SQLite may have rolled back by itself, and then says that there is nothing to roll back.
                let _ = sqlx::query("ROLLBACK").execute(&mut connection).await;
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
    let _ = connection.close().await;
}

/// Carries out orders and commits. An error is one of the database, after which nothing has happened.
async fn transaction(
    connection: &mut SqliteConnection,
    counts: &mut Counts,
    orders: Vec<Order>,
) -> Result<Vec<Answer>, StoreError> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut *connection).await?;
    let mut batch = Batch { connection, counts, open: HashSet::new() };
    let mut answers: Vec<Answer> = Vec::with_capacity(orders.len());
    let mut appends: Vec<Append> = Vec::new();
    for order in orders {
        match order {
            Order::Append(append) if appends.len() < MOST_ROWS && appends.iter().all(|other| append.is_independent_of(other)) => {
                appends.push(append);
            }
            order => {
                answers.extend(batch.append(std::mem::take(&mut appends)).await?);
                match order {
                    Order::Append(append) => appends.push(append),
                    order => match batch.carry_out(order).await {
                        Err(error) if is_failure(&error) => return Err(error),
                        answer => answers.push(answer),
                    },
                }
            }
        }
    }
    answers.extend(batch.append(appends).await?);
    sqlx::query("COMMIT").execute(&mut *batch.connection).await?;
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
    connection: &'a mut SqliteConnection,
    counts: &'a mut Counts,
    /// Cards that are known in this transaction to be open, with their use noted.
    open: HashSet<CardKey>,
}

impl Batch<'_> {
    async fn carry_out(&mut self, order: Order) -> Answer {
        match order {
            Order::OpenCard(card, once) => self.open_card(&card, once).await,
            Order::TouchCard { card, at_ms } => self.use_card(card, at_ms).await.map(|()| Done::Nothing),
            Order::CloseCard { card, at_ms } => self.close_card(card, at_ms).await,
            Order::CloseStale(stale) => self.close_stale(stale).await,
            Order::Resume { at_ms } => {
                let query = sqlx::query("UPDATE cards SET used_ms = max(used_ms, ?1) WHERE closed_ms IS NULL");
                query.bind(at_ms.cast_signed()).execute(&mut *self.connection).await?;
                Ok(Done::Nothing)
            }
            Order::OpenPlay(play, once) => self.open_play(&play, once).await,
            Order::Key(order) => keys::carry_out(self.connection, order).await.map(Done::Key),
            Order::Append(append) => self.append(vec![append]).await?.pop().unwrap_or(Ok(Done::Nothing)),
            Order::KeepSnapshot { play, snapshot } => self.keep_snapshot(play, snapshot).await,
            Order::DropSnapshots { play } => {
                let query = sqlx::query("DELETE FROM snapshots WHERE play = ?1").bind(play.0);
                query.execute(&mut *self.connection).await?;
                Ok(Done::Nothing)
            }
            Order::Forget { before_ms } => requests::forget(self.connection, before_ms).await.map(Done::Count),
        }
    }

    async fn open_card(&mut self, card: &NewCard, once: Option<Once>) -> Answer {
        requests::check(self.connection, once.as_ref()).await?;
        if card.only_one {
            let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM cards WHERE owner = ?1)");
            if query.bind(card.owner.0.to_vec()).fetch_one(&mut *self.connection).await? {
                return Err(StoreError::OpenedBefore);
            }
        }
        if let Some(most) = card.most_open {
            let query = sqlx::query_scalar("SELECT count(*) FROM cards WHERE owner = ?1 AND closed_ms IS NULL");
            let open: i64 = query.bind(card.owner.0.to_vec()).fetch_one(&mut *self.connection).await?;
            if open >= i64::from(most) {
                return Err(StoreError::TooManyCards(most));
            }
        }
        let tags = serde_json::Value::from(card.tags.clone()).to_string();
        let query = sqlx::query(
            "INSERT INTO cards (id, owner, tags, source_url, opaque, competition, games, opened_ms, used_ms, lasting)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9)",
        );
        let query = query.bind(card.id.0.as_bytes().to_vec()).bind(card.owner.0.to_vec()).bind(tags);
        let query = query.bind(card.source_url.clone()).bind(card.opaque.as_ref().map(ToString::to_string));
        let games: Vec<&str> = card.games.iter().map(GameId::as_str).collect();
        query
            .bind(card.competition)
            .bind(games.join(" "))
            .bind(card.opened_ms.cast_signed())
            .bind(card.lasting)
            .execute(&mut *self.connection)
            .await?;
        if let Some(once) = once {
            requests::keep_card(self.connection, &once, card.id, card.opened_ms).await?;
        }
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
            self.note_use(card, at_ms).await?;
        }
        self.open.insert(card);
        Ok(())
    }

    async fn close_card(&mut self, card: CardKey, at_ms: u64) -> Answer {
        self.open.remove(&card);
        let query = sqlx::query("UPDATE cards SET closed_ms = ?2 WHERE key = ?1 AND closed_ms IS NULL");
        let done = query.bind(card.0).bind(at_ms.cast_signed()).execute(&mut *self.connection).await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::CardNotOpen);
        }
        self.announce_plays(card).await?;
        Ok(Done::Nothing)
    }

    /// Lets those who listen to a closed card's plays look at them again.
    async fn announce_plays(&mut self, card: CardKey) -> Result<(), StoreError> {
        let query = sqlx::query("SELECT id FROM plays WHERE card = ?1").bind(card.0);
        for row in query.fetch_all(&mut *self.connection).await? {
            self.counts.appended.push(rows::play_id(&row)?);
        }
        Ok(())
    }

    /// Keeps a snapshot and the newest of those before it.
    async fn keep_snapshot(&mut self, play: PlayKey, snapshot: Snapshot) -> Answer {
        let query = sqlx::query(
            "DELETE FROM snapshots WHERE play = ?1 AND entries < (SELECT max(entries) FROM snapshots WHERE play = ?1 AND entries < ?2)",
        );
        query.bind(play.0).bind(snapshot.entries).execute(&mut *self.connection).await?;
        let query = sqlx::query("INSERT OR REPLACE INTO snapshots (play, entries, bytes) VALUES (?1, ?2, ?3)");
        query.bind(play.0).bind(snapshot.entries).bind(snapshot.bytes).execute(&mut *self.connection).await?;
        Ok(Done::Nothing)
    }

    async fn close_stale(&mut self, stale: Stale) -> Answer {
        self.open.clear();
        let query = sqlx::query(
            "UPDATE cards SET closed_ms = ?3 WHERE closed_ms IS NULL AND NOT lasting AND (used_ms < ?1 OR opened_ms < ?2)
             RETURNING id, key",
        );
        let query = query.bind(stale.used_before_ms.cast_signed()).bind(stale.opened_before_ms.cast_signed());
        let closed: Vec<SqliteRow> = query.bind(stale.now_ms.cast_signed()).fetch_all(&mut *self.connection).await?;
        for row in &closed {
            self.announce_plays(CardKey(row.try_get("key")?)).await?;
        }
        closed.iter().map(rows::card_id).collect::<Result<_, _>>().map(Done::Cards)
    }

    async fn open_play(&mut self, play: &NewPlay, once: Option<Once>) -> Answer {
        requests::check(self.connection, once.as_ref()).await?;
        self.use_card(play.card, play.at_ms).await?;
        if play.only_one {
            let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM plays WHERE card = ?1 AND substr(game_id, 1, 4) = ?2)");
            if query.bind(play.card.0).bind(play.game_id.base()).fetch_one(&mut *self.connection).await? {
                return Err(StoreError::PlayedBefore);
            }
        }
        if let Some(most) = play.most_plays {
            let query = sqlx::query_scalar("SELECT count(*) FROM plays WHERE card = ?1");
            let plays: i64 = query.bind(play.card.0).fetch_one(&mut *self.connection).await?;
            if plays >= i64::from(most) {
                return Err(StoreError::TooManyPlays(most));
            }
        }
        let query = sqlx::query("INSERT INTO plays (id, card, game_id, seed, rule, win_levels) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        let query = query.bind(play.id.0.as_bytes().to_vec()).bind(play.card.0).bind(play.game_id.as_str());
        let query = query.bind(play.seed.cast_signed()).bind(play.rule.name()).bind(play.win_levels);
        let key = PlayKey(query.execute(&mut *self.connection).await?.last_insert_rowid());
        let NewPlay { card, ref opening, at_ms, .. } = *play;
        let opening = Append { play: key, card, index: 0, entry: opening.clone(), at_ms, once };
        self.insert(&[&opening]).await?;
        self.counts.begin(key, play.id);
        self.counts.update(self.connection, &[&opening]).await?;
        Ok(Done::Play(key))
    }

    /// Appends entries of different plays, each if its card is open and it is the next of its log.
    async fn append(&mut self, appends: Vec<Append>) -> Result<Vec<Answer>, StoreError> {
        self.use_cards(&appends).await?;
        let used = requests::used(self.connection, &appends).await?;
        let is_used = |append: &Append| append.once.as_ref().is_some_and(|once| used.contains(once));
        let (open, appends) = (&self.open, &appends);
        let accepted: Vec<&Append> = appends.iter().filter(|append| open.contains(&append.card) && !is_used(append)).collect();
        let inserted = self.insert(&accepted).await?;
        let counted: Vec<&Append> = accepted.into_iter().filter(|append| inserted.contains(&append.play)).collect();
        self.counts.update(self.connection, &counted).await?;
        let answer = |append: &Append| {
            if inserted.contains(&append.play) {
                Ok(Done::Nothing)
            } else if is_used(append) {
                Err(StoreError::KeyUsed)
            } else if self.open.contains(&append.card) {
                Err(StoreError::Conflict(append.index))
            } else {
                Err(StoreError::CardNotOpen)
            }
        };
        Ok(appends.iter().map(answer).collect())
    }

    /// Finds out which of the cards are open, in one statement, and notes their use.
    async fn use_cards(&mut self, appends: &[Append]) -> Result<(), StoreError> {
        let mut unknown: Vec<&Append> = appends.iter().filter(|append| !self.open.contains(&append.card)).collect();
        unknown.sort_by_key(|append| append.card.0);
        unknown.dedup_by_key(|append| append.card);
        let Some(at_ms) = unknown.iter().map(|append| append.at_ms).max() else {
            return Ok(());
        };
        let mut query = QueryBuilder::new("SELECT key, used_ms FROM cards WHERE closed_ms IS NULL AND key IN (");
        let mut keys = query.separated(", ");
        for append in unknown {
            keys.push_bind(append.card.0);
        }
        query.push(")");
        for row in query.build().fetch_all(&mut *self.connection).await? {
            let (card, used_ms) = (CardKey(row.try_get(0)?), row.try_get::<i64, _>(1)?.cast_unsigned());
            if at_ms >= used_ms.saturating_add(USE_PRECISION_MS) {
                self.note_use(card, at_ms).await?;
            }
            self.open.insert(card);
        }
        Ok(())
    }

    async fn note_use(&mut self, card: CardKey, at_ms: u64) -> Result<(), StoreError> {
        let query = sqlx::query("UPDATE cards SET used_ms = ?2 WHERE key = ?1").bind(card.0).bind(at_ms.cast_signed());
        query.execute(&mut *self.connection).await?;
        Ok(())
    }

    /// Inserts those entries that are the next of their logs, in one statement, with their keys, and gives their plays.
    async fn insert(&mut self, appends: &[&Append]) -> Result<HashSet<PlayKey>, StoreError> {
        if appends.is_empty() {
            return Ok(HashSet::new());
        }
        let mut query = QueryBuilder::new(
            "INSERT INTO log (play, entry, action, hash, state, levels_completed, counted, changed, full_reset, reasoning, at_ms)
             SELECT * FROM (",
        );
        query.push_values(appends, |mut row, append| {
            let Append { play, index, entry, at_ms, .. } = append;
            row.push_bind(play.0).push_bind(*index).push_bind(entry.action.to_string()).push_bind(entry.hash.cast_signed());
            row.push_bind(entry.state.name()).push_bind(entry.levels_completed).push_bind(entry.counted);
            row.push_bind(entry.changed.unwrap_or(true)).push_bind(entry.full_reset);
            row.push_bind(entry.details.reasoning.as_ref().map(ToString::to_string)).push_bind(at_ms.cast_signed());
        });
        // The columns of a list of values are called so by SQLite.
        query.push(") WHERE column2 = (SELECT coalesce(max(entry) + 1, 0) FROM log WHERE play = column1) RETURNING play");
        let rows = query.build().fetch_all(&mut *self.connection).await?;
        let inserted: HashSet<PlayKey> = rows.iter().map(|row| Ok(PlayKey(row.try_get(0)?))).collect::<Result<_, StoreError>>()?;
        let keyed = appends.iter().filter(|append| append.once.is_some() && inserted.contains(&append.play));
        requests::keep(self.connection, keyed.copied().collect()).await?;
        Ok(inserted)
    }
}
