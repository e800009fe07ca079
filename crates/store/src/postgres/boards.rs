//! Event logs of boards in PostgreSQL.
//!
//! An advisory lock serialises the servers that append to the same board, so that each of them sees
//! the number of the last record.

use rhae_protocol::{BoardId, BoardRecord};
use sqlx::Row;

use crate::boards::record_text;
use crate::postgres::{rows, session};
use crate::{BoardAppend, BoardFile, BoardStore, Pending, PostgresStore, StoreError};

/// Finds each id in the index of the primary key, so that the work does not grow with the number of
/// records.
const BOARD_IDS: &str = "
    WITH RECURSIVE ids (board) AS (
        (SELECT board FROM rhae.board_events ORDER BY board LIMIT 1)
        UNION ALL
        SELECT (SELECT events.board FROM rhae.board_events AS events WHERE events.board > ids.board
                ORDER BY events.board LIMIT 1)
        FROM ids WHERE ids.board IS NOT NULL)
    SELECT board FROM ids WHERE board IS NOT NULL ORDER BY board COLLATE \"C\"";

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
            let ids: Vec<String> = sqlx::query_scalar(BOARD_IDS).fetch_all(&self.pool).await?;
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
        for record in &append.replaced {
            sqlx::query("UPDATE rhae.board_events SET record = $3 WHERE board = $1 AND seq = $2")
                .bind(board)
                .bind(record.seq.cast_signed())
                .bind(record_text(record))
                .execute(&mut *transaction)
                .await?;
        }
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

#[cfg(test)]
mod tests {
    use rhae_testkit::Postgres;
    use serde_json::Value;
    use sqlx::AssertSqlSafe;

    use super::*;

    /// Returns the rows that all scans of a plan have read.
    fn scanned(plan: &Value) -> f64 {
        let is_scan = plan["Node Type"]
            .as_str()
            .is_some_and(|node| node.ends_with("Scan") && plan.get("Relation Name").is_some());
        let number = |field: &str| plan[field].as_f64().unwrap_or(0.0);
        let removed = number("Rows Removed by Filter") + number("Actual Rows");
        let own = if is_scan {
            removed * number("Actual Loops")
        } else {
            0.0
        };
        let parts = plan["Plans"].as_array().into_iter().flatten();
        own + parts.map(scanned).sum::<f64>()
    }

    #[tokio::test]
    async fn list_of_boards_does_not_read_their_records() {
        let Some(server) = Postgres::start() else {
            return;
        };
        let store = PostgresStore::open(&server.url().parse().unwrap())
            .await
            .unwrap();
        let fill = "INSERT INTO rhae.board_events (board, seq, record)
             SELECT board, seq, '{}' FROM unnest(ARRAY['b', 'a', 'B', 'main']) AS board,
                 generate_series(1, 5000) AS seq";
        for statement in [fill, "ANALYZE rhae.board_events"] {
            sqlx::query(statement).execute(&store.pool).await.unwrap();
        }
        let boards = store.boards().await.unwrap();
        assert_eq!(boards, ["B", "a", "b", "main"].map(BoardId::from));
        let explain = format!("EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {BOARD_IDS}");
        let row = sqlx::query(AssertSqlSafe(explain)).fetch_one(&store.pool);
        let text: String = row.await.unwrap().try_get_unchecked(0).unwrap();
        let plan: Value = serde_json::from_str(&text).unwrap();
        let rows = scanned(&plan[0]["Plan"]);
        assert!((4.0..=8.0).contains(&rows), "{rows} rows: {plan}");
    }
}
