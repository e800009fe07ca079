//! The plays in the journal of a run.

use std::path::Path;

use rhae_protocol::{JournalLine, PlayResult};
use rhae_runs::load_lines;

use crate::HarnessError;

/// Loads the results of all journalled plays, without locking or changing the journal.
///
/// # Errors
///
/// Returns an error if the journal is missing or has a malformed line.
pub fn load_plays(folder: &Path) -> Result<Vec<PlayResult>, HarnessError> {
    Ok(plays(load_lines(folder)?))
}

/// Returns the results of the plays among the lines of a journal.
pub(crate) fn plays(lines: Vec<JournalLine>) -> Vec<PlayResult> {
    let play = |line| {
        if let JournalLine::Play { result, .. } = line {
            Some(result)
        } else {
            None
        }
    };
    lines.into_iter().filter_map(play).collect()
}
