//! A small pool of read-only connections. Each read runs on a blocking thread and has a connection
//! to itself.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Params, Row};
use tokio::sync::Semaphore;

use crate::StoreError;
use crate::sqlite::{Access, connect};

const MAX_CONNECTIONS: usize = 4;

pub(crate) struct Readers {
    path: Arc<Path>,
    idle: Arc<Mutex<Vec<Connection>>>,
    /// One permit per connection.
    permits: Arc<Semaphore>,
}

impl Readers {
    /// Creates an empty pool. Connections are opened on demand.
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.into(),
            idle: Arc::default(),
            permits: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` with a connection as soon as one is free.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let permit = Arc::clone(&self.permits)
            .acquire_owned()
            .await
            .map_err(|_| unavailable("the database is being closed"))?;
        let (path, idle) = (Arc::clone(&self.path), Arc::clone(&self.idle));
        let reading = tokio::task::spawn_blocking(move || {
            // Holds the permit until the connection is returned, even if the caller has dropped its
            // future.
            let _permit = permit;
            let connection = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let connection = connection.map_or_else(|| connect(&path, Access::Read), Ok)?;
            let found = work(&connection);
            idle.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
            found
        });
        reading
            .await
            .map_err(|_| unavailable("the read was cancelled"))?
    }

    /// Waits for running reads and closes all connections.
    pub(crate) async fn close(self) {
        let all = u32::try_from(MAX_CONNECTIONS).expect("MAX_CONNECTIONS is small");
        if let Ok(permits) = self.permits.acquire_many(all).await {
            permits.forget();
        }
        self.permits.close();
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

fn unavailable(reason: &str) -> StoreError {
    StoreError::Unavailable(reason.to_owned())
}

/// Returns all rows of a query.
pub(crate) fn all<T, F>(
    connection: &Connection,
    statement: &str,
    values: impl Params,
    read: F,
) -> Result<Vec<T>, StoreError>
where
    F: FnMut(&Row<'_>) -> Result<T, StoreError>,
{
    connection
        .prepare_cached(statement)?
        .query_and_then(values, read)?
        .collect()
}

/// Returns the first row of a query.
pub(crate) fn first<T, F>(
    connection: &Connection,
    statement: &str,
    values: impl Params,
    read: F,
) -> Result<Option<T>, StoreError>
where
    F: FnMut(&Row<'_>) -> Result<T, StoreError>,
{
    connection
        .prepare_cached(statement)?
        .query_and_then(values, read)?
        .next()
        .transpose()
}

/// Returns the result of a query with a single number.
pub(crate) fn number(
    connection: &Connection,
    statement: &str,
    values: impl Params,
) -> Result<i64, StoreError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row(values, |row| row.get(0))?)
}
