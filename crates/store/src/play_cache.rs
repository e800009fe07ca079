//! A cache in which the writer keeps the counts of the plays that it has recently written. It saves
//! the writer a database read at the next action of such a play.
//!
//! A cached value is valid only for the very next entry of its log. If another process has appended
//! in the meantime, the index does not match and the caller reads the row from the database.

use std::collections::HashMap;

use rhae_protocol::Entry;

use crate::{PlayId, PlayKey, RunCounts};

/// The maximum number of cached plays. When the limit would be exceeded, all plays that the current
/// transaction does not change are evicted at once. Each of them then needs one database read at
/// its next action.
const MAX_PLAYS: usize = 4096;

#[derive(Default)]
pub(crate) struct PlayCache {
    plays: HashMap<PlayKey, CachedPlay>,
}

struct CachedPlay {
    id: PlayId,
    /// The index of the next entry, the only one that `last` is valid for.
    next: u32,
    last: RunCounts,
}

impl PlayCache {
    /// Drops all plays. The writer calls this when a transaction fails, because the counts cached
    /// since its start were not committed.
    pub(crate) fn clear(&mut self) {
        self.plays.clear();
    }

    /// Makes room for `plays` by evicting all others if the cache would exceed its limit.
    pub(crate) fn make_room(&mut self, plays: &[PlayKey]) {
        if self.plays.len() + plays.len() > MAX_PLAYS {
            self.plays.retain(|play, _| plays.contains(play));
        }
    }

    /// Returns whether the cached counts of a play are valid for the entry with this index.
    pub(crate) fn is_current(&self, play: PlayKey, index: u32) -> bool {
        self.plays
            .get(&play)
            .is_some_and(|cached| cached.next == index)
    }

    /// Caches the last run of a play as it was before its entry `next`.
    pub(crate) fn insert(&mut self, play: PlayKey, id: PlayId, next: u32, last: RunCounts) {
        self.plays.insert(play, CachedPlay { id, next, last });
    }

    /// Counts the next entry of a cached play and returns the play's id.
    ///
    /// # Panics
    ///
    /// Panics if the play is not cached.
    pub(crate) fn count(&mut self, play: PlayKey, entry: &Entry) -> PlayId {
        let cached = self
            .plays
            .get_mut(&play)
            .expect("the caller has checked `is_current` or called `insert`");
        cached.last.count(cached.next, entry);
        cached.next += 1;
        cached.id
    }

    /// Returns the counts of a play's last run.
    pub(crate) fn last(&self, play: PlayKey) -> Option<&RunCounts> {
        self.plays.get(&play).map(|cached| &cached.last)
    }
}
