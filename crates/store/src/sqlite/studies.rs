//! Event logs of studies in SQLite.

use rhae_protocol::{StudyId, StudyRecord};
use rusqlite::{Connection, Row, params};

use crate::sqlite::readers::{all, number};
use crate::sqlite::rows;
use crate::sqlite::writer::Command;
use crate::studies::{chain_key, record_text};
use crate::{Pending, PlayId, SqliteStore, StoreError, StudyAppend, StudyFile, StudyStore};

const STUDY_HEAD: &str = "SELECT coalesce(max(seq), 0) FROM study_events WHERE study = ?1";

/// Appends records if the caller has seen the last one.
pub(crate) fn append(connection: &Connection, append: &StudyAppend) -> Result<(), StoreError> {
    let study = append.study.as_str();
    let head = number(connection, STUDY_HEAD, [study])?.cast_unsigned();
    if head != append.last_seq {
        return Err(StoreError::StudyConflict(head));
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO study_events (study, seq, chain, record) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for record in &append.records {
        insert.execute(params![
            study,
            record.seq.cast_signed(),
            chain_key(&record.chain),
            record_text(record),
        ])?;
    }
    let mut remove =
        connection.prepare_cached("DELETE FROM study_events WHERE study = ?1 AND chain = ?2")?;
    for chain in &append.removed {
        remove.execute([study, &chain_key(chain)])?;
    }
    for play in &append.removed_plays {
        remove_play(connection, *play)?;
    }
    if let Some(StudyFile { name, content }) = &append.file {
        let statement = "INSERT INTO study_files (study, name, content) VALUES (?1, ?2, ?3)";
        connection.execute(statement, [study, name, content])?;
    }
    Ok(())
}

fn remove_play(connection: &Connection, play: PlayId) -> Result<(), StoreError> {
    let id = play.0.as_bytes();
    for table in ["requests", "snapshots", "runs", "log"] {
        let statement =
            format!("DELETE FROM {table} WHERE play = (SELECT key FROM plays WHERE id = ?1)");
        connection.execute(&statement, [id])?;
    }
    connection.execute("DELETE FROM plays WHERE id = ?1", [id])?;
    Ok(())
}

impl StudyStore for SqliteStore {
    fn append_study(&self, append: StudyAppend) -> Pending<'_, ()> {
        self.execute(Command::AppendStudy(Box::new(append)))
    }

    fn study_records(
        &self,
        study: &StudyId,
        after: u64,
        limit: u32,
    ) -> Pending<'_, Vec<StudyRecord>> {
        let study = study.to_string();
        self.read(move |file| {
            let statement = "SELECT record FROM study_events WHERE study = ?1 AND seq > ?2
                 ORDER BY seq LIMIT ?3";
            all(
                file,
                statement,
                params![study, after.cast_signed(), limit],
                record,
            )
        })
    }

    fn studies(&self) -> Pending<'_, Vec<StudyId>> {
        self.read(|file| {
            let statement = "SELECT DISTINCT study FROM study_events ORDER BY study";
            all(file, statement, [], |row| {
                Ok(StudyId::from(rows::text(row, "study")?))
            })
        })
    }

    fn study_files(&self, study: &StudyId) -> Pending<'_, Vec<StudyFile>> {
        let study = study.to_string();
        self.read(move |file| {
            let statement = "SELECT name, content FROM study_files WHERE study = ?1 ORDER BY name";
            all(file, statement, [study], |row| {
                Ok(StudyFile {
                    name: row.get("name")?,
                    content: row.get("content")?,
                })
            })
        })
    }
}

fn record(row: &Row<'_>) -> Result<StudyRecord, StoreError> {
    serde_json::from_str(rows::text(row, "record")?).map_err(|_| rows::corrupt("record"))
}
