//! The database named by `--db`. Its `Display` form contains no password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use rhae_store::{KeyStore, SqliteOptions, SqliteStore, Store, is_postgres_url};
#[cfg(feature = "postgres")]
use rhae_store::{PostgresAddress, PostgresStore};

/// An open database.
pub(crate) enum Database {
    /// An SQLite file.
    Sqlite(PathBuf, Arc<SqliteStore>),
    /// A PostgreSQL database, which several servers may share.
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresAddress>, Arc<PostgresStore>),
}

impl Database {
    /// Opens the database that `--db` names: a PostgreSQL URL or else a file.
    pub(crate) async fn open(db: &Path) -> Result<Self> {
        Self::open_with(db, SqliteOptions::default()).await
    }

    /// Opens a database for reading. An SQLite file must exist and is opened read-only; a
    /// PostgreSQL database is opened as by [`Database::open`].
    pub(crate) async fn open_read_only(db: &Path) -> Result<Self> {
        Self::open_with(
            db,
            SqliteOptions {
                read_only: true,
                ..SqliteOptions::default()
            },
        )
        .await
    }

    async fn open_with(db: &Path, options: SqliteOptions) -> Result<Self> {
        if let Some(url) = db.to_str().filter(|text| is_postgres_url(text)) {
            return Self::open_postgres(url).await;
        }
        let store = SqliteStore::open(db, options).await;
        let store =
            store.with_context(|| format!("cannot open the database `{}`", db.display()))?;
        Ok(Self::Sqlite(db.to_owned(), Arc::new(store)))
    }

    #[cfg(feature = "postgres")]
    async fn open_postgres(url: &str) -> Result<Self> {
        let address: PostgresAddress = url.parse()?;
        let store = PostgresStore::open(&address)
            .await
            .with_context(|| format!("cannot open the database {address}"))?;
        Ok(Self::Postgres(Box::new(address), Arc::new(store)))
    }

    /// Refuses the URL without repeating it, because it may contain a password.
    #[cfg(not(feature = "postgres"))]
    async fn open_postgres(_url: &str) -> Result<Self> {
        anyhow::bail!(
            "this build of rhae cannot use PostgreSQL: name a file with --db, or build rhae with the feature `postgres`"
        )
    }

    /// Returns whether the database may exist: an existing file, or any PostgreSQL URL.
    pub(crate) fn may_exist(db: &Path) -> bool {
        db.exists() || db.to_str().is_some_and(is_postgres_url)
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    pub(crate) fn keys(&self) -> Arc<dyn KeyStore> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Completes pending writes and closes the database. If an abandoned request still holds the
    /// store, this does nothing, and the database is closed when the process exits.
    pub(crate) async fn close(self) {
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
