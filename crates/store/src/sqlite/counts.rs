//! The counts of plays beside their logs, brought up to date in the transaction that appends.
//!
//! What the writer has just written it remembers, so that the next action of a play costs one more row in one statement and no reading.
//! A memory is good for the very next entry only; if another process has appended meanwhile, it does not fit and the row is read.
//! A play of a file that was made before there were counts is counted from its log when it first goes on.

use std::collections::HashMap;

use rhae_protocol::PlayOutcome;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row};

use crate::sqlite::rows;
use crate::sqlite::writer::Append;
use crate::{PlayId, PlayKey, RunCounts, StoreError};

/// How many plays are remembered; then all are forgotten at once, which costs each of them one read.
const MOST_REMEMBERED: usize = 4096;

/// What the writer remembers of plays.
#[derive(Default)]
pub(crate) struct Counts {
    known: HashMap<PlayKey, Known>,
    /// The plays that the transaction has appended to, for those who listen.
    pub(crate) appended: Vec<PlayId>,
}

struct Known {
    id: PlayId,
    /// The index of the entry that it is good for.
    next: u32,
    last: RunCounts,
}

impl Counts {
    /// To be called when a transaction failed: what was remembered since its beginning did not happen.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.appended.clear();
    }

    /// A play that the transaction has made.
    pub(crate) fn begin(&mut self, play: PlayKey, id: PlayId) {
        self.known.insert(play, Known { id, next: 0, last: RunCounts::default() });
    }

    /// Counts entries that were just inserted, each of another play.
    pub(crate) async fn update(&mut self, connection: &mut SqliteConnection, inserted: &[&Append]) -> Result<(), StoreError> {
        if inserted.is_empty() {
            return Ok(());
        }
        if self.known.len() + inserted.len() > MOST_REMEMBERED {
            self.known.retain(|play, _| inserted.iter().any(|append| append.play == *play));
        }
        for append in inserted {
            if self.known.get(&append.play).is_none_or(|known| known.next != append.index) {
                let known = read(connection, append).await?;
                self.known.insert(append.play, known);
            }
            let known = self.known.get_mut(&append.play).expect("it was inserted above");
            known.last.count(append.index, &append.entry);
            known.next += 1;
            self.appended.push(known.id);
        }
        let changed: Vec<(PlayKey, &RunCounts)> =
            inserted.iter().filter_map(|append| Some((append.play, &self.known.get(&append.play)?.last))).collect();
        write(connection, &changed).await
    }
}

/// What is known of a play before this entry of its log.
async fn read(connection: &mut SqliteConnection, append: &Append) -> Result<Known, StoreError> {
    let query = sqlx::query("SELECT id FROM plays WHERE key = ?1").bind(append.play.0);
    let id = rows::play_id(&query.fetch_one(&mut *connection).await?)?;
    let query = sqlx::query("SELECT * FROM runs WHERE play = ?1 ORDER BY run DESC LIMIT 1").bind(append.play.0);
    // A row that other hands have spoilt is made again, as one that is missing.
    if let Some(Ok(last)) = query.fetch_optional(&mut *connection).await?.as_ref().map(run) {
        return Ok(Known { id, next: append.index, last });
    }
    let query = sqlx::query("SELECT * FROM log WHERE play = ?1 AND entry < ?2 ORDER BY entry");
    let entries = query.bind(append.play.0).bind(append.index).fetch_all(&mut *connection).await?;
    // A log that cannot be read must not hold up the other plays of the transaction. Checks report such a play.
    let entries = entries.iter().map(rows::entry).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    let runs = RunCounts::of_log(&entries);
    for run in &runs {
        write(connection, &[(append.play, run)]).await?;
    }
    Ok(Known { id, next: append.index, last: runs.last().cloned().unwrap_or_default() })
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
