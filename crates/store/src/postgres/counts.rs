//! The counts of plays beside their logs, brought up to date in the transaction that appends, while it holds the plays' rows.

use std::collections::HashMap;

use rhae_protocol::PlayOutcome;
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};

use crate::postgres::rows;
use crate::postgres::writer::Append;
use crate::remembered::Remembered;
use crate::{PlayId, PlayKey, RunCounts, StoreError};

/// Counts entries that were just inserted, each of another play.
pub(crate) async fn update(
    connection: &mut PgConnection,
    remembered: &mut Remembered,
    inserted: &[(&Append, PlayId)],
) -> Result<(), StoreError> {
    let plays: Vec<PlayKey> = inserted.iter().map(|(append, _)| append.play).collect();
    remembered.make_room(&plays);
    let is_unknown =
        |(append, _): &&(&Append, PlayId)| !remembered.is_good_for(append.play, append.index);
    let unknown: Vec<(&Append, PlayId)> = inserted.iter().filter(is_unknown).copied().collect();
    let mut stored = read(connection, &unknown).await?;
    for (append, id) in unknown {
        let last = match stored.remove(&append.play) {
            Some(last) => last,
            None => count_again(connection, append).await?,
        };
        remembered.learn(append.play, id, append.index, last);
    }
    for (append, _) in inserted {
        remembered.count(append.play, &append.entry);
    }
    let changed: Vec<(PlayKey, &RunCounts)> = plays
        .iter()
        .filter_map(|&play| Some((play, remembered.last(play)?)))
        .collect();
    write(connection, &changed).await
}

/// The last runs of these plays, as far as their rows can be read.
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
    // A row that other hands have spoilt is made again, as one that is missing.
    let last = |row: &PgRow| Some((PlayKey(row.try_get("play").ok()?), run(row).ok()?));
    Ok(found.iter().filter_map(last).collect())
}

/// Counts a log up to this entry, because its counts are missing.
async fn count_again(
    connection: &mut PgConnection,
    append: &Append,
) -> Result<RunCounts, StoreError> {
    let query = sqlx::query("SELECT * FROM rhae.log WHERE play = $1 AND entry < $2 ORDER BY entry");
    let entries = query
        .bind(append.play.0)
        .bind(i64::from(append.index))
        .fetch_all(&mut *connection)
        .await?;
    // A log that cannot be read must not hold up the other plays of the transaction. Checks report such a play.
    let entries = entries
        .iter()
        .map(rows::entry)
        .collect::<Result<Vec<_>, _>>()
        .unwrap_or_default();
    let runs = RunCounts::of_log(&entries);
    for run in &runs {
        write(connection, &[(append.play, run)]).await?;
    }
    Ok(runs.last().cloned().unwrap_or_default())
}

/// Writes runs of different plays.
pub(crate) async fn write(
    connection: &mut PgConnection,
    runs: &[(PlayKey, &RunCounts)],
) -> Result<(), StoreError> {
    if runs.is_empty() {
        return Ok(());
    }
    let query = sqlx::query(
        "INSERT INTO rhae.runs (play, run, level, state, resets, actions, levels)
         SELECT * FROM unnest($1::bigint[], $2::integer[], $3::smallint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
         ON CONFLICT (play, run) DO UPDATE SET level = excluded.level, state = excluded.state, resets = excluded.resets,
             actions = excluded.actions, levels = excluded.levels",
    );
    let query = query
        .bind(column(runs, |play, _| play.0))
        .bind(column(runs, |_, run| run.run.cast_signed()));
    let query = query.bind(column(runs, |_, run| i16::from(run.level)));
    let query = query.bind(column(runs, |_, run| run.outcome.state.clone()));
    let query = query.bind(column(runs, |_, run| run.outcome.resets.cast_signed()));
    let query = query.bind(column(runs, |_, run| run.actions().cast_signed()));
    query
        .bind(column(runs, |_, run| run.levels_text()))
        .execute(connection)
        .await?;
    Ok(())
}

/// One column of many rows.
fn column<T>(runs: &[(PlayKey, &RunCounts)], value: impl Fn(PlayKey, &RunCounts) -> T) -> Vec<T> {
    runs.iter().map(|&(play, run)| value(play, run)).collect()
}

/// A row of the table.
pub(crate) fn run(row: &PgRow) -> Result<RunCounts, StoreError> {
    let levels = RunCounts::levels_from(row.try_get("levels")?)?;
    let state = row.try_get::<&str, _>("state")?.to_owned();
    let outcome = PlayOutcome {
        state,
        levels,
        resets: rows::large(row, "resets")?,
        ..PlayOutcome::default()
    };
    Ok(RunCounts {
        run: rows::count(row, "run")?,
        level: rows::level(row, "level")?,
        outcome,
    })
}
