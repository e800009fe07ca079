//! Which database a server uses. What is printed of it has no password.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use rhae_store::{KeyStore, PostgresAddress, PostgresStore, SqliteOptions, SqliteStore, Store};

/// An open database.
pub(crate) enum Database {
    /// A file.
    Sqlite(PathBuf, Arc<SqliteStore>),
    /// A database server, which other servers may use too.
    Postgres(Box<PostgresAddress>, Arc<PostgresStore>),
}

impl Database {
    /// Opens what `--db` names: an address if it looks like one, otherwise a file.
    pub(crate) async fn open(db: &Path) -> Result<Self> {
        Self::open_with(db, SqliteOptions::default()).await
    }

    /// As [`Database::open`], only to read; a file must be there.
    pub(crate) async fn open_to_read(db: &Path) -> Result<Self> {
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
        if let Some(text) = db.to_str().filter(|text| PostgresAddress::is_one(text)) {
            let address: PostgresAddress = text.parse()?;
            let store = PostgresStore::open(&address)
                .await
                .with_context(|| format!("cannot open the database {address}"))?;
            return Ok(Self::Postgres(Box::new(address), Arc::new(store)));
        }
        let store = SqliteStore::open(db, options).await;
        let store =
            store.with_context(|| format!("cannot open the database `{}`", db.display()))?;
        Ok(Self::Sqlite(db.to_owned(), Arc::new(store)))
    }

    /// Whether `--db` names something that may be there already: a file that is, or an address.
    pub(crate) fn may_exist(db: &Path) -> bool {
        db.exists() || db.to_str().is_some_and(PostgresAddress::is_one)
    }

    /// What a server asks of it.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Where it keeps keys.
    pub(crate) fn keys(&self) -> Arc<dyn KeyStore> {
        match self {
            Self::Sqlite(_, store) => Arc::clone(store) as _,
            Self::Postgres(_, store) => Arc::clone(store) as _,
        }
    }

    /// Finishes what is queued. Whoever still holds the store belongs to a request that nobody waits for.
    pub(crate) async fn close(self) {
        match self {
            Self::Sqlite(_, store) => {
                if let Some(store) = Arc::into_inner(store) {
                    store.close().await;
                }
            }
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
            Self::Postgres(address, _) => address.fmt(f),
        }
    }
}
