//! Event logs of human studies, and the files that were published from them.
//!
//! The store knows nothing about the rules of a study. It keeps the records of each study in the
//! order of their numbers, and appends only directly after the last one, so that two servers cannot
//! both decide on the same state.

use rhae_protocol::{StudyChain, StudyId, StudyRecord};

use crate::{Pending, PlayId};

/// An append to the log of a study. It takes effect completely or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyAppend {
    pub study: StudyId,
    /// The number of the last record that the caller has seen; 0 for a new study.
    pub last_seq: u64,
    pub records: Vec<StudyRecord>,
    /// The chains whose records are removed, because a person was erased.
    pub removed: Vec<StudyChain>,
    /// The plays of an erased person, which are removed with their logs. Their cards remain.
    pub removed_plays: Vec<PlayId>,
    /// A file that the records publish.
    pub file: Option<StudyFile>,
}

/// A file that was published by a study. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyFile {
    /// The name, which is unique within the study.
    pub name: String,
    pub content: String,
}

/// A database of study logs.
///
/// # Errors
///
/// Every method can fail with one of the database errors of [`StoreError`](crate::StoreError).
pub trait StudyStore: Send + Sync {
    /// Appends records to the log of a study, removes the chains and plays of erased people and
    /// stores a published file, in one transaction.
    ///
    /// # Errors
    ///
    /// [`StoreError::StudyConflict`](crate::StoreError::StudyConflict) if `last_seq` is not the
    /// number of the last record, for example because another server appended first.
    fn append_study(&self, append: StudyAppend) -> Pending<'_, ()>;

    /// Returns at most `limit` records with a number above `after`, in ascending order.
    fn study_records(
        &self,
        study: &StudyId,
        after: u64,
        limit: u32,
    ) -> Pending<'_, Vec<StudyRecord>>;

    /// Returns the ids of all studies in ascending order.
    fn studies(&self) -> Pending<'_, Vec<StudyId>>;

    /// Returns the published files of a study in ascending order of their names.
    fn study_files(&self, study: &StudyId) -> Pending<'_, Vec<StudyFile>>;
}

/// The text by which a chain is stored.
pub(crate) fn chain_key(chain: &StudyChain) -> String {
    serde_json::to_string(chain).expect("a chain is valid JSON")
}

pub(crate) fn record_text(record: &StudyRecord) -> String {
    serde_json::to_string(record).expect("a record is valid JSON")
}
