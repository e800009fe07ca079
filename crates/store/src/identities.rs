//! Contact data of study participants, apart from everything else.
//!
//! Identities are stored in a database of their own: another file, or another schema of PostgreSQL
//! to which another role may have access. They are encrypted before they reach this crate. Every
//! read is recorded in the transaction that reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_protocol::{ParticipantId, StudyId};

use crate::sqlite::identities::SqliteIdentities;
use crate::{Pending, StoreError, is_postgres_url};

/// The encrypted contact data of a participant.
#[derive(Clone, PartialEq, Eq)]
pub struct SealedIdentity {
    pub study: StudyId,
    pub participant: ParticipantId,
    pub sealed: Vec<u8>,
    pub stored_ms: u64,
}

/// A read of contact data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityRead {
    pub study: StudyId,
    pub participant: ParticipantId,
    /// Who read it.
    pub by: String,
    pub reason: String,
    pub at_ms: u64,
}

/// A database of identities.
///
/// # Errors
///
/// Every method can fail with one of the database errors of [`StoreError`].
pub trait IdentityStore: Send + Sync {
    /// Stores an identity and replaces an earlier one of the same participant.
    fn put_identity(&self, identity: SealedIdentity) -> Pending<'_, ()>;

    /// Returns the encrypted identity of a participant, and records the read even if no
    /// identity is stored.
    fn read_identity(&self, read: IdentityRead) -> Pending<'_, Option<Vec<u8>>>;

    /// Returns all recorded reads of a study, the oldest first.
    fn identity_reads(&self, study: &StudyId) -> Pending<'_, Vec<IdentityRead>>;

    /// Returns the participants of a study whose identity is stored, with the time of storage.
    fn identified(&self, study: &StudyId) -> Pending<'_, Vec<(ParticipantId, u64)>>;

    /// Removes identities and returns how many existed. The recorded reads remain.
    fn remove_identities(
        &self,
        study: &StudyId,
        participants: Vec<ParticipantId>,
    ) -> Pending<'_, u64>;
}

/// Opens the identities that `at` names: the schema `rhae_identity` of a PostgreSQL database, or
/// else a file. Both are created if they do not exist.
///
/// # Errors
///
/// Returns [`StoreError::Open`] if the database cannot be opened.
pub async fn open_identities(at: &Path) -> Result<Arc<dyn IdentityStore>, StoreError> {
    if let Some(url) = at.to_str().filter(|text| is_postgres_url(text)) {
        return open_postgres(url).await;
    }
    let opened = SqliteIdentities::open(at).await;
    let opened = opened.map_err(|error| error.while_opening(format!("`{}`", at.display())))?;
    Ok(Arc::new(opened))
}

#[cfg(feature = "postgres")]
async fn open_postgres(url: &str) -> Result<Arc<dyn IdentityStore>, StoreError> {
    let address: crate::PostgresAddress = url.parse()?;
    let opened = crate::postgres::identities::PostgresIdentities::open(&address).await;
    let opened = opened.map_err(|error| error.while_opening(address.to_string()))?;
    Ok(Arc::new(opened))
}

#[cfg(not(feature = "postgres"))]
async fn open_postgres(_url: &str) -> Result<Arc<dyn IdentityStore>, StoreError> {
    Err(StoreError::NoPostgres)
}

/// Returns where the identities of a database are by default: in a file next to a database file, or
/// in the same PostgreSQL database.
///
/// ```
/// use std::path::Path;
///
/// let default = rhae_store::default_identities(Path::new("data/rhae.db"));
/// assert_eq!(default, Path::new("data/rhae-identities.db"));
/// ```
pub fn default_identities(db: &Path) -> PathBuf {
    if db.to_str().is_some_and(is_postgres_url) {
        return db.to_owned();
    }
    let stem = db.file_stem().unwrap_or_default().to_string_lossy();
    db.with_file_name(format!("{stem}-identities.db"))
}
