//! The table that finds a state's number by its key: open addressing over the list of keys.
//!
//! A slot of 32 bits has the number of a state and, in the bits that numbers do not need yet, a part of its key's hash; the key
//! itself is compared in the list. So a state costs its 16 bytes in the list and 6 to 13 here. The table
//! grows by being filled again from the list. Nothing is ever removed.

use std::hint::black_box;

use crate::pages::Pages;

/// Above this share of used slots, in eighths, the table grows.
const FULL: usize = 5;
/// Slots that a look-up compares without a branch: a key that is known is seldom further from its place.
const NEAR: usize = 4;
/// Look-ups that are made together.
pub(crate) const TOGETHER: usize = 128;
/// What no state has as its number.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A hash of a key. Packed keys are anything but random, so both halves are mixed.
#[inline]
pub(crate) const fn hash_of(key: u128) -> u64 {
    let mixed = ((key as u64) ^ 0x9E37_79B9_7F4A_7C15) as u128 * (((key >> 64) as u64) ^ 0xD6E8_FEB8_6659_FD93) as u128;
    let folded = (mixed as u64) ^ ((mixed >> 64) as u64);
    // A factor of zero would send all partners to one place.
    (folded ^ (key as u64).rotate_left(23)).wrapping_mul(0xA24B_AED4_963E_E407)
}

#[derive(Clone, Debug)]
pub(crate) struct Index {
    slots: Vec<u32>,
    used: usize,
    /// The bits of a slot that hold a number, which is one more than that of the state.
    numbers: u32,
}

impl Index {
    /// A table that knows the states of a list.
    pub(crate) fn new(keys: &Pages<u128>) -> Self {
        let mut index = Self { slots: vec![0; 1 << 10], used: 0, numbers: 0 };
        index.add_room(keys.len(), keys);
        index.used = keys.len();
        index
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<u32>()
    }

    /// The slots that `more` further states need.
    fn wanted(&self, more: usize) -> usize {
        let mut slots = self.slots.len();
        while (self.used + more) * 8 > slots * FULL {
            slots *= 2;
        }
        slots
    }

    /// Whether there is room for further states.
    #[inline]
    pub(crate) fn has_room(&self, more: usize) -> bool {
        (self.used + more) * 8 <= self.slots.len() * FULL
    }

    /// The memory of the table that takes its place if it has no room for `more` further states.
    pub(crate) fn room_bytes(&self, more: usize) -> usize {
        self.wanted(more) * size_of::<u32>()
    }

    /// Makes room for further states. The table knows all states of the list; it gives its memory back before it asks for more.
    pub(crate) fn add_room(&mut self, more: usize, keys: &Pages<u128>) {
        let wanted = self.wanted(more);
        self.slots = Vec::new();
        self.slots = vec![0; wanted];
        // All states that the table has room for have numbers below that of its slots.
        self.numbers = u32::MAX >> (u32::BITS - wanted.ilog2().min(u32::BITS));
        let mut together = [(0, 0); TOGETHER];
        let mut list = keys.iter_from(0).zip(0..);
        loop {
            let mut count = 0;
            for (entry, (key, number)) in together.iter_mut().zip(list.by_ref()) {
                *entry = (hash_of(key), number);
                count += 1;
            }
            if count == 0 {
                return;
            }
            self.fill(&together[..count]);
        }
    }

    /// Enters keys that are known to be new, by their hashes.
    fn fill(&mut self, entries: &[(u64, u32)]) {
        self.touch(entries.iter().map(|&(hash, _)| hash));
        for &(hash, number) in entries {
            let mut at = self.place(hash);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = self.tag(hash) | (number + 1);
        }
    }

    /// Reads the places of hashes, which will be needed: reading nothing else, a processor waits for many of them at a time.
    #[inline]
    fn touch(&self, hashes: impl Iterator<Item = u64>) {
        black_box(hashes.fold(0, |read, hash| read ^ self.slots[self.place(hash)]));
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    const fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.numbers
    }

    /// Looks up keys with their hashes without entering any: nearly all that are known get their number, the others
    /// [`NOBODY`]. No branch depends on what is read, so that many wait for memory together: a processor that guesses wrong
    /// would wait for each by itself.
    pub(crate) fn find(&self, wanted: &[u128], hashes: &[u64], keys: &Pages<u128>, found: &mut Vec<u32>) {
        found.clear();
        let mut alike = [0; TOGETHER];
        for (wanted, hashes) in wanted.chunks(TOGETHER).zip(hashes.chunks(TOGETHER)) {
            self.touch(hashes.iter().copied());
            for (alike, &hash) in alike.iter_mut().zip(hashes) {
                let (place, tag) = (self.place(hash), self.tag(hash));
                // Where nothing is alike, a key is compared that is at hand.
                *alike = (0..NEAR).rev().fold(0, |alike, step| {
                    let slot = self.slots[(place + step) & (self.slots.len() - 1)];
                    if slot & !self.numbers == tag { (slot & self.numbers).saturating_sub(1) } else { alike }
                });
            }
            found.extend(alike.iter().zip(wanted).map(|(&number, &key)| {
                let differs = keys.at(number as usize) != key;
                number | 0_u32.wrapping_sub(u32::from(differs))
            }));
        }
    }

    /// The number of a key that is known; one that is not is noted with the next number of the list.
    #[inline]
    pub(crate) fn resolve(&mut self, hash: u64, key: u128, keys: &Pages<u128>) -> Option<u32> {
        let tag = self.tag(hash);
        let mut at = self.place(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                self.slots[at] = tag | (keys.len() as u32 + 1);
                self.used += 1;
                return None;
            }
            let known = (slot & self.numbers).wrapping_sub(1);
            if slot & !self.numbers == tag && keys.at(known as usize) == key {
                return Some(known);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }
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
            assert_eq!(index.resolve(hash_of(key), key, &keys), None, "{key} was known before it came");
            if keys.is_full() {
                keys.add_room();
            }
            keys.push(key);
        }
        // What is found together is right, and nearly everything is.
        let (wanted, mut found) = ((0..300_000).map(key_of).collect::<Vec<u128>>(), Vec::new());
        let hashes: Vec<u64> = wanted.iter().map(|&key| hash_of(key)).collect();
        index.find(&wanted, &hashes, &keys, &mut found);
        assert!((0..).zip(&found).all(|(number, &found)| found == number && number < 150_000 || found == NOBODY));
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
            (0..1 << 12).for_each(|number: u128| taken[hash_of(number << shift) as usize & 0xFFF] = true);
            // Random places leave 1/e empty.
            let empty = taken.iter().filter(|&&is_taken| !is_taken).count();
            assert!(empty < 1700, "shift {shift}: {empty} places are empty");
        }
    }
}
