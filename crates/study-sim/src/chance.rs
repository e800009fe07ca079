//! Draws from distributions, by the versioned generator of the engine.
//!
//! *Invariant:* each [`Chance`] is independent of all others, so that a decision of one person never
//! changes the draws of another one.

use rhae_engine::Rng;

/// A source of draws for one purpose.
#[derive(Clone, Debug)]
pub(crate) struct Chance(Rng);

impl Chance {
    /// Creates the source of a path of numbers, for example a person and a position in the sitting.
    pub(crate) fn new(seed: u64, path: &[u64]) -> Self {
        let state = path.iter().fold(mix(seed), |state, &part| {
            mix(state ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        Self(Rng::new(state, mix(state)))
    }

    /// Returns a number from 0 to 1, both excluded.
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns a standard normal number, by the method of Box and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    pub(crate) fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    /// Returns an index below `count`, which must not be 0.
    pub(crate) fn index(&mut self, count: usize) -> usize {
        let bound = u32::try_from(count).expect("the lists of a simulation are short");
        self.0.below(bound) as usize
    }
}

/// The finalizer of SplitMix64, a bijection in which every input bit affects every output bit.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_give_independent_repeatable_draws() {
        let first = |path: &[u64]| Chance::new(1, path).unit();
        assert_eq!(first(&[4, 2]), first(&[4, 2]));
        assert_ne!(first(&[4, 2]), first(&[2, 4]));
        assert_ne!(first(&[4, 2]), first(&[4, 3]));
        assert_ne!(first(&[4]), Chance::new(2, &[4]).unit());
    }

    #[test]
    fn distributions_have_their_moments() {
        let mut chance = Chance::new(7, &[]);
        let normal: Vec<f64> = (0..40_000).map(|_| chance.normal()).collect();
        let mean = normal.iter().sum::<f64>() / 40_000.0;
        let variance = normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 40_000.0;
        assert!(
            mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03,
            "{mean} {variance}"
        );
        let waits: f64 = (0..40_000).map(|_| chance.exponential(3.0)).sum();
        assert!((waits / 40_000.0 - 3.0).abs() < 0.06);
        assert!((0..1000).all(|_| chance.index(3) < 3));
    }
}
