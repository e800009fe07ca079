//! The table that finds a state's number by its key: open addressing over the list of keys.
//!
//! A slot of 32 bits has the number of a state and, in the bits that numbers do not need yet, a part of its key's hash; the key
//! itself is compared in the list. So a state costs its 16 bytes in the list and 6 to 13 here. The table grows by being
//! filled again from the list. Nothing is ever removed.

use std::hint::black_box;

use crate::pages::Pages;

/// Above this share of used slots, in eighths, the table grows.
const FULL: usize = 5;
const SLOT: usize = size_of::<u32>();
/// Look-ups that are announced together.
pub(crate) const TOGETHER: usize = 128;

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
    pub(crate) fn new() -> Self {
        Self { slots: vec![0; 1 << 10], used: 0, numbers: (1 << 10) - 1 }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * SLOT
    }

    /// The slots that `more` further states need.
    fn wanted(&self, more: usize) -> usize {
        let mut slots = self.slots.len();
        while (self.used + more) * 8 > slots * FULL {
            slots *= 2;
        }
        slots
    }

    /// Whether there is room for further states, all of them with numbers below an end.
    #[inline]
    pub(crate) fn has_room(&self, more: usize, end: usize) -> bool {
        (self.used + more) * 8 <= self.slots.len() * FULL && end <= self.numbers as usize
    }

    /// The memory of the table that takes its place if it has no room for `more` further states.
    pub(crate) fn room_bytes(&self, more: usize) -> usize {
        self.wanted(more) * SLOT
    }

    /// Makes room for further states. The table knows all states of the list; it gives its memory back before it asks for more.
    pub(crate) fn add_room(&mut self, more: usize, keys: &Pages<u128>) {
        let wanted = self.wanted(more);
        self.slots = Vec::new();
        self.clear(wanted, keys.len() + more);
        let mut hashes = [0; TOGETHER];
        let mut list = keys.iter_from(0);
        let mut next = 0;
        loop {
            let mut count = 0;
            for (hash, key) in hashes.iter_mut().zip(list.by_ref()) {
                *hash = hash_of(key);
                count += 1;
            }
            if count == 0 {
                return;
            }
            self.fill(hashes[..count].iter().copied().zip(next..));
            next += count as u32;
        }
    }

    /// As [`add_room`](Self::add_room), for a table that knows some states of the list.
    pub(crate) fn add_room_for_some(&mut self, more: usize, end: usize, keys: &Pages<u128>) {
        let (wanted, mask) = (self.wanted(more), self.numbers);
        let old = std::mem::take(&mut self.slots);
        self.clear(wanted, end);
        let mut together = [(0, 0); TOGETHER];
        let mut numbers = old.iter().filter(|&&slot| slot != 0).map(|slot| (slot & mask) - 1);
        loop {
            let mut count = 0;
            for (entry, number) in together.iter_mut().zip(numbers.by_ref()) {
                *entry = (hash_of(keys.at(number as usize)), number);
                count += 1;
            }
            if count == 0 {
                return;
            }
            self.fill(together[..count].iter().copied());
        }
    }

    fn clear(&mut self, slots: usize, end: usize) {
        self.slots = vec![0; slots];
        // Numbers get all of the bits that the largest needs, so that the table is seldom filled again for their sake alone.
        let bits = (2 * end.max(slots)).ilog2().clamp(10, 32);
        self.numbers = u32::MAX >> (32 - bits);
    }

    /// Enters keys that are known to be new.
    fn fill(&mut self, entries: impl Iterator<Item = (u64, u32)> + Clone) {
        let read = entries.clone().fold(0, |read, (hash, _)| read ^ self.slots[self.place(hash)]);
        black_box(read);
        for (hash, number) in entries {
            let mut at = self.place(hash);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = self.slot(hash, number);
        }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[inline]
    const fn slot(&self, hash: u64, number: u32) -> u32 {
        self.tag(hash) | (number + 1)
    }

    #[inline]
    const fn tag(&self, hash: u64) -> u32 {
        (hash >> 32) as u32 & !self.numbers
    }

    /// Reads what look-ups of these hashes, [`TOGETHER`] at most at a time, will read, so that they wait for memory together. No branch depends on
    /// what is read: a processor that guesses wrong would wait for each by itself.
    #[inline]
    pub(crate) fn announce(&self, hashes: &[u64], keys: &Pages<u128>) {
        let mut slots = [0; TOGETHER];
        for hashes in hashes.chunks(TOGETHER) {
            for (slot, &hash) in slots.iter_mut().zip(hashes) {
                *slot = self.slots[self.place(hash)];
            }
            let mut read = 0;
            for (&slot, &hash) in slots.iter().zip(hashes) {
                let is_like = slot & !self.numbers == self.tag(hash);
                let number = if is_like { (slot & self.numbers).saturating_sub(1) } else { 0 };
                read ^= keys.get(number as usize).unwrap_or(0) as u64;
            }
            black_box(read);
        }
    }

    /// The number of a key, or where it was noted. `is_key` compares a number's key with the one looked for.
    #[inline]
    pub(crate) fn resolve(&mut self, hash: u64, number: u32, is_key: impl Fn(u32) -> bool) -> Found {
        let tag = self.tag(hash);
        let mut at = self.place(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                self.slots[at] = tag | (number + 1);
                self.used += 1;
                return Found::New { at };
            }
            if slot & !self.numbers == tag && is_key((slot & self.numbers) - 1) {
                return Found::Known((slot & self.numbers) - 1);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Gives a noted key another number.
    pub(crate) fn renumber(&mut self, at: usize, number: u32) {
        self.slots[at] = self.slots[at] & !self.numbers | (number + 1);
    }
}

pub(crate) enum Found {
    Known(u32),
    New { at: usize },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked_up(index: &mut Index, keys: &Pages<u128>, key: u128) -> Option<u32> {
        match index.resolve(hash_of(key), keys.len() as u32, |known| keys.get(known as usize) == Some(key)) {
            Found::Known(known) => Some(known),
            Found::New { .. } => None,
        }
    }

    #[test]
    fn every_key_keeps_its_number_while_the_table_grows() {
        let mut keys = Pages::new();
        let (mut all, mut some) = (Index::new(), Index::new());
        for number in 0..150_000_u32 {
            let key = u128::from(number) << 40 | u128::from(number % 7);
            if !all.has_room(1, keys.len() + 1) {
                all.add_room(1, &keys);
            }
            assert_eq!(looked_up(&mut all, &keys, key), None, "{number} was known before it came");
            if number % 3 == 0 {
                if !some.has_room(1, keys.len() + 1) {
                    some.add_room_for_some(1, keys.len() + 1, &keys);
                }
                assert_eq!(looked_up(&mut some, &keys, key), None, "{number} was known before it came");
            }
            if keys.is_full() {
                keys.add_room();
            }
            keys.push(key);
        }
        for number in 0..150_000 {
            let key = keys.at(number as usize);
            assert_eq!(looked_up(&mut all, &keys, key), Some(number));
            if number % 3 == 0 {
                assert_eq!(looked_up(&mut some, &keys, key), Some(number));
            }
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
