//! Logs of coordinators in SQLite.

use rhae_protocol::WorkEvent;
use rusqlite::{Connection, params};

use crate::sqlite::readers::{all, number};
use crate::sqlite::rows;
use crate::sqlite::writer::Command;
use crate::work_logs::numbered;
use crate::{Pending, SqliteStore, StoreError, WorkAppend, WorkStore};

const WORK_HEAD: &str = "SELECT coalesce(max(seq), 0) FROM work_events WHERE job = ?1";

/// Appends events if the caller has seen the last one.
pub(crate) fn append(connection: &Connection, append: &WorkAppend) -> Result<(), StoreError> {
    let head = number(connection, WORK_HEAD, [&append.job])?.cast_unsigned();
    if head != append.last_seq {
        return Err(StoreError::WorkConflict(head));
    }
    let mut insert = connection
        .prepare_cached("INSERT INTO work_events (job, seq, event) VALUES (?1, ?2, ?3)")?;
    for (seq, event) in numbered(append) {
        insert.execute(params![append.job, seq, event])?;
    }
    Ok(())
}

impl WorkStore for SqliteStore {
    fn append_work(&self, append: WorkAppend) -> Pending<'_, ()> {
        self.execute(Command::AppendWork(Box::new(append)))
    }

    fn work_events(&self, job: &str, after: u64, limit: u32) -> Pending<'_, Vec<WorkEvent>> {
        let job = job.to_owned();
        self.read(move |file| {
            let statement =
                "SELECT event FROM work_events WHERE job = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
            let after = after.cast_signed();
            all(file, statement, params![job, after, limit], |row| {
                let text = rows::text(row, "event")?;
                serde_json::from_str(text).map_err(|_| rows::corrupt("event"))
            })
        })
    }
}
