//! A bounded pool of slots that several holders share fairly.
//!
//! While slots are free, any holder may take one, up to its own limit. If all are taken, a holder
//! that has at least two slots fewer than the one with the most takes over a slot of the latter, the
//! newest one. A holder with many slots therefore cannot keep out one with few.

use std::collections::HashMap;
use std::hash::Hash;

/// The slots of a pool. `T` identifies what occupies a slot.
pub(crate) struct FairPool<H, T> {
    max: usize,
    /// The slots of each holder, oldest first.
    holders: HashMap<H, Vec<(u64, T)>>,
    count: usize,
    next_id: u64,
}

/// A slot that was granted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Admitted<T> {
    pub(crate) id: u64,
    /// What occupied the slot before; it must end.
    pub(crate) evicted: Option<T>,
}

/// Why no slot was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The holder has this many slots, which is its limit.
    HolderLimit(usize),
    /// All slots are taken, and no holder has many more than this one.
    Full,
}

impl<H: Clone + Eq + Hash, T: Clone> FairPool<H, T> {
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            holders: HashMap::new(),
            count: 0,
            next_id: 0,
        }
    }

    /// Grants a slot to a holder that may have `max` slots. If the pool is full, evicts the newest
    /// slot of the heaviest holder for which `may_evict` holds.
    pub(crate) fn admit(
        &mut self,
        holder: &H,
        max: Option<usize>,
        occupant: &T,
        may_evict: impl Fn(&T) -> bool,
    ) -> Result<Admitted<T>, Refusal> {
        let held = self.holders.get(holder).map_or(0, Vec::len);
        if let Some(max) = max.filter(|&max| held >= max) {
            return Err(Refusal::HolderLimit(max));
        }
        let evicted = if self.count < self.max {
            None
        } else {
            Some(self.evict(held, may_evict).ok_or(Refusal::Full)?)
        };
        let id = self.next_id;
        self.next_id += 1;
        self.count += 1;
        let slots = self.holders.entry(holder.clone()).or_default();
        slots.push((id, occupant.clone()));
        Ok(Admitted { id, evicted })
    }

    /// Frees a slot, unless it was evicted.
    pub(crate) fn release(&mut self, holder: &H, id: u64) {
        let Some(slots) = self.holders.get_mut(holder) else {
            return;
        };
        let before = slots.len();
        slots.retain(|(slot, _)| *slot != id);
        self.count -= before - slots.len();
        if slots.is_empty() {
            self.holders.remove(holder);
        }
    }

    /// Takes a slot from the holder with the most slots, if it has at least two more than `held`.
    fn evict(&mut self, held: usize, may_evict: impl Fn(&T) -> bool) -> Option<T> {
        let (_, slots) = self
            .holders
            .iter_mut()
            .filter(|(_, slots)| slots.len() > held + 1)
            .filter(|(_, slots)| slots.iter().any(|(_, occupant)| may_evict(occupant)))
            .max_by_key(|(_, slots)| slots.len())?;
        let index = slots
            .iter()
            .rposition(|(_, occupant)| may_evict(occupant))?;
        self.count -= 1;
        Some(slots.remove(index).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pool_takes_slots_from_the_heaviest_holder() {
        let mut pool = FairPool::new(4);
        let mut admit = |holder: &'static str, occupant: u32| {
            let admitted = pool.admit(&holder, None, &occupant, |&occupant| occupant != 3);
            admitted.map(|admitted| admitted.evicted)
        };
        for occupant in 0..4 {
            assert_eq!(admit("heavy", occupant), Ok(None));
        }
        assert_eq!(admit("heavy", 4), Err(Refusal::Full));
        // Occupant 3 is the newest, but must not be evicted.
        assert_eq!(admit("light", 5), Ok(Some(2)));
        assert_eq!(admit("light", 6), Ok(Some(1)));
        // Both holders have two slots now.
        assert_eq!(admit("light", 7), Err(Refusal::Full));
        assert_eq!(admit("heavy", 8), Err(Refusal::Full));
        // A third holder gets a slot of one of them.
        assert!(admit("new", 9).is_ok_and(|evicted| evicted.is_some()));
    }

    #[test]
    fn released_slots_are_free_again_and_evicted_ones_are_not_counted_twice() {
        let mut pool = FairPool::new(2);
        let admit =
            |pool: &mut FairPool<u8, u8>, holder| pool.admit(&holder, Some(2), &holder, |_| true);
        let first = admit(&mut pool, 1).unwrap();
        let second = admit(&mut pool, 1).unwrap();
        assert_eq!(admit(&mut pool, 1), Err(Refusal::HolderLimit(2)));
        let other = admit(&mut pool, 2).unwrap();
        assert_eq!(other.evicted, Some(1));
        pool.release(&1, second.id);
        assert_eq!(admit(&mut pool, 3), Err(Refusal::Full));
        pool.release(&1, first.id);
        assert_eq!(admit(&mut pool, 3).unwrap().evicted, None);
        pool.release(&2, other.id);
        assert_eq!(pool.count, 1);
    }

    #[test]
    fn a_pool_without_slots_refuses() {
        let mut pool = FairPool::new(0);
        assert_eq!(pool.admit(&1, None, &(), |_| true), Err(Refusal::Full));
    }
}
