//! Repair: fills the ground cells of a symmetric or periodic image from the corresponding other
//! cells.

use crate::image::Image;

/// Fills ground cells from their mirror images at the axes of symmetry of the image. Returns `None`
/// if nothing changes.
pub(crate) fn by_symmetry(image: &Image) -> Option<Image> {
    let mut now = image.clone();
    let mut changed = false;
    for _ in 0..3 {
        let before = now.count();
        for transform in axes(&now) {
            for index in 0..now.cells.len() {
                if now.cells[index] != 0 {
                    continue;
                }
                let (x, y) = transform.apply((index % now.w) as i32, (index / now.w) as i32);
                let cell = now.get(x, y);
                if cell != 0 {
                    now.cells[index] = cell;
                    changed = true;
                }
            }
        }
        if now.count() == before {
            break;
        }
    }
    changed.then_some(now)
}

#[derive(Clone, Copy)]
enum Axis {
    /// Maps x to sum − x.
    Across(i32),
    /// Maps y to sum − y.
    Down(i32),
    /// Maps (x, y) to (y + shift, x − shift).
    Diagonal(i32),
    /// Maps (x, y) to (sum − y, sum − x).
    Anti(i32),
}

impl Axis {
    fn apply(self, x: i32, y: i32) -> (i32, i32) {
        match self {
            Self::Across(sum) => (sum - x, y),
            Self::Down(sum) => (x, sum - y),
            Self::Diagonal(shift) => (y + shift, x - shift),
            Self::Anti(sum) => (sum - y, sum - x),
        }
    }
}

/// Returns, for each kind of axis, the axis of symmetry with the most matching cells.
fn axes(image: &Image) -> Vec<Axis> {
    let (w, h) = (image.w as i32, image.h as i32);
    let kinds: [Vec<Axis>; 4] = [
        (w / 2..w + w / 2).map(Axis::Across).collect(),
        (h / 2..h + h / 2).map(Axis::Down).collect(),
        (-w / 4..=w / 4).map(Axis::Diagonal).collect(),
        ((w + h) / 4..(w + h) * 3 / 4 + 1).map(Axis::Anti).collect(),
    ];
    let best = |axes: Vec<Axis>| {
        let scored = axes
            .into_iter()
            .filter_map(|axis| Some((agreement(image, axis)?, axis)));
        scored.max_by_key(|(score, _)| *score).map(|(_, axis)| axis)
    };
    kinds.into_iter().filter_map(best).collect()
}

/// Returns the number of cells that have the same colour as their mirror image. Returns `None` if a
/// cell and its mirror image have different colours or at most a third of the image matches. Ground
/// matches every colour.
fn agreement(image: &Image, axis: Axis) -> Option<usize> {
    let mut agreed = 0;
    for (index, &cell) in image
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| **cell != 0)
    {
        let (x, y) = axis.apply((index % image.w) as i32, (index / image.w) as i32);
        let other = image.get(x, y);
        if other == cell {
            agreed += 1;
        } else if other != 0 {
            return None;
        }
    }
    (agreed * 3 > image.cells.len()).then_some(agreed)
}

/// Fills ground cells from the cells one period away. A period is any shift for which no two cells
/// have different colours, ground excepted. Returns `None` if nothing changes.
pub(crate) fn by_period(image: &Image) -> Option<Image> {
    let (w, h) = (image.w as i32, image.h as i32);
    let mut shifts = Vec::new();
    for dy in 0..=(h * 2 / 3) {
        for dx in -(w * 2 / 3)..=(w * 2 / 3) {
            if (dy > 0 || dx > 0) && agrees(image, dx, dy) {
                shifts.push((dx, dy));
            }
        }
    }
    shifts.sort_by_key(|(dx, dy)| dx.abs() + dy);
    shifts.truncate(24);
    if shifts.is_empty() {
        return None;
    }
    let mut now = image.clone();
    loop {
        let mut changed = false;
        for index in 0..now.cells.len() {
            if now.cells[index] != 0 {
                continue;
            }
            let (x, y) = ((index % now.w) as i32, (index / now.w) as i32);
            let near = shifts
                .iter()
                .flat_map(|(dx, dy)| [now.get(x + dx, y + dy), now.get(x - dx, y - dy)])
                .find(|&cell| cell != 0);
            if let Some(cell) = near {
                now.cells[index] = cell;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    (now.cells != image.cells).then_some(now)
}

fn agrees(image: &Image, dx: i32, dy: i32) -> bool {
    let mut agreed = 0;
    for y in 0..image.h as i32 - dy {
        for x in 0.max(-dx)..(image.w as i32).min(image.w as i32 - dx) {
            let (one, other) = (image.get(x, y), image.get(x + dx, y + dy));
            if one != 0 && other != 0 {
                if one != other {
                    return false;
                }
                agreed += 1;
            }
        }
    }
    agreed * 6 > image.count().max(6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn symmetric_image_is_completed() {
        let whole = image(&["12321", "23432", "34543", "23432", "12321"]);
        let mut broken = whole.clone();
        broken.cells[1] = 0;
        broken.cells[6] = 0;
        assert_eq!(by_symmetry(&broken).unwrap(), whole);
    }

    #[test]
    fn periodic_image_is_completed() {
        let whole = image(&["123123", "312312", "231231", "123123"]);
        let mut broken = whole.clone();
        for cell in [0, 1, 6, 7] {
            broken.cells[cell] = 0;
        }
        assert_eq!(by_period(&broken).unwrap(), whole);
        assert_eq!(by_period(&whole), None);
        assert_eq!(by_period(&image(&["12", "34"])), None);
    }
}
