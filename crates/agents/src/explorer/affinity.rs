//! Like goes to like: the prior that things of one colour belong together.
//!
//! A thing that moves and a frame of the same colour that stays are taken for a traveller and its place. How far they are
//! apart tells which of several untried ways to try first. Nothing is ever ruled out by it.

use rhae_engine::{CELLS, SIZE};

use super::objects::Object;

/// Objects of fewer cells are specks, of more ground.
const SIZES: std::ops::RangeInclusive<u16> = 3..=400;

/// The nearest pair of a moving object and a staying frame of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) color: u8,
    traveller: (i16, i16),
    place: (i16, i16),
}

impl Pair {
    /// How far the traveller is from its place, in cells of the frame.
    pub(super) fn distance(self) -> f64 {
        self.distance_after((0.0, 0.0))
    }

    /// How far it would be after a shift.
    pub(super) fn distance_after(self, shift: (f64, f64)) -> f64 {
        let along = |from: i16, by: f64, to: i16| (f64::from(from) + by - f64::from(to)).abs();
        along(self.traveller.0, shift.0, self.place.0)
            + along(self.traveller.1, shift.1, self.place.1)
    }

    /// How the traveller moved between two pictures, if it is the same one.
    pub(super) fn shift_to(self, later: Self) -> Option<(f64, f64)> {
        let by = |from: i16, to: i16| f64::from(to - from);
        (self.color == later.color).then(|| {
            (
                by(self.traveller.0, later.traveller.0),
                by(self.traveller.1, later.traveller.1),
            )
        })
    }
}

/// The nearest pair among the objects of a picture, given the cells that have ever changed on the level: what covers one of
/// them can move.
pub(super) fn nearest_pair(objects: &[Object], changed: &[bool; CELLS]) -> Option<Pair> {
    let sized = objects
        .iter()
        .filter(|object| SIZES.contains(&object.look.area()));
    let (moving, staying): (Vec<&Object>, Vec<&Object>) =
        sized.partition(|object| changed[usize::from(object.y) * SIZE + usize::from(object.x)]);
    let middle = |object: &Object| (i16::from(object.x), i16::from(object.y));
    let pairs = moving.iter().flat_map(|traveller| {
        let alike = staying
            .iter()
            .filter(|place| place.hollow && place.look.color() == traveller.look.color());
        alike.map(|place| Pair {
            color: traveller.look.color(),
            traveller: middle(traveller),
            place: middle(place),
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
    fn a_traveller_is_paired_with_the_nearest_place_of_its_colour() {
        let mut picture = Frame::filled(0);
        picture.rect(10, 10, 4, 4, 9);
        picture.outline(30, 10, 6, 6, 9);
        picture.outline(50, 50, 6, 6, 9);
        picture.outline(12, 20, 6, 6, 8);
        let mut changed = [false; CELLS];
        (0..64).for_each(|x| (8..16).for_each(|y| changed[y * SIZE + x] = x < 20));
        let pair = nearest_pair(&objects(&picture), &changed).unwrap();
        assert_eq!(pair.color, 9);
        assert!((15.0..30.0).contains(&pair.distance()), "{pair:?}");
        assert!(pair.distance_after((4.0, 0.0)) < pair.distance());
        assert_eq!(nearest_pair(&objects(&picture), &[false; CELLS]), None);
    }
}
