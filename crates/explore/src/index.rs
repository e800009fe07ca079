//! The table that finds a state's number by its key: open addressing over the list of keys.
//!
//! A slot has 32 bits of the key's hash and the number of the state; the key itself is compared in the list. So a state
//! costs its 16 bytes in the list and 13 to 26 here. A slot's place follows from those 32 bits, so the table grows
//! without looking at keys. Nothing is ever removed.

/// Above this share of used slots, in eighths, the table grows.
const FULL: usize = 5;
const SLOT: usize = size_of::<u64>();
/// Set in the number of a state that has no final number yet; see [`Index::resolve`].
pub(crate) const FRESH: u32 = 1 << 31;

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
    slots: Vec<u64>,
    used: usize,
}

impl Index {
    pub(crate) fn new() -> Self {
        Self { slots: vec![0; 1 << 10], used: 0 }
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

    /// How much memory [`reserve`](Self::reserve) would ask for beside what the table has; it gives the old slots back afterwards.
    pub(crate) fn growth(&self, more: usize) -> usize {
        let wanted = self.wanted(more);
        if wanted == self.slots.len() { 0 } else { wanted * SLOT }
    }

    /// Makes room for further states.
    pub(crate) fn reserve(&mut self, more: usize) {
        let wanted = self.wanted(more);
        if wanted == self.slots.len() {
            return;
        }
        let old = std::mem::replace(&mut self.slots, vec![0; wanted]);
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            let mut at = self.place(slot >> 32);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = slot;
        }
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// Reads what a later look-up will read, and tells whose key that will compare. Look-ups that are announced together wait for memory together.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) -> Option<u32> {
        let slot = self.slots[self.place(hash)];
        (slot & TAG == hash << 32).then(|| number_in(slot))
    }

    /// The number of a key, or where to note it. `is_key` compares a number's key with the one looked for.
    #[inline]
    pub(crate) fn resolve(&mut self, hash: u64, number: u32, is_key: impl Fn(u32) -> bool) -> Found {
        let tag = hash << 32;
        let mut at = self.place(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                self.slots[at] = tag | u64::from(number + 1);
                self.used += 1;
                return Found::New { at };
            }
            if slot & TAG == tag && is_key(number_in(slot)) {
                return Found::Known(number_in(slot));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Gives a noted key another number.
    pub(crate) fn renumber(&mut self, at: usize, number: u32) {
        self.slots[at] = self.slots[at] & TAG | u64::from(number + 1);
    }
}

const TAG: u64 = !0 << 32;

/// The number in a slot that is not empty.
#[inline]
const fn number_in(slot: u64) -> u32 {
    (slot as u32).wrapping_sub(1)
}

pub(crate) enum Found {
    Known(u32),
    New { at: usize },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_keeps_its_number_while_the_table_grows() {
        let keys: Vec<u128> = (0..50_000_u128).map(|number| (number << 40) | (number % 7)).collect();
        let mut index = Index::new();
        for (number, &key) in keys.iter().enumerate() {
            index.reserve(1);
            let found = index.resolve(hash_of(key), number as u32, |known| keys[known as usize] == key);
            assert!(matches!(found, Found::New { .. }), "{number} was known before it came");
        }
        for (number, &key) in keys.iter().enumerate() {
            match index.resolve(hash_of(key), 0, |known| keys[known as usize] == key) {
                Found::Known(known) => assert_eq!(known as usize, number),
                Found::New { .. } => panic!("{number} is lost"),
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
