//! The plays in memory: at most so many, least recently used first to go.
//!
//! **Invariant:** a play has at most one place here, so that its lock means something: a place that somebody holds is never
//! dropped. A place that was dropped is made again from the store.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rhae_store::{Play, PlayId};

use crate::live::Live;

/// A play's place in memory.
pub(crate) struct Place {
    /// The play as it is stored; nothing of it ever changes.
    pub(crate) play: Play,
    /// Held by one request at a time, in the order of arrival.
    pub(crate) stage: tokio::sync::Mutex<Stage>,
}

/// What is in memory of a play.
pub(crate) enum Stage {
    /// Nothing: it is to be made from its log.
    Absent,
    /// All of it.
    Live(Box<Live>),
    /// Its log does not give the frames that it gave.
    Frozen(String),
}

/// All places.
pub(crate) struct Plays {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    places: HashMap<PlayId, (Arc<Place>, u64)>,
    /// The same by the time of their last use.
    order: BTreeMap<u64, PlayId>,
    uses: u64,
}

impl Plays {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            table: Mutex::default(),
        }
    }

    /// The place of a play, if it has one.
    pub(crate) fn find(&self, id: PlayId) -> Option<Arc<Place>> {
        let mut table = self.table();
        let Table {
            places,
            order,
            uses,
        } = &mut *table;
        let (place, used) = places.get_mut(&id)?;
        order.remove(used);
        *uses += 1;
        *used = *uses;
        order.insert(*uses, id);
        Some(Arc::clone(place))
    }

    /// The place of a play, which is made if there is none.
    pub(crate) fn place(&self, play: Play, stage: Stage) -> Arc<Place> {
        let id = play.id;
        if let Some(place) = self.find(id) {
            return place;
        }
        let mut table = self.table();
        table.uses += 1;
        let used = table.uses;
        let new = || {
            (
                Arc::new(Place {
                    play,
                    stage: tokio::sync::Mutex::new(stage),
                }),
                used,
            )
        };
        let (place, stood) = table.places.entry(id).or_insert_with(new);
        let (place, stood) = (Arc::clone(place), *stood);
        table.order.insert(stood, id);
        table.shrink(self.most);
        place
    }

    /// How many plays have a place.
    pub(crate) fn len(&self) -> usize {
        self.table().places.len()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing below panics between two changes that belong together.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Drops the places that were not used for the longest time and that nobody holds.
    fn shrink(&mut self, most: usize) {
        let surplus = self.places.len().saturating_sub(most);
        let idle = |id: &PlayId| {
            self.places
                .get(id)
                .is_some_and(|(place, _)| Arc::strong_count(place) == 1)
        };
        let leaving: Vec<(u64, PlayId)> = self
            .order
            .iter()
            .filter(|(_, id)| idle(id))
            .take(surplus)
            .map(|(&used, &id)| (used, id))
            .collect();
        for (used, id) in leaving {
            self.order.remove(&used);
            self.places.remove(&id);
        }
    }
}
