//! The table that finds a state's number by its key: open addressing over the list of keys.
//!
//! A slot of 32 bits has the number of a state and, in the bits that numbers do not need yet, a part of its key's hash; the key
//! itself is compared in the list. So a state costs its 16 bytes in the list and 6 to 13 here. Slots are in small groups that are
//! compared as a whole, and used from the first slot on; what finds no room in its group goes into the next one. The table
//! grows by being filled again from the list. Nothing is ever removed.

use crate::batch::Away;
use crate::pages::Pages;

/// Above this share of used slots, in eighths, the table grows.
const FULL: usize = 5;
/// Slots of a group: few enough that a group is never in two lines of a cache, and enough that few keys are elsewhere.
const GROUP: usize = 4;
/// Groups of the smallest table: it is quicker to clear than several that grow.
const SMALLEST: usize = 1 << 11;
/// Groups of the largest table that, with the keys of its states, is in a processor's nearer caches: half a megabyte.
const NEAR: usize = 1 << 13;
/// Look-ups that are made together.
pub(crate) const TOGETHER: usize = 128;
/// What no state has as its number.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A hash of a key. Packed keys are anything but random, so both halves are mixed.
#[inline]
pub(crate) const fn hash_of(key: u128) -> u64 {
    let mixed = ((key as u64) ^ 0x9E37_79B9_7F4A_7C15) as u128
        * (((key >> 64) as u64) ^ 0xD6E8_FEB8_6659_FD93) as u128;
    let folded = (mixed as u64) ^ ((mixed >> 64) as u64);
    // A factor of zero would send all partners to one place.
    (folded ^ (key as u64).rotate_left(23)).wrapping_mul(0xA24B_AED4_963E_E407)
}

/// Asks for memory that will be read soon, without waiting for it.
#[inline]
pub(crate) fn prefetch<T>(entry: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        reason = "searches find a fifth to two fifths more states a second: see docs/benchmarks.md"
    )]
    // SAFETY: it reads nothing that the program could see, and the entry is there.
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
    groups: Vec<[u32; GROUP]>,
    used: usize,
    /// The bits of a slot that hold a number, which is one more than that of the state.
    numbers: u32,
}

impl Index {
    /// A table that knows the states of a list.
    pub(crate) fn new(keys: &Pages<u128>) -> Self {
        let mut index = Self {
            groups: vec![[0; GROUP]; SMALLEST],
            used: 0,
            numbers: 0,
        };
        index.add_room(keys.len(), keys);
        index.used = keys.len();
        index
    }

    pub(crate) fn bytes(&self) -> usize {
        self.groups.len() * size_of::<[u32; GROUP]>()
    }

    /// The groups that `more` further states need.
    fn wanted(&self, more: usize) -> usize {
        let mut groups = self.groups.len();
        while (self.used + more) * 8 > groups * GROUP * FULL {
            groups *= 2;
        }
        groups
    }

    /// Whether there is room for further states.
    #[inline]
    pub(crate) fn has_room(&self, more: usize) -> bool {
        (self.used + more) * 8 <= self.groups.len() * GROUP * FULL
    }

    /// The memory of the table that takes its place if it has no room for `more` further states.
    pub(crate) fn room_bytes(&self, more: usize) -> usize {
        self.wanted(more) * size_of::<[u32; GROUP]>()
    }

    /// Makes room for further states. The table knows all states of the list; it gives its memory back before it asks for more.
    pub(crate) fn add_room(&mut self, more: usize, keys: &Pages<u128>) {
        let wanted = self.wanted(more);
        self.groups = Vec::new();
        self.groups = vec![[0; GROUP]; wanted];
        // All states that the table has room for have numbers below that of its slots.
        self.numbers = u32::MAX >> (u32::BITS - (wanted * GROUP).ilog2().min(u32::BITS));
        let mut together = [(0, 0); TOGETHER];
        let mut list = keys.iter_from(0).zip(0..);
        loop {
            let mut count = 0;
            for (entry, (key, number)) in together.iter_mut().zip(list.by_ref()) {
                let hash = hash_of(key);
                self.expect(hash);
                *entry = (hash, number);
                count += 1;
            }
            if count == 0 {
                return;
            }
            together[..count]
                .iter()
                .for_each(|&(hash, number)| self.fill(hash, number));
        }
    }

    /// Enters a key that is known to be new, by its hash.
    #[inline]
    fn fill(&mut self, hash: u64, number: u32) {
        let entry = self.tag(hash) | (number + 1);
        let mut place = self.place(hash);
        loop {
            if let Some(slot) = free_slot(&mut self.groups[place]) {
                *slot = entry;
                return;
            }
            place = (place + 1) & (self.groups.len() - 1);
        }
    }

    /// Whether the table and its keys are too large for a processor's nearer caches, so that look-ups wait for memory.
    #[inline]
    pub(crate) const fn is_far(&self) -> bool {
        self.groups.len() > NEAR
    }

    /// Gets the place of a hash, which will be looked up soon, from memory.
    #[inline]
    pub(crate) fn expect(&self, hash: u64) {
        prefetch(&self.groups[self.place(hash)]);
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.groups.len() - 1)
    }

    #[inline]
    const fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.numbers
    }

    /// Looks up states without entering any: nearly all that are known get their number, the others
    /// [`NOBODY`]. No branch depends on what is read, so that many wait for memory together: a processor that guesses wrong
    /// would wait for each by itself.
    pub(crate) fn find(&self, wanted: &[Away], keys: &Pages<u128>, found: &mut Vec<u32>) {
        let (groups, numbers, last) = (&self.groups[..], self.numbers, keys.len() as u32 - 1);
        found.clear();
        found.extend(wanted.iter().map(move |&Away { hash, .. }| {
            let tag = (hash >> 32) as u32 & !numbers;
            let [a, b, c, d] = groups[hash as usize & (groups.len() - 1)]
                .map(|slot| if slot & !numbers == tag { slot } else { 0 });
            // Where no slot has the tag, or more than one, some key is compared that is there.
            let number = ((a | b | c | d) & numbers).wrapping_sub(1).min(last);
            keys.expect(number as usize);
            number
        }));
        for (number, &Away { key, .. }) in found.iter_mut().zip(wanted) {
            let differs = keys.at(*number as usize) != key;
            *number |= 0_u32.wrapping_sub(u32::from(differs));
        }
    }

    /// The number of a key that is known; one that is not is noted with the next number of the list.
    #[inline]
    pub(crate) fn resolve(&mut self, hash: u64, key: u128, keys: &Pages<u128>) -> Option<u32> {
        let (tag, numbers, groups) = (self.tag(hash), self.numbers, self.groups.len());
        let mut place = self.place(hash);
        loop {
            let group = &mut self.groups[place];
            let [a, b, c, d] = group.map(|slot| {
                if slot & !numbers == tag {
                    slot & numbers
                } else {
                    0
                }
            });
            // Mostly one slot has the tag, if any has, so it is all of them together: a processor has to guess only whether there is one.
            let all = a | b | c | d;
            if all != 0 {
                if keys.get(all as usize - 1) == Some(key) {
                    return Some(all - 1);
                }
                if let Some(known) = one_of([a, b, c, d], key, keys) {
                    return Some(known);
                }
            }
            if let Some(slot) = free_slot(group) {
                *slot = tag | (keys.len() as u32 + 1);
                self.used += 1;
                return None;
            }
            place = (place + 1) & (groups - 1);
        }
    }
}

/// Which of some numbers, each one more than that of a state, or none, is that of a key.
#[cold]
fn one_of(numbers: [u32; GROUP], key: u128, keys: &Pages<u128>) -> Option<u32> {
    numbers
        .into_iter()
        .filter_map(|number| number.checked_sub(1))
        .find(|&known| keys.at(known as usize) == key)
}

/// The first slot of a group that is not used.
#[inline]
fn free_slot(group: &mut [u32; GROUP]) -> Option<&mut u32> {
    let used = group
        .iter()
        .fold(0, |used, &slot| used + u32::from(slot != 0));
    group.get_mut(used as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_keeps_its_number_while_the_table_grows() {
        let mut keys = Pages::new();
        let mut index = Index::new(&keys);
        let key_of = |number: u32| u128::from(number) << 40 | u128::from(number % 7);
        for key in (0..150_000).map(key_of) {
            if !index.has_room(1) {
                let bytes = index.room_bytes(1);
                index.add_room(1, &keys);
                assert_eq!(index.bytes(), bytes);
            }
            assert_eq!(
                index.resolve(hash_of(key), key, &keys),
                None,
                "{key} was known before it came"
            );
            if keys.is_full() {
                keys.add_room();
            }
            keys.push(key);
        }
        // What is found together is right, and nearly everything is.
        let away = |key: u128| Away {
            key,
            hash: hash_of(key),
            edge: 0,
        };
        let (wanted, mut found) = (
            (0..300_000).map(key_of).map(away).collect::<Vec<Away>>(),
            Vec::new(),
        );
        index.find(&wanted, &keys, &mut found);
        assert!(
            (0..)
                .zip(&found)
                .all(|(number, &found)| found == number && number < 150_000 || found == NOBODY)
        );
        assert!(found.iter().filter(|&&found| found != NOBODY).count() > 130_000);
        for number in 0..150_000 {
            let key = keys.at(number as usize);
            assert_eq!(index.resolve(hash_of(key), key, &keys), Some(number));
        }
    }

    #[test]
    fn counting_keys_spread_over_the_table() {
        for shift in [0, 8, 16, 64, 100, 114] {
            let mut taken = vec![false; 1 << 12];
            (0..1 << 12)
                .for_each(|number: u128| taken[hash_of(number << shift) as usize & 0xFFF] = true);
            // Random places leave 1/e empty.
            let empty = taken.iter().filter(|&&is_taken| !is_taken).count();
            assert!(empty < 1700, "shift {shift}: {empty} places are empty");
        }
    }
}
