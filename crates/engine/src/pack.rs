//! Small states as one number: what a search uses instead of a hash and instead of the state itself.
//!
//! Fields are put one after the other from the lowest bit, and taken out in the same order. Nothing here knows what a field
//! means. **Invariant:** a number that [`Packer::finish`] gives is below 2¹²⁶, so that a search has two bits for its own use.

/// The most bits a packed state has.
pub const PACKED_BITS: u32 = 126;

/// Puts fields into a number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packer {
    /// The number's halves: narrow numbers are quicker to shift.
    low: u64,
    high: u64,
    used: u32,
    too_big: bool,
}

impl Packer {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { low: 0, high: 0, used: 0, too_big: false }
    }

    /// Adds a field of this many bits, 64 at most.
    #[inline]
    pub const fn put(&mut self, field: u64, bits: u32) {
        self.too_big |= bits < 64 && field >> bits != 0;
        // What does not fit is lost, but then the sum of the bits tells.
        if self.used < 64 {
            self.low |= field << self.used;
            if self.used + bits > 64 {
                self.high = field >> (64 - self.used);
            }
        } else {
            self.high |= field.wrapping_shl(self.used);
        }
        self.used += bits;
    }

    /// Adds the places of a set that has exactly `count` of them, each as a field of seven bits, the lowest place first.
    #[inline]
    pub const fn put_places(&mut self, mut set: u128, count: u32) {
        // Nine places at a time fit into a field. How often this goes round depends on the count alone, which a processor
        // soon knows by heart.
        let (mut field, mut bits, mut left) = (0, 0, count);
        while left > 0 {
            self.too_big |= set == 0;
            field |= (set.trailing_zeros() as u64 & NO_PLACE) << bits;
            set &= set.wrapping_sub(1);
            bits += 7;
            left -= 1;
            if bits == 63 {
                self.put(field, bits);
                (field, bits) = (0, 0);
            }
        }
        self.put(field, bits);
        self.too_big |= set != 0;
    }

    /// Adds a set of at most one place.
    #[inline]
    pub const fn put_place(&mut self, set: u128) {
        self.too_big |= set & set.wrapping_sub(1) != 0;
        self.put(if set == 0 { NO_PLACE } else { set.trailing_zeros() as u64 }, 7);
        self.too_big |= set >> NO_PLACE != 0;
    }

    /// Adds how many places a set has, 15 at most, and then each of them, marked if a second set, which is a part of the first, has it.
    #[inline]
    pub const fn put_marked_set(&mut self, mut set: u128, marked: u128) {
        self.too_big |= marked & !set != 0;
        let mut left = set.count_ones();
        self.put(left as u64, 4);
        // Eight at a time fit into a field, as in `put_places`.
        let (mut field, mut bits) = (0, 0);
        while left > 0 {
            let lowest = set & set.wrapping_neg();
            set ^= lowest;
            field |= (lowest.trailing_zeros() as u64 | ((marked & lowest != 0) as u64) << 7) << bits;
            bits += 8;
            left -= 1;
            if bits == 64 {
                self.put(field, bits);
                (field, bits) = (0, 0);
            }
        }
        self.put(field, bits);
    }

    /// The number, unless something did not fit.
    #[inline]
    pub const fn finish(self) -> Option<u128> {
        if self.too_big || self.used > PACKED_BITS { None } else { Some((self.high as u128) << 64 | self.low as u128) }
    }
}

/// The place of a set that has none.
const NO_PLACE: u64 = 127;

/// Takes fields out of a number in the order in which they were put in.
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

    /// A set of `count` places.
    #[inline]
    pub const fn take_places(&mut self, count: u32) -> u128 {
        let (mut set, mut left) = (0, count);
        while left > 0 {
            set |= 1 << self.take(7);
            left -= 1;
        }
        set
    }

    /// A set of at most one place.
    #[inline]
    pub const fn take_place(&mut self) -> u128 {
        let place = self.take(7);
        if place == NO_PLACE { 0 } else { 1 << place }
    }

    /// A set with marks, and those of its places that are marked.
    #[inline]
    pub const fn take_marked_set(&mut self) -> (u128, u128) {
        let (mut set, mut marked, mut left) = (0, 0, self.take(4));
        while left > 0 {
            let place = 1 << self.take(7);
            set |= place;
            marked |= place * self.take(1) as u128;
            left -= 1;
        }
        (set, marked)
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
            for &(field, bits) in &fields {
                prop_assert_eq!(unpacker.take(bits), field >> (64 - bits));
            }
            let count = set.count_ones();
            let mut packer = Packer::new();
            packer.put_places(set, count);
            match packer.finish() {
                Some(packed) => prop_assert_eq!(Unpacker::new(packed).take_places(count), set),
                None => prop_assert!(count > 18),
            }
            let few = set & set >> 1 & set >> 2 & set >> 3;
            let one = few & few.wrapping_neg();
            let marked = few & set >> 5;
            let mut packer = Packer::new();
            packer.put_place(one);
            packer.put_marked_set(few, marked);
            match packer.finish() {
                Some(packed) => {
                    let mut unpacker = Unpacker::new(packed);
                    prop_assert_eq!((unpacker.take_place(), unpacker.take_marked_set()), (one, (few, marked)));
                }
                None => prop_assert!(few.count_ones() > 14 || one >> 127 == 1),
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let packed = |fields: &[(u64, u32)]| {
            let mut packer = Packer::new();
            fields.iter().for_each(|&(field, bits)| packer.put(field, bits));
            packer.finish()
        };
        assert_eq!(packed(&[(7, 3), (1, 1)]), Some(0b1111));
        assert_eq!(packed(&[(8, 3)]), None);
        assert_eq!(packed(&[(0, 64), (0, 62)]), Some(0));
        assert_eq!(packed(&[(0, 64), (0, 63)]), None);
        let mut packer = Packer::new();
        packer.put_places(0b101, 3);
        assert_eq!(packer.finish(), None);
        for (place, set, marked) in [(0b11, 0, 0), (1 << 127, 0, 0), (0, 0xFFFF, 0), (0, u128::MAX, 0), (0, 0b101, 0b010)] {
            let mut packer = Packer::new();
            packer.put_place(place);
            packer.put_marked_set(set, marked);
            assert_eq!(packer.finish(), None, "{place:x} {set:x} {marked:x}");
        }
    }
}
