//! Event logs of leaderboards, and the files of the runs that they contain.
//!
//! The store knows nothing about the rules of a board. It keeps the records in the order of their
//! numbers, and appends only directly after the last one, so that two servers cannot both decide on
//! the same state. Nothing is ever removed, except names of people from records.

use rhae_protocol::{BoardId, BoardRecord};

use crate::Pending;

/// An append to the log of a board. It takes effect completely or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardAppend {
    pub board: BoardId,
    /// The number of the last record that the caller has seen; 0 for a new board.
    pub last_seq: u64,
    pub records: Vec<BoardRecord>,
    /// Files of the runs that the records contain. A file that exists already is kept, because its
    /// name contains its hash.
    pub files: Vec<BoardFile>,
    /// Stored records that are replaced, because names in them are erased. Their numbers and hashes are
    /// those of the stored records.
    pub replaced: Vec<BoardRecord>,
}

/// A file of a run. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardFile {
    /// The name, which is unique within the board.
    pub name: String,
    pub content: String,
}

/// A database of board logs.
///
/// # Errors
///
/// Every method can fail with one of the database errors of [`StoreError`](crate::StoreError).
pub trait BoardStore: Send + Sync {
    /// Appends records to the log of a board and stores files, in one transaction.
    ///
    /// # Errors
    ///
    /// [`StoreError::BoardConflict`](crate::StoreError::BoardConflict) if `last_seq` is not the
    /// number of the last record, for example because another server appended first.
    fn append_board(&self, append: BoardAppend) -> Pending<'_, ()>;

    /// Returns at most `limit` records with a number above `after`, in ascending order.
    fn board_records(
        &self,
        board: &BoardId,
        after: u64,
        limit: u32,
    ) -> Pending<'_, Vec<BoardRecord>>;

    /// Returns the ids of all boards in ascending order.
    fn boards(&self) -> Pending<'_, Vec<BoardId>>;

    /// Returns the files of a board whose names start with a prefix, in ascending order of their
    /// names.
    fn board_files(&self, board: &BoardId, prefix: &str) -> Pending<'_, Vec<BoardFile>>;
}

pub(crate) fn record_text(record: &BoardRecord) -> String {
    serde_json::to_string(record).expect("a record is valid JSON")
}
