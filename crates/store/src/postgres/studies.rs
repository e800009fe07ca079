//! Event logs of studies in PostgreSQL.
//!
//! An advisory lock serialises the servers that append to the same study, so that each of them sees
//! the number of the last record.

use rhae_protocol::{StudyId, StudyRecord};
use sqlx::{AssertSqlSafe, Row};

use crate::postgres::{rows, session};
use crate::studies::{chain_key, record_text};
use crate::{Pending, PostgresStore, StoreError, StudyAppend, StudyFile, StudyStore};

impl StudyStore for PostgresStore {
    fn append_study(&self, append: StudyAppend) -> Pending<'_, ()> {
        Box::pin(
            self.deadlines
                .write(async move { self.append_records(&append).await }),
        )
    }

    fn study_records(
        &self,
        study: &StudyId,
        after: u64,
        limit: u32,
    ) -> Pending<'_, Vec<StudyRecord>> {
        let study = study.to_string();
        Box::pin(self.deadlines.long(async move {
            let query = sqlx::query_scalar(
                "SELECT record FROM rhae.study_events WHERE study = $1 AND seq > $2
                 ORDER BY seq LIMIT $3",
            );
            let texts: Vec<String> = query
                .bind(study)
                .bind(after.cast_signed())
                .bind(i64::from(limit))
                .fetch_all(&self.pool)
                .await?;
            let record =
                |text: &String| serde_json::from_str(text).map_err(|_| rows::corrupt("record"));
            texts.iter().map(record).collect()
        }))
    }

    fn studies(&self) -> Pending<'_, Vec<StudyId>> {
        Box::pin(self.deadlines.read(async move {
            let query = sqlx::query_scalar(
                "SELECT study FROM rhae.study_events GROUP BY study ORDER BY study COLLATE \"C\"",
            );
            let ids: Vec<String> = query.fetch_all(&self.pool).await?;
            Ok(ids.into_iter().map(StudyId).collect())
        }))
    }

    fn study_files(&self, study: &StudyId) -> Pending<'_, Vec<StudyFile>> {
        let study = study.to_string();
        Box::pin(self.deadlines.read(async move {
            let query = sqlx::query(
                "SELECT name, content FROM rhae.study_files WHERE study = $1
                 ORDER BY name COLLATE \"C\"",
            );
            let found = query.bind(study).fetch_all(&self.pool).await?;
            let files = found.iter().map(|row| {
                Ok(StudyFile {
                    name: row.try_get("name")?,
                    content: row.try_get("content")?,
                })
            });
            files.collect()
        }))
    }
}

impl PostgresStore {
    async fn append_records(&self, append: &StudyAppend) -> Result<(), StoreError> {
        let study = append.study.as_str();
        let mut transaction = self.pool.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock(hashtext('rhae.studies'), hashtext($1))")
            .bind(study)
            .execute(&mut *transaction)
            .await?;
        let head: i64 = sqlx::query_scalar(
            "SELECT coalesce(max(seq), 0) FROM rhae.study_events WHERE study = $1",
        )
        .bind(study)
        .fetch_one(&mut *transaction)
        .await?;
        if head.cast_unsigned() != append.last_seq {
            return Err(StoreError::StudyConflict(head.cast_unsigned()));
        }
        let records = append.records.iter();
        let numbers: Vec<i64> = records
            .clone()
            .map(|record| record.seq.cast_signed())
            .collect();
        let chains: Vec<String> = records.clone().map(|one| chain_key(&one.chain)).collect();
        let texts: Vec<String> = records.map(record_text).collect();
        sqlx::query(
            "INSERT INTO rhae.study_events (study, seq, chain, record)
             SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[])",
        )
        .bind(study)
        .bind(numbers)
        .bind(chains)
        .bind(texts)
        .execute(&mut *transaction)
        .await?;
        if !append.removed.is_empty() {
            let removed: Vec<String> = append.removed.iter().map(chain_key).collect();
            sqlx::query("DELETE FROM rhae.study_events WHERE study = $1 AND chain = ANY($2)")
                .bind(study)
                .bind(removed)
                .execute(&mut *transaction)
                .await?;
        }
        if !append.removed_plays.is_empty() {
            let plays = append.removed_plays.iter();
            let plays: Vec<Vec<u8>> = plays.map(|play| play.0.as_bytes().to_vec()).collect();
            for table in ["requests", "snapshots", "runs", "log"] {
                let statement = format!(
                    "DELETE FROM rhae.{table} WHERE play IN (SELECT key FROM rhae.plays WHERE id = ANY($1))"
                );
                sqlx::query(AssertSqlSafe(statement))
                    .bind(&plays)
                    .execute(&mut *transaction)
                    .await?;
            }
            sqlx::query("DELETE FROM rhae.plays WHERE id = ANY($1)")
                .bind(&plays)
                .execute(&mut *transaction)
                .await?;
        }
        if let Some(StudyFile { name, content }) = &append.file {
            sqlx::query("INSERT INTO rhae.study_files (study, name, content) VALUES ($1, $2, $3)")
                .bind(study)
                .bind(name)
                .bind(content)
                .execute(&mut *transaction)
                .await?;
        }
        session::commit(transaction).await
    }
}
