//! A database that is named by a file path or a PostgreSQL URL. Its `Display` form contains no
//! password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{
    BoardStore, KeyStore, ShareStore, SqliteOptions, SqliteStore, Store, StoreError, StudyStore,
    WorkStore, is_postgres_url,
};
#[cfg(feature = "postgres")]
use crate::{PostgresAddress, PostgresStore};

/// An open database.
pub enum Database {
    /// An SQLite file.
    Sqlite(PathBuf, Arc<SqliteStore>),
    /// A PostgreSQL database, which several servers may share.
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresAddress>, Arc<PostgresStore>),
}

impl Database {
    /// Opens the database that `db` names: a PostgreSQL URL or else a file.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Open`] if the database cannot be opened.
    pub async fn open(db: &Path) -> Result<Self, StoreError> {
        Self::open_with(db, SqliteOptions::default()).await
    }

    /// Opens a database for reading. An SQLite file must exist and is opened read-only; a
    /// PostgreSQL database is opened as by [`Database::open`].
    ///
    /// # Errors
    ///
    /// Returns [`StoreError::Open`] if the database cannot be opened.
    pub async fn open_read_only(db: &Path) -> Result<Self, StoreError> {
        Self::open_with(
            db,
            SqliteOptions {
                read_only: true,
                ..SqliteOptions::default()
            },
        )
        .await
    }

    async fn open_with(db: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        if let Some(url) = db.to_str().filter(|text| is_postgres_url(text)) {
            return Self::open_postgres(url).await;
        }
        let store = SqliteStore::open(db, options)
            .await
            .map_err(|error| error.while_opening(format!("`{}`", db.display())))?;
        Ok(Self::Sqlite(db.to_owned(), Arc::new(store)))
    }

    #[cfg(feature = "postgres")]
    async fn open_postgres(url: &str) -> Result<Self, StoreError> {
        let address: PostgresAddress = url.parse()?;
        let store = PostgresStore::open(&address)
            .await
            .map_err(|error| error.while_opening(address.to_string()))?;
        Ok(Self::Postgres(Box::new(address), Arc::new(store)))
    }

    /// Refuses the URL without repeating it, because it may contain a password.
    #[cfg(not(feature = "postgres"))]
    async fn open_postgres(_url: &str) -> Result<Self, StoreError> {
        Err(StoreError::NoPostgres)
    }

    /// Returns whether the database may exist: an existing file, or any PostgreSQL URL.
    pub fn may_exist(db: &Path) -> bool {
        db.exists() || db.to_str().is_some_and(is_postgres_url)
    }

    /// Returns the name of a database without a password: the file, or the address of a PostgreSQL
    /// database.
    pub fn name(db: &Path) -> String {
        let Some(url) = db.to_str().filter(|text| is_postgres_url(text)) else {
            return db.display().to_string();
        };
        #[cfg(feature = "postgres")]
        if let Ok(address) = url.parse::<PostgresAddress>() {
            return address.to_string();
        }
        let scheme = url.split("://").next().unwrap_or_default();
        format!("{scheme}://…")
    }

    /// Returns the storage of cards and plays.
    pub fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Returns the storage of API keys.
    pub fn keys(&self) -> Arc<dyn KeyStore> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Returns the storage of links to published cards and plays.
    pub fn shares(&self) -> Arc<dyn ShareStore> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Returns the storage of human studies.
    pub fn studies(&self) -> Arc<dyn StudyStore> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Returns the storage of leaderboards.
    pub fn boards(&self) -> Arc<dyn BoardStore> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Returns the storage of the logs of coordinators.
    pub fn work(&self) -> Arc<dyn WorkStore> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Prepares a database for a simulated clock, see [`Database::set_simulated_time`]. Returns false,
    /// and changes nothing, if the database is in use.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the database fails.
    pub async fn start_simulation(&self) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(_, store) => store.start_simulation().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => store.start_simulation().await,
        }
    }

    /// Returns whether the database is prepared for a simulated clock.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the database fails.
    pub async fn is_simulated(&self) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(_, store) => store.is_simulated().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => store.is_simulated().await,
        }
    }

    /// Sets the clock of a simulation. Only PostgreSQL has a separate clock; SQLite uses the times
    /// that callers pass in.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the database fails.
    pub async fn set_simulated_time(&self, now_ms: u64) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(..) => {
                let _ = now_ms;
                Ok(())
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => store.set_simulated_time(now_ms).await,
        }
    }

    /// Restores the clock of the database after a simulation.
    ///
    /// # Errors
    ///
    /// Returns [`StoreError`] if the database fails.
    pub async fn end_simulation(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_, store) => store.end_simulation().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => store.end_simulation().await,
        }
    }

    /// Completes pending writes and closes the database. If an abandoned request still holds the
    /// store, this does nothing, and the database is closed when the process exits.
    pub async fn close(self) {
        match self {
            Self::Sqlite(_, store) => {
                if let Some(store) = Arc::into_inner(store) {
                    store.close().await;
                }
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => {
                if let Some(store) = Arc::into_inner(store) {
                    store.close().await;
                }
            }
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path, _) => path.display().fmt(f),
            #[cfg(feature = "postgres")]
            Self::Postgres(address, _) => address.fmt(f),
        }
    }
}
