//! Shapes: parts, sizes and repetitions of an image.

use crate::image::Image;

/// Returns the left, upper, right or lower half; a middle row or column belongs to neither half.
pub(crate) fn half(image: &Image, which: u8) -> Option<Image> {
    let (w, h) = (image.w, image.h);
    match which {
        0 | 2 if w < 2 => None,
        1 | 3 if h < 2 => None,
        0 => Some(image.part(0, 0, w / 2, h)),
        1 => Some(image.part(0, 0, w, h / 2)),
        2 => Some(image.part(w - w / 2, 0, w / 2, h)),
        _ => Some(image.part(0, h - h / 2, w, h / 2)),
    }
}

/// Removes rows and columns that consist of ground.
pub(crate) fn without_empty(image: &Image) -> Option<Image> {
    let columns: Vec<usize> = (0..image.w)
        .filter(|&x| (0..image.h).any(|y| image.at(x, y) != 0))
        .collect();
    let rows: Vec<usize> = (0..image.h)
        .filter(|&y| (0..image.w).any(|x| image.at(x, y) != 0))
        .collect();
    Image::build(columns.len(), rows.len(), |x, y| {
        image.at(columns[x], rows[y])
    })
}

/// Removes rows and columns that are identical to the previous one.
pub(crate) fn without_doubles(image: &Image) -> Option<Image> {
    let new_column =
        |x: &usize| *x == 0 || (0..image.h).any(|y| image.at(*x, y) != image.at(x - 1, y));
    let new_row =
        |y: &usize| *y == 0 || (0..image.w).any(|x| image.at(x, *y) != image.at(x, y - 1));
    let columns: Vec<usize> = (0..image.w).filter(new_column).collect();
    let rows: Vec<usize> = (0..image.h).filter(new_row).collect();
    Image::build(columns.len(), rows.len(), |x, y| {
        image.at(columns[x], rows[y])
    })
}

/// Returns the bounding box, filled with the most frequent colour.
pub(crate) fn hull(image: &Image) -> Option<Image> {
    let color = image.majority();
    Some(image.cropped()?.map(|_| color))
}

/// Paints the image at its position onto a canvas of this size.
pub(crate) fn placed(image: &Image, (w, h): (usize, usize)) -> Image {
    let mut canvas = Image::filled(w, h, 0);
    canvas.paint(image);
    canvas
}

/// Enlarges every cell so that the image has the given size. Returns `None` if that size is not a
/// multiple of the image's size.
pub(crate) fn scaled(image: &Image, (w, h): (usize, usize)) -> Option<Image> {
    if !w.is_multiple_of(image.w) || !h.is_multiple_of(image.h) {
        return None;
    }
    let (kx, ky) = (w / image.w, h / image.h);
    Image::build(w, h, |x, y| image.at(x / kx, y / ky))
}

/// Repeats the image in both directions up to this size.
pub(crate) fn tiled(image: &Image, (w, h): (usize, usize)) -> Option<Image> {
    Image::build(w, h, |x, y| image.at(x % image.w, y % image.h))
}

/// Repeats the image like [`tiled`], with every second copy mirrored.
pub(crate) fn mirror_tiled(image: &Image, (w, h): (usize, usize)) -> Option<Image> {
    let fold = |at: usize, length: usize| {
        if (at / length).is_multiple_of(2) {
            at % length
        } else {
            length - 1 - at % length
        }
    };
    Image::build(w, h, |x, y| image.at(fold(x, image.w), fold(y, image.h)))
}

/// Rearranges the cells, in reading order, into an image of another size. Missing cells are ground.
pub(crate) fn wrapped(image: &Image, (w, h): (usize, usize)) -> Option<Image> {
    Image::build(w, h, |x, y| {
        image.cells.get(y * w + x).copied().unwrap_or(0)
    })
}

/// Returns the Kronecker product of the image with itself: a copy of the image for each cell that
/// is not ground or, with `ground`, for each ground cell.
pub(crate) fn kron(image: &Image, ground: bool) -> Option<Image> {
    Image::build(image.w * image.w, image.h * image.h, |x, y| {
        if (image.at(x / image.w, y / image.h) == 0) == ground {
            image.at(x % image.w, y % image.h)
        } else {
            0
        }
    })
}

/// Paints the content of the image over its own mirrored or rotated copy, which occupies the same
/// bounding box. Returns `None` if the symmetry changes the size of the box.
pub(crate) fn mirrored(image: &Image, which: u8) -> Option<Image> {
    let content = image.cropped()?;
    let turned = content.symmetry(which);
    if turned.size() != content.size() {
        return None;
    }
    let mut result = image.with_cells(vec![0; image.cells.len()]);
    result.paint(&turned);
    result.paint(&content);
    Some(result)
}

/// Moves the content by one cell within the image: right, down, left or up.
pub(crate) fn shifted(image: &Image, (dx, dy): (i32, i32)) -> Image {
    let cell =
        |index: usize| image.get((index % image.w) as i32 - dx, (index / image.w) as i32 - dy);
    image.with_cells((0..image.cells.len()).map(cell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    #[test]
    fn halves_leave_the_middle_out() {
        let picture = image(&["12345"]);
        assert_eq!(half(&picture, 0).unwrap(), image(&["12"]));
        assert_eq!(half(&picture, 2).unwrap().cells, [4, 5]);
        assert_eq!(half(&picture, 1), None);
    }

    #[test]
    fn lines_are_dropped() {
        let picture = image(&["1.1.", "....", "2.2."]);
        assert_eq!(without_empty(&picture).unwrap(), image(&["11", "22"]));
        assert_eq!(
            without_doubles(&image(&["112", "112", "334"])).unwrap(),
            image(&["12", "34"])
        );
        assert_eq!(without_empty(&image(&["."])), None);
    }

    #[test]
    fn images_are_scaled_and_repeated() {
        let picture = image(&["12"]);
        assert_eq!(scaled(&picture, (4, 2)).unwrap(), image(&["1122", "1122"]));
        assert_eq!(scaled(&picture, (3, 2)), None);
        assert_eq!(tiled(&picture, (3, 2)).unwrap(), image(&["121", "121"]));
        assert_eq!(mirror_tiled(&picture, (4, 1)).unwrap(), image(&["1221"]));
        assert_eq!(
            wrapped(&image(&["123", "4.."]), (2, 2)).unwrap(),
            image(&["12", "34"])
        );
        assert_eq!(
            kron(&image(&["1.", ".1"]), false).unwrap(),
            image(&["1...", ".1..", "..1.", "...1"])
        );
        assert_eq!(kron(&image(&["1.", "11"]), true).unwrap().count(), 3);
    }

    #[test]
    fn mirrored_image_keeps_its_bounding_box() {
        assert_eq!(
            mirrored(&image(&["12.", "...", "..."]), 1).unwrap(),
            image(&["12.", "...", "..."])
        );
        assert_eq!(
            mirrored(&image(&[".1.2", "...2"]), 2).unwrap(),
            image(&[".1.2", ".1.2"])
        );
        assert_eq!(shifted(&image(&["12", "34"]), (1, 0)), image(&[".1", ".3"]));
    }

    #[test]
    fn hull_is_placed_on_a_canvas() {
        let hull = hull(&image(&["...", ".12", ".1."])).unwrap();
        assert_eq!((hull.x, hull.y, hull.cells.as_slice()), (1, 1, &[1; 4][..]));
        assert_eq!(placed(&hull, (2, 2)), image(&["..", ".1"]));
    }
}
