//! Strips: the areas of a scene that have the shape of a status bar.
//!
//! Shape alone does not make a bar; [`crate::StatusBars`] decides by how a strip changes.

use crate::{Bounds, Scene};

/// A strip is at least this many times longer than thick.
const MIN_ELONGATION: u8 = 5;
/// The maximum thickness of a strip, in cells.
const MAX_THICKNESS: u8 = 4;

/// An area that has the shape of a status bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Strip {
    pub(crate) bounds: Bounds,
    /// The length of a segment, in cells: 1 for a rectangle, and the length of an object for a row of
    /// objects.
    pub(crate) segment: u8,
    /// The distance from the start of one segment to that of the next.
    pub(crate) pitch: u8,
}

impl Strip {
    const fn rectangle(bounds: Bounds) -> Self {
        Self {
            bounds,
            segment: 1,
            pitch: 1,
        }
    }

    /// Returns whether the strip consists of objects with gaps between them.
    pub(crate) const fn has_gaps(self) -> bool {
        self.pitch > 1
    }

    pub(crate) const fn is_row(self) -> bool {
        self.bounds.width() >= self.bounds.height()
    }

    /// Returns the length and the thickness.
    pub(crate) const fn size(self) -> (u8, u8) {
        let (width, height) = (self.bounds.width(), self.bounds.height());
        if self.is_row() {
            (width, height)
        } else {
            (height, width)
        }
    }

    /// Returns the cell at a distance from the start of the strip and from its upper or left side.
    pub(crate) const fn cell(self, along: u8, across: u8) -> (u8, u8) {
        let Bounds { left, top, .. } = self.bounds;
        if self.is_row() {
            (left + along, top + across)
        } else {
            (left + across, top + along)
        }
    }

    /// Returns the number of segments.
    pub(crate) const fn segments(self) -> u8 {
        (self.size().0 - self.segment) / self.pitch + 1
    }
}

/// Returns the strips of a scene: elongated rectangles, pairs of rectangles that continue each other
/// (the two parts of a bar), and rows of at least three equal objects at equal distances.
pub(crate) fn strips(scene: &Scene) -> Vec<Strip> {
    let mut rectangles: Vec<Bounds> = scene
        .objects()
        .iter()
        .filter(|object| {
            let (width, height) = (object.bounds.width(), object.bounds.height());
            object.is_rectangle() && width.min(height) <= MAX_THICKNESS
        })
        .map(|object| object.bounds)
        .collect();
    let single = rectangles.len();
    for a in 0..single {
        for b in 0..single {
            let (first, second) = (rectangles[a], rectangles[b]);
            let in_row = first.top == second.top
                && first.bottom == second.bottom
                && u16::from(first.right) + 1 == u16::from(second.left);
            let in_column = first.left == second.left
                && first.right == second.right
                && u16::from(first.bottom) + 1 == u16::from(second.top);
            if in_row || in_column {
                rectangles.push(first.joined(second));
            }
        }
    }
    let mut strips: Vec<Strip> = rectangles.into_iter().map(Strip::rectangle).collect();
    strips.extend(twin_rows(scene));
    strips.retain(|strip| {
        let (length, thickness) = strip.size();
        thickness <= MAX_THICKNESS && length >= MIN_ELONGATION * thickness
    });
    strips.sort_unstable();
    strips.dedup();
    strips
}

/// Returns the rows of at least three objects that look the same at equal distances.
fn twin_rows(scene: &Scene) -> Vec<Strip> {
    const MIN_TWINS: usize = 3;
    let small = scene.objects().iter().filter(|object| {
        object.bounds.width().min(object.bounds.height()) <= MAX_THICKNESS && object.area <= 64
    });
    let mut all: Vec<_> = small
        .map(|object| (object.color, object.shape, object.bounds))
        .collect();
    all.sort_unstable();
    let mut rows = Vec::new();
    for twins in all.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        for is_row in [true, false] {
            let mut bounds: Vec<Bounds> = twins.iter().map(|twin| twin.2).collect();
            let line = |bounds: &Bounds| if is_row { bounds.top } else { bounds.left };
            let along = |bounds: &Bounds| if is_row { bounds.left } else { bounds.top };
            bounds.sort_unstable_by_key(|bounds| (line(bounds), along(bounds)));
            for row in bounds.chunk_by(|a, b| line(a) == line(b)) {
                let [first, second, ..] = row else { continue };
                let pitch = along(second) - along(first);
                let is_regular = row
                    .windows(2)
                    .all(|pair| along(&pair[1]) - along(&pair[0]) == pitch);
                let segment = if is_row {
                    first.width()
                } else {
                    first.height()
                };
                if row.len() >= MIN_TWINS && is_regular && pitch >= segment {
                    rows.push(Strip {
                        bounds: first.joined(row[row.len() - 1]),
                        segment,
                        pitch,
                    });
                }
            }
        }
    }
    rows
}
