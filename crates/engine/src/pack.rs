//! Small states as one number: what a search uses instead of a hash and instead of the state itself.
//!
//! Fields are put one after the other from the lowest bit, and taken out in the same order. Nothing here knows what a field
//! means. **Invariant:** a number that [`Packer::finish`] gives is below 2¹²⁶, so that a search has two bits for its own use.

/// The most bits a packed state has.
pub const PACKED_BITS: u32 = 126;

/// Puts fields into a number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packer {
    value: u128,
    used: u32,
    too_big: bool,
}

impl Packer {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self { value: 0, used: 0, too_big: false }
    }

    /// Adds a field of this many bits, 64 at most.
    #[inline]
    pub const fn put(&mut self, field: u64, bits: u32) {
        self.too_big |= bits < 64 && field >> bits != 0 || self.used + bits > PACKED_BITS;
        if !self.too_big {
            self.value |= (field as u128) << self.used;
            self.used += bits;
        }
    }

    /// Adds the places of a set that has exactly `count` of them, each as a field of seven bits, the lowest place first.
    #[inline]
    pub const fn put_places(&mut self, mut set: u128, count: u32) {
        self.too_big |= set.count_ones() != count || count > PACKED_BITS / 7;
        // Nine places at a time fit into a field; narrow numbers are quicker to shift.
        while set != 0 && !self.too_big {
            let (mut field, mut bits) = (0_u64, 0);
            while set != 0 && bits < 63 {
                field |= (set.trailing_zeros() as u64) << bits;
                bits += 7;
                set &= set - 1;
            }
            self.put(field, bits);
        }
    }

    /// The number, unless something did not fit.
    #[inline]
    pub const fn finish(self) -> Option<u128> {
        if self.too_big { None } else { Some(self.value) }
    }
}

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
    }
}
