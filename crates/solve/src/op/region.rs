//! Regions: connected cells, enclosed ground, edges and outlines.

use crate::image::Image;

/// The offsets of the eight neighbours: right, down, left, up, then the diagonals.
pub(crate) const NEIGHBOR_OFFSETS: [(i32, i32); 8] = [
    (1, 0),
    (0, 1),
    (-1, 0),
    (0, -1),
    (1, 1),
    (-1, 1),
    (-1, -1),
    (1, -1),
];

/// The definition of connected cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connectivity {
    /// Cells of one colour that share a side.
    Color4,
    /// Cells of one colour that share a side or a corner.
    Color8,
    /// Cells of any colour that share a side or a corner.
    Any8,
    /// Cells of any colour that share a side.
    Any4,
}

impl Connectivity {
    fn steps(self) -> &'static [(i32, i32)] {
        if matches!(self, Self::Color4 | Self::Any4) {
            &NEIGHBOR_OFFSETS[..4]
        } else {
            &NEIGHBOR_OFFSETS
        }
    }

    fn one_color(self) -> bool {
        matches!(self, Self::Color4 | Self::Color8)
    }
}

/// The regions of an image.
pub(crate) struct Regions {
    /// The label of the region of each cell, from 1; 0 for cells without a region.
    pub(crate) label: Vec<u16>,
    /// The number of regions.
    pub(crate) count: usize,
}

/// Finds the regions of an image, labelled in reading order.
pub(crate) fn regions(image: &Image, join: Connectivity) -> Regions {
    label(
        image.w,
        image.h,
        join.steps(),
        |cell| image.cells[cell] != 0,
        |one, other| !join.one_color() || image.cells[one] == image.cells[other],
    )
}

/// Labels connected components by flood fill. `belongs` selects the cells, and `joined` decides
/// whether two neighbouring cells are connected.
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

/// Returns each region as an image, cropped to its bounding box.
pub(crate) fn split(image: &Image, join: Connectivity) -> Vec<Image> {
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

/// Marks ground that is not connected to the border of the image. With `corners`, diagonal
/// neighbours are connected too.
pub(crate) fn enclosed_mask(image: &Image, corners: bool) -> Vec<bool> {
    let steps = if corners {
        &NEIGHBOR_OFFSETS[..]
    } else {
        &NEIGHBOR_OFFSETS[..4]
    };
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

/// Returns only the enclosed ground cells, painted in the most frequent colour of the image.
pub(crate) fn enclosed(image: &Image, corners: bool) -> Image {
    let color = image.majority();
    image.with_cells(
        enclosed_mask(image, corners)
            .into_iter()
            .map(|inside| if inside { color } else { 0 })
            .collect(),
    )
}

/// Fills enclosed ground with the most frequent colour of the image.
pub(crate) fn filled(image: &Image) -> Image {
    let color = image.majority();
    let inside = enclosed_mask(image, false);
    image.with_cells(
        image
            .cells
            .iter()
            .zip(inside)
            .map(|(&cell, inside)| if inside { color } else { cell })
            .collect(),
    )
}

/// Returns the cells that touch neither ground nor the border of the image. With `edge`, returns
/// all other cells that are not ground.
pub(crate) fn inner(image: &Image, edge: bool) -> Image {
    let mut cells = image.cells.clone();
    for (index, cell) in cells.iter_mut().enumerate() {
        let (x, y) = ((index % image.w) as i32, (index / image.w) as i32);
        let inside = NEIGHBOR_OFFSETS
            .iter()
            .all(|(dx, dy)| image.get(x + dx, y + dy) != 0);
        if inside == edge {
            *cell = 0;
        }
    }
    image.with_cells(cells)
}

/// The neighbours that an outline consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adjacency {
    Sides,
    Corners,
    Both,
}

/// Returns only the ground cells that have a neighbour that is not ground, painted in the colour of
/// that neighbour.
pub(crate) fn outline(image: &Image, touch: Adjacency) -> Image {
    let steps = match touch {
        Adjacency::Sides => &NEIGHBOR_OFFSETS[..4],
        Adjacency::Corners => &NEIGHBOR_OFFSETS[4..],
        Adjacency::Both => &NEIGHBOR_OFFSETS[..],
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
    image.with_cells((0..image.cells.len()).map(cell).collect())
}

/// Returns only a frame, one cell wide, that surrounds the image and has its most frequent colour.
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

/// Removes noise: cells without a neighbour of the same colour become ground.
pub(crate) fn without_specks(image: &Image) -> Image {
    let alone = |index: usize| {
        let (x, y) = ((index % image.w) as i32, (index / image.w) as i32);
        NEIGHBOR_OFFSETS
            .iter()
            .all(|(dx, dy)| image.get(x + dx, y + dy) != image.cells[index])
    };
    image.with_cells(
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
    fn connectivity_determines_the_regions() {
        let picture = image(&["11..", ".2.1", "...1"]);
        let count = |join| regions(&picture, join).count;
        assert_eq!(
            [
                count(Connectivity::Color4),
                count(Connectivity::Color8),
                count(Connectivity::Any8),
                count(Connectivity::Any4)
            ],
            [3, 3, 2, 2]
        );
        let parts = split(&picture, Connectivity::Any8);
        assert_eq!(parts[0], image(&["11", ".2"]));
        assert_eq!((parts[1].x, parts[1].y, parts[1].size()), (3, 1, (1, 2)));
    }

    #[test]
    fn enclosed_ground_is_found() {
        let ring = image(&[".33.", "3..3", ".33.", "...."]);
        assert_eq!(
            enclosed(&ring, false),
            image(&["....", ".33.", "....", "...."])
        );
        assert!(enclosed(&ring, true).count() == 0);
        assert_eq!(filled(&ring), image(&[".33.", "3333", ".33.", "...."]));
    }

    #[test]
    fn edges_and_outlines_have_the_right_cells() {
        let square = image(&[".....", ".444.", ".444.", ".444.", "....."]);
        assert_eq!(inner(&square, false).count(), 1);
        assert_eq!(inner(&square, true).count(), 8);
        assert_eq!(outline(&square, Adjacency::Both).count(), 16);
        assert_eq!(outline(&square, Adjacency::Sides).count(), 12);
        assert_eq!(framed(&image(&["4"])).unwrap().count(), 8);
        assert_eq!(
            without_specks(&image(&["1.2", "1.."])),
            image(&["1..", "1.."])
        );
    }
}
