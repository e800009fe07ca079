//! The rows of idempotency keys, in the writer's transaction.
//!
//! There is one writer at a time, so that a key that is not there when it is looked for is not there when it is inserted either.
//! Whoever calls this sees to it that no two of the entries have the same key.

use std::collections::HashSet;

use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Row};

use crate::sqlite::writer::Append;
use crate::{CardId, Once, StoreError};

/// Refuses a request whose key has been used.
pub(crate) async fn check(connection: &mut SqliteConnection, once: Option<&Once>) -> Result<(), StoreError> {
    let Some(once) = once else {
        return Ok(());
    };
    let query = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM requests WHERE owner = ?1 AND key = ?2)");
    let used = query.bind(once.owner.0.to_vec()).bind(once.key.clone()).fetch_one(connection).await?;
    if used { Err(StoreError::KeyUsed) } else { Ok(()) }
}

/// Those of the entries' requests whose keys have been used. Entries without a key cost nothing.
pub(crate) async fn used<'a>(connection: &mut SqliteConnection, appends: &'a [Append]) -> Result<HashSet<&'a Once>, StoreError> {
    let requests: Vec<&Once> = appends.iter().filter_map(|append| append.once.as_ref()).collect();
    if requests.is_empty() {
        return Ok(HashSet::new());
    }
    let mut query = QueryBuilder::new("SELECT owner, key FROM requests WHERE (owner, key) IN (");
    query.push_values(&requests, |mut row, once| {
        row.push_bind(once.owner.0.to_vec()).push_bind(once.key.clone());
    });
    query.push(")");
    let mut used = HashSet::new();
    for row in query.build().fetch_all(connection).await? {
        let (owner, key): (&[u8], &str) = (row.try_get(0)?, row.try_get(1)?);
        used.extend(requests.iter().filter(|once| once.owner.0 == owner && once.key == key));
    }
    Ok(used)
}

/// Keeps the keys of entries that were appended.
pub(crate) async fn keep(connection: &mut SqliteConnection, appends: Vec<&Append>) -> Result<(), StoreError> {
    if appends.is_empty() {
        return Ok(());
    }
    let mut query = QueryBuilder::new("INSERT INTO requests (owner, key, digest, play, entry, at_ms) ");
    let keyed = appends.iter().filter_map(|append| append.once.as_ref().map(|once| (append, once)));
    query.push_values(keyed, |mut row, (append, once)| {
        row.push_bind(once.owner.0.to_vec()).push_bind(once.key.clone()).push_bind(once.digest.to_vec());
        row.push_bind(append.play.0).push_bind(append.index).push_bind(append.at_ms.cast_signed());
    });
    query.build().execute(connection).await?;
    Ok(())
}

/// Keeps the key of a card that was opened.
pub(crate) async fn keep_card(connection: &mut SqliteConnection, once: &Once, card: CardId, at_ms: u64) -> Result<(), StoreError> {
    let query = sqlx::query("INSERT INTO requests (owner, key, digest, card, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)");
    let query = query.bind(once.owner.0.to_vec()).bind(once.key.clone()).bind(once.digest.to_vec());
    query.bind(card.0.as_bytes().to_vec()).bind(at_ms.cast_signed()).execute(connection).await?;
    Ok(())
}

/// Drops the keys of requests that were carried out before this time, and says how many.
pub(crate) async fn forget(connection: &mut SqliteConnection, before_ms: u64) -> Result<u64, StoreError> {
    let query = sqlx::query("DELETE FROM requests WHERE at_ms < ?1").bind(before_ms.cast_signed());
    Ok(query.execute(connection).await?.rows_affected())
}
