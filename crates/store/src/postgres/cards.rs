//! Opening, using, closing and expiring cards.
//!
//! A transaction that needs a card to stay open holds a shared lock on its row until it commits.
//! Closing a card waits for these locks; transactions that start later find the card closed. All
//! times come from the database.

use rhae_engine::GameId;
use sqlx::postgres::{PgConnection, PgPool};
use uuid::Uuid;

use crate::postgres::{listener, requests, rows, session};
use crate::{Card, CardId, CardKey, IdempotencyKey, NewCard, Owner, StaleCutoffs, StoreError};

/// The precision of a card's time of last use. Because it is coarse, most actions need not write
/// the time.
const USE_PRECISION_MS: i64 = 1000;
/// If the last heartbeat is older than this, the store assumes that no server was running. Each
/// running server records a heartbeat every few seconds.
const DOWNTIME_MS: i64 = 15_000;

pub(crate) async fn open(
    pool: &PgPool,
    card: &NewCard,
    idempotency_key: Option<&IdempotencyKey>,
) -> Result<(), StoreError> {
    let mut transaction = pool.begin().await?;
    if card.only_one || card.max_open.is_some() {
        // Serialises the requests of one owner. The lock covers only the first eight bytes of the
        // owner, so two owners that share these bytes wait for each other, which is harmless.
        let owner = i64::from_be_bytes(*card.owner.0.first_chunk().expect("an owner has 32 bytes"));
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(owner)
            .execute(&mut *transaction)
            .await?;
    }
    if let Some(limit) = card.max_open {
        let query = sqlx::query_scalar(
            "SELECT count(*) FROM rhae.cards WHERE owner = $1 AND closed_ms IS NULL",
        );
        let open: i64 = query
            .bind(&card.owner.0[..])
            .fetch_one(&mut *transaction)
            .await?;
        if open >= i64::from(limit) {
            return Err(StoreError::TooManyCards(limit));
        }
    }
    if card.only_one {
        let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM rhae.cards WHERE owner = $1)");
        if query
            .bind(&card.owner.0[..])
            .fetch_one(&mut *transaction)
            .await?
        {
            return Err(StoreError::OpenedBefore);
        }
    }
    let query = sqlx::query(
        "WITH card AS (
             INSERT INTO rhae.cards (id, owner, tags, source_url, opaque, competition, games, opened_ms, lasting)
             VALUES ($1, $2, $3, $4, $5, $6, $7, rhae.now_ms(), $8) RETURNING key, opened_ms)
         INSERT INTO rhae.uses SELECT key, opened_ms FROM card",
    );
    let games: Vec<&str> = card.games.iter().map(GameId::as_str).collect();
    // PostgreSQL cannot store the character U+0000, which a client's text may contain. JSON escapes
    // it, so the text is stored as JSON.
    let source_url = card
        .source_url
        .as_ref()
        .map(|text| serde_json::Value::from(text.as_str()).to_string());
    let query = query
        .bind(&card.id.0.as_bytes()[..])
        .bind(&card.owner.0[..]);
    let query = query
        .bind(serde_json::Value::from(card.tags.clone()).to_string())
        .bind(source_url);
    let query = query
        .bind(card.opaque.as_ref().map(ToString::to_string))
        .bind(card.competition)
        .bind(games.join(" "));
    query.bind(card.lasting).execute(&mut *transaction).await?;
    if let Some(idempotency_key) = idempotency_key {
        requests::claim_for_card(&mut transaction, idempotency_key, card.id).await?;
    }
    session::commit(transaction).await
}

pub(crate) async fn find(pool: &PgPool, id: CardId) -> Result<Option<Card>, StoreError> {
    let query = sqlx::query(
        "SELECT cards.*, used_ms FROM rhae.cards JOIN rhae.uses ON uses.card = cards.key WHERE id = $1",
    );
    query
        .bind(&id.0.as_bytes()[..])
        .fetch_optional(pool)
        .await?
        .as_ref()
        .map(rows::card)
        .transpose()
}

pub(crate) async fn before(
    pool: &PgPool,
    owner: Option<Owner>,
    before: Option<CardKey>,
    limit: u32,
) -> Result<Vec<Card>, StoreError> {
    let query = sqlx::query(
        "SELECT cards.*, used_ms FROM rhae.cards JOIN rhae.uses ON uses.card = cards.key
         WHERE key < $1 AND ($3::bytea IS NULL OR owner = $3) ORDER BY key DESC LIMIT $2",
    );
    let query = query
        .bind(before.map_or(i64::MAX, |key| key.0))
        .bind(i64::from(limit))
        .bind(owner.map(|owner| owner.0.to_vec()));
    query
        .fetch_all(pool)
        .await?
        .iter()
        .map(rows::card)
        .collect()
}

/// The row lock that a transaction takes on a card that must stay open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CardLock {
    /// Keeps the card open; other transactions may do the same.
    Shared,
    /// Keeps the card open and blocks other transactions that use it.
    Exclusive,
}

/// Checks that a card is open and locks its row until the commit.
pub(crate) async fn lock_open(
    connection: &mut PgConnection,
    card: CardKey,
    lock: CardLock,
) -> Result<(), StoreError> {
    let statement = match lock {
        CardLock::Shared => {
            "SELECT 1 FROM rhae.cards WHERE key = $1 AND closed_ms IS NULL FOR SHARE"
        }
        CardLock::Exclusive => {
            "SELECT 1 FROM rhae.cards WHERE key = $1 AND closed_ms IS NULL FOR NO KEY UPDATE"
        }
    };
    let found = sqlx::query(statement)
        .bind(card.0)
        .fetch_optional(connection)
        .await?;
    found.map(|_| ()).ok_or(StoreError::CardNotOpen)
}

/// Records that cards are in use. Rows locked by another transaction are skipped, because that
/// transaction is recording a use of the same card.
pub(crate) async fn record_use(
    connection: &mut PgConnection,
    cards: &[i64],
) -> Result<(), StoreError> {
    let query = sqlx::query(
        "UPDATE rhae.uses SET used_ms = rhae.now_ms() WHERE card = ANY (ARRAY (
             SELECT card FROM rhae.uses WHERE card = ANY ($1) AND used_ms <= rhae.now_ms() - $2 FOR UPDATE SKIP LOCKED))",
    );
    query
        .bind(cards)
        .bind(USE_PRECISION_MS)
        .execute(connection)
        .await?;
    Ok(())
}

pub(crate) async fn touch(pool: &PgPool, card: CardKey) -> Result<(), StoreError> {
    let mut transaction = pool.begin().await?;
    lock_open(&mut transaction, card, CardLock::Shared).await?;
    record_use(&mut transaction, &[card.0]).await?;
    session::commit(transaction).await
}

pub(crate) async fn close(pool: &PgPool, card: CardKey) -> Result<(), StoreError> {
    let mut transaction = pool.begin().await?;
    let query = sqlx::query(
        "UPDATE rhae.cards SET closed_ms = rhae.now_ms() WHERE key = $1 AND closed_ms IS NULL",
    );
    if query
        .bind(card.0)
        .execute(&mut *transaction)
        .await?
        .rows_affected()
        == 0
    {
        return Err(StoreError::CardNotOpen);
    }
    notify_plays(&mut transaction, &[card.0]).await?;
    session::commit(transaction).await
}

/// Notifies the subscribers of every play on these cards, which the transaction closes.
async fn notify_plays(connection: &mut PgConnection, cards: &[i64]) -> Result<(), StoreError> {
    let query = sqlx::query_scalar("SELECT id FROM rhae.plays WHERE card = ANY ($1) ORDER BY key")
        .bind(cards);
    let ids: Vec<Vec<u8>> = query.fetch_all(&mut *connection).await?;
    let ids: Vec<Uuid> = ids
        .iter()
        .filter_map(|bytes| Uuid::from_slice(bytes).ok())
        .collect();
    listener::notify(connection, &ids).await
}

/// Closes idle and old cards. A card that another transaction has locked is left for the next call.
pub(crate) async fn close_stale(
    pool: &PgPool,
    cutoffs: StaleCutoffs,
) -> Result<Vec<CardId>, StoreError> {
    let age = |before_ms: u64| {
        i64::try_from(cutoffs.now_ms.saturating_sub(before_ms)).unwrap_or(i64::MAX)
    };
    let mut transaction = pool.begin().await?;
    heartbeat(&mut transaction).await?;
    let query = sqlx::query_as(
        "UPDATE rhae.cards SET closed_ms = rhae.now_ms() WHERE key = ANY (ARRAY (
             SELECT cards.key FROM rhae.cards JOIN rhae.uses ON uses.card = cards.key
             WHERE closed_ms IS NULL AND NOT lasting AND (used_ms < rhae.now_ms() - $1 OR opened_ms < rhae.now_ms() - $2)
             FOR UPDATE SKIP LOCKED))
         RETURNING key, id",
    );
    let query = query
        .bind(age(cutoffs.used_before_ms))
        .bind(age(cutoffs.opened_before_ms));
    let closed: Vec<(i64, Vec<u8>)> = query.fetch_all(&mut *transaction).await?;
    let keys: Vec<i64> = closed.iter().map(|(key, _)| *key).collect();
    notify_plays(&mut transaction, &keys).await?;
    session::commit(transaction).await?;
    let id = |(_, bytes): &(i64, Vec<u8>)| {
        Uuid::from_slice(bytes)
            .map(CardId)
            .map_err(|_| rows::corrupt("id"))
    };
    closed.iter().map(id).collect()
}

/// Restarts the idle timers of all open cards if no server was running until now.
pub(crate) async fn restart_idle_timers(pool: &PgPool) -> Result<(), StoreError> {
    let mut transaction = pool.begin().await?;
    heartbeat(&mut transaction).await?;
    session::commit(transaction).await
}

/// Records that a server is running. If the previous heartbeat is too old, no client could use a
/// card in between, so the idle timers of all open cards restart.
async fn heartbeat(connection: &mut PgConnection) -> Result<(), StoreError> {
    let query = sqlx::query_scalar("SELECT rhae.now_ms() - at_ms FROM rhae.alive FOR UPDATE");
    let downtime_ms: i64 = query.fetch_one(&mut *connection).await?;
    if downtime_ms > DOWNTIME_MS {
        let query = sqlx::query(
            "UPDATE rhae.uses SET used_ms = greatest(used_ms, rhae.now_ms())
             WHERE card IN (SELECT key FROM rhae.cards WHERE closed_ms IS NULL)",
        );
        query.execute(&mut *connection).await?;
    }
    sqlx::query("UPDATE rhae.alive SET at_ms = greatest(at_ms, rhae.now_ms())")
        .execute(connection)
        .await?;
    Ok(())
}
