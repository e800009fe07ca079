//! Keeps each play's counts (levels, resets, actions) up to date, in the same transaction that
//! appends to its log.
//!
//! In a database written before counts were stored, a play's counts are computed from its log when
//! the next entry is appended.

use rhae_protocol::RunOutcome;
use rusqlite::{Connection, Row, params};

use crate::play_cache::PlayCache;
use crate::sqlite::readers::{all, first};
use crate::sqlite::rows;
use crate::sqlite::writer::Append;
use crate::{PlayId, PlayKey, RunCounts, StoreError};

/// The writer's state for counting.
#[derive(Default)]
pub(crate) struct Counts {
    play_cache: PlayCache,
    /// The plays that the transaction has changed. The writer notifies subscribers of them after
    /// the commit.
    pub(crate) appended: Vec<PlayId>,
}

impl Counts {
    /// Discards the cache and the pending notifications. The writer calls this when a transaction
    /// fails.
    pub(crate) fn clear(&mut self) {
        self.play_cache.clear();
        self.appended.clear();
    }

    /// Starts counting a play that the transaction has created.
    pub(crate) fn start(&mut self, play: PlayKey, id: PlayId) {
        self.play_cache.insert(play, id, 0, RunCounts::default());
    }

    /// Counts an entry that the transaction has just inserted and that takes `bytes`.
    pub(crate) fn update(
        &mut self,
        connection: &Connection,
        append: &Append,
        bytes: i64,
    ) -> Result<(), StoreError> {
        self.play_cache.make_room(&[append.play]);
        if !self.play_cache.is_current(append.play, append.index) {
            let (id, last) = load_or_rebuild(connection, append)?;
            self.play_cache.insert(append.play, id, append.index, last);
        }
        self.appended
            .push(self.play_cache.count(append.play, &append.entry));
        self.play_cache
            .last(append.play)
            .map_or(Ok(()), |last| write(connection, append.play, last, bytes))
    }
}

/// Returns the play's id and the counts of its last run before the appended entry. If they are
/// missing or corrupt, recomputes and stores the counts of all runs.
fn load_or_rebuild(
    connection: &Connection,
    append: &Append,
) -> Result<(PlayId, RunCounts), StoreError> {
    let id = first(
        connection,
        "SELECT id FROM plays WHERE key = ?1",
        [append.play.0],
        rows::play_id,
    )?;
    let id = id.ok_or_else(|| StoreError::Corrupt("a log without a play".to_owned()))?;
    let statement = "SELECT * FROM runs WHERE play = ?1 ORDER BY run DESC LIMIT 1";
    // A corrupt row is recomputed from the log, like a missing one.
    if let Some(last) =
        default_if_corrupt(first(connection, statement, [append.play.0], run_from_row))?
    {
        return Ok((id, last));
    }
    let statement = "SELECT * FROM log WHERE play = ?1 AND entry < ?2 ORDER BY entry";
    // A corrupt log counts as empty, because it must not block the other plays of the transaction.
    // `rhae db check` reports it.
    let entries = default_if_corrupt(all(
        connection,
        statement,
        (append.play.0, append.index),
        rows::entry,
    ))?;
    let runs = RunCounts::of_log(&entries);
    for run in &runs {
        write(connection, append.play, run, 0)?;
    }
    Ok((id, runs.last().cloned().unwrap_or_default()))
}

/// Replaces a corrupt value with the default; other errors are returned unchanged.
fn default_if_corrupt<T: Default>(found: Result<T, StoreError>) -> Result<T, StoreError> {
    match found {
        Err(StoreError::Corrupt(_)) => Ok(T::default()),
        found => found,
    }
}

/// Writes the counts of a run and adds `bytes` to its size.
fn write(
    connection: &Connection,
    play: PlayKey,
    run: &RunCounts,
    bytes: i64,
) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO runs (play, run, level, state, resets, actions, levels, bytes) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (play, run) DO UPDATE SET level = ?3, state = ?4, resets = ?5, actions = ?6, levels = ?7, bytes = bytes + ?8",
    )?;
    let (resets, actions) = (
        run.outcome.resets.cast_signed(),
        run.actions().cast_signed(),
    );
    statement.execute(params![
        play.0,
        run.run,
        run.level,
        run.outcome.state.name(),
        resets,
        actions,
        run.levels_text(),
        bytes
    ])?;
    Ok(())
}

/// Reads a row of the table `runs`.
pub(crate) fn run_from_row(row: &Row<'_>) -> Result<RunCounts, StoreError> {
    let levels = RunCounts::levels_from(rows::text(row, "levels")?)?;
    let state = rows::state(row)?;
    let resets = rows::number(row, "resets")?;
    let outcome = RunOutcome {
        state,
        levels,
        resets,
        ..RunOutcome::default()
    };
    Ok(RunCounts {
        run: rows::number(row, "run")?,
        level: rows::number(row, "level")?,
        outcome,
    })
}
