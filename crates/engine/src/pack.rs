//! Small states as one number: what a search uses instead of a hash and instead of the state itself.
//!
//! Fields are put below those that are there, which move up, and taken out last first: so no field has to know its place. Nothing here
//! knows what a field means. **Invariant:** a number that [`Packer::finish`] gives is below 2¹²⁶, so that a search has two bits
//! for its own use.

/// The most bits a packed state has.
pub const PACKED_BITS: u32 = 126;

/// Bits of a place in a set.
const PLACE: u32 = 7;
/// The place of a set that has none.
const NO_PLACE: u64 = 127;

/// Puts fields into a number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packer {
    packed: u128,
    used: u32,
    too_big: bool,
}

impl Packer {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self {
            packed: 0,
            used: 0,
            too_big: false,
        }
    }

    /// Adds a field of this many bits, 64 at most.
    #[inline]
    pub const fn put(&mut self, field: u64, bits: u32) {
        self.too_big |= bits < 64 && field >> bits != 0;
        // What does not fit is lost, but then the sum of the bits tells.
        self.packed = self.packed << bits | field as u128;
        self.used += bits;
    }

    /// Adds eight fields of this many bits each.
    #[inline]
    pub const fn put_bytes(&mut self, fields: [u8; 8], bits: u32) {
        let fields = u64::from_le_bytes(fields);
        self.too_big |= fields & !(EACH * (0xFF >> (8 - bits))) != 0;
        // Two neighbours become one field of twice the width, three times.
        let gap = 8 - bits;
        let pairs = fields & PAIRS | (fields & !PAIRS) >> gap;
        let fours = pairs & FOURS | (pairs & !FOURS) >> (2 * gap);
        let all = fours & EIGHT | (fours & !EIGHT) >> (4 * gap);
        self.put(all, 8 * bits);
    }

    /// Adds the places of a set that has exactly `count` of them, the lowest first.
    #[inline]
    pub const fn put_places(&mut self, set: u128, count: u32) {
        // How often this goes round depends on the count alone, which a processor soon knows by heart.
        let (mut places, mut all, mut left) = (Places::of(set), 0, count);
        while left > 0 {
            let place = places.next();
            self.packed = self.packed << PLACE | place as u128;
            all |= place;
            left -= 1;
        }
        self.used += PLACE * count;
        self.too_big |= all >> PLACE != 0 || !places.is_empty();
    }

    /// Adds a set of at most one place.
    #[inline]
    pub const fn put_place(&mut self, set: u128) {
        self.too_big |= set & set.wrapping_sub(1) != 0;
        self.put(
            if set == 0 {
                NO_PLACE
            } else {
                set.trailing_zeros() as u64
            },
            PLACE,
        );
        self.too_big |= set >> NO_PLACE != 0;
    }

    /// Adds a set with a bit for each of so many places, beginning with the first that it may have.
    #[inline]
    pub const fn put_set(&mut self, set: u128, first: u32, places: u32) {
        let field = set >> first;
        self.too_big |= field << first != set || field >> places != 0;
        self.packed = self.packed << places | field;
        self.used += places;
    }

    /// Adds nothing, but refuses the state if what its fields mean does not hold.
    #[inline]
    pub const fn require(&mut self, holds: bool) {
        self.too_big |= !holds;
    }

    /// The number, unless something did not fit.
    #[inline]
    pub const fn finish(self) -> Option<u128> {
        if self.too_big || self.used > PACKED_BITS {
            None
        } else {
            Some(self.packed)
        }
    }
}

/// A bit of each byte; then every other byte, every other pair of bytes, and the lower four.
const EACH: u64 = 0x0101_0101_0101_0101;
const PAIRS: u64 = 0x00FF_00FF_00FF_00FF;
const FOURS: u64 = 0x0000_FFFF_0000_FFFF;
const EIGHT: u64 = 0x0000_0000_FFFF_FFFF;

/// What is left of a set whose places are taken one by one: half by half, because a number of 64 bits is quicker to handle.
struct Places {
    half: u64,
    next: u64,
    /// Where the half begins.
    base: u64,
}

impl Places {
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

    /// The lowest place that is left; 128 if there is none.
    #[inline]
    const fn next(&mut self) -> u64 {
        if self.half == 0 {
            (self.half, self.next, self.base) = (self.next, 0, 64);
        }
        let place = self.base + self.half.trailing_zeros() as u64;
        self.half &= self.half.wrapping_sub(1);
        place
    }
}

/// Takes fields out of a number, the last that was put in first.
#[derive(Clone, Copy, Debug)]
pub struct Unpacker(u128);

impl Unpacker {
    /// The fields of a packed number.
    pub const fn new(packed: u128) -> Self {
        Self(packed)
    }

    /// The next field of this many bits, 64 at most.
    #[inline]
    pub const fn take(&mut self, bits: u32) -> u64 {
        let field = self.0 as u64 & (u64::MAX >> (64 - bits));
        self.0 >>= bits;
        field
    }

    /// The next eight bits or fewer.
    #[inline]
    pub const fn take_u8(&mut self, bits: u32) -> u8 {
        self.take(bits) as u8
    }

    /// Eight fields of this many bits each.
    #[inline]
    pub const fn take_bytes(&mut self, bits: u32) -> [u8; 8] {
        let (all, gap) = (self.take(8 * bits), 8 - bits);
        // As in `put_bytes`, backwards.
        let half = u64::MAX >> (64 - 4 * bits);
        let fours = all & half | (all & !half) << (4 * gap);
        let quarter = (u64::MAX >> (64 - 2 * bits)) * 0x0000_0001_0000_0001;
        let pairs = fours & quarter | (fours & !quarter) << (2 * gap);
        let eighth = (u64::MAX >> (64 - bits)) * 0x0001_0001_0001_0001;
        (pairs & eighth | (pairs & !eighth) << gap).to_le_bytes()
    }

    /// A set of `count` places.
    #[inline]
    pub const fn take_places(&mut self, count: u32) -> u128 {
        let (mut set, mut left) = (0, count);
        while left > 0 {
            set |= 1 << self.take(PLACE);
            left -= 1;
        }
        set
    }

    /// A set of at most one place.
    #[inline]
    pub const fn take_place(&mut self) -> u128 {
        let place = self.take(PLACE);
        if place == NO_PLACE { 0 } else { 1 << place }
    }

    /// A set with a bit for each of so many places, beginning with the first that it may have.
    #[inline]
    pub const fn take_set(&mut self, first: u32, places: u32) -> u128 {
        let field = self.0 & (u128::MAX >> (128 - places));
        self.0 >>= places;
        field << first
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_come_back(fields in proptest::collection::vec((any::<u64>(), 1_u32..=42), 0..4), set: u128) {
            let mut packer = Packer::new();
            fields.iter().for_each(|&(field, bits)| packer.put(field >> (64 - bits), bits));
            let mut unpacker = Unpacker::new(packer.finish().expect("three times 42 bits fit"));
            for &(field, bits) in fields.iter().rev() {
                prop_assert_eq!(unpacker.take(bits), field >> (64 - bits));
            }
            let count = set.count_ones();
            let mut packer = Packer::new();
            packer.put_places(set, count);
            match packer.finish() {
                Some(packed) => prop_assert_eq!(Unpacker::new(packed).take_places(count), set),
                None => prop_assert!(count > 18),
            }
            // The last place stands for none.
            let one = set & set.wrapping_neg() & u128::MAX >> 1;
            let some = set << 20 >> 30 << 10;
            let mut packer = Packer::new();
            packer.put_place(one);
            packer.put_set(some, 10, 98);
            packer.put_place(0);
            let mut unpacker = Unpacker::new(packer.finish().expect("112 bits fit"));
            prop_assert_eq!((unpacker.take_place(), unpacker.take_set(10, 98), unpacker.take_place()), (0, some, one));
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes: [u8; 8], more: u8) {
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
    fn what_does_not_fit_is_refused() {
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
            packer.put_places(set, count);
            assert_eq!(packer.finish(), None, "{set:x} {count}");
        }
        for (place, set) in [(0b11, 0), (1 << 127, 0), (0, 0b111), (0, 1 << 10)] {
            let mut packer = Packer::new();
            packer.put_place(place);
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
