//! Erases the names of people from the log of a board.

use rhae_board::{Board, Command, erased_records};
use rhae_protocol::{BoardId, BoardRecord, EntryId};
use rhae_store::{BoardAppend, StoreError};

use crate::service::MAX_ATTEMPTS;
use crate::{BoardError, BoardService};

impl BoardService {
    /// Erases the names of the people of a row from the log. Their salted hashes stay, so that the log
    /// still verifies.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::Rejected`] if the log has no names of the row.
    pub async fn erase(
        &self,
        id: &BoardId,
        now_ms: u64,
        actor: &str,
        entry: &EntryId,
    ) -> Result<Vec<BoardRecord>, BoardError> {
        for _ in 0..MAX_ATTEMPTS {
            let stored = self.records(id).await?;
            let board = Board::replay(&stored).map_err(|error| BoardError::Log {
                board: id.clone(),
                error,
            })?;
            let command = Command::Erase {
                entry: entry.clone(),
            };
            let records = board.prepare(now_ms, actor, &command)?;
            let append = BoardAppend {
                board: id.clone(),
                last_seq: board.last_seq(),
                records: records.clone(),
                files: Vec::new(),
                replaced: erased_records(board.state(), &stored, entry),
            };
            match self.store.append_board(append).await {
                Ok(()) => return Ok(records),
                Err(StoreError::BoardConflict(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(BoardError::Contended(id.clone()))
    }
}
