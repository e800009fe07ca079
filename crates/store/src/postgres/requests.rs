//! Idempotency keys.

use std::collections::HashSet;

use sqlx::Row;
use sqlx::postgres::{PgConnection, PgPool};

use crate::postgres::rows;
use crate::{CardId, CompletedRequest, IdempotencyKey, Owner, PlayKey, StoreError};

/// Returns the record of the owner's request with this key.
pub(crate) async fn completed_request(
    pool: &PgPool,
    owner: Owner,
    key: &str,
) -> Result<Option<CompletedRequest>, StoreError> {
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
        .map(rows::completed_request)
        .transpose()
}

/// Deletes the keys of requests executed more than `age_ms` ago and returns their number.
pub(crate) async fn delete_old(pool: &PgPool, age_ms: u64) -> Result<u64, StoreError> {
    let query = sqlx::query("DELETE FROM rhae.requests WHERE at_ms < rhae.now_ms() - $1")
        .bind(age_ms.cast_signed());
    Ok(query.execute(pool).await?.rows_affected())
}

/// Claims the keys of log entries and returns those that were free. The keys are claimed in the
/// order of owner and name, so that transactions cannot deadlock. If another transaction has
/// claimed one of them, waits until that transaction ends.
pub(crate) async fn claim<'a>(
    connection: &mut PgConnection,
    mut requests: Vec<(&'a IdempotencyKey, PlayKey, i32)>,
) -> Result<HashSet<&'a IdempotencyKey>, StoreError> {
    if requests.is_empty() {
        return Ok(HashSet::new());
    }
    requests.sort_by_key(|(idempotency_key, ..)| {
        (idempotency_key.owner.0, idempotency_key.key.as_str())
    });
    let query = sqlx::query(
        "INSERT INTO rhae.requests (owner, key, digest, play, entry, at_ms)
         SELECT *, rhae.now_ms() FROM unnest($1::bytea[], $2::text[], $3::bytea[], $4::bigint[], $5::integer[])
         ON CONFLICT DO NOTHING RETURNING owner, key",
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(idempotency_key, ..)| &idempotency_key.owner.0[..])
            .collect::<Vec<_>>(),
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(idempotency_key, ..)| idempotency_key.key.as_str())
            .collect::<Vec<_>>(),
    );
    let query = query.bind(
        requests
            .iter()
            .map(|(idempotency_key, ..)| &idempotency_key.digest[..])
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
    let mut claimed = HashSet::new();
    for row in query.fetch_all(connection).await? {
        let (owner, key): (&[u8], &str) = (row.try_get(0)?, row.try_get(1)?);
        claimed.extend(
            requests
                .iter()
                .map(|(idempotency_key, ..)| *idempotency_key)
                .filter(|idempotency_key| {
                    idempotency_key.owner.0 == owner && idempotency_key.key == key
                }),
        );
    }
    Ok(claimed)
}

/// Claims the key of a card that is being opened.
pub(crate) async fn claim_for_card(
    connection: &mut PgConnection,
    idempotency_key: &IdempotencyKey,
    card: CardId,
) -> Result<(), StoreError> {
    let query = sqlx::query(
        "INSERT INTO rhae.requests (owner, key, digest, card, at_ms) VALUES ($1, $2, $3, $4, rhae.now_ms()) ON CONFLICT DO NOTHING",
    );
    let query = query
        .bind(&idempotency_key.owner.0[..])
        .bind(&idempotency_key.key)
        .bind(&idempotency_key.digest[..])
        .bind(&card.0.as_bytes()[..]);
    if query.execute(connection).await?.rows_affected() == 0 {
        Err(StoreError::KeyUsed)
    } else {
        Ok(())
    }
}
