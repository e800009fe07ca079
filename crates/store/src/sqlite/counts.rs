//! The counts of plays beside their logs, brought up to date in the transaction that appends.
//!
//! A play of a file that was made before there were counts is counted from its log when it first goes on.

use rhae_protocol::PlayOutcome;
use rusqlite::{Connection, Row, params};

use crate::remembered::Remembered;
use crate::sqlite::readers::{all, first};
use crate::sqlite::rows;
use crate::sqlite::writer::Append;
use crate::{PlayId, PlayKey, RunCounts, StoreError};

/// What the writer knows of plays.
#[derive(Default)]
pub(crate) struct Counts {
    remembered: Remembered,
    /// The plays that the transaction has appended to, for those who listen.
    pub(crate) appended: Vec<PlayId>,
}

impl Counts {
    /// To be called when a transaction failed: what was counted since its beginning did not happen.
    pub(crate) fn forget(&mut self) {
        self.remembered.forget();
        self.appended.clear();
    }

    /// A play that the transaction has made.
    pub(crate) fn begin(&mut self, play: PlayKey, id: PlayId) {
        self.remembered.learn(play, id, 0, RunCounts::default());
    }

    /// Counts an entry that was just inserted.
    pub(crate) fn update(
        &mut self,
        connection: &Connection,
        append: &Append,
    ) -> Result<(), StoreError> {
        self.remembered.make_room(&[append.play]);
        if !self.remembered.is_good_for(append.play, append.index) {
            let (id, last) = read(connection, append)?;
            self.remembered.learn(append.play, id, append.index, last);
        }
        self.appended
            .push(self.remembered.count(append.play, &append.entry));
        self.remembered
            .last(append.play)
            .map_or(Ok(()), |last| write(connection, append.play, last))
    }
}

/// A play's id and its last run before this entry of its log.
fn read(connection: &Connection, append: &Append) -> Result<(PlayId, RunCounts), StoreError> {
    let id = first(
        connection,
        "SELECT id FROM plays WHERE key = ?1",
        [append.play.0],
        rows::play_id,
    )?;
    let id = id.ok_or_else(|| StoreError::Corrupt("a log without a play".to_owned()))?;
    let statement = "SELECT * FROM runs WHERE play = ?1 ORDER BY run DESC LIMIT 1";
    // A row that other hands have spoilt is made again, as one that is missing.
    if let Some(last) = readable(first(connection, statement, [append.play.0], run))? {
        return Ok((id, last));
    }
    let statement = "SELECT * FROM log WHERE play = ?1 AND entry < ?2 ORDER BY entry";
    // A log that cannot be read must not hold up the other plays of the transaction. Checks report such a play.
    let entries = readable(all(
        connection,
        statement,
        (append.play.0, append.index),
        rows::entry,
    ))?;
    let runs = RunCounts::of_log(&entries);
    for run in &runs {
        write(connection, append.play, run)?;
    }
    Ok((id, runs.last().cloned().unwrap_or_default()))
}

/// What was found, or nothing where a row cannot be understood.
fn readable<T: Default>(found: Result<T, StoreError>) -> Result<T, StoreError> {
    match found {
        Err(StoreError::Corrupt(_)) => Ok(T::default()),
        found => found,
    }
}

fn write(connection: &Connection, play: PlayKey, run: &RunCounts) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO runs (play, run, level, state, resets, actions, levels) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (play, run) DO UPDATE SET level = ?3, state = ?4, resets = ?5, actions = ?6, levels = ?7",
    )?;
    let (resets, actions) = (
        run.outcome.resets.cast_signed(),
        run.actions().cast_signed(),
    );
    statement.execute(params![
        play.0,
        run.run,
        run.level,
        run.outcome.state,
        resets,
        actions,
        run.levels_text()
    ])?;
    Ok(())
}

/// A row of the table.
pub(crate) fn run(row: &Row<'_>) -> Result<RunCounts, StoreError> {
    let levels = RunCounts::levels_from(rows::text(row, "levels")?)?;
    let state = row.get("state")?;
    let resets = rows::number(row, "resets")?;
    let outcome = PlayOutcome {
        state,
        levels,
        resets,
        ..PlayOutcome::default()
    };
    Ok(RunCounts {
        run: rows::number(row, "run")?,
        level: rows::number(row, "level")?,
        outcome,
    })
}
