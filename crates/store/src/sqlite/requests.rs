//! Idempotency keys in the writer's transaction.
//!
//! SQLite allows one write transaction at a time. A key that is free when [`check`] looks for it is
//! therefore still free when it is inserted.

use rusqlite::{Connection, params};

use crate::sqlite::writer::Append;
use crate::{CardId, IdempotencyKey, StoreError};

/// Rejects a request whose key is taken.
pub(crate) fn check(
    connection: &Connection,
    idempotency_key: Option<&IdempotencyKey>,
) -> Result<(), StoreError> {
    let Some(idempotency_key) = idempotency_key else {
        return Ok(());
    };
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM requests WHERE owner = ?1 AND key = ?2")?;
    if statement.exists(params![idempotency_key.owner.0, idempotency_key.key])? {
        Err(StoreError::KeyUsed)
    } else {
        Ok(())
    }
}

/// Records the key of an appended entry, if it has one.
pub(crate) fn record(connection: &Connection, append: &Append) -> Result<(), StoreError> {
    let Some(idempotency_key) = &append.idempotency_key else {
        return Ok(());
    };
    let statement = "INSERT INTO requests (owner, key, digest, play, entry, at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![
        idempotency_key.owner.0,
        idempotency_key.key,
        idempotency_key.digest,
        append.play.0,
        append.index,
        append.at_ms.cast_signed()
    ];
    connection.prepare_cached(statement)?.execute(values)?;
    Ok(())
}

/// Records the key of an opened card.
pub(crate) fn record_card(
    connection: &Connection,
    idempotency_key: &IdempotencyKey,
    card: CardId,
    at_ms: u64,
) -> Result<(), StoreError> {
    let statement =
        "INSERT INTO requests (owner, key, digest, card, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![
        idempotency_key.owner.0,
        idempotency_key.key,
        idempotency_key.digest,
        card.0.as_bytes(),
        at_ms.cast_signed()
    ];
    connection.prepare_cached(statement)?.execute(values)?;
    Ok(())
}

/// Deletes the keys of requests executed before this time and returns their number.
pub(crate) fn delete_old(connection: &Connection, before_ms: u64) -> Result<u64, StoreError> {
    let deleted = connection.execute(
        "DELETE FROM requests WHERE at_ms < ?1",
        [before_ms.cast_signed()],
    )?;
    Ok(u64::try_from(deleted).unwrap_or(u64::MAX))
}
