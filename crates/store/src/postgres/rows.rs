//! Conversion of rows into values. Other programs may have changed the database, so every field is
//! checked.

use rhae_engine::{GameId, PlayState};
use rhae_protocol::{Details, Entry, ResetRule};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{
    Card, CardId, CardKey, CompletedRequest, Owner, PlayId, PlayKey, RequestOutcome, StoreError,
    StoredPlay,
};

pub(crate) fn card(row: &PgRow) -> Result<Card, StoreError> {
    let opaque: Option<&str> = row.try_get("opaque")?;
    let source_url: Option<&str> = row.try_get("source_url")?;
    Ok(Card {
        key: CardKey(row.try_get("key")?),
        id: CardId(uuid(row, "id")?),
        owner: owner(row)?,
        tags: serde_json::from_str(row.try_get("tags")?).map_err(|_| corrupt("tags"))?,
        source_url: source_url
            .map(serde_json::from_str)
            .transpose()
            .map_err(|_| corrupt("source_url"))?,
        opaque: opaque
            .map(serde_json::from_str)
            .transpose()
            .map_err(|_| corrupt("opaque"))?,
        competition: row.try_get("competition")?,
        games: games(row.try_get("games")?)?,
        opened_ms: number_u64(row, "opened_ms")?,
        used_ms: number_u64(row, "used_ms")?,
        closed_ms: row
            .try_get::<Option<i64>, _>("closed_ms")?
            .map(i64::cast_unsigned),
    })
}

pub(crate) fn play(row: &PgRow) -> Result<StoredPlay, StoreError> {
    let rule: &str = row.try_get("rule")?;
    let rules = [ResetRule::Official, ResetRule::LevelsOnly];
    Ok(StoredPlay {
        key: PlayKey(row.try_get("key")?),
        id: PlayId(uuid(row, "id")?),
        card: CardKey(row.try_get("card")?),
        owner: owner(row)?,
        game_id: row
            .try_get::<&str, _>("game_id")?
            .parse()
            .map_err(|_| corrupt("game_id"))?,
        seed: row.try_get::<i64, _>("seed")?.cast_unsigned(),
        rule: rules
            .into_iter()
            .find(|known| known.name() == rule)
            .ok_or_else(|| corrupt("rule"))?,
        win_levels: number_u8(row, "win_levels")?,
        source_digest: row.try_get("source_digest")?,
    })
}

pub(crate) fn entry(row: &PgRow) -> Result<Entry, StoreError> {
    let reasoning: Option<&str> = row.try_get("reasoning")?;
    let reasoning = reasoning
        .map(serde_json::from_str)
        .transpose()
        .map_err(|_| corrupt("reasoning"))?;
    Ok(Entry {
        action: row
            .try_get::<&str, _>("action")?
            .parse()
            .map_err(|_| corrupt("action"))?,
        hash: row.try_get::<i64, _>("hash")?.cast_unsigned(),
        frames: None,
        state: state(row)?,
        levels_completed: number_u8(row, "levels_completed")?,
        full_reset: row.try_get("full_reset")?,
        counted: row.try_get("counted")?,
        changed: Some(row.try_get("changed")?),
        details: Details {
            reasoning,
            ..Details::default()
        },
    })
}

/// Reads the record of a request. The column `play` must be the play's public id.
pub(crate) fn completed_request(row: &PgRow) -> Result<CompletedRequest, StoreError> {
    let digest = row
        .try_get::<&[u8], _>("digest")?
        .try_into()
        .map_err(|_| corrupt("digest"))?;
    let outcome = match row.try_get::<Option<i32>, _>("entry")? {
        Some(entry) => {
            let entry = u32::try_from(entry).map_err(|_| corrupt("entry"))?;
            RequestOutcome::Entry {
                play: PlayId(uuid(row, "play")?),
                entry,
            }
        }
        None => RequestOutcome::Card(CardId(uuid(row, "card")?)),
    };
    Ok(CompletedRequest { digest, outcome })
}

pub(crate) fn state(row: &PgRow) -> Result<PlayState, StoreError> {
    PlayState::from_name(row.try_get("state")?).ok_or_else(|| corrupt("state"))
}

pub(crate) fn uuid(row: &PgRow, column: &'static str) -> Result<Uuid, StoreError> {
    Uuid::from_slice(row.try_get(column)?).map_err(|_| corrupt(column))
}

pub(crate) fn owner(row: &PgRow) -> Result<Owner, StoreError> {
    row.try_get::<&[u8], _>("owner")?
        .try_into()
        .map(Owner)
        .map_err(|_| corrupt("owner"))
}

/// Reads a `bigint` that must not be negative.
pub(crate) fn number_u64(row: &PgRow, column: &'static str) -> Result<u64, StoreError> {
    u64::try_from(row.try_get::<i64, _>(column)?).map_err(|_| corrupt(column))
}

pub(crate) fn number_u8(row: &PgRow, column: &'static str) -> Result<u8, StoreError> {
    u8::try_from(row.try_get::<i16, _>(column)?).map_err(|_| corrupt(column))
}

/// Reads an `integer` that must not be negative.
pub(crate) fn number_u32(row: &PgRow, column: &'static str) -> Result<u32, StoreError> {
    u32::try_from(row.try_get::<i32, _>(column)?).map_err(|_| corrupt(column))
}

fn games(text: &str) -> Result<Vec<GameId>, StoreError> {
    text.split_whitespace()
        .map(|id| id.parse().map_err(|_| corrupt("games")))
        .collect()
}

pub(crate) fn corrupt(column: &str) -> StoreError {
    StoreError::Corrupt(format!("column `{column}`"))
}

pub(crate) fn optional<T: TryFrom<i64>>(
    row: &PgRow,
    column: &str,
) -> Result<Option<T>, StoreError> {
    let value: Option<i64> = row.try_get(column)?;
    let number = |value| T::try_from(value).map_err(|_| corrupt(column));
    value.map(number).transpose()
}
