//! What a writer remembers of the counts of plays that it has just written, so that the next action of a play costs no reading.
//!
//! A memory is good for the very next entry only; if another process has appended meanwhile, it does not fit and the row is read.

use std::collections::HashMap;

use rhae_protocol::Entry;

use crate::{PlayId, PlayKey, RunCounts};

/// How many plays are remembered; then all others are forgotten at once, which costs each of them one read.
const MOST: usize = 4096;

#[derive(Default)]
pub(crate) struct Remembered {
    known: HashMap<PlayKey, Known>,
}

struct Known {
    id: PlayId,
    /// The index of the entry that it is good for.
    next: u32,
    last: RunCounts,
}

impl Remembered {
    /// To be called when a transaction failed: what was remembered since its beginning did not happen.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    /// Makes room for what these plays will be remembered by.
    pub(crate) fn make_room(&mut self, plays: &[PlayKey]) {
        if self.known.len() + plays.len() > MOST {
            self.known.retain(|play, _| plays.contains(play));
        }
    }

    /// Whether what is remembered of a play is good for this entry.
    pub(crate) fn is_good_for(&self, play: PlayKey, index: u32) -> bool {
        self.known
            .get(&play)
            .is_some_and(|known| known.next == index)
    }

    /// The last run of a play before its entry `next`.
    pub(crate) fn learn(&mut self, play: PlayKey, id: PlayId, next: u32, last: RunCounts) {
        self.known.insert(play, Known { id, next, last });
    }

    /// Counts an entry that memory is good for, and gives the play's id.
    pub(crate) fn count(&mut self, play: PlayKey, entry: &Entry) -> PlayId {
        let known = self
            .known
            .get_mut(&play)
            .expect("the caller has asked whether it is remembered, or told it");
        known.last.count(known.next, entry);
        known.next += 1;
        known.id
    }

    /// The last run of a play.
    pub(crate) fn last(&self, play: PlayKey) -> Option<&RunCounts> {
        self.known.get(&play).map(|known| &known.last)
    }
}
