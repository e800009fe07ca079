//! Regions: connected cells, what they enclose, their edges and outlines.

use crate::image::Image;

/// Right, down, left, up, then the diagonals.
pub(crate) const AROUND: [(i32, i32); 8] = [
    (1, 0),
    (0, 1),
    (-1, 0),
    (0, -1),
    (1, 1),
    (-1, 1),
    (-1, -1),
    (1, -1),
];

/// Which cells belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// Cells of one colour that share a side.
    Color4,
    /// Cells of one colour that share a side or a corner.
    Color8,
    /// Cells of any colour that share a side or a corner.
    Any8,
    /// Cells of any colour that share a side.
    Any4,
}

impl Join {
    fn steps(self) -> &'static [(i32, i32)] {
        if matches!(self, Self::Color4 | Self::Any4) {
            &AROUND[..4]
        } else {
            &AROUND
        }
    }

    fn one_color(self) -> bool {
        matches!(self, Self::Color4 | Self::Color8)
    }
}

/// The regions of an image.
pub(crate) struct Regions {
    /// The region of each cell, from 1; 0 is ground.
    pub(crate) label: Vec<u16>,
    /// How many there are.
    pub(crate) count: usize,
}

/// Finds the regions of an image, numbered in reading order.
pub(crate) fn regions(image: &Image, join: Join) -> Regions {
    label(
        image.w,
        image.h,
        join.steps(),
        |cell| image.cells[cell] != 0,
        |one, other| !join.one_color() || image.cells[one] == image.cells[other],
    )
}

/// Labels the cells that belong, joined where both belong and `joined` holds.
pub(crate) fn label(
    w: usize,
    h: usize,
    steps: &[(i32, i32)],
    belongs: impl Fn(usize) -> bool,
    joined: impl Fn(usize, usize) -> bool,
) -> Regions {
    let mut label = vec![0; w * h];
    let mut count = 0;
    let mut stack = Vec::new();
    for start in 0..w * h {
        if label[start] != 0 || !belongs(start) {
            continue;
        }
        count += 1;
        label[start] = count;
        stack.push(start);
        while let Some(cell) = stack.pop() {
            let (x, y) = ((cell % w) as i32, (cell / w) as i32);
            for (dx, dy) in steps {
                let (nx, ny) = (x + dx, y + dy);
                if nx < 0 || ny < 0 || nx as usize >= w || ny as usize >= h {
                    continue;
                }
                let next = ny as usize * w + nx as usize;
                if label[next] == 0 && belongs(next) && joined(cell, next) {
                    label[next] = count;
                    stack.push(next);
                }
            }
        }
    }
    Regions {
        label,
        count: usize::from(count),
    }
}

/// The regions as images, each cropped to its box.
pub(crate) fn split(image: &Image, join: Join) -> Vec<Image> {
    let found = regions(image, join);
    let mut boxes = vec![(usize::MAX, usize::MAX, 0, 0); found.count];
    for (cell, &label) in found
        .label
        .iter()
        .enumerate()
        .filter(|(_, label)| **label != 0)
    {
        let (x, y) = (cell % image.w, cell / image.w);
        let bounds = &mut boxes[usize::from(label) - 1];
        *bounds = (
            bounds.0.min(x),
            bounds.1.min(y),
            bounds.2.max(x + 1),
            bounds.3.max(y + 1),
        );
    }
    let cut = |(index, &(left, top, right, bottom)): (usize, &(usize, usize, usize, usize))| {
        let mut part = image.part(left, top, right - left, bottom - top);
        for (cell, value) in part.cells.iter_mut().enumerate() {
            let place = (top + cell / part.w) * image.w + left + cell % part.w;
            if usize::from(found.label[place]) != index + 1 {
                *value = 0;
            }
        }
        part
    };
    boxes.iter().enumerate().map(cut).collect()
}

/// Marks the ground that cannot be reached from outside; with `corners`, corners can be passed.
pub(crate) fn enclosed_mask(image: &Image, corners: bool) -> Vec<bool> {
    let steps = if corners { &AROUND[..] } else { &AROUND[..4] };
    let ground = label(
        image.w,
        image.h,
        steps,
        |cell| image.cells[cell] == 0,
        |_, _| true,
    );
    let mut open = vec![false; ground.count + 1];
    open[0] = true;
    for (cell, &label) in ground.label.iter().enumerate() {
        let (x, y) = (cell % image.w, cell / image.w);
        if x == 0 || y == 0 || x + 1 == image.w || y + 1 == image.h {
            open[usize::from(label)] = true;
        }
    }
    ground
        .label
        .iter()
        .map(|&label| !open[usize::from(label)])
        .collect()
}

/// The enclosed ground alone, in the image's most frequent colour.
pub(crate) fn enclosed(image: &Image, corners: bool) -> Image {
    let color = image.majority();
    image.with(
        enclosed_mask(image, corners)
            .into_iter()
            .map(|inside| if inside { color } else { 0 })
            .collect(),
    )
}

/// The image with its enclosed ground filled.
pub(crate) fn filled(image: &Image) -> Image {
    let color = image.majority();
    let inside = enclosed_mask(image, false);
    image.with(
        image
            .cells
            .iter()
            .zip(inside)
            .map(|(&cell, inside)| if inside { color } else { cell })
            .collect(),
    )
}

/// The cells that touch no ground and no border, or the others.
pub(crate) fn inner(image: &Image, edge: bool) -> Image {
    let mut cells = image.cells.clone();
    for (index, cell) in cells.iter_mut().enumerate() {
        let (x, y) = ((index % image.w) as i32, (index / image.w) as i32);
        let inside = AROUND.iter().all(|(dx, dy)| image.get(x + dx, y + dy) != 0);
        if inside == edge {
            *cell = 0;
        }
    }
    image.with(cells)
}

/// Which neighbours an outline has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    Sides,
    Corners,
    Both,
}

/// The ground that touches something, in the colour that it touches.
pub(crate) fn outline(image: &Image, touch: Touch) -> Image {
    let steps = match touch {
        Touch::Sides => &AROUND[..4],
        Touch::Corners => &AROUND[4..],
        Touch::Both => &AROUND[..],
    };
    let cell = |index: usize| {
        if image.cells[index] != 0 {
            return 0;
        }
        let (x, y) = ((index % image.w) as i32, (index / image.w) as i32);
        steps
            .iter()
            .map(|(dx, dy)| image.get(x + dx, y + dy))
            .find(|&color| color != 0)
            .unwrap_or(0)
    };
    image.with((0..image.cells.len()).map(cell).collect())
}

/// The outline of the image's box, one cell wide, around it.
pub(crate) fn framed(image: &Image) -> Option<Image> {
    let color = image.majority();
    let (w, h) = (image.w + 2, image.h + 2);
    let frame = Image::build(w, h, |x, y| {
        if x == 0 || y == 0 || x + 1 == w || y + 1 == h {
            color
        } else {
            0
        }
    })?;
    Some(frame.moved_to(image.x - 1, image.y - 1))
}

/// Cells of the ground without any neighbour that is not ground take part in nothing; cells alone in their colour are noise.
pub(crate) fn without_specks(image: &Image) -> Image {
    let alone = |index: usize| {
        let (x, y) = ((index % image.w) as i32, (index / image.w) as i32);
        AROUND
            .iter()
            .all(|(dx, dy)| image.get(x + dx, y + dy) != image.cells[index])
    };
    image.with(
        (0..image.cells.len())
            .map(|index| if alone(index) { 0 } else { image.cells[index] })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn regions_follow_their_rule() {
        let picture = image(&["11..", ".2.1", "...1"]);
        let count = |join| regions(&picture, join).count;
        assert_eq!(
            [
                count(Join::Color4),
                count(Join::Color8),
                count(Join::Any8),
                count(Join::Any4)
            ],
            [3, 3, 2, 2]
        );
        let parts = split(&picture, Join::Any8);
        assert_eq!(parts[0], image(&["11", ".2"]));
        assert_eq!((parts[1].x, parts[1].y, parts[1].size()), (3, 1, (1, 2)));
    }

    #[test]
    fn only_what_is_closed_is_enclosed() {
        let ring = image(&[".33.", "3..3", ".33.", "...."]);
        assert_eq!(
            enclosed(&ring, false),
            image(&["....", ".33.", "....", "...."])
        );
        assert!(enclosed(&ring, true).count() == 0);
        assert_eq!(filled(&ring), image(&[".33.", "3333", ".33.", "...."]));
    }

    #[test]
    fn edges_and_outlines() {
        let square = image(&[".....", ".444.", ".444.", ".444.", "....."]);
        assert_eq!(inner(&square, false).count(), 1);
        assert_eq!(inner(&square, true).count(), 8);
        assert_eq!(outline(&square, Touch::Both).count(), 16);
        assert_eq!(outline(&square, Touch::Sides).count(), 12);
        assert_eq!(framed(&image(&["4"])).unwrap().count(), 8);
        assert_eq!(
            without_specks(&image(&["1.2", "1.."])),
            image(&["1..", "1.."])
        );
    }
}
