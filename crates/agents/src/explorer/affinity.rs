//! The prior that objects of the same colour belong together.
//!
//! The explorer assumes that a moving object and a static hollow outline of the same colour are a
//! mover and its target. The distance between them ranks untried actions; it never rules one out.

use rhae_engine::{CELLS, SIZE};

use super::objects::Object;

/// The sizes, in cells, of objects that can form a pair. Smaller objects are considered noise, and
/// larger ones background.
const SIZES: std::ops::RangeInclusive<u16> = 3..=400;

/// A moving object and the nearest static outline of its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) color: u8,
    mover: (i16, i16),
    target: (i16, i16),
}

impl Pair {
    /// Returns the Manhattan distance between mover and target, in cells.
    pub(super) fn distance(self) -> f64 {
        self.distance_after((0.0, 0.0))
    }

    /// Returns the distance after the mover has moved by `shift`.
    pub(super) fn distance_after(self, shift: (f64, f64)) -> f64 {
        let along = |from: i16, by: f64, to: i16| (f64::from(from) + by - f64::from(to)).abs();
        along(self.mover.0, shift.0, self.target.0) + along(self.mover.1, shift.1, self.target.1)
    }

    /// Returns the movement between two frames, or `None` if the movers differ in colour.
    pub(super) fn shift_to(self, later: Self) -> Option<(f64, f64)> {
        let by = |from: i16, to: i16| f64::from(to - from);
        (self.color == later.color).then(|| {
            (
                by(self.mover.0, later.mover.0),
                by(self.mover.1, later.mover.1),
            )
        })
    }
}

/// Returns the pair with the smallest distance. An object counts as moving if the cell at its click
/// position has changed on this level.
pub(super) fn nearest_pair(objects: &[Object], changed: &[bool; CELLS]) -> Option<Pair> {
    let sized = objects
        .iter()
        .filter(|object| SIZES.contains(&object.appearance.area()));
    let (moving, fixed): (Vec<&Object>, Vec<&Object>) =
        sized.partition(|object| changed[usize::from(object.y) * SIZE + usize::from(object.x)]);
    let middle = |object: &Object| (i16::from(object.x), i16::from(object.y));
    let pairs = moving.iter().flat_map(|mover| {
        let targets = fixed.iter().filter(|target| {
            target.hollow && target.appearance.color() == mover.appearance.color()
        });
        targets.map(|target| Pair {
            color: mover.appearance.color(),
            mover: middle(mover),
            target: middle(target),
        })
    });
    pairs.min_by(|a, b| a.distance().total_cmp(&b.distance()))
}

#[cfg(test)]
mod tests {
    use rhae_engine::Frame;

    use super::super::objects::objects;
    use super::*;

    #[test]
    fn mover_is_paired_with_the_nearest_target_of_its_colour() {
        let mut frame = Frame::filled(0);
        frame.rect(10, 10, 4, 4, 9);
        frame.outline(30, 10, 6, 6, 9);
        frame.outline(50, 50, 6, 6, 9);
        frame.outline(12, 20, 6, 6, 8);
        let mut changed = [false; CELLS];
        (0..64).for_each(|x| (8..16).for_each(|y| changed[y * SIZE + x] = x < 20));
        let pair = nearest_pair(&objects(&frame), &changed).unwrap();
        assert_eq!(pair.color, 9);
        assert!((15.0..30.0).contains(&pair.distance()), "{pair:?}");
        assert!(pair.distance_after((4.0, 0.0)) < pair.distance());
        assert_eq!(nearest_pair(&objects(&frame), &[false; CELLS]), None);
    }
}
