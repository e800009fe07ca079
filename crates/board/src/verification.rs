//! Verification of a board from its log alone.

use rhae_protocol::{BoardEvent, BoardRecord};

use crate::board::{Board, ReplayError};
use crate::decide::rows_digest;

/// What a verification found. A board without findings is verified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    #[error("the log is not valid: {0}")]
    Log(#[from] ReplayError),
    #[error("the release `{0}` differs from the rows that the records before it give")]
    Release(String),
}

/// Replays a log and computes the rows of every release again from the records before it.
pub fn verify_board(records: &[BoardRecord]) -> Vec<Finding> {
    if let Err(error) = Board::replay(records) {
        return vec![error.into()];
    }
    let mut findings = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let BoardEvent::Released { release, rows } = &record.event else {
            continue;
        };
        let before = Board::replay(&records[..index]);
        if before.is_ok_and(|board| rows_digest(board.state()) == *rows) {
            continue;
        }
        findings.push(Finding::Release(release.clone()));
    }
    findings
}
