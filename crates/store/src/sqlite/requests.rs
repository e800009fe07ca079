//! The rows of idempotency keys, in the writer's transaction.
//!
//! There is one writer at a time, so that a key that is not there when it is looked for is not there when it is inserted either.

use rusqlite::{Connection, params};

use crate::sqlite::writer::Append;
use crate::{CardId, Once, StoreError};

/// Refuses a request whose key has been used.
pub(crate) fn check(connection: &Connection, once: Option<&Once>) -> Result<(), StoreError> {
    let Some(once) = once else {
        return Ok(());
    };
    let mut statement =
        connection.prepare_cached("SELECT 1 FROM requests WHERE owner = ?1 AND key = ?2")?;
    if statement.exists(params![once.owner.0, once.key])? {
        Err(StoreError::KeyUsed)
    } else {
        Ok(())
    }
}

/// Keeps the key of an entry that was appended, if it has one.
pub(crate) fn keep(connection: &Connection, append: &Append) -> Result<(), StoreError> {
    let Some(once) = &append.once else {
        return Ok(());
    };
    let statement = "INSERT INTO requests (owner, key, digest, play, entry, at_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![
        once.owner.0,
        once.key,
        once.digest,
        append.play.0,
        append.index,
        append.at_ms.cast_signed()
    ];
    connection.prepare_cached(statement)?.execute(values)?;
    Ok(())
}

/// Keeps the key of a card that was opened.
pub(crate) fn keep_card(
    connection: &Connection,
    once: &Once,
    card: CardId,
    at_ms: u64,
) -> Result<(), StoreError> {
    let statement =
        "INSERT INTO requests (owner, key, digest, card, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![
        once.owner.0,
        once.key,
        once.digest,
        card.0.as_bytes(),
        at_ms.cast_signed()
    ];
    connection.prepare_cached(statement)?.execute(values)?;
    Ok(())
}

/// Drops the keys of requests that were carried out before this time, and says how many.
pub(crate) fn forget(connection: &Connection, before_ms: u64) -> Result<u64, StoreError> {
    let dropped = connection.execute(
        "DELETE FROM requests WHERE at_ms < ?1",
        [before_ms.cast_signed()],
    )?;
    Ok(u64::try_from(dropped).unwrap_or(u64::MAX))
}
