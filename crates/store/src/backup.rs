//! Backups: a consistent copy of a database in one SQLite file, which both kinds of databases can be
//! restored from.
//!
//! **Invariants:**
//!
//! - A backup is the state of the database at one moment, although servers write to it at the same
//!   time.
//! - A file appears under its final name only when it is complete and on disk. An existing file and
//!   a database with content are never overwritten.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rhae_protocol::DatabaseCounts;
use tokio::task::spawn_blocking;

use crate::sqlite::copy::{self, Schema};
use crate::{Database, StoreError, is_postgres_url};

impl Database {
    /// Writes a backup of a database to a new file. Servers may use the database meanwhile. The
    /// backup of a file keeps its schema, even if it is an older one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if the file exists; otherwise one of the database errors.
    ///
    /// # Examples
    ///
    /// ```
    /// use rhae_store::Database;
    ///
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let folder = tempfile::tempdir()?;
    /// let at = |name: &str| folder.path().join(name);
    /// let database = Database::open(&at("rhae.db")).await?;
    /// let counts = Database::backup(&at("rhae.db"), &at("backup.db")).await?;
    /// assert_eq!(counts.plays, 0);
    /// let again = Database::backup(&at("rhae.db"), &at("backup.db")).await;
    /// assert!(again.is_err(), "the file exists");
    ///
    /// Database::restore(&at("backup.db"), &at("restored.db")).await?;
    /// assert!(at("restored.db").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn backup(db: &Path, to: &Path) -> Result<DatabaseCounts, StoreError> {
        refuse_existing(to)?;
        let unfinished = Unfinished::beside(to);
        let counts = match db.to_str().filter(|text| is_postgres_url(text)) {
            Some(url) => backup_postgres(url, &unfinished.path).await?,
            None => copy_to(db, &unfinished, Schema::Kept).await?,
        };
        unfinished.place(to)?;
        Ok(counts)
    }

    /// Restores a backup to a database that has no content: a file that does not exist, or a
    /// PostgreSQL database without scorecards and keys.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] if the file exists, [`StoreError::NotEmpty`] if the PostgreSQL database
    /// has content; otherwise one of the database errors, or an error about the backup.
    pub async fn restore(from: &Path, to: &Path) -> Result<DatabaseCounts, StoreError> {
        if let Some(url) = to.to_str().filter(|text| is_postgres_url(text)) {
            return restore_postgres(from, url).await;
        }
        refuse_existing(to)?;
        // SQLite would apply the write-ahead log of another database to the restored file.
        for suffix in ["-wal", "-shm", "-journal"] {
            let mut rest = to.as_os_str().to_owned();
            rest.push(suffix);
            refuse_existing(Path::new(&rest))?;
        }
        let unfinished = Unfinished::beside(to);
        let counts = copy_to(from, &unfinished, Schema::Migrated).await?;
        unfinished.place(to)?;
        Ok(counts)
    }
}

async fn copy_to(
    from: &Path,
    to: &Unfinished,
    schema: Schema,
) -> Result<DatabaseCounts, StoreError> {
    let (from, path) = (from.to_owned(), to.path.clone());
    let name = format!("`{}`", from.display());
    let copying = spawn_blocking(move || copy::copy_file(&from, &path, schema));
    let cancelled = |_| StoreError::Unavailable("the copy was cancelled".to_owned());
    let copied = copying.await.map_err(cancelled)?;
    copied.map_err(|error| error.while_copying(name))
}

#[cfg(feature = "postgres")]
async fn backup_postgres(url: &str, to: &Path) -> Result<DatabaseCounts, StoreError> {
    let address: crate::PostgresAddress = url.parse()?;
    let exported = crate::postgres::backup::export(&address, to).await;
    exported.map_err(|error| error.while_copying(address.to_string()))
}

#[cfg(not(feature = "postgres"))]
async fn backup_postgres(_url: &str, _to: &Path) -> Result<DatabaseCounts, StoreError> {
    Err(StoreError::NoPostgres)
}

#[cfg(feature = "postgres")]
async fn restore_postgres(from: &Path, url: &str) -> Result<DatabaseCounts, StoreError> {
    let address: crate::PostgresAddress = url.parse()?;
    crate::postgres::backup::import(from, &address).await
}

#[cfg(not(feature = "postgres"))]
async fn restore_postgres(_from: &Path, _url: &str) -> Result<DatabaseCounts, StoreError> {
    Err(StoreError::NoPostgres)
}

fn refuse_existing(path: &Path) -> Result<(), StoreError> {
    match fs::symlink_metadata(path) {
        Ok(_) => Err(StoreError::Exists(path.to_owned())),
        Err(_) => Ok(()),
    }
}

/// A file that is being written. It is removed when it is dropped.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Chooses a name in the folder of the final file, so that both are on the same file system.
    fn beside(target: &Path) -> Self {
        let mut path = target.as_os_str().to_owned();
        path.push(format!(".{}.unfinished", std::process::id()));
        let path = PathBuf::from(path);
        // A process with the same id may have been killed.
        let _ = fs::remove_file(&path);
        Self { path }
    }

    /// Syncs the file and gives it its final name, unless a file with that name exists.
    fn place(&self, target: &Path) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| match error.kind() {
            ErrorKind::AlreadyExists => StoreError::Exists(target.to_owned()),
            ErrorKind::StorageFull => StoreError::Full(error.to_string()),
            _ => StoreError::Unavailable(format!("cannot write `{}`: {error}", target.display())),
        };
        let synced = |path: &Path| File::open(path).and_then(|file| file.sync_all());
        synced(&self.path).map_err(failed)?;
        // Unlike a rename, a link does not replace a file that was created in the meantime.
        fs::hard_link(&self.path, target).map_err(failed)?;
        fs::remove_file(&self.path).map_err(failed)?;
        let folder = target.parent().filter(|folder| folder.as_os_str() != "");
        synced(folder.unwrap_or(Path::new("."))).map_err(failed)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut path = self.path.as_os_str().to_owned();
            path.push(suffix);
            // Most of them do not exist.
            let _ = fs::remove_file(path);
        }
    }
}
