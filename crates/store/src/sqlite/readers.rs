//! Connections for reading: a few, each used by one request at a time, on threads that may wait for the disk.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, Params, Row};
use tokio::sync::Semaphore;

use crate::StoreError;
use crate::sqlite::{Access, connect};

/// The most connections.
const MOST: usize = 4;

pub(crate) struct Readers {
    path: Arc<Path>,
    /// Those that nobody uses.
    idle: Arc<Mutex<Vec<Connection>>>,
    /// One for each connection that there may be.
    turns: Arc<Semaphore>,
}

impl Readers {
    /// None is opened yet.
    pub(crate) fn of(path: &Path) -> Self {
        Self {
            path: path.into(),
            idle: Arc::default(),
            turns: Arc::new(Semaphore::new(MOST)),
        }
    }

    /// Reads, as soon as a connection is free.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let turn = Arc::clone(&self.turns)
            .acquire_owned()
            .await
            .map_err(|_| unavailable("it is being closed"))?;
        let (path, idle) = (Arc::clone(&self.path), Arc::clone(&self.idle));
        let reading = tokio::task::spawn_blocking(move || {
            // Held until the connection is back, also if the caller no longer waits.
            let _turn = turn;
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
            .map_err(|_| unavailable("reading was broken off"))?
    }

    /// Waits for those who read, and closes all connections.
    pub(crate) async fn close(self) {
        let all = u32::try_from(MOST).expect("there are few connections");
        if let Ok(turns) = self.turns.acquire_many(all).await {
            turns.forget();
        }
        self.turns.close();
        self.idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

fn unavailable(reason: &str) -> StoreError {
    StoreError::Unavailable(reason.to_owned())
}

/// All rows that a statement gives.
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

/// The first row that a statement gives.
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

/// The one number that a statement gives.
pub(crate) fn number(
    connection: &Connection,
    statement: &str,
    values: impl Params,
) -> Result<i64, StoreError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row(values, |row| row.get(0))?)
}
