//! Strips: the areas of a scene that have the shape of a status bar.
//!
//! Shape alone does not make a bar; [`crate::StatusBars`] decides by how a strip changes.

use crate::{Bounds, Scene};

/// A strip is at least this many times longer than thick.
const MIN_ELONGATION: u8 = 5;
/// The maximum thickness of a strip, in cells.
const MAX_THICKNESS: u8 = 4;

/// Returns the strips of a scene: elongated rectangles, pairs of rectangles that continue each other
/// (the two parts of a bar), and rows of at least three equal objects at equal distances.
pub(crate) fn strips(scene: &Scene) -> Vec<Bounds> {
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
    rectangles.extend(twin_rows(scene));
    rectangles.retain(|bounds| {
        let (width, height) = (bounds.width(), bounds.height());
        let (long, thin) = (width.max(height), width.min(height));
        thin <= MAX_THICKNESS && long >= MIN_ELONGATION * thin
    });
    rectangles.sort_unstable();
    rectangles.dedup();
    rectangles
}

/// Returns the bounds of rows of at least three objects that look the same at equal distances.
fn twin_rows(scene: &Scene) -> Vec<Bounds> {
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
                let step = row.get(1).map(|second| along(second) - along(&row[0]));
                let regular = row
                    .windows(2)
                    .all(|pair| Some(along(&pair[1]) - along(&pair[0])) == step);
                if row.len() >= MIN_TWINS && regular {
                    rows.push(row[0].joined(row[row.len() - 1]));
                }
            }
        }
    }
    rows
}
