//! Packing of small states into one number. A search stores this number instead of a key and the
//! state.
//!
//! [`Packer`] shifts the existing fields up and adds each new field at the bottom. [`Unpacker`]
//! returns the fields in reverse order. The code for a field therefore does not need to know the
//! offset of the field.
//!
//! **Invariant:** a packed number is below 2¹²⁶, which leaves a search two bits for its own use.

/// The maximum number of bits of a packed state.
pub const PACKED_BITS: u32 = 126;

/// The number of bits that encode one position of a set.
const POSITION_BITS: u32 = 7;
/// The encoding of "no position" in a set of at most one position.
const NO_POSITION: u64 = 127;

/// Packs fields into a number.
///
/// A set is a `u128` with one bit for each position on a board. If a field does not fit, the packer
/// does not report it immediately; instead, [`finish`](Packer::finish) returns `None`.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Packer, Unpacker};
///
/// let mut packer = Packer::new();
/// packer.put(5, 3);
/// packer.put_positions(1 << 10 | 1 << 40, 2);
/// let packed = packer.finish().expect("3 + 2 * 7 bits fit");
///
/// // Fields come back in reverse order.
/// let mut unpacker = Unpacker::new(packed);
/// assert_eq!(unpacker.take_positions(2), 1 << 10 | 1 << 40);
/// assert_eq!(unpacker.take(3), 5);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Packer {
    packed: u128,
    used: u32,
    invalid: bool,
}

impl Packer {
    pub const fn new() -> Self {
        Self {
            packed: 0,
            used: 0,
            invalid: false,
        }
    }

    /// Adds a field that is `bits` bits wide, at most 64.
    #[inline]
    pub const fn put(&mut self, field: u64, bits: u32) {
        self.invalid |= bits < 64 && field >> bits != 0;
        // Bits that are shifted out are lost, but then `used` exceeds the limit and `finish` fails.
        self.packed = self.packed << bits | field as u128;
        self.used += bits;
    }

    /// Adds eight fields of `bits` bits each, where `bits` is 1 to 8.
    #[inline]
    pub const fn put_bytes(&mut self, fields: [u8; 8], bits: u32) {
        let fields = u64::from_le_bytes(fields);
        self.invalid |= fields & !(EACH * (0xFF >> (8 - bits))) != 0;
        // Each of the three steps joins neighbouring fields into one of twice the width.
        let gap = 8 - bits;
        let pairs = fields & PAIRS | (fields & !PAIRS) >> gap;
        let fours = pairs & FOURS | (pairs & !FOURS) >> (2 * gap);
        let all = fours & EIGHT | (fours & !EIGHT) >> (4 * gap);
        self.put(all, 8 * bits);
    }

    /// Adds a set of exactly `count` positions, 7 bits for each, the lowest first.
    #[inline]
    pub const fn put_positions(&mut self, set: u128, count: u32) {
        // The number of iterations depends only on `count`, so the loop branch is easy to predict.
        let (mut positions, mut all, mut remaining) = (Positions::of(set), 0, count);
        while remaining > 0 {
            let position = positions.next();
            self.packed = self.packed << POSITION_BITS | position as u128;
            all |= position;
            remaining -= 1;
        }
        self.used += POSITION_BITS * count;
        self.invalid |= all >> POSITION_BITS != 0 || !positions.is_empty();
    }

    /// Adds a set of at most one position, which must not be 127, in 7 bits.
    #[inline]
    pub const fn put_position(&mut self, set: u128) {
        self.invalid |= set & set.wrapping_sub(1) != 0;
        self.put(
            if set == 0 {
                NO_POSITION
            } else {
                set.trailing_zeros() as u64
            },
            POSITION_BITS,
        );
        self.invalid |= set >> NO_POSITION != 0;
    }

    /// Adds a set with one bit for each of the positions `first..first + positions`. The set must
    /// not contain any other position.
    #[inline]
    pub const fn put_set(&mut self, set: u128, first: u32, positions: u32) {
        let field = set >> first;
        self.invalid |= field << first != set || field >> positions != 0;
        self.packed = self.packed << positions | field;
        self.used += positions;
    }

    /// Adds nothing, but makes [`finish`](Packer::finish) return `None` unless `holds` is true. A
    /// game calls it to check a property of the state on which its encoding relies.
    #[inline]
    pub const fn require(&mut self, holds: bool) {
        self.invalid |= !holds;
    }

    /// Returns the packed number, or `None` if a field did not fit or a requirement was not met.
    #[inline]
    pub const fn finish(self) -> Option<u128> {
        if self.invalid || self.used > PACKED_BITS {
            None
        } else {
            Some(self.packed)
        }
    }
}

// Masks for `put_bytes`: the lowest bit of each byte, every other byte, every other pair of bytes,
// and the lower four bytes.
const EACH: u64 = 0x0101_0101_0101_0101;
const PAIRS: u64 = 0x00FF_00FF_00FF_00FF;
const FOURS: u64 = 0x0000_FFFF_0000_FFFF;
const EIGHT: u64 = 0x0000_0000_FFFF_FFFF;

/// An iterator over the positions of a set. It handles one 64-bit half after the other, which is
/// faster than 128-bit arithmetic.
struct Positions {
    /// The remaining positions of the current half.
    half: u64,
    /// The positions of the upper half; 0 once the upper half is the current one.
    next: u64,
    /// The position of the lowest bit of `half`.
    base: u64,
}

impl Positions {
    #[inline]
    const fn of(set: u128) -> Self {
        Self {
            half: set as u64,
            next: (set >> 64) as u64,
            base: 0,
        }
    }

    #[inline]
    const fn is_empty(&self) -> bool {
        self.half | self.next == 0
    }

    /// Removes and returns the lowest position; 128 if the set is empty.
    #[inline]
    const fn next(&mut self) -> u64 {
        if self.half == 0 {
            (self.half, self.next, self.base) = (self.next, 0, 64);
        }
        let position = self.base + self.half.trailing_zeros() as u64;
        self.half &= self.half.wrapping_sub(1);
        position
    }
}

/// Extracts the fields of a number that [`Packer`] returned, in reverse order.
#[derive(Clone, Copy, Debug)]
pub struct Unpacker(u128);

impl Unpacker {
    pub const fn new(packed: u128) -> Self {
        Self(packed)
    }

    /// Takes a field of 1 to 64 bits.
    #[inline]
    pub const fn take(&mut self, bits: u32) -> u64 {
        let field = self.0 as u64 & (u64::MAX >> (64 - bits));
        self.0 >>= bits;
        field
    }

    /// Takes a field of 1 to 8 bits.
    #[inline]
    pub const fn take_u8(&mut self, bits: u32) -> u8 {
        self.take(bits) as u8
    }

    /// Takes the eight fields that [`Packer::put_bytes`] added.
    #[inline]
    pub const fn take_bytes(&mut self, bits: u32) -> [u8; 8] {
        let (all, gap) = (self.take(8 * bits), 8 - bits);
        // The inverse of `put_bytes`: each step splits a field into two.
        let half = u64::MAX >> (64 - 4 * bits);
        let fours = all & half | (all & !half) << (4 * gap);
        let quarter = (u64::MAX >> (64 - 2 * bits)) * 0x0000_0001_0000_0001;
        let pairs = fours & quarter | (fours & !quarter) << (2 * gap);
        let eighth = (u64::MAX >> (64 - bits)) * 0x0001_0001_0001_0001;
        (pairs & eighth | (pairs & !eighth) << gap).to_le_bytes()
    }

    /// Takes a set that [`Packer::put_positions`] added with the same `count`.
    #[inline]
    pub const fn take_positions(&mut self, count: u32) -> u128 {
        let (mut set, mut remaining) = (0, count);
        while remaining > 0 {
            set |= 1 << self.take(POSITION_BITS);
            remaining -= 1;
        }
        set
    }

    /// Takes a set that [`Packer::put_position`] added.
    #[inline]
    pub const fn take_position(&mut self) -> u128 {
        let position = self.take(POSITION_BITS);
        if position == NO_POSITION {
            0
        } else {
            1 << position
        }
    }

    /// Takes a set that [`Packer::put_set`] added with the same range of positions.
    #[inline]
    pub const fn take_set(&mut self, first: u32, positions: u32) -> u128 {
        let field = self.0 & (u128::MAX >> (128 - positions));
        self.0 >>= positions;
        field << first
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_round_trip(fields in proptest::collection::vec((any::<u64>(), 1_u32..=42), 0..4), set: u128) {
            let mut packer = Packer::new();
            fields.iter().for_each(|&(field, bits)| packer.put(field >> (64 - bits), bits));
            let mut unpacker = Unpacker::new(packer.finish().expect("three times 42 bits fit"));
            for &(field, bits) in fields.iter().rev() {
                prop_assert_eq!(unpacker.take(bits), field >> (64 - bits));
            }
            let count = set.count_ones();
            let mut packer = Packer::new();
            packer.put_positions(set, count);
            match packer.finish() {
                Some(packed) => prop_assert_eq!(Unpacker::new(packed).take_positions(count), set),
                None => prop_assert!(count > 18),
            }
            // The code 127 means an empty set, so position 127 is cleared here.
            let one = set & set.wrapping_neg() & u128::MAX >> 1;
            let some = set << 20 >> 30 << 10;
            let mut packer = Packer::new();
            packer.put_position(one);
            packer.put_set(some, 10, 98);
            packer.put_position(0);
            let mut unpacker = Unpacker::new(packer.finish().expect("112 bits fit"));
            prop_assert_eq!((unpacker.take_position(), unpacker.take_set(10, 98), unpacker.take_position()), (0, some, one));
        }
    }

    proptest! {
        #[test]
        fn bytes_round_trip(bytes: [u8; 8], more: u8) {
            for bits in 1..=8 {
                let fields = bytes.map(|byte| byte >> (8 - bits));
                let mut packer = Packer::new();
                packer.put(u64::from(more), 8);
                packer.put_bytes(fields, bits);
                let mut unpacker = Unpacker::new(packer.finish().expect("72 bits fit"));
                prop_assert_eq!((unpacker.take_bytes(bits), unpacker.take_u8(8)), (fields, more));
                if bits < 8 {
                    let (mut packer, at) = (Packer::new(), usize::from(more % 8));
                    packer.put_bytes(std::array::from_fn(|byte| if byte == at { 1 << bits } else { fields[byte] }), bits);
                    prop_assert_eq!(packer.finish(), None);
                }
            }
        }
    }

    #[test]
    fn state_that_does_not_fit_is_rejected() {
        let packed = |fields: &[(u64, u32)]| {
            let mut packer = Packer::new();
            fields
                .iter()
                .for_each(|&(field, bits)| packer.put(field, bits));
            packer.finish()
        };
        assert_eq!(packed(&[(7, 3), (1, 1)]), Some(0b1111));
        assert_eq!(packed(&[(8, 3)]), None);
        assert_eq!(packed(&[(0, 64), (0, 62)]), Some(0));
        assert_eq!(packed(&[(0, 64), (0, 63)]), None);
        for (set, count) in [
            (0b101, 3),
            (0b101, 1),
            (1 << 127 | 1, 3),
            (1 << 127 | 1, 1),
            (0, 1),
            (1, 0),
            (1 << 127, 0),
        ] {
            let mut packer = Packer::new();
            packer.put_positions(set, count);
            assert_eq!(packer.finish(), None, "{set:x} {count}");
        }
        for (place, set) in [(0b11, 0), (1 << 127, 0), (0, 0b111), (0, 1 << 10)] {
            let mut packer = Packer::new();
            packer.put_position(place);
            packer.put_set(set, 2, 8);
            assert_eq!(packer.finish(), None, "{place:x} {set:x}");
        }
        let mut packer = Packer::new();
        packer.require(true);
        assert_eq!(packer.finish(), Some(0));
        packer.require(false);
        assert_eq!(packer.finish(), None);
    }
}
