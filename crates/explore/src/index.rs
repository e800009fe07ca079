//! The hash table that maps the key of a state to its node id.
//!
//! The table uses open addressing over the list of keys. A slot of 32 bits holds a node id and, in
//! the bits that ids do not need yet, a tag from the hash of the key. If the tag matches, a lookup
//! compares the key with the one in the list. A state therefore takes 16 bytes in the list and 6 to
//! 13 bytes in the table. Slots form small groups. A lookup compares all slots of a group at once,
//! and an insertion fills the first free slot. If a group is full, the next group is used. The
//! table grows by rebuilding it from the list. Entries are never removed.

use crate::batch::Transition;
use crate::pages::Pages;

/// The load factor, in eighths, above which the table grows.
const MAX_LOAD_EIGHTHS: usize = 5;
/// The number of slots in a group: small enough that a group lies in one cache line, large enough
/// that few keys overflow into the next group.
const GROUP_SLOTS: usize = 4;
/// The number of groups in the smallest table. Clearing a table of this size costs less than
/// growing a smaller one several times.
const MIN_GROUPS: usize = 1 << 11;
/// The number of groups up to which the table and the keys of its states are assumed to fit into
/// the inner caches of the processor (half a megabyte).
const MAX_CACHED_GROUPS: usize = 1 << 13;
/// The number of lookups in a batch.
pub(crate) const BATCH_SIZE: usize = 128;
/// An id that no node has.
pub(crate) const NO_NODE: u32 = u32::MAX;

/// Hashes a key. Packed keys are far from random, so both halves of the key are mixed into the
/// hash.
#[inline]
pub(crate) const fn hash_of(key: u128) -> u64 {
    let mixed = ((key as u64) ^ 0x9E37_79B9_7F4A_7C15) as u128
        * (((key >> 64) as u64) ^ 0xD6E8_FEB8_6659_FD93) as u128;
    let folded = (mixed as u64) ^ ((mixed >> 64) as u64);
    // If one factor is zero, so is the product. The low half of the key is therefore mixed in once
    // more.
    (folded ^ (key as u64).rotate_left(23)).wrapping_mul(0xA24B_AED4_963E_E407)
}

/// Prefetches an entry into the cache without waiting for it.
#[inline]
pub(crate) fn prefetch<T>(entry: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "prefetching finds 20 % to 40 % more states per second in `cargo bench -p rhae-explore`"
    )]
    // SAFETY: a prefetch has no observable effect, and the reference is valid.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
            std::ptr::from_ref(entry).cast(),
        );
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = entry;
}

#[derive(Clone, Debug)]
pub(crate) struct Index {
    groups: Vec<[u32; GROUP_SLOTS]>,
    used: usize,
    /// The bits of a slot that hold the node id plus one. A slot with the value 0 is empty.
    id_mask: u32,
}

impl Index {
    /// Creates a table that contains all keys of the list.
    pub(crate) fn new(keys: &Pages<u128>) -> Self {
        let mut index = Self {
            groups: vec![[0; GROUP_SLOTS]; MIN_GROUPS],
            used: 0,
            id_mask: 0,
        };
        index.grow(keys.len(), keys);
        index.used = keys.len();
        index
    }

    pub(crate) fn bytes(&self) -> usize {
        self.groups.len() * size_of::<[u32; GROUP_SLOTS]>()
    }

    /// Returns the number of groups needed for `more` further states.
    fn groups_for(&self, more: usize) -> usize {
        let mut groups = self.groups.len();
        while (self.used + more) * 8 > groups * GROUP_SLOTS * MAX_LOAD_EIGHTHS {
            groups *= 2;
        }
        groups
    }

    /// Returns whether `more` further states fit without growing.
    #[inline]
    pub(crate) fn has_room(&self, more: usize) -> bool {
        (self.used + more) * 8 <= self.groups.len() * GROUP_SLOTS * MAX_LOAD_EIGHTHS
    }

    /// Returns the size in bytes of the table after growing for `more` further states.
    pub(crate) fn grown_bytes(&self, more: usize) -> usize {
        self.groups_for(more) * size_of::<[u32; GROUP_SLOTS]>()
    }

    /// Rebuilds the table with room for `more` further states. The old memory is released before
    /// the new memory is allocated.
    pub(crate) fn grow(&mut self, more: usize, keys: &Pages<u128>) {
        let wanted = self.groups_for(more);
        self.groups = Vec::new();
        self.groups = vec![[0; GROUP_SLOTS]; wanted];
        // The table has more slots than states, so every id plus one fits into this mask.
        self.id_mask = u32::MAX >> (u32::BITS - (wanted * GROUP_SLOTS).ilog2().min(u32::BITS));
        let mut batch = [(0, 0); BATCH_SIZE];
        let mut list = keys.iter_from(0).zip(0..);
        loop {
            let mut count = 0;
            for (entry, (key, id)) in batch.iter_mut().zip(list.by_ref()) {
                let hash = hash_of(key);
                self.prefetch(hash);
                *entry = (hash, id);
                count += 1;
            }
            if count == 0 {
                return;
            }
            batch[..count]
                .iter()
                .for_each(|&(hash, id)| self.insert(hash, id));
        }
    }

    /// Inserts a new key by its hash.
    #[inline]
    fn insert(&mut self, hash: u64, id: u32) {
        let entry = self.tag(hash) | (id + 1);
        let mut group_index = self.home_group(hash);
        loop {
            if let Some(slot) = free_slot(&mut self.groups[group_index]) {
                *slot = entry;
                return;
            }
            group_index = (group_index + 1) & (self.groups.len() - 1);
        }
    }

    /// Returns whether the table and its keys are too large for the inner caches of the processor,
    /// so that lookups have to wait for memory.
    #[inline]
    pub(crate) const fn exceeds_cache(&self) -> bool {
        self.groups.len() > MAX_CACHED_GROUPS
    }

    /// Prefetches the group of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&self.groups[self.home_group(hash)]);
    }

    #[inline]
    fn home_group(&self, hash: u64) -> usize {
        hash as usize & (self.groups.len() - 1)
    }

    #[inline]
    const fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.id_mask
    }

    /// Looks up many keys without inserting any, and writes one entry per key to `found`: the id of
    /// the key or [`NO_NODE`]. A known key may also get [`NO_NODE`], which is rare, so the caller
    /// must look up such keys again. No branch depends on the loaded data. The cache misses of
    /// several lookups therefore overlap; a mispredicted branch would serialise them.
    pub(crate) fn find_batch(
        &self,
        wanted: &[Transition],
        keys: &Pages<u128>,
        found: &mut Vec<u32>,
    ) {
        let (groups, id_mask, last) = (&self.groups[..], self.id_mask, keys.len() as u32 - 1);
        found.clear();
        found.extend(wanted.iter().map(move |&Transition { hash, .. }| {
            let tag = (hash >> 32) as u32 & !id_mask;
            let [a, b, c, d] = groups[hash as usize & (groups.len() - 1)]
                .map(|slot| if slot & !id_mask == tag { slot } else { 0 });
            // If no slot or several slots have the tag, `id` is the id of an arbitrary existing
            // key. That is safe, because the keys are compared below.
            let id = ((a | b | c | d) & id_mask).wrapping_sub(1).min(last);
            keys.prefetch(id as usize);
            id
        }));
        for (id, &Transition { key, .. }) in found.iter_mut().zip(wanted) {
            let differs = keys.at(*id as usize) != key;
            *id |= 0_u32.wrapping_sub(u32::from(differs));
        }
    }

    /// Returns the id of a known key. For a new key, inserts it with the next id of the list and
    /// returns `None`.
    #[inline]
    pub(crate) fn find_or_insert(
        &mut self,
        hash: u64,
        key: u128,
        keys: &Pages<u128>,
    ) -> Option<u32> {
        let (tag, id_mask, groups) = (self.tag(hash), self.id_mask, self.groups.len());
        let mut group_index = self.home_group(hash);
        loop {
            let group = &mut self.groups[group_index];
            let [a, b, c, d] = group.map(|slot| {
                if slot & !id_mask == tag {
                    slot & id_mask
                } else {
                    0
                }
            });
            // Usually at most one slot has the tag, so the bitwise OR of all candidates is that
            // slot. The branch predictor only has to guess whether there is one.
            let all = a | b | c | d;
            if all != 0 {
                if keys.get(all as usize - 1) == Some(key) {
                    return Some(all - 1);
                }
                if let Some(known) = find_candidate([a, b, c, d], key, keys) {
                    return Some(known);
                }
            }
            if let Some(slot) = free_slot(group) {
                *slot = tag | (keys.len() as u32 + 1);
                self.used += 1;
                return None;
            }
            group_index = (group_index + 1) & (groups - 1);
        }
    }
}

/// Returns the id of the candidate whose key matches. Candidates are ids plus one, or 0.
#[cold]
fn find_candidate(candidates: [u32; GROUP_SLOTS], key: u128, keys: &Pages<u128>) -> Option<u32> {
    candidates
        .into_iter()
        .filter_map(|id| id.checked_sub(1))
        .find(|&known| keys.at(known as usize) == key)
}

/// Returns the first empty slot of a group.
#[inline]
fn free_slot(group: &mut [u32; GROUP_SLOTS]) -> Option<&mut u32> {
    let used = group
        .iter()
        .fold(0, |used, &slot| used + u32::from(slot != 0));
    group.get_mut(used as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_ids_while_the_table_grows() {
        let mut keys = Pages::new();
        let mut index = Index::new(&keys);
        let key_of = |id: u32| u128::from(id) << 40 | u128::from(id % 7);
        for key in (0..150_000).map(key_of) {
            if !index.has_room(1) {
                let bytes = index.grown_bytes(1);
                index.grow(1, &keys);
                assert_eq!(index.bytes(), bytes);
            }
            assert_eq!(
                index.find_or_insert(hash_of(key), key, &keys),
                None,
                "{key} was found before it was inserted"
            );
            if keys.is_full() {
                keys.grow();
            }
            keys.push(key);
        }
        // A batched lookup never returns a wrong id, and finds nearly all keys.
        let transition = |key: u128| Transition {
            key,
            hash: hash_of(key),
            edge: 0,
        };
        let (wanted, mut found) = (
            (0..300_000)
                .map(key_of)
                .map(transition)
                .collect::<Vec<Transition>>(),
            Vec::new(),
        );
        index.find_batch(&wanted, &keys, &mut found);
        assert!(
            (0..)
                .zip(&found)
                .all(|(id, &found)| found == id && id < 150_000 || found == NO_NODE)
        );
        assert!(found.iter().filter(|&&found| found != NO_NODE).count() > 130_000);
        for id in 0..150_000 {
            let key = keys.at(id as usize);
            assert_eq!(index.find_or_insert(hash_of(key), key, &keys), Some(id));
        }
    }

    #[test]
    fn sequential_keys_spread_over_the_table() {
        for shift in [0, 8, 16, 64, 100, 114] {
            let mut taken = vec![false; 1 << 12];
            (0..1 << 12).for_each(|id: u128| taken[hash_of(id << shift) as usize & 0xFFF] = true);
            // A random function leaves 1/e of the slots empty.
            let empty = taken.iter().filter(|&&is_taken| !is_taken).count();
            assert!(empty < 1700, "shift {shift}: {empty} slots are empty");
        }
    }
}
