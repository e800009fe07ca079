//! The random generator of the tests and bootstraps that are too large to compute exactly.

/// The generator SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) with the seed 0. Its output is part
/// of sampled results, so it never changes; [`GENERATOR`] names it.
pub(crate) struct Generator {
    state: u64,
}

/// The name of the generator of sampled results.
pub const GENERATOR: &str = "splitmix64-v1";

impl Generator {
    pub(crate) const fn new() -> Self {
        Self { state: 0 }
    }

    pub(crate) const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number below `bound`, uniform up to a bias of `bound` / 2⁶⁴.
    pub(crate) const fn below(&mut self, bound: usize) -> usize {
        ((self.next_u64() as u128 * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_are_the_published_ones() {
        // The reference implementation of Sebastiano Vigna with the seed 0.
        let mut generator = Generator::new();
        assert_eq!(generator.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(generator.next_u64(), 0x6e78_9e6a_a1b9_65f4);
    }
}
