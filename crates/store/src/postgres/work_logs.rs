//! Logs of coordinators in PostgreSQL.
//!
//! An advisory lock serialises the coordinators that append to the same log, so that each of them sees
//! the number of the last event.

use rhae_protocol::WorkEvent;

use crate::postgres::{rows, session};
use crate::work_logs::numbered;
use crate::{Pending, PostgresStore, StoreError, WorkAppend, WorkStore};

impl WorkStore for PostgresStore {
    fn append_work(&self, append: WorkAppend) -> Pending<'_, ()> {
        Box::pin(
            self.deadlines
                .write(async move { self.append_work_events(&append).await }),
        )
    }

    fn work_events(&self, job: &str, after: u64, limit: u32) -> Pending<'_, Vec<WorkEvent>> {
        let job = job.to_owned();
        Box::pin(self.deadlines.long(async move {
            let query = sqlx::query_scalar(
                "SELECT event FROM rhae.work_events WHERE job = $1 AND seq > $2
                 ORDER BY seq LIMIT $3",
            );
            let texts: Vec<String> = query
                .bind(job)
                .bind(after.cast_signed())
                .bind(i64::from(limit))
                .fetch_all(&self.pool)
                .await?;
            let event =
                |text: &String| serde_json::from_str(text).map_err(|_| rows::corrupt("event"));
            texts.iter().map(event).collect()
        }))
    }
}

impl PostgresStore {
    async fn append_work_events(&self, append: &WorkAppend) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock(hashtext('rhae.work'), hashtext($1))")
            .bind(&append.job)
            .execute(&mut *transaction)
            .await?;
        let head: i64 =
            sqlx::query_scalar("SELECT coalesce(max(seq), 0) FROM rhae.work_events WHERE job = $1")
                .bind(&append.job)
                .fetch_one(&mut *transaction)
                .await?;
        if head.cast_unsigned() != append.last_seq {
            return Err(StoreError::WorkConflict(head.cast_unsigned()));
        }
        let (numbers, texts): (Vec<i64>, Vec<String>) = numbered(append).unzip();
        sqlx::query(
            "INSERT INTO rhae.work_events (job, seq, event)
             SELECT $1, * FROM unnest($2::bigint[], $3::text[])",
        )
        .bind(&append.job)
        .bind(numbers)
        .bind(texts)
        .execute(&mut *transaction)
        .await?;
        session::commit(transaction).await
    }
}
