//! Conversion of rows into values. Other programs may have changed the file, so every field is
//! checked.

use rhae_engine::{GameId, PlayState};
use rhae_protocol::{Details, Entry, ResetRule};
use rusqlite::Row;
use uuid::Uuid;

use crate::{
    Card, CardId, CardKey, CompletedRequest, Owner, PlayId, PlayKey, RequestOutcome, StoreError,
    StoredPlay,
};

pub(crate) fn card(row: &Row<'_>) -> Result<Card, StoreError> {
    let opaque: Option<String> = row.get("opaque")?;
    Ok(Card {
        key: CardKey(row.get("key")?),
        id: card_id(row)?,
        owner: owner(row)?,
        tags: serde_json::from_str(text(row, "tags")?).map_err(|_| corrupt("tags"))?,
        source_url: row.get("source_url")?,
        opaque: opaque
            .as_deref()
            .map(serde_json::from_str)
            .transpose()
            .map_err(|_| corrupt("opaque"))?,
        competition: row.get("competition")?,
        games: games(text(row, "games")?)?,
        opened_ms: number(row, "opened_ms")?,
        used_ms: number(row, "used_ms")?,
        closed_ms: row
            .get::<_, Option<i64>>("closed_ms")?
            .map(i64::cast_unsigned),
    })
}

pub(crate) fn play(row: &Row<'_>) -> Result<StoredPlay, StoreError> {
    let rule = text(row, "rule")?;
    let rules = [ResetRule::Official, ResetRule::LevelsOnly];
    Ok(StoredPlay {
        key: PlayKey(row.get("key")?),
        id: play_id(row)?,
        card: CardKey(row.get("card")?),
        owner: owner(row)?,
        game_id: text(row, "game_id")?
            .parse()
            .map_err(|_| corrupt("game_id"))?,
        seed: row.get::<_, i64>("seed")?.cast_unsigned(),
        rule: rules
            .into_iter()
            .find(|known| known.name() == rule)
            .ok_or_else(|| corrupt("rule"))?,
        win_levels: number(row, "win_levels")?,
        source_digest: row.get("source_digest")?,
    })
}

pub(crate) fn entry(row: &Row<'_>) -> Result<Entry, StoreError> {
    let reasoning: Option<String> = row.get("reasoning")?;
    let reasoning = reasoning
        .as_deref()
        .map(serde_json::from_str)
        .transpose()
        .map_err(|_| corrupt("reasoning"))?;
    Ok(Entry {
        action: text(row, "action")?
            .parse()
            .map_err(|_| corrupt("action"))?,
        hash: row.get::<_, i64>("hash")?.cast_unsigned(),
        frames: None,
        state: state(row)?,
        levels_completed: number(row, "levels_completed")?,
        full_reset: row.get("full_reset")?,
        counted: row.get("counted")?,
        changed: Some(row.get("changed")?),
        details: Details {
            reasoning,
            ..Details::default()
        },
    })
}

/// Reads the record of a request. The column `play` must be the play's public id.
pub(crate) fn completed_request(row: &Row<'_>) -> Result<CompletedRequest, StoreError> {
    let digest = blob(row, "digest")?
        .try_into()
        .map_err(|_| corrupt("digest"))?;
    let outcome = match row.get::<_, Option<i64>>("entry")? {
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

pub(crate) fn card_id(row: &Row<'_>) -> Result<CardId, StoreError> {
    uuid(row, "id").map(CardId)
}

pub(crate) fn play_id(row: &Row<'_>) -> Result<PlayId, StoreError> {
    uuid(row, "id").map(PlayId)
}

pub(crate) fn state(row: &Row<'_>) -> Result<PlayState, StoreError> {
    PlayState::from_name(text(row, "state")?).ok_or_else(|| corrupt("state"))
}

pub(crate) fn uuid(row: &Row<'_>, column: &str) -> Result<Uuid, StoreError> {
    Uuid::from_slice(blob(row, column)?).map_err(|_| corrupt(column))
}

pub(crate) fn text<'a>(row: &'a Row<'_>, column: &str) -> Result<&'a str, StoreError> {
    row.get_ref(column)?.as_str().map_err(|_| corrupt(column))
}

pub(crate) fn blob<'a>(row: &'a Row<'_>, column: &str) -> Result<&'a [u8], StoreError> {
    row.get_ref(column)?.as_blob().map_err(|_| corrupt(column))
}

pub(crate) fn number<T: TryFrom<i64>>(row: &Row<'_>, column: &str) -> Result<T, StoreError> {
    T::try_from(row.get(column)?).map_err(|_| corrupt(column))
}

pub(crate) fn optional<T: TryFrom<i64>>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, StoreError> {
    let value: Option<i64> = row.get(column)?;
    let number = |value| T::try_from(value).map_err(|_| corrupt(column));
    value.map(number).transpose()
}

pub(crate) fn owner(row: &Row<'_>) -> Result<Owner, StoreError> {
    blob(row, "owner")?
        .try_into()
        .map(Owner)
        .map_err(|_| corrupt("owner"))
}

fn games(text: &str) -> Result<Vec<GameId>, StoreError> {
    text.split_whitespace()
        .map(|id| id.parse().map_err(|_| corrupt("games")))
        .collect()
}

pub(crate) fn corrupt(column: &str) -> StoreError {
    StoreError::Corrupt(format!("column `{column}`"))
}
