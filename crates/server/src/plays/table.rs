//! The plays in memory: a bounded table with least-recently-used eviction.
//!
//! **Invariant:** a play has at most one slot, so that the slot's lock serialises its commands. A
//! slot in use is never evicted. The play of an evicted slot is rebuilt from the store when it is
//! next used.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rhae_store::{PlayId, StoredPlay};

use super::command::LivePlay;

/// The entry of one play in [`PlayTable`].
pub(crate) struct PlaySlot {
    /// The immutable facts of the play, as stored.
    pub(crate) play: StoredPlay,
    /// Locked by one request at a time, in order of arrival.
    pub(crate) state: tokio::sync::Mutex<SlotState>,
}

/// The state of a play in memory.
pub(crate) enum SlotState {
    /// Not loaded: the next request rebuilds the play from its log.
    Absent,
    /// Loaded and up to date, unless another server has advanced the play.
    Live(Box<LivePlay>),
    /// The log could not be replayed, for this reason. The play accepts no further commands.
    Frozen(String),
}

/// The slots of all plays in memory, at most `max` plus those in use.
pub(crate) struct PlayTable {
    max: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    slots: HashMap<PlayId, (Arc<PlaySlot>, u64)>,
    /// The ids by the counter value of their last use, oldest first.
    by_last_use: BTreeMap<u64, PlayId>,
    uses: u64,
}

impl PlayTable {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            table: Mutex::default(),
        }
    }

    /// Returns the slot of a play and marks it as recently used.
    pub(crate) fn find(&self, id: PlayId) -> Option<Arc<PlaySlot>> {
        let mut table = self.table();
        let Table {
            slots,
            by_last_use,
            uses,
        } = &mut *table;
        let (slot, last_use) = slots.get_mut(&id)?;
        by_last_use.remove(last_use);
        *uses += 1;
        *last_use = *uses;
        by_last_use.insert(*uses, id);
        Some(Arc::clone(slot))
    }

    /// Returns the slot of a play, inserting one with `state` if it has none, and evicts surplus
    /// slots.
    pub(crate) fn get_or_insert(&self, play: StoredPlay, state: SlotState) -> Arc<PlaySlot> {
        let id = play.id;
        if let Some(slot) = self.find(id) {
            return slot;
        }
        let mut table = self.table();
        table.uses += 1;
        let last_use = table.uses;
        let new = || {
            (
                Arc::new(PlaySlot {
                    play,
                    state: tokio::sync::Mutex::new(state),
                }),
                last_use,
            )
        };
        let (slot, last_use) = table.slots.entry(id).or_insert_with(new);
        let (slot, last_use) = (Arc::clone(slot), *last_use);
        table.by_last_use.insert(last_use, id);
        table.evict(self.max);
        slot
    }

    pub(crate) fn len(&self) -> usize {
        self.table().slots.len()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No code that holds the lock panics between two related changes, so a poisoned table is
        // consistent.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Evicts the least recently used slots that no request holds.
    fn evict(&mut self, max: usize) {
        let surplus = self.slots.len().saturating_sub(max);
        let idle = |id: &PlayId| {
            self.slots
                .get(id)
                .is_some_and(|(slot, _)| Arc::strong_count(slot) == 1)
        };
        let evicted: Vec<(u64, PlayId)> = self
            .by_last_use
            .iter()
            .filter(|(_, id)| idle(id))
            .take(surplus)
            .map(|(&last_use, &id)| (last_use, id))
            .collect();
        for (last_use, id) in evicted {
            self.by_last_use.remove(&last_use);
            self.slots.remove(&id);
        }
    }
}
