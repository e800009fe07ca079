//! Queries about plays (state, logs, counts, snapshots) and lists of cards.

use rhae_protocol::Entry;
use rusqlite::{Connection, Row};

use crate::sqlite::readers::{all, first};
use crate::sqlite::{counts, rows};
use crate::{
    Card, CardKey, LogEntry, Owner, PlayFacts, PlayId, PlayKey, PlayLog, PlayRuns, RunCounts,
    Snapshot, StoreError, StoredPlay,
};

/// Selects plays with their owners, which only the cards store.
pub(crate) const PLAYS: &str =
    "SELECT plays.*, owner FROM plays JOIN cards ON cards.key = plays.card";

/// Selects the bytes that an owner has stored: the cards, the plays with their runs, and the log
/// entries. The constants are those of [`usage`](crate::usage).
pub(crate) const STORED_BYTES: &str = "
    SELECT coalesce((SELECT sum(256 + octet_length(tags) + coalesce(octet_length(source_url), 0)
                                + coalesce(octet_length(opaque), 0) + octet_length(games))
                     FROM cards WHERE owner = ?1), 0)
         + coalesce((SELECT sum(512 + runs.bytes)
                     FROM cards JOIN plays ON plays.card = cards.key JOIN runs ON runs.play = plays.key
                     WHERE owner = ?1), 0)";

/// Builds a statement that selects the columns of [`PlayFacts`].
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

pub(crate) fn facts(file: &Connection, id: PlayId) -> Result<Option<PlayFacts>, StoreError> {
    first(
        file,
        facts!("WHERE plays.id = ?1"),
        [id.0.as_bytes()],
        facts_from_row,
    )
}

pub(crate) fn of_owner(
    file: &Connection,
    owner: Owner,
    limit: u32,
) -> Result<Vec<PlayFacts>, StoreError> {
    all(
        file,
        facts!("WHERE owner = ?1 ORDER BY plays.key DESC LIMIT ?2"),
        (owner.0, limit),
        facts_from_row,
    )
}

/// Preselects cards by `used_ms`, which may lag by up to a second, and then selects plays by the
/// time of their last entry.
pub(crate) fn active(
    file: &Connection,
    owner: Option<Owner>,
    since_ms: u64,
    limit: u32,
) -> Result<Vec<PlayFacts>, StoreError> {
    let statement = facts!(
        "WHERE closed_ms IS NULL AND used_ms >= ?2 - 1000 AND last.at_ms >= ?2 AND (?1 IS NULL OR owner = ?1)
         ORDER BY last.at_ms DESC, plays.key DESC LIMIT ?3"
    );
    all(
        file,
        statement,
        (owner.map(|owner| owner.0), since_ms.cast_signed(), limit),
        facts_from_row,
    )
}

pub(crate) fn cards_before(
    file: &Connection,
    owner: Option<Owner>,
    before: Option<CardKey>,
    limit: u32,
) -> Result<Vec<Card>, StoreError> {
    let before = before.map_or(i64::MAX, |key| key.0);
    match owner {
        Some(owner) => {
            let statement =
                "SELECT * FROM cards WHERE owner = ?3 AND key < ?1 ORDER BY key DESC LIMIT ?2";
            all(file, statement, (before, limit, owner.0), rows::card)
        }
        None => all(
            file,
            "SELECT * FROM cards WHERE key < ?1 ORDER BY key DESC LIMIT ?2",
            (before, limit),
            rows::card,
        ),
    }
}

fn facts_from_row(row: &Row<'_>) -> Result<PlayFacts, StoreError> {
    Ok(PlayFacts {
        play: rows::play(row)?,
        card: rows::uuid(row, "card_id").map(crate::CardId)?,
        competition: row.get("competition")?,
        closed_ms: row
            .get::<_, Option<i64>>("closed_ms")?
            .map(i64::cast_unsigned),
        opened_ms: rows::number(row, "opened_ms")?,
        last_ms: rows::number(row, "last_ms")?,
        entries: rows::number::<u32>(row, "last_entry")?.saturating_add(1),
        state: rows::state(row)?,
        levels_completed: rows::number(row, "levels_completed")?,
        actions: rows::number(row, "actions")?,
    })
}

pub(crate) fn log(file: &Connection, play: PlayKey) -> Result<Vec<Entry>, StoreError> {
    all(
        file,
        "SELECT * FROM log WHERE play = ?1 ORDER BY entry",
        [play.0],
        rows::entry,
    )
}

/// Reads the logs of a card's plays, without the clients' `reasoning`.
pub(crate) fn card_log(file: &Connection, card: CardKey) -> Result<Vec<PlayLog>, StoreError> {
    let statement = "SELECT action, hash, state, levels_completed, counted, changed, full_reset, NULL AS reasoning
         FROM log WHERE play = ?1 ORDER BY entry";
    let logged = |play: StoredPlay| {
        Ok(PlayLog {
            entries: all(file, statement, [play.key.0], rows::entry)?,
            play,
        })
    };
    let plays = all(
        file,
        &format!("{PLAYS} WHERE card = ?1 ORDER BY plays.key"),
        [card.0],
        rows::play,
    )?;
    plays.into_iter().map(logged).collect()
}

pub(crate) fn log_from(
    file: &Connection,
    play: PlayKey,
    from: u32,
    limit: u32,
) -> Result<Vec<LogEntry>, StoreError> {
    let statement = "SELECT * FROM log WHERE play = ?1 AND entry >= ?2 ORDER BY entry LIMIT ?3";
    all(file, statement, (play.0, from, limit), |row| {
        let (index, at_ms) = (rows::number(row, "entry")?, rows::number(row, "at_ms")?);
        Ok(LogEntry {
            index,
            entry: rows::entry(row)?,
            at_ms,
        })
    })
}

pub(crate) fn runs(file: &Connection, play: PlayKey) -> Result<Vec<RunCounts>, StoreError> {
    all(
        file,
        "SELECT * FROM runs WHERE play = ?1 ORDER BY run",
        [play.0],
        counts::run_from_row,
    )
}

pub(crate) fn card_runs(file: &Connection, card: CardKey) -> Result<Vec<PlayRuns>, StoreError> {
    // A single statement gives a consistent snapshot of all plays.
    let statement =
        "SELECT plays.*, owner, runs.run, runs.level, runs.state, runs.resets, runs.levels
         FROM plays JOIN cards ON cards.key = plays.card LEFT JOIN runs ON runs.play = plays.key
         WHERE card = ?1 ORDER BY plays.key, runs.run";
    let found = all(file, statement, [card.0], |row| {
        let counted = row.get::<_, Option<i64>>("run")?.is_some();
        Ok((
            rows::play(row)?,
            counted.then(|| counts::run_from_row(row)).transpose()?,
        ))
    })?;
    let mut plays: Vec<(StoredPlay, Vec<RunCounts>)> = Vec::new();
    for (play, run) in found {
        match plays.last_mut() {
            Some((last, runs)) if last.key == play.key => runs.extend(run),
            _ => plays.push((play, run.into_iter().collect())),
        }
    }
    let mut summed = Vec::with_capacity(plays.len());
    for (play, mut runs) in plays {
        if runs.is_empty() {
            runs = RunCounts::of_log(&log(file, play.key)?);
        }
        summed.push(PlayRuns {
            play,
            runs: RunCounts::outcomes(runs),
        });
    }
    Ok(summed)
}

pub(crate) fn after(
    file: &Connection,
    after: Option<PlayKey>,
    limit: u32,
) -> Result<Vec<StoredPlay>, StoreError> {
    let after = after.map_or(i64::MIN, |key| key.0);
    all(
        file,
        &format!("{PLAYS} WHERE plays.key > ?1 ORDER BY plays.key LIMIT ?2"),
        (after, limit),
        rows::play,
    )
}

pub(crate) fn snapshots(file: &Connection, play: PlayKey) -> Result<Vec<Snapshot>, StoreError> {
    let statement = "SELECT entries, bytes FROM snapshots WHERE play = ?1 ORDER BY entries DESC";
    all(file, statement, [play.0], |row| {
        Ok(Snapshot {
            entries: rows::number(row, "entries")?,
            bytes: row.get("bytes")?,
        })
    })
}
