//! A simulated clock. The rows of a PostgreSQL database have the times of the database's own clock,
//! because several servers share it. In a simulation, that clock must follow the simulated one.

use crate::StoreError;
use crate::postgres::PostgresStore;

/// Replaces the clock of the database by a table with the simulated time.
const START: &str = "
    CREATE UNLOGGED TABLE rhae.simulated_clock (now_ms bigint NOT NULL);
    INSERT INTO rhae.simulated_clock VALUES (0);
    CREATE OR REPLACE FUNCTION rhae.now_ms() RETURNS bigint LANGUAGE sql STABLE
        AS 'SELECT now_ms FROM rhae.simulated_clock';
";

/// Restores the clock of the database.
const END: &str = "
    CREATE OR REPLACE FUNCTION rhae.now_ms() RETURNS bigint LANGUAGE sql STABLE
        AS 'SELECT (extract(epoch FROM now()) * 1000)::bigint';
    DROP TABLE rhae.simulated_clock;
";

impl PostgresStore {
    /// Replaces the clock of an empty database. Returns false, and changes nothing, if the database
    /// is in use.
    pub(crate) async fn start_simulation(&self) -> Result<bool, StoreError> {
        let mut transaction = self.pool.begin().await?;
        let is_empty: bool = sqlx::query_scalar(
            "SELECT NOT EXISTS (SELECT FROM rhae.cards) AND NOT EXISTS (SELECT FROM rhae.study_events)
                AND to_regclass('rhae.simulated_clock') IS NULL",
        )
        .fetch_one(&mut *transaction)
        .await?;
        if is_empty {
            sqlx::raw_sql(START).execute(&mut *transaction).await?;
            transaction.commit().await?;
        }
        Ok(is_empty)
    }

    pub(crate) async fn is_simulated(&self) -> Result<bool, StoreError> {
        let statement = "SELECT to_regclass('rhae.simulated_clock') IS NOT NULL";
        Ok(sqlx::query_scalar(statement).fetch_one(&self.pool).await?)
    }

    pub(crate) async fn set_simulated_time(&self, now_ms: u64) -> Result<(), StoreError> {
        sqlx::query("UPDATE rhae.simulated_clock SET now_ms = $1")
            .bind(now_ms.cast_signed())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    pub(crate) async fn end_simulation(&self) -> Result<(), StoreError> {
        let mut transaction = self.pool.begin().await?;
        sqlx::raw_sql(END).execute(&mut *transaction).await?;
        Ok(transaction.commit().await?)
    }
}
