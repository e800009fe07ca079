//! Tracking: which object of one frame is which object of the next, and what happened to it.

use crate::{Object, ObjectId, Scene, ShapeId, Symmetry};

/// What happened to an object between two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// The object has the same colour at another position, and the same shape. The shape may differ
    /// in some cells if the object has no cells in common with its earlier position; most of its
    /// cells then moved by this vector.
    Moved { dx: i8, dy: i8 },
    /// The object has the same colour and was rotated or reflected. The displacement is that of the
    /// upper left corner of its bounding rectangle.
    Turned { symmetry: Symmetry, dx: i8, dy: i8 },
    /// The object has the same shape and position but another colour.
    Recolored { from: u8, to: u8 },
    /// The object covers more cells of its colour, and none less.
    Grown,
    /// The object covers fewer cells, and none more.
    Shrunk,
    /// The object gained some cells and lost others.
    Reshaped,
    /// The object is a part of an earlier object, of which another part continues.
    SplitOff,
    /// The object became a part of a larger one of the same colour.
    Merged,
    /// The object is new.
    Appeared,
    /// The object is gone.
    Vanished,
}

/// A change of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The object in the earlier scene. A part that split off refers to the object it was part of.
    pub before: Option<ObjectId>,
    /// The object in the later scene. A merged object refers to the object it became part of.
    pub after: Option<ObjectId>,
    pub change: Change,
}

/// The correspondence between the objects of two scenes.
///
/// Objects are matched by the strongest evidence first: same place and appearance, same appearance,
/// same shape in another orientation, same place and shape in another colour, common cells, an
/// enclosed part that moved, similar shape. Within a step the shortest displacements win. Every object of either scene is matched at most once.
///
/// Objects that look the same are interchangeable: if one of them takes the place that another one
/// left, the frames do not show which of them moved, and the matching keeps as many as possible in
/// place.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_percept::{Change, Matching, Scene};
///
/// let mut before = Frame::filled(0);
/// before.rect(10, 10, 4, 4, 9);
/// let mut after = Frame::filled(0);
/// after.rect(14, 10, 4, 4, 9);
///
/// let matching = Matching::between(&Scene::of(&before), &Scene::of(&after));
/// let changes: Vec<Change> = matching.events().iter().map(|event| event.change).collect();
/// assert_eq!(changes, [Change::Reshaped, Change::Moved { dx: 4, dy: 0 }]); // background, object
/// ```
#[derive(Clone, Debug, Default)]
pub struct Matching {
    after_of: Vec<Option<ObjectId>>,
    before_of: Vec<Option<ObjectId>>,
    events: Vec<Event>,
    pairs: Vec<Pair>,
}

/// The share of the cells of both objects, in percent, that coincide if two objects are similar.
const MIN_COMMON_PERCENT: u32 = 60;
/// The size in cells below which objects are too small to be similar.
const MIN_SIMILAR_AREA: u16 = 4;
/// The maximum number of pairs that are examined for similarity. More pairs mean noise.
const MAX_SIMILAR_PAIRS: usize = 256;

/// A possible match. Smaller pairs are preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    cost: u32,
    before: ObjectId,
    after: ObjectId,
}

impl Matching {
    /// Matches the objects of two scenes.
    pub fn between(before: &Scene, after: &Scene) -> Self {
        let mut matching = Self::default();
        matching.update(before, after);
        matching
    }

    /// Replaces the content by the correspondence between two other scenes.
    pub fn update(&mut self, before: &Scene, after: &Scene) {
        self.events.clear();
        self.after_of.clear();
        self.after_of.resize(before.objects().len(), None);
        self.before_of.clear();
        self.before_of.resize(after.objects().len(), None);
        self.match_unchanged(before, after);
        self.match_appearance(before, after);
        self.match_orientation(before, after);
        self.match_recolored(before, after);
        self.match_overlap(before, after);
        self.match_containers(before, after);
        self.match_similar(before, after);
        self.report_rest(before, after);
        self.events
            .sort_unstable_by_key(|event| (event.before.is_none(), event.before, event.after));
    }

    /// Returns what changed, ordered by the ids of the earlier scene; new objects come last.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Returns the object of the later scene that continues an object of the earlier one.
    pub fn after(&self, before: ObjectId) -> Option<ObjectId> {
        self.after_of.get(before.index()).copied().flatten()
    }

    /// Returns the object of the earlier scene that an object of the later one continues.
    pub fn before(&self, after: ObjectId) -> Option<ObjectId> {
        self.before_of.get(after.index()).copied().flatten()
    }

    fn connect(&mut self, before: ObjectId, after: ObjectId, change: Option<Change>) {
        self.after_of[before.index()] = Some(after);
        self.before_of[after.index()] = Some(before);
        if let Some(change) = change {
            self.events.push(Event {
                before: Some(before),
                after: Some(after),
                change,
            });
        }
    }

    fn match_unchanged(&mut self, before: &Scene, after: &Scene) {
        for (id, object) in before.iter() {
            let (x, y) = object.center;
            let candidate = after.object_at(x, y);
            let other = after.object(candidate);
            if object.looks_like(other) && object.bounds == other.bounds {
                self.connect(id, candidate, None);
            }
        }
    }

    fn match_appearance(&mut self, before: &Scene, after: &Scene) {
        self.collect_pairs(before, after, |object| (object.color, object.shape));
        self.connect_pairs(|pair| {
            let (dx, dy) = displacement(before.object(pair.before), after.object(pair.after));
            Some(Change::Moved { dx, dy })
        });
    }

    fn match_orientation(&mut self, before: &Scene, after: &Scene) {
        self.collect_pairs(before, after, |object| {
            (object.color, object.canonical_shape)
        });
        self.connect_pairs(|pair| {
            let (dx, dy) = displacement(before.object(pair.before), after.object(pair.after));
            let symmetry = before
                .shape(pair.before)
                .symmetry_to(&after.shape(pair.after))?;
            Some(Change::Turned { symmetry, dx, dy })
        });
    }

    fn match_recolored(&mut self, before: &Scene, after: &Scene) {
        for (id, object) in before.iter() {
            let (x, y) = object.center;
            let candidate = after.object_at(x, y);
            let other = after.object(candidate);
            let is_free = self.after(id).is_none() && self.before(candidate).is_none();
            if is_free && object.shape == other.shape && object.bounds == other.bounds {
                let change = Change::Recolored {
                    from: object.color,
                    to: other.color,
                };
                self.connect(id, candidate, Some(change));
            }
        }
    }

    /// Matches objects of the same colour that have cells in common, the largest overlap first.
    fn match_overlap(&mut self, before: &Scene, after: &Scene) {
        self.pairs.clear();
        for (id, object) in before.iter() {
            if self.after(id).is_some() {
                continue;
            }
            let start = self.pairs.len();
            for (x, y) in before.cells(id).iter() {
                let candidate = after.object_at(x, y);
                if self.before(candidate).is_none() && after.object(candidate).color == object.color
                {
                    let found = self.pairs[start..]
                        .iter_mut()
                        .find(|pair| pair.after == candidate);
                    match found {
                        // A larger overlap is a smaller cost.
                        Some(pair) => pair.cost -= 1,
                        None => self.pairs.push(Pair {
                            cost: u32::MAX - 1,
                            before: id,
                            after: candidate,
                        }),
                    }
                }
            }
        }
        self.connect_pairs(|pair| {
            let overlap = u32::MAX - pair.cost;
            let (old, new) = (before.object(pair.before), after.object(pair.after));
            let lost = u32::from(old.area) - overlap;
            let gained = u32::from(new.area) - overlap;
            Some(match (gained, lost) {
                (_, 0) => Change::Grown,
                (0, _) => Change::Shrunk,
                _ => Change::Reshaped,
            })
        });
    }

    /// Matches objects of the same colour and a similar size around a part that moved, such as the
    /// body around an eye. They moved by the vector of the part.
    fn match_containers(&mut self, before: &Scene, after: &Scene) {
        for position in 0..self.events.len() {
            let Event {
                before: Some(old_part),
                after: Some(new_part),
                change: change @ Change::Moved { .. },
            } = self.events[position]
            else {
                continue;
            };
            let parents = (
                before.object(old_part).parent,
                after.object(new_part).parent,
            );
            let (Some(old), Some(new)) = parents else {
                continue;
            };
            let is_free = self.after(old).is_none() && self.before(new).is_none();
            if is_free && is_similar_in_size(before.object(old), after.object(new)) {
                self.connect(old, new, Some(change));
            }
        }
    }

    /// Matches objects of the same colour and a similar shape that have no cells in common: objects
    /// that moved while a mark at their edge appeared or disappeared.
    fn match_similar(&mut self, before: &Scene, after: &Scene) {
        self.pairs.clear();
        for (id, object) in before.iter() {
            if self.after(id).is_some() || object.area < MIN_SIMILAR_AREA {
                continue;
            }
            for (candidate, other) in after.iter() {
                if self.before(candidate).is_none() && is_similar_in_size(object, other) {
                    if self.pairs.len() == MAX_SIMILAR_PAIRS {
                        return;
                    }
                    self.pairs.push(Pair {
                        cost: 0,
                        before: id,
                        after: candidate,
                    });
                }
            }
        }
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.retain_mut(|pair| {
            let (common, vector) = best_alignment(before, pair.before, after, pair.after);
            let (old, new) = (before.object(pair.before), after.object(pair.after));
            let all = u32::from(old.area) + u32::from(new.area) - common;
            // The most similar pairs first, then the shortest displacements.
            let length = u32::from(vector.0.unsigned_abs()) + u32::from(vector.1.unsigned_abs());
            pair.cost = (100 - common * 100 / all) << 8 | length;
            common * 100 >= all * MIN_COMMON_PERCENT
        });
        self.pairs = pairs;
        self.connect_pairs(|pair| {
            let (dx, dy) = best_alignment(before, pair.before, after, pair.after).1;
            Some(Change::Moved { dx, dy })
        });
    }

    /// Reports the objects that have no counterpart.
    fn report_rest(&mut self, before: &Scene, after: &Scene) {
        for (id, object) in before.iter() {
            if self.after(id).is_none() {
                let whole = part_of(object, after);
                self.events.push(Event {
                    before: Some(id),
                    after: whole,
                    change: whole.map_or(Change::Vanished, |_| Change::Merged),
                });
            }
        }
        for (id, object) in after.iter() {
            if self.before(id).is_none() {
                let whole = part_of(object, before);
                self.events.push(Event {
                    before: whole,
                    after: Some(id),
                    change: whole.map_or(Change::Appeared, |_| Change::SplitOff),
                });
            }
        }
    }

    /// Collects the pairs of unmatched objects that have the same class.
    fn collect_pairs(
        &mut self,
        before: &Scene,
        after: &Scene,
        class: fn(&Object) -> (u8, ShapeId),
    ) {
        self.pairs.clear();
        for (id, object) in before.iter() {
            if self.after(id).is_some() {
                continue;
            }
            for (candidate, other) in after.iter() {
                if self.before(candidate).is_none() && class(object) == class(other) {
                    let (dx, dy) = displacement(object, other);
                    self.pairs.push(Pair {
                        cost: u32::from(dx.unsigned_abs()) + u32::from(dy.unsigned_abs()),
                        before: id,
                        after: candidate,
                    });
                }
            }
        }
    }

    /// Connects the collected pairs, the cheapest first, unless one of the objects is matched.
    fn connect_pairs(&mut self, change: impl Fn(Pair) -> Option<Change>) {
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.sort_unstable();
        for &pair in &pairs {
            if self.after(pair.before).is_none() && self.before(pair.after).is_none() {
                let change = change(pair);
                self.connect(pair.before, pair.after, change);
            }
        }
        self.pairs = pairs;
    }
}

/// Returns the object of a scene that covers the centre of `object` in its colour.
fn part_of(object: &Object, scene: &Scene) -> Option<ObjectId> {
    let (x, y) = object.center;
    let id = scene.object_at(x, y);
    (scene.object(id).color == object.color).then_some(id)
}

fn displacement(before: &Object, after: &Object) -> (i8, i8) {
    let difference = |old: u8, new: u8| (i16::from(new) - i16::from(old)) as i8;
    (
        difference(before.bounds.left, after.bounds.left),
        difference(before.bounds.top, after.bounds.top),
    )
}

/// Returns whether two objects have the same colour and almost the same size.
fn is_similar_in_size(object: &Object, other: &Object) -> bool {
    let (small, large) = (object.area.min(other.area), object.area.max(other.area));
    object.color == other.color && u32::from(small) * 100 >= u32::from(large) * MIN_COMMON_PERCENT
}

/// Returns the displacement that aligns a side of two objects in each direction and makes most of
/// their cells coincide, with the number of these cells.
fn best_alignment(before: &Scene, old: ObjectId, after: &Scene, new: ObjectId) -> (u32, (i8, i8)) {
    let (from, to) = (before.object(old).bounds, after.object(new).bounds);
    let difference = |old: u8, new: u8| (i16::from(new) - i16::from(old)) as i8;
    let across = [
        difference(from.left, to.left),
        difference(from.right, to.right),
    ];
    let down = [
        difference(from.top, to.top),
        difference(from.bottom, to.bottom),
    ];
    let vectors = across.into_iter().flat_map(|dx| down.map(|dy| (dx, dy)));
    let common = |&(dx, dy): &(i8, i8)| {
        let rows = (from.top..=from.bottom).map(|y| {
            let target = usize::from(y).wrapping_add_signed(dy.into());
            let row = before.cells(old).rows()[usize::from(y)];
            let shift = u32::from(dx.unsigned_abs());
            let moved = if dx < 0 { row >> shift } else { row << shift };
            let target = after.cells(new).rows().get(target);
            target.map_or(0, |target| (target & moved).count_ones())
        });
        rows.sum::<u32>()
    };
    let counted = vectors.map(|vector| (common(&vector), vector));
    counted
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .expect("there are four alignments")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhae_engine::Frame;

    /// Returns the changes of all objects except the background.
    fn changes(draw_before: impl Fn(&mut Frame), draw_after: impl Fn(&mut Frame)) -> Vec<Change> {
        let (mut before, mut after) = (Frame::filled(0), Frame::filled(0));
        draw_before(&mut before);
        draw_after(&mut after);
        let (before, after) = (Scene::of(&before), Scene::of(&after));
        let background = Some(before.background());
        let matching = Matching::between(&before, &after);
        let events = matching.events().iter();
        events
            .filter(|event| event.before != background)
            .map(|event| event.change)
            .collect()
    }

    fn corner(frame: &mut Frame, x: usize, y: usize) {
        frame.rect(x, y, 6, 2, 9);
        frame.rect(x, y + 2, 2, 2, 9);
    }

    fn turned_corner(frame: &mut Frame, x: usize, y: usize) {
        frame.rect(x, y, 4, 2, 9);
        frame.rect(x + 2, y + 2, 2, 4, 9);
    }

    #[test]
    fn every_kind_of_change_is_recognised() {
        let square = |frame: &mut Frame| frame.rect(20, 20, 4, 4, 9);
        assert_eq!(changes(square, square), []);
        assert_eq!(
            changes(square, |frame| frame.rect(23, 18, 4, 4, 9)),
            [Change::Moved { dx: 3, dy: -2 }]
        );
        assert_eq!(
            changes(square, |frame| frame.rect(20, 20, 4, 4, 3)),
            [Change::Recolored { from: 9, to: 3 }]
        );
        assert_eq!(
            changes(square, |frame| frame.rect(20, 20, 6, 4, 9)),
            [Change::Grown]
        );
        assert_eq!(
            changes(square, |frame| frame.rect(20, 20, 2, 4, 9)),
            [Change::Shrunk]
        );
        assert_eq!(
            changes(square, |frame| frame.rect(22, 20, 6, 4, 9)),
            [Change::Reshaped]
        );
        assert_eq!(changes(square, |_| ()), [Change::Vanished]);
        assert_eq!(changes(|_| (), square), [Change::Appeared]);
        assert_eq!(
            changes(
                |frame| corner(frame, 20, 20),
                |frame| turned_corner(frame, 20, 20)
            ),
            [Change::Turned {
                symmetry: Symmetry::QuarterTurn,
                dx: 0,
                dy: 0
            }]
        );
    }

    #[test]
    fn object_that_loses_an_edge_to_a_mark_is_still_tracked() {
        let square = |x: usize| move |frame: &mut Frame| frame.rect(x, 20, 5, 5, 9);
        let marked = |frame: &mut Frame| {
            frame.rect(30, 20, 5, 5, 9);
            frame.rect(34, 20, 1, 5, 3);
        };
        assert_eq!(
            changes(square(10), marked),
            [Change::Moved { dx: 20, dy: 0 }, Change::Appeared]
        );
        // A thin line of the same colour is another object.
        assert_eq!(
            changes(square(10), |frame| frame.rect(30, 20, 12, 1, 9)),
            [Change::Vanished, Change::Appeared]
        );
    }

    #[test]
    fn object_moves_with_the_part_that_it_encloses() {
        // The marks hide parts of opposite edges.
        let figure = |x: usize, mark: usize, length: usize| {
            move |frame: &mut Frame| {
                frame.rect(x, 20, 5, 5, 9);
                frame.rect(x + 2, 22, 1, 1, 4);
                frame.rect(x + mark, 20, 1, length, 3);
            }
        };
        let moved = Change::Moved { dx: 20, dy: 0 };
        let found = changes(figure(10, 0, 5), figure(30, 4, 3));
        assert_eq!(found.iter().filter(|&&change| change == moved).count(), 2);
    }

    #[test]
    fn parts_split_off_and_merge() {
        let bar = |frame: &mut Frame| frame.rect(10, 20, 9, 3, 9);
        let parts = |frame: &mut Frame| {
            frame.rect(10, 20, 4, 3, 9);
            frame.rect(16, 20, 3, 3, 9);
        };
        assert_eq!(changes(bar, parts), [Change::Shrunk, Change::SplitOff]);
        assert_eq!(changes(parts, bar), [Change::Grown, Change::Merged]);
    }

    #[test]
    fn objects_that_look_the_same_keep_their_places() {
        let row = |from: usize| {
            move |frame: &mut Frame| (from..from + 3).for_each(|i| frame.rect(8 * i, 30, 4, 4, 9))
        };
        assert_eq!(changes(row(1), row(2)), [Change::Moved { dx: 24, dy: 0 }]);
    }

    #[test]
    fn shortest_displacements_win() {
        let pair = |x: [usize; 2]| {
            move |frame: &mut Frame| x.iter().for_each(|&x| frame.rect(x, 30, 2, 2, 9))
        };
        assert_eq!(
            changes(pair([10, 40]), pair([13, 44])),
            [
                Change::Moved { dx: 3, dy: 0 },
                Change::Moved { dx: 4, dy: 0 }
            ]
        );
    }
}
