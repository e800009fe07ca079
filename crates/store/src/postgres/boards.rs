//! Event logs of boards in PostgreSQL.
//!
//! An advisory lock serialises the servers that append to the same board, so that each of them sees
//! the number of the last record.

use rhae_protocol::{BoardId, BoardRecord};
use sqlx::Row;

use crate::boards::record_text;
use crate::postgres::{rows, session};
use crate::{BoardAppend, BoardFile, BoardStore, Pending, PostgresStore, StoreError};

impl BoardStore for PostgresStore {
    fn append_board(&self, append: BoardAppend) -> Pending<'_, ()> {
        Box::pin(
            self.deadlines
                .write(async move { self.append_board_records(&append).await }),
        )
    }

    fn board_records(
        &self,
        board: &BoardId,
        after: u64,
        limit: u32,
    ) -> Pending<'_, Vec<BoardRecord>> {
        let board = board.to_string();
        Box::pin(self.deadlines.long(async move {
            let query = sqlx::query_scalar(
                "SELECT record FROM rhae.board_events WHERE board = $1 AND seq > $2
                 ORDER BY seq LIMIT $3",
            );
            let texts: Vec<String> = query
                .bind(board)
                .bind(after.cast_signed())
                .bind(i64::from(limit))
                .fetch_all(&self.pool)
                .await?;
            let record =
                |text: &String| serde_json::from_str(text).map_err(|_| rows::corrupt("record"));
            texts.iter().map(record).collect()
        }))
    }

    fn boards(&self) -> Pending<'_, Vec<BoardId>> {
        Box::pin(self.deadlines.read(async move {
            let query = sqlx::query_scalar(
                "SELECT board FROM rhae.board_events GROUP BY board ORDER BY board COLLATE \"C\"",
            );
            let ids: Vec<String> = query.fetch_all(&self.pool).await?;
            Ok(ids.into_iter().map(BoardId).collect())
        }))
    }

    fn board_files(&self, board: &BoardId, prefix: &str) -> Pending<'_, Vec<BoardFile>> {
        let (board, prefix) = (board.to_string(), prefix.to_owned());
        Box::pin(self.deadlines.long(async move {
            let query = sqlx::query(
                "SELECT name, content FROM rhae.board_files
                 WHERE board = $1 AND starts_with(name, $2) ORDER BY name COLLATE \"C\"",
            );
            let found = query.bind(board).bind(prefix).fetch_all(&self.pool).await?;
            let files = found.iter().map(|row| {
                Ok(BoardFile {
                    name: row.try_get("name")?,
                    content: row.try_get("content")?,
                })
            });
            files.collect()
        }))
    }
}

impl PostgresStore {
    async fn append_board_records(&self, append: &BoardAppend) -> Result<(), StoreError> {
        let board = append.board.as_str();
        let mut transaction = self.pool.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock(hashtext('rhae.boards'), hashtext($1))")
            .bind(board)
            .execute(&mut *transaction)
            .await?;
        let head: i64 = sqlx::query_scalar(
            "SELECT coalesce(max(seq), 0) FROM rhae.board_events WHERE board = $1",
        )
        .bind(board)
        .fetch_one(&mut *transaction)
        .await?;
        if head.cast_unsigned() != append.last_seq {
            return Err(StoreError::BoardConflict(head.cast_unsigned()));
        }
        let records = append.records.iter();
        let numbers: Vec<i64> = records
            .clone()
            .map(|record| record.seq.cast_signed())
            .collect();
        let texts: Vec<String> = records.map(record_text).collect();
        sqlx::query(
            "INSERT INTO rhae.board_events (board, seq, record)
             SELECT $1, * FROM unnest($2::bigint[], $3::text[])",
        )
        .bind(board)
        .bind(numbers)
        .bind(texts)
        .execute(&mut *transaction)
        .await?;
        for BoardFile { name, content } in &append.files {
            sqlx::query(
                "INSERT INTO rhae.board_files (board, name, content) VALUES ($1, $2, $3)
                 ON CONFLICT DO NOTHING",
            )
            .bind(board)
            .bind(name)
            .bind(content)
            .execute(&mut *transaction)
            .await?;
        }
        session::commit(transaction).await
    }
}
