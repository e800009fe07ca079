//! Cards: opening, use, closing, and the clock.
//!
//! Whoever needs a card to stay open holds a share of its row until the commit; closing waits for them, and whoever comes later finds it
//! closed. Times are the database's.

use rhae_engine::GameId;
use sqlx::postgres::{PgConnection, PgPool};
use uuid::Uuid;

use crate::postgres::{listener, requests, rows, session};
use crate::{Card, CardId, CardKey, NewCard, Once, Owner, Stale, StoreError};

/// The time of a card's last use is kept to this precision, so that not every action writes it.
const USE_PRECISION_MS: i64 = 1000;
/// Without a sign of life for so long, no server was there to be used. Each gives one every few seconds.
const AWAY_MS: i64 = 15_000;

pub(crate) async fn open(
    pool: &PgPool,
    card: &NewCard,
    once: Option<&Once>,
) -> Result<(), StoreError> {
    let mut transaction = pool.begin().await?;
    if card.only_one || card.most_open.is_some() {
        // Two requests of one owner take turns; others with the same eight bytes do too, which does no harm.
        let owner = i64::from_be_bytes(*card.owner.0.first_chunk().expect("an owner has 32 bytes"));
        sqlx::query("SELECT pg_advisory_xact_lock($1)")
            .bind(owner)
            .execute(&mut *transaction)
            .await?;
    }
    if let Some(most) = card.most_open {
        let query = sqlx::query_scalar(
            "SELECT count(*) FROM rhae.cards WHERE owner = $1 AND closed_ms IS NULL",
        );
        let open: i64 = query
            .bind(&card.owner.0[..])
            .fetch_one(&mut *transaction)
            .await?;
        if open >= i64::from(most) {
            return Err(StoreError::TooManyCards(most));
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
    // A text from outside may have the character 0, which PostgreSQL does not store; as JSON it has an escape.
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
    if let Some(once) = once {
        requests::take_for_card(&mut transaction, once, card.id).await?;
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
    most: u32,
) -> Result<Vec<Card>, StoreError> {
    let query = sqlx::query(
        "SELECT cards.*, used_ms FROM rhae.cards JOIN rhae.uses ON uses.card = cards.key
         WHERE key < $1 AND ($3::bytea IS NULL OR owner = $3) ORDER BY key DESC LIMIT $2",
    );
    let query = query
        .bind(before.map_or(i64::MAX, |key| key.0))
        .bind(i64::from(most))
        .bind(owner.map(|owner| owner.0.to_vec()));
    query
        .fetch_all(pool)
        .await?
        .iter()
        .map(rows::card)
        .collect()
}

/// What a transaction does with a card that must be open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Keeps it open, beside others who do the same.
    Shared,
    /// Keeps it open and everybody else away.
    Alone,
}

/// Makes sure that a card is open and stays so until the commit.
pub(crate) async fn hold(
    connection: &mut PgConnection,
    card: CardKey,
    hold: Hold,
) -> Result<(), StoreError> {
    let statement = match hold {
        Hold::Shared => "SELECT 1 FROM rhae.cards WHERE key = $1 AND closed_ms IS NULL FOR SHARE",
        Hold::Alone => {
            "SELECT 1 FROM rhae.cards WHERE key = $1 AND closed_ms IS NULL FOR NO KEY UPDATE"
        }
    };
    let found = sqlx::query(statement)
        .bind(card.0)
        .fetch_optional(connection)
        .await?;
    found.map(|_| ()).ok_or(StoreError::CardNotOpen)
}

/// Notes that cards are in use. Where somebody else is noting the same, that is enough.
pub(crate) async fn note_use(
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
    hold(&mut transaction, card, Hold::Shared).await?;
    note_use(&mut transaction, &[card.0]).await?;
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
    announce_plays(&mut transaction, &[card.0]).await?;
    session::commit(transaction).await
}

/// Lets those who listen to the plays of closed cards look at them again.
async fn announce_plays(connection: &mut PgConnection, cards: &[i64]) -> Result<(), StoreError> {
    let query = sqlx::query_scalar("SELECT id FROM rhae.plays WHERE card = ANY ($1) ORDER BY key")
        .bind(cards);
    let ids: Vec<Vec<u8>> = query.fetch_all(&mut *connection).await?;
    let ids: Vec<Uuid> = ids
        .iter()
        .filter_map(|bytes| Uuid::from_slice(bytes).ok())
        .collect();
    listener::announce(connection, &ids).await
}

/// Closes idle and old cards. One that somebody is using at this moment is looked at again the next time.
pub(crate) async fn close_stale(pool: &PgPool, stale: Stale) -> Result<Vec<CardId>, StoreError> {
    let age =
        |before_ms: u64| i64::try_from(stale.now_ms.saturating_sub(before_ms)).unwrap_or(i64::MAX);
    let mut transaction = pool.begin().await?;
    give_sign_of_life(&mut transaction).await?;
    let query = sqlx::query_as(
        "UPDATE rhae.cards SET closed_ms = rhae.now_ms() WHERE key = ANY (ARRAY (
             SELECT cards.key FROM rhae.cards JOIN rhae.uses ON uses.card = cards.key
             WHERE closed_ms IS NULL AND NOT lasting AND (used_ms < rhae.now_ms() - $1 OR opened_ms < rhae.now_ms() - $2)
             FOR UPDATE SKIP LOCKED))
         RETURNING key, id",
    );
    let query = query
        .bind(age(stale.used_before_ms))
        .bind(age(stale.opened_before_ms));
    let closed: Vec<(i64, Vec<u8>)> = query.fetch_all(&mut *transaction).await?;
    let keys: Vec<i64> = closed.iter().map(|(key, _)| *key).collect();
    announce_plays(&mut transaction, &keys).await?;
    session::commit(transaction).await?;
    let id = |(_, bytes): &(i64, Vec<u8>)| {
        Uuid::from_slice(bytes)
            .map(CardId)
            .map_err(|_| rows::corrupt("id"))
    };
    closed.iter().map(id).collect()
}

/// Lets idle times begin anew if no server was there.
pub(crate) async fn resume(pool: &PgPool) -> Result<(), StoreError> {
    let mut transaction = pool.begin().await?;
    give_sign_of_life(&mut transaction).await?;
    session::commit(transaction).await
}

/// Notes that a server is there. If the last such note is old, nobody could use a card meanwhile, and idle times begin anew.
async fn give_sign_of_life(connection: &mut PgConnection) -> Result<(), StoreError> {
    let query = sqlx::query_scalar("SELECT rhae.now_ms() - at_ms FROM rhae.alive FOR UPDATE");
    let silence_ms: i64 = query.fetch_one(&mut *connection).await?;
    if silence_ms > AWAY_MS {
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
