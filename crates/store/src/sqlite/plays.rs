//! Reading plays: their facts, their logs from any entry on, their counts, their snapshots; and lists of cards.

use sqlx::Row;
use sqlx::sqlite::{SqlitePool, SqliteRow};

use crate::sqlite::{counts, rows};
use crate::{Card, CardKey, Owner, PlayFacts, PlayId, PlayKey, RunCounts, Snapshot, StoreError, Summed, Timed};

/// A statement that gives the facts of plays.
macro_rules! facts {
    ($which:literal) => {
        concat!(
            "SELECT plays.*, owner, cards.id AS card_id, competition, closed_ms,
                    first.at_ms AS opened_ms, last.entry AS last_entry, last.at_ms AS last_ms, last.state, last.levels_completed,
                    coalesce((SELECT sum(actions) FROM runs WHERE play = plays.key),
                             (SELECT count(*) FROM log WHERE play = plays.key AND counted)) AS actions
             FROM cards JOIN plays ON cards.key = plays.card
             JOIN log AS first ON first.play = plays.key AND first.entry = 0
             JOIN log AS last ON last.play = plays.key AND last.entry = (SELECT max(entry) FROM log WHERE play = plays.key) ",
            $which
        )
    };
}

pub(crate) async fn facts(readers: &SqlitePool, id: PlayId) -> Result<Option<PlayFacts>, StoreError> {
    let query = sqlx::query(facts!("WHERE plays.id = ?1")).bind(id.0.as_bytes().to_vec());
    query.fetch_optional(readers).await?.as_ref().map(facts_of).transpose()
}

pub(crate) async fn of_owner(readers: &SqlitePool, owner: Owner, most: u32) -> Result<Vec<PlayFacts>, StoreError> {
    let query = sqlx::query(facts!("WHERE owner = ?1 ORDER BY plays.key DESC LIMIT ?2")).bind(owner.0.to_vec()).bind(most);
    query.fetch_all(readers).await?.iter().map(facts_of).collect()
}

/// The time of a card's use is noted to the second, so that of a play's last entry decides.
pub(crate) async fn under_way(
    readers: &SqlitePool,
    owner: Option<Owner>,
    since_ms: u64,
    most: u32,
) -> Result<Vec<PlayFacts>, StoreError> {
    let query = sqlx::query(facts!(
        "WHERE closed_ms IS NULL AND used_ms >= ?2 - 1000 AND last.at_ms >= ?2 AND (?1 IS NULL OR owner = ?1)
         ORDER BY last.at_ms DESC, plays.key DESC LIMIT ?3"
    ));
    let query = query.bind(owner.map(|owner| owner.0.to_vec())).bind(since_ms.cast_signed()).bind(most);
    query.fetch_all(readers).await?.iter().map(facts_of).collect()
}

pub(crate) async fn cards_before(
    readers: &SqlitePool,
    owner: Option<Owner>,
    before: Option<CardKey>,
    most: u32,
) -> Result<Vec<Card>, StoreError> {
    let query = match owner {
        Some(owner) => sqlx::query("SELECT * FROM cards WHERE owner = ?3 AND key < ?1 ORDER BY key DESC LIMIT ?2")
            .bind(before.map_or(i64::MAX, |key| key.0))
            .bind(most)
            .bind(owner.0.to_vec()),
        None => sqlx::query("SELECT * FROM cards WHERE key < ?1 ORDER BY key DESC LIMIT ?2")
            .bind(before.map_or(i64::MAX, |key| key.0))
            .bind(most),
    };
    query.fetch_all(readers).await?.iter().map(rows::card).collect()
}

fn facts_of(row: &SqliteRow) -> Result<PlayFacts, StoreError> {
    Ok(PlayFacts {
        play: rows::play(row)?,
        card: rows::uuid(row, "card_id").map(crate::CardId)?,
        competition: row.try_get("competition")?,
        closed_ms: row.try_get::<Option<i64>, _>("closed_ms")?.map(i64::cast_unsigned),
        opened_ms: rows::number(row, "opened_ms")?,
        last_ms: rows::number(row, "last_ms")?,
        entries: rows::number::<u32>(row, "last_entry")?.saturating_add(1),
        state: rows::state(row)?,
        levels_completed: rows::number(row, "levels_completed")?,
        actions: rows::number(row, "actions")?,
    })
}

pub(crate) async fn log_from(readers: &SqlitePool, play: PlayKey, from: u32, most: u32) -> Result<Vec<Timed>, StoreError> {
    let query = sqlx::query("SELECT * FROM log WHERE play = ?1 AND entry >= ?2 ORDER BY entry LIMIT ?3");
    let found = query.bind(play.0).bind(from).bind(most).fetch_all(readers).await?;
    let timed = |row: &SqliteRow| {
        let (index, at_ms) = (rows::number(row, "entry")?, rows::number(row, "at_ms")?);
        Ok(Timed { index, entry: rows::entry(row)?, at_ms })
    };
    found.iter().map(timed).collect()
}

pub(crate) async fn runs(readers: &SqlitePool, play: PlayKey) -> Result<Vec<RunCounts>, StoreError> {
    let query = sqlx::query("SELECT * FROM runs WHERE play = ?1 ORDER BY run").bind(play.0);
    query.fetch_all(readers).await?.iter().map(counts::run).collect()
}

pub(crate) async fn card_runs(readers: &SqlitePool, card: CardKey) -> Result<Vec<Summed>, StoreError> {
    // One statement, so that what it gives stood in the database at one moment.
    let query = sqlx::query(
        "SELECT plays.*, owner, runs.run, runs.level, runs.state, runs.resets, runs.levels
         FROM plays JOIN cards ON cards.key = plays.card LEFT JOIN runs ON runs.play = plays.key
         WHERE card = ?1 ORDER BY plays.key, runs.run",
    );
    let mut plays: Vec<(crate::Play, Vec<RunCounts>)> = Vec::new();
    for row in &query.bind(card.0).fetch_all(readers).await? {
        let key = PlayKey(row.try_get("key")?);
        if plays.last().is_none_or(|(play, _)| play.key != key) {
            plays.push((rows::play(row)?, Vec::new()));
        }
        let counted = row.try_get::<Option<i64>, _>("run")?.is_some();
        if let Some((_, runs)) = plays.last_mut().filter(|_| counted) {
            runs.push(counts::run(row)?);
        }
    }
    let mut summed = Vec::with_capacity(plays.len());
    for (play, mut runs) in plays {
        if runs.is_empty() {
            let log = log_from(readers, play.key, 0, u32::MAX).await?;
            runs = RunCounts::of_log(log.iter().map(|timed| &timed.entry));
        }
        summed.push(Summed { play, runs: RunCounts::outcomes(runs) });
    }
    Ok(summed)
}

pub(crate) async fn after(readers: &SqlitePool, after: Option<PlayKey>, most: u32) -> Result<Vec<crate::Play>, StoreError> {
    let query = sqlx::query(
        "SELECT plays.*, owner FROM plays JOIN cards ON cards.key = plays.card WHERE plays.key > ?1 ORDER BY plays.key LIMIT ?2",
    );
    query.bind(after.map_or(i64::MIN, |key| key.0)).bind(most).fetch_all(readers).await?.iter().map(rows::play).collect()
}

pub(crate) async fn count(readers: &SqlitePool) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM plays").fetch_one(readers).await?;
    Ok(count.cast_unsigned())
}

pub(crate) async fn snapshots(readers: &SqlitePool, play: PlayKey) -> Result<Vec<Snapshot>, StoreError> {
    let query = sqlx::query("SELECT entries, bytes FROM snapshots WHERE play = ?1 ORDER BY entries DESC").bind(play.0);
    let snapshot = |row: &SqliteRow| Ok(Snapshot { entries: rows::number(row, "entries")?, bytes: row.try_get("bytes")? });
    query.fetch_all(readers).await?.iter().map(snapshot).collect()
}
