//! The rows of idempotency keys.

use std::collections::HashSet;

use sqlx::Row;
use sqlx::postgres::{PgConnection, PgPool};

use crate::postgres::rows;
use crate::{CardId, Kept, Once, Owner, PlayKey, StoreError};

/// What is kept of the owner's request with this key.
pub(crate) async fn recall(
    pool: &PgPool,
    owner: Owner,
    key: &str,
) -> Result<Option<Kept>, StoreError> {
    let query = sqlx::query(
        "SELECT digest, requests.card, entry, plays.id AS play
         FROM rhae.requests LEFT JOIN rhae.plays ON plays.key = requests.play WHERE owner = $1 AND requests.key = $2",
    );
    query
        .bind(&owner.0[..])
        .bind(key)
        .fetch_optional(pool)
        .await?
        .as_ref()
        .map(rows::kept)
        .transpose()
}

/// Forgets the keys of requests that were carried out longer ago than this.
pub(crate) async fn forget(pool: &PgPool, age_ms: u64) -> Result<u64, StoreError> {
    let query = sqlx::query("DELETE FROM rhae.requests WHERE at_ms < rhae.now_ms() - $1")
        .bind(age_ms.cast_signed());
    Ok(query.execute(pool).await?.rows_affected())
}

/// Takes the keys of entries, in the order of their names, and gives those that were free. Waits for other transactions
/// that have taken one of them.
pub(crate) async fn take<'a>(
    connection: &mut PgConnection,
    mut requests: Vec<(&'a Once, PlayKey, i32)>,
) -> Result<HashSet<&'a Once>, StoreError> {
    if requests.is_empty() {
        return Ok(HashSet::new());
    }
    requests.sort_by_key(|(once, ..)| (once.owner.0, once.key.as_str()));
    let query = sqlx::query(
        "INSERT INTO rhae.requests (owner, key, digest, play, entry, at_ms)
         SELECT *, rhae.now_ms() FROM unnest($1::bytea[], $2::text[], $3::bytea[], $4::bigint[], $5::integer[])
         ON CONFLICT DO NOTHING RETURNING owner, key",
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(once, ..)| &once.owner.0[..])
            .collect::<Vec<_>>(),
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(once, ..)| once.key.as_str())
            .collect::<Vec<_>>(),
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(once, ..)| &once.digest[..])
            .collect::<Vec<_>>(),
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(_, play, _)| play.0)
            .collect::<Vec<_>>(),
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(.., entry)| *entry)
            .collect::<Vec<_>>(),
    );
    let mut taken = HashSet::new();
    for row in query.fetch_all(connection).await? {
        let (owner, key): (&[u8], &str) = (row.try_get(0)?, row.try_get(1)?);
        taken.extend(
            requests
                .iter()
                .map(|(once, ..)| *once)
                .filter(|once| once.owner.0 == owner && once.key == key),
        );
    }
    Ok(taken)
}

/// Takes the key of a card that is being opened.
pub(crate) async fn take_for_card(
    connection: &mut PgConnection,
    once: &Once,
    card: CardId,
) -> Result<(), StoreError> {
    let query = sqlx::query(
        "INSERT INTO rhae.requests (owner, key, digest, card, at_ms) VALUES ($1, $2, $3, $4, rhae.now_ms()) ON CONFLICT DO NOTHING",
    );
    let query = query
        .bind(&once.owner.0[..])
        .bind(&once.key)
        .bind(&once.digest[..])
        .bind(&card.0.as_bytes()[..]);
    if query.execute(connection).await?.rows_affected() == 0 {
        Err(StoreError::KeyUsed)
    } else {
        Ok(())
    }
}
