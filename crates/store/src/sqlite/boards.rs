//! Event logs of boards in SQLite.

use rhae_protocol::{BoardId, BoardRecord};
use rusqlite::{Connection, params};

use crate::boards::record_text;
use crate::sqlite::readers::{all, number};
use crate::sqlite::rows;
use crate::sqlite::writer::Command;
use crate::{BoardAppend, BoardFile, BoardStore, Pending, SqliteStore, StoreError};

const HEAD: &str = "SELECT coalesce(max(seq), 0) FROM board_events WHERE board = ?1";

/// Appends records if the caller has seen the last one.
pub(crate) fn append(connection: &Connection, append: &BoardAppend) -> Result<(), StoreError> {
    let board = append.board.as_str();
    let head = number(connection, HEAD, [board])?.cast_unsigned();
    if head != append.last_seq {
        return Err(StoreError::BoardConflict(head));
    }
    let mut insert = connection
        .prepare_cached("INSERT INTO board_events (board, seq, record) VALUES (?1, ?2, ?3)")?;
    for record in &append.records {
        insert.execute(params![
            board,
            record.seq.cast_signed(),
            record_text(record)
        ])?;
    }
    let mut replace = connection
        .prepare_cached("UPDATE board_events SET record = ?3 WHERE board = ?1 AND seq = ?2")?;
    for record in &append.replaced {
        let text = record_text(record);
        replace.execute(params![board, record.seq.cast_signed(), text])?;
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO board_files (board, name, content) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    for BoardFile { name, content } in &append.files {
        insert.execute([board, name, content])?;
    }
    Ok(())
}

impl BoardStore for SqliteStore {
    fn append_board(&self, append: BoardAppend) -> Pending<'_, ()> {
        self.execute(Command::AppendBoard(Box::new(append)))
    }

    fn board_records(
        &self,
        board: &BoardId,
        after: u64,
        limit: u32,
    ) -> Pending<'_, Vec<BoardRecord>> {
        let board = board.to_string();
        self.read(move |file| {
            let statement = "SELECT record FROM board_events WHERE board = ?1 AND seq > ?2
                 ORDER BY seq LIMIT ?3";
            all(
                file,
                statement,
                params![board, after.cast_signed(), limit],
                |row| {
                    let text = rows::text(row, "record")?;
                    serde_json::from_str(text).map_err(|_| rows::corrupt("record"))
                },
            )
        })
    }

    fn boards(&self) -> Pending<'_, Vec<BoardId>> {
        self.read(|file| {
            // Each id is found in the index, so that the records are not read.
            let statement = "WITH RECURSIVE ids (board) AS (
                     SELECT min(board) FROM board_events
                     UNION ALL
                     SELECT (SELECT min(board) FROM board_events WHERE board > ids.board)
                     FROM ids WHERE ids.board IS NOT NULL)
                 SELECT board FROM ids WHERE board IS NOT NULL ORDER BY board";
            all(file, statement, [], |row| {
                Ok(BoardId::from(rows::text(row, "board")?))
            })
        })
    }

    fn board_files(&self, board: &BoardId, prefix: &str) -> Pending<'_, Vec<BoardFile>> {
        let (board, prefix) = (board.to_string(), prefix.to_owned());
        self.read(move |file| {
            let statement = "SELECT name, content FROM board_files
                 WHERE board = ?1 AND substr(name, 1, length(?2)) = ?2 ORDER BY name";
            all(file, statement, [board, prefix], |row| {
                Ok(BoardFile {
                    name: row.get("name")?,
                    content: row.get("content")?,
                })
            })
        })
    }
}
