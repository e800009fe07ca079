//! Keeps each play's counts (levels, resets, actions) up to date, in the same transaction that
//! appends to its log and while this transaction holds the lock on the play's row.

use std::collections::HashMap;

use rhae_protocol::RunOutcome;
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};

use crate::play_cache::PlayCache;
use crate::postgres::rows;
use crate::postgres::writer::Append;
use crate::{PlayId, PlayKey, RunCounts, StoreError};

/// Counts entries that the transaction has just inserted, at most one per play.
pub(crate) async fn update(
    connection: &mut PgConnection,
    play_cache: &mut PlayCache,
    inserted: &[(&Append, PlayId)],
) -> Result<(), StoreError> {
    let plays: Vec<PlayKey> = inserted.iter().map(|(append, _)| append.play).collect();
    play_cache.make_room(&plays);
    let is_uncached =
        |(append, _): &&(&Append, PlayId)| !play_cache.is_current(append.play, append.index);
    let uncached: Vec<(&Append, PlayId)> = inserted.iter().filter(is_uncached).copied().collect();
    let mut stored = read(connection, &uncached).await?;
    for (append, id) in uncached {
        let last = match stored.remove(&append.play) {
            Some(last) => last,
            None => recount(connection, append).await?,
        };
        play_cache.insert(append.play, id, append.index, last);
    }
    for (append, _) in inserted {
        play_cache.count(append.play, &append.entry);
    }
    let changed: Vec<ChangedRun<'_>> = inserted
        .iter()
        .filter_map(|(append, _)| {
            Some(ChangedRun {
                play: append.play,
                counts: play_cache.last(append.play)?,
                bytes: append.bytes(),
            })
        })
        .collect();
    write(connection, &changed).await
}

/// The counts of a run, and the bytes that the transaction adds to it.
pub(crate) struct ChangedRun<'a> {
    pub(crate) play: PlayKey,
    pub(crate) counts: &'a RunCounts,
    pub(crate) bytes: i64,
}

/// Reads the last runs of these plays. Missing and corrupt rows are omitted.
async fn read(
    connection: &mut PgConnection,
    appends: &[(&Append, PlayId)],
) -> Result<HashMap<PlayKey, RunCounts>, StoreError> {
    if appends.is_empty() {
        return Ok(HashMap::new());
    }
    let plays: Vec<i64> = appends.iter().map(|(append, _)| append.play.0).collect();
    let query = sqlx::query(
        "SELECT DISTINCT ON (play) * FROM rhae.runs WHERE play = ANY ($1) ORDER BY play, run DESC",
    );
    let found = query.bind(plays).fetch_all(connection).await?;
    // A corrupt row is recomputed from the log, like a missing one.
    let last = |row: &PgRow| Some((PlayKey(row.try_get("play").ok()?), run(row).ok()?));
    Ok(found.iter().filter_map(last).collect())
}

/// Recomputes and stores the missing or corrupt counts of a play from the log entries before this
/// one. Returns the counts of the last run.
async fn recount(connection: &mut PgConnection, append: &Append) -> Result<RunCounts, StoreError> {
    let query = sqlx::query("SELECT * FROM rhae.log WHERE play = $1 AND entry < $2 ORDER BY entry");
    let entries = query
        .bind(append.play.0)
        .bind(i64::from(append.index))
        .fetch_all(&mut *connection)
        .await?;
    // A corrupt log counts as empty, because it must not block the other plays of the transaction.
    // `rhae db check` reports it.
    let entries = entries
        .iter()
        .map(rows::entry)
        .collect::<Result<Vec<_>, _>>()
        .unwrap_or_default();
    let runs = RunCounts::of_log(&entries);
    for counts in &runs {
        let changed = ChangedRun {
            play: append.play,
            counts,
            bytes: 0,
        };
        write(connection, &[changed]).await?;
    }
    Ok(runs.last().cloned().unwrap_or_default())
}

/// Writes runs, at most one per play.
pub(crate) async fn write(
    connection: &mut PgConnection,
    runs: &[ChangedRun<'_>],
) -> Result<(), StoreError> {
    if runs.is_empty() {
        return Ok(());
    }
    let query = sqlx::query(
        "INSERT INTO rhae.runs (play, run, level, state, resets, actions, levels, bytes)
         SELECT * FROM unnest($1::bigint[], $2::integer[], $3::smallint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
             $8::bigint[])
         ON CONFLICT (play, run) DO UPDATE SET level = excluded.level, state = excluded.state, resets = excluded.resets,
             actions = excluded.actions, levels = excluded.levels, bytes = runs.bytes + excluded.bytes",
    );
    let query = query
        .bind(column(runs, |run| run.play.0))
        .bind(column(runs, |run| run.counts.run.cast_signed()));
    let query = query.bind(column(runs, |run| i16::from(run.counts.level)));
    let query = query.bind(column(runs, |run| run.counts.outcome.state.name()));
    let query = query.bind(column(runs, |run| run.counts.outcome.resets.cast_signed()));
    let query = query.bind(column(runs, |run| run.counts.actions().cast_signed()));
    let query = query.bind(column(runs, |run| run.counts.levels_text()));
    query
        .bind(column(runs, |run| run.bytes))
        .execute(connection)
        .await?;
    Ok(())
}

/// Collects one column of all rows, for `unnest`.
fn column<'a, T>(runs: &'a [ChangedRun<'a>], value: impl Fn(&'a ChangedRun<'a>) -> T) -> Vec<T> {
    runs.iter().map(value).collect()
}

/// Reads a row of the table `runs`.
pub(crate) fn run(row: &PgRow) -> Result<RunCounts, StoreError> {
    let levels = RunCounts::levels_from(row.try_get("levels")?)?;
    let state = rows::state(row)?;
    let outcome = RunOutcome {
        state,
        levels,
        resets: rows::number_u64(row, "resets")?,
        ..RunOutcome::default()
    };
    Ok(RunCounts {
        run: rows::number_u32(row, "run")?,
        level: rows::number_u8(row, "level")?,
        outcome,
    })
}
