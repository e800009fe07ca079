//! Identities in an SQLite file of their own.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rhae_protocol::{ParticipantId, StudyId};
use rusqlite::{Connection, Row, TransactionBehavior, params};
use tokio::task::spawn_blocking;

use crate::identities::{IdentityRead, IdentityStore, SealedIdentity};
use crate::sqlite::readers::{all, first, number};
use crate::sqlite::{Access, connect, rows};
use crate::{Pending, StoreError};

/// Marks the file as a database of identities: "RhaI" in ASCII.
const APPLICATION_ID: i64 = 0x5268_6149;
const VERSION: i64 = 1;

const TABLES: &str = "
    CREATE TABLE identities (
        study       TEXT NOT NULL,
        participant TEXT NOT NULL,
        sealed      BLOB NOT NULL,
        stored_ms   INTEGER NOT NULL,
        PRIMARY KEY (study, participant)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE reads (
        key         INTEGER PRIMARY KEY,
        study       TEXT NOT NULL,
        participant TEXT NOT NULL,
        by          TEXT NOT NULL,
        reason      TEXT NOT NULL,
        at_ms       INTEGER NOT NULL
    ) STRICT;
";

/// An [`IdentityStore`] in one file. There are few reads and writes, so one connection is enough.
pub(crate) struct SqliteIdentities {
    connection: Arc<Mutex<Connection>>,
}

impl SqliteIdentities {
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        let path = path.to_owned();
        let opening = spawn_blocking(move || {
            let mut connection = create(&path)?;
            prepare(&mut connection)?;
            Ok::<_, StoreError>(connection)
        });
        let connection = opening.await.map_err(|_| cancelled())??;
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
        })
    }

    fn run<T, F>(&self, work: F) -> Pending<'_, T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let connection = Arc::clone(&self.connection);
        Box::pin(async move {
            let running = spawn_blocking(move || {
                let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                let transaction =
                    connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
                let result = work(&transaction)?;
                transaction.commit().map_err(StoreError::of_commit)?;
                Ok(result)
            });
            running.await.map_err(|_| cancelled())?
        })
    }
}

fn cancelled() -> StoreError {
    StoreError::Unavailable("the access was cancelled".to_owned())
}

/// Opens the file. A new file is readable by its owner only.
fn create(path: &Path) -> Result<Connection, StoreError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = std::fs::OpenOptions::new();
        let created = options.append(true).create_new(true).mode(0o600).open(path);
        match created {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Unavailable(error.to_string()));
            }
            _ => {}
        }
    }
    connect(path, Access::Write)
}

fn prepare(connection: &mut Connection) -> Result<(), StoreError> {
    // Deleted identities are overwritten, and the write-ahead log does not keep them.
    connection.pragma_update_and_check(None, "secure_delete", "ON", |_| Ok(()))?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let application = number(&transaction, "PRAGMA application_id", [])?;
    let found = number(&transaction, "PRAGMA user_version", [])?;
    let tables = number(&transaction, "SELECT count(*) FROM sqlite_schema", [])?;
    if application != APPLICATION_ID && (application != 0 || tables != 0) {
        return Err(StoreError::Foreign);
    }
    if found > VERSION {
        let known = VERSION;
        return Err(StoreError::NewerSchema { found, known });
    }
    if found == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(transaction.commit()?)
}

impl IdentityStore for SqliteIdentities {
    fn put_identity(&self, identity: SealedIdentity) -> Pending<'_, ()> {
        self.run(move |file| {
            let statement =
                "INSERT OR REPLACE INTO identities (study, participant, sealed, stored_ms)
                 VALUES (?1, ?2, ?3, ?4)";
            let SealedIdentity {
                study,
                participant,
                sealed,
                stored_ms,
            } = identity;
            let values = params![
                study.as_str(),
                participant.as_str(),
                sealed,
                stored_ms.cast_signed()
            ];
            file.execute(statement, values)?;
            Ok(())
        })
    }

    fn read_identity(&self, read: IdentityRead) -> Pending<'_, Option<Vec<u8>>> {
        self.run(move |file| {
            let statement = "INSERT INTO reads (study, participant, by, reason, at_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5)";
            let (study, participant) = (read.study.as_str(), read.participant.as_str());
            let at_ms = read.at_ms.cast_signed();
            let values = params![study, participant, read.by, read.reason, at_ms];
            file.execute(statement, values)?;
            let statement = "SELECT sealed FROM identities WHERE study = ?1 AND participant = ?2";
            first(file, statement, [study, participant], |row| {
                Ok(rows::blob(row, "sealed")?.to_vec())
            })
        })
    }

    fn identity_reads(&self, study: &StudyId) -> Pending<'_, Vec<IdentityRead>> {
        let study = study.to_string();
        self.run(move |file| {
            let statement = "SELECT * FROM reads WHERE study = ?1 ORDER BY key";
            all(file, statement, [study], read)
        })
    }

    fn identified(&self, study: &StudyId) -> Pending<'_, Vec<(ParticipantId, u64)>> {
        let study = study.to_string();
        self.run(move |file| {
            let statement = "SELECT participant, stored_ms FROM identities WHERE study = ?1
                 ORDER BY participant";
            all(file, statement, [study], |row| {
                let participant = ParticipantId::from(rows::text(row, "participant")?);
                Ok((participant, rows::number(row, "stored_ms")?))
            })
        })
    }

    fn remove_identities(
        &self,
        study: &StudyId,
        participants: Vec<ParticipantId>,
    ) -> Pending<'_, u64> {
        let study = study.to_string();
        self.run(move |file| {
            let mut removed = 0;
            for participant in &participants {
                let statement = "DELETE FROM identities WHERE study = ?1 AND participant = ?2";
                removed += file.execute(statement, [study.as_str(), participant.as_str()])?;
            }
            Ok(removed as u64)
        })
    }
}

fn read(row: &Row<'_>) -> Result<IdentityRead, StoreError> {
    Ok(IdentityRead {
        study: StudyId::from(rows::text(row, "study")?),
        participant: ParticipantId::from(rows::text(row, "participant")?),
        by: row.get("by")?,
        reason: row.get("reason")?,
        at_ms: rows::number(row, "at_ms")?,
    })
}
