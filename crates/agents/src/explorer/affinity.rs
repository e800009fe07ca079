//! The prior that objects of the same colour belong together.
//!
//! The explorer assumes that a moving object and a static hollow outline of the same colour are a
//! mover and its target. The distance between them ranks the untried actions of a state; it never
//! rules one out.

use rhae_engine::Frame;
use rhae_percept::{CellSet, Object, Scene};

/// The sizes, in cells, of objects that can form a pair. Smaller objects are considered noise, and
/// larger ones background.
const SIZES: std::ops::RangeInclusive<u16> = 3..=400;
/// The largest number of objects and of targets that are compared. Frames with more are noise.
const MAX_BLOBS: usize = 64;
/// The largest distance, in cells, at which a mover counts as being at its target.
const ARRIVED: f64 = 2.0;

/// An object that can be a mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blob {
    color: u8,
    x: u8,
    y: u8,
}

/// Returns the objects of a scene that can be movers.
pub(super) fn blobs(scene: &Scene) -> Vec<Blob> {
    let blob = |object: &Object| Blob {
        color: object.color,
        x: object.center.0,
        y: object.center.1,
    };
    sized(scene)
        .map(|(_, object)| blob(object))
        .take(MAX_BLOBS)
        .collect()
}

fn sized(scene: &Scene) -> impl Iterator<Item = (rhae_percept::ObjectId, &Object)> {
    scene
        .iter()
        .filter(|(_, object)| SIZES.contains(&object.area))
}

/// An outline in the first frame of a level.
#[derive(Clone, Debug)]
struct Target {
    place: Blob,
    cells: CellSet,
}

/// The outlines of a level, as long as they stay where they were.
#[derive(Clone, Debug, Default)]
pub(super) struct Targets {
    targets: Vec<Target>,
}

impl Targets {
    /// Returns the outlines of the first frame of a level.
    pub(super) fn of(scene: &Scene) -> Self {
        let outlines = sized(scene).filter(|(_, object)| {
            let bounds = object.bounds;
            bounds.width().min(bounds.height()) >= 4
                && u32::from(object.area) * 10 < u32::from(bounds.area()) * 7
        });
        let target = |(id, object): (_, &Object)| Target {
            place: Blob {
                color: object.color,
                x: object.center.0,
                y: object.center.1,
            },
            cells: *scene.cells(id),
        };
        Self {
            targets: outlines.map(target).take(MAX_BLOBS).collect(),
        }
    }

    /// Drops the outlines of which a frame shows less than half: they have moved, so they are no
    /// targets. Returns whether there were any.
    pub(super) fn observe(&mut self, frame: &Frame) -> bool {
        let known = self.targets.len();
        self.targets.retain(|target| {
            let cells = target.cells.iter();
            let shown = cells.filter(|&(x, y)| frame.get(x.into(), y.into()) == target.place.color);
            shown.count() * 2 >= target.cells.len() as usize
        });
        self.targets.len() < known
    }

    /// Returns the nearest mover and target that are not yet together. An object counts as a mover if
    /// the cell at its centre has changed on this level.
    pub(super) fn nearest(&self, blobs: &[Blob], changed: &CellSet) -> Option<Pair> {
        let nearer = |a: &Pair, b: &Pair| a.distance().total_cmp(&b.distance());
        let of_target = |target: &Target| {
            let movers = blobs.iter().filter(|blob| {
                blob.color == target.place.color
                    && **blob != target.place
                    && changed.contains(blob.x, blob.y)
            });
            let middle = |blob: &Blob| (i16::from(blob.x), i16::from(blob.y));
            let pairs = movers.map(|mover| Pair {
                color: mover.color,
                mover: middle(mover),
                target: middle(&target.place),
            });
            pairs.min_by(nearer)
        };
        let pairs = self.targets.iter().filter_map(of_target);
        pairs
            .filter(|pair| pair.distance() > ARRIVED)
            .min_by(nearer)
    }
}

/// A moving object and a static outline of its colour.
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

    /// Returns the movement between two frames, or `None` if the pairs differ in colour or target.
    pub(super) fn shift_to(self, later: Self) -> Option<(f64, f64)> {
        let by = |from: i16, to: i16| f64::from(to - from);
        (self.color == later.color && self.target == later.target).then(|| {
            (
                by(self.mover.0, later.mover.0),
                by(self.mover.1, later.mover.1),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(x: usize) -> Frame {
        let mut frame = Frame::filled(0);
        frame.outline(30, 10, 6, 6, 9);
        frame.outline(50, 50, 6, 6, 9);
        frame.outline(12, 20, 6, 6, 8);
        frame.rect(x, 11, 4, 4, 9);
        frame
    }

    fn changed() -> CellSet {
        let mut changed = CellSet::EMPTY;
        (0..40).for_each(|x| (8..16).for_each(|y| changed.insert(x, y)));
        changed
    }

    #[test]
    fn mover_is_paired_with_the_nearest_target_of_its_colour() {
        let targets = Targets::of(&Scene::of(&frame(10)));
        let blobs = blobs(&Scene::of(&frame(14)));
        let next = targets.nearest(&blobs, &changed()).unwrap();
        assert_eq!(next.color, 9);
        assert!((10.0..25.0).contains(&next.distance()), "{next:?}");
        assert!(next.distance_after((4.0, 0.0)) < next.distance());
        assert_eq!(targets.nearest(&blobs, &CellSet::EMPTY), None);
    }

    #[test]
    fn target_stays_a_target_below_its_mover_but_not_if_it_moves() {
        let mut targets = Targets::of(&Scene::of(&frame(10)));
        assert!(!targets.observe(&frame(31)));
        let mut moved = frame(10);
        moved.rect(50, 50, 6, 6, 0);
        moved.outline(44, 50, 6, 6, 9);
        assert!(targets.observe(&moved));
        assert_eq!(targets.targets.len(), 2);
    }
}
