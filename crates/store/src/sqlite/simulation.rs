//! The mark of a database with simulated times, so that no server with a simulated clock ever opens
//! a real one.

use rusqlite::{Connection, TransactionBehavior};
use tokio::task::spawn_blocking;

use crate::StoreError;
use crate::sqlite::readers::number;
use crate::sqlite::{Access, SqliteStore, connect};

const IS_SIMULATED: &str = "SELECT count(*) FROM sqlite_schema WHERE name = 'simulated_clock'";
const IS_EMPTY: &str =
    "SELECT NOT EXISTS (SELECT 1 FROM cards) AND NOT EXISTS (SELECT 1 FROM study_events)
    AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'simulated_clock')";

/// Returns whether the database has the mark.
pub(crate) fn is_simulated(connection: &Connection) -> Result<bool, StoreError> {
    Ok(number(connection, IS_SIMULATED, [])? == 1)
}

impl SqliteStore {
    /// Marks an empty database. Returns false, and changes nothing, if it is in use.
    pub(crate) async fn start_simulation(&self) -> Result<bool, StoreError> {
        self.with_writer(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let is_empty = number(&transaction, IS_EMPTY, [])? == 1;
            if is_empty {
                transaction
                    .execute_batch("CREATE TABLE simulated_clock (now_ms INTEGER) STRICT")?;
                transaction.commit()?;
            }
            Ok(is_empty)
        })
        .await
    }

    pub(crate) async fn is_simulated(&self) -> Result<bool, StoreError> {
        self.read(is_simulated).await
    }

    pub(crate) async fn end_simulation(&self) -> Result<(), StoreError> {
        self.with_writer(|connection| {
            Ok(connection.execute_batch("DROP TABLE IF EXISTS simulated_clock")?)
        })
        .await
    }

    async fn with_writer<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = self.readers.path().to_owned();
        let working = spawn_blocking(move || work(&mut connect(&path, Access::Write)?));
        let cancelled = |_| StoreError::Unavailable("the write was cancelled".to_owned());
        working.await.map_err(cancelled)?
    }
}
