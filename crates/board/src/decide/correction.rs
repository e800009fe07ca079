//! Corrections after an error of this program: all rows whose stored runs are verified differently now.
//!
//! *Invariant:* a row is corrected only if its verified runs differ, and the old and the new score are
//! part of the event.

use rhae_protocol::BoardEvent;

use super::evidence::agrees;
use super::{Events, find, note, release_name};
use crate::command::VerifiedRow;
use crate::rejection::Rejection;
use crate::scores::entry_scores;
use crate::state::{BoardState, Entry};

/// Units of a score.
const NANO: f64 = 1e9;

pub(super) fn rescore(
    state: &BoardState,
    now_ms: u64,
    text: &str,
    rows: Vec<VerifiedRow>,
) -> Events {
    let text = note(text, "what was wrong")?;
    let release = release_name(state, now_ms);
    let mut events = Vec::new();
    for row in rows {
        let old = find(state, &row.entry)?;
        if old.runs == row.runs && old.reruns == row.reruns {
            continue;
        }
        let new = Entry {
            runs: row.runs.clone(),
            reruns: row.reruns.clone(),
            ..old.clone()
        };
        events.push(BoardEvent::Rescored {
            agrees: agrees(state, &new, &row.reruns),
            entry: row.entry,
            old_nano: score_nano(state, old),
            new_nano: score_nano(state, &new),
            runs: row.runs,
            reruns: row.reruns,
            failure: row.failure,
            note: text.clone(),
            release: release.clone(),
        });
    }
    if events.is_empty() {
        return Err(Rejection::NothingToRescore);
    }
    Ok(events)
}

fn score_nano(state: &BoardState, entry: &Entry) -> u64 {
    let score = entry_scores(state, entry).row_score();
    score.map_or(0, |score| (score.mean * NANO).round() as u64)
}
