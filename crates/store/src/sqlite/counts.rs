//! The counts of plays beside their logs, brought up to date in the transaction that appends.
//!
//! A play of a file that was made before there were counts is counted from its log when it first goes on.

use rhae_protocol::PlayOutcome;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row};

use crate::remembered::Remembered;
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

    /// Counts entries that were just inserted, each of another play.
    pub(crate) async fn update(&mut self, connection: &mut SqliteConnection, inserted: &[&Append]) -> Result<(), StoreError> {
        if inserted.is_empty() {
            return Ok(());
        }
        let plays: Vec<PlayKey> = inserted.iter().map(|append| append.play).collect();
        self.remembered.make_room(&plays);
        for append in inserted {
            if !self.remembered.is_good_for(append.play, append.index) {
                let (id, last) = read(connection, append).await?;
                self.remembered.learn(append.play, id, append.index, last);
            }
            self.appended.push(self.remembered.count(append.play, &append.entry));
        }
        let changed: Vec<(PlayKey, &RunCounts)> =
            plays.iter().filter_map(|&play| Some((play, self.remembered.last(play)?))).collect();
        write(connection, &changed).await
    }
}

/// A play's id and its last run before this entry of its log.
async fn read(connection: &mut SqliteConnection, append: &Append) -> Result<(PlayId, RunCounts), StoreError> {
    let query = sqlx::query("SELECT id FROM plays WHERE key = ?1").bind(append.play.0);
    let id = rows::play_id(&query.fetch_one(&mut *connection).await?)?;
    let query = sqlx::query("SELECT * FROM runs WHERE play = ?1 ORDER BY run DESC LIMIT 1").bind(append.play.0);
    // A row that other hands have spoilt is made again, as one that is missing.
    if let Some(Ok(last)) = query.fetch_optional(&mut *connection).await?.as_ref().map(run) {
        return Ok((id, last));
    }
    let query = sqlx::query("SELECT * FROM log WHERE play = ?1 AND entry < ?2 ORDER BY entry");
    let entries = query.bind(append.play.0).bind(append.index).fetch_all(&mut *connection).await?;
    // A log that cannot be read must not hold up the other plays of the transaction. Checks report such a play.
    let entries = entries.iter().map(rows::entry).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    let runs = RunCounts::of_log(&entries);
    for run in &runs {
        write(connection, &[(append.play, run)]).await?;
    }
    Ok((id, runs.last().cloned().unwrap_or_default()))
}

async fn write(connection: &mut SqliteConnection, runs: &[(PlayKey, &RunCounts)]) -> Result<(), StoreError> {
    let mut query = QueryBuilder::new("INSERT INTO runs (play, run, level, state, resets, actions, levels) ");
    query.push_values(runs, |mut row, (play, run)| {
        row.push_bind(play.0).push_bind(run.run).push_bind(run.level).push_bind(run.outcome.state.as_str());
        row.push_bind(run.outcome.resets.cast_signed()).push_bind(run.actions().cast_signed()).push_bind(run.levels_text());
    });
    query.push(
        " ON CONFLICT (play, run) DO UPDATE SET level = excluded.level, state = excluded.state, resets = excluded.resets,
          actions = excluded.actions, levels = excluded.levels",
    );
    query.build().execute(&mut *connection).await?;
    Ok(())
}

/// A row of the table.
pub(crate) fn run(row: &SqliteRow) -> Result<RunCounts, StoreError> {
    let levels = RunCounts::levels_from(row.try_get("levels")?)?;
    let state = row.try_get::<&str, _>("state")?.to_owned();
    let resets = rows::number(row, "resets")?;
    let outcome = PlayOutcome { state, levels, resets, ..PlayOutcome::default() };
    Ok(RunCounts { run: rows::number(row, "run")?, level: rows::number(row, "level")?, outcome })
}
