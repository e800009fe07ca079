//! Qualities: numbers by which objects of a list are compared.

use std::fmt;

use crate::image::Image;
use crate::op::region::{Join, enclosed_mask, regions};

/// What objects are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quality {
    /// Cells that are not ground.
    Count,
    /// The box's area.
    Area,
    Width,
    Height,
    Colors,
    /// Distance from the left, the top: the place of the box.
    Left,
    Top,
    Right,
    Bottom,
    /// Regions of one colour.
    Parts,
    /// Ground within the box.
    Empty,
    /// Ground that is enclosed.
    Enclosed,
    /// How many symmetries of the square map it onto itself.
    Symmetry,
    /// Whether it is mirrored left and right, top and bottom.
    MirrorX,
    MirrorY,
    /// Whether the box is a square.
    Square,
    /// How many objects have the same shape, the same shape up to symmetries, the same colours, the same content.
    SameShape,
    SameForm,
    SameColors,
    SameContent,
    /// Cells of its rarest colour.
    Rarest,
    /// Whether it is a full rectangle.
    Solid,
    /// Whether it touches the border of the input.
    Border,
}

/// All qualities, in the order in which programs try them.
pub(crate) const QUALITIES: [Quality; 23] = [
    Quality::Count,
    Quality::Area,
    Quality::Width,
    Quality::Height,
    Quality::Colors,
    Quality::Left,
    Quality::Top,
    Quality::Right,
    Quality::Bottom,
    Quality::Parts,
    Quality::Empty,
    Quality::Enclosed,
    Quality::Symmetry,
    Quality::MirrorX,
    Quality::MirrorY,
    Quality::Square,
    Quality::SameShape,
    Quality::SameForm,
    Quality::SameColors,
    Quality::SameContent,
    Quality::Rarest,
    Quality::Solid,
    Quality::Border,
];

/// What was measured of one list of objects.
#[derive(Default)]
pub(crate) struct Measured([Option<Vec<i32>>; QUALITIES.len()]);

impl Measured {
    /// As [`measure`], for a list that is always the same one.
    pub(crate) fn get(
        &mut self,
        quality: Quality,
        objects: &[Image],
        frame: (usize, usize),
    ) -> &[i32] {
        self.0[quality as usize].get_or_insert_with(|| measure(quality, objects, frame))
    }
}

/// The quality of each object; `frame` is the size of the input.
pub(crate) fn measure(quality: Quality, objects: &[Image], frame: (usize, usize)) -> Vec<i32> {
    match quality {
        Quality::SameShape => repeats(objects, shape),
        Quality::SameForm => repeats(objects, form),
        Quality::SameColors => repeats(objects, |object| object.histogram().map(|count| count > 0)),
        Quality::SameContent => repeats(objects, |object| (object.w, &object.cells)),
        _ => objects
            .iter()
            .map(|object| alone(quality, object, frame))
            .collect(),
    }
}

fn alone(quality: Quality, object: &Image, (w, h): (usize, usize)) -> i32 {
    let number = match quality {
        Quality::Count => object.count(),
        Quality::Area => object.w * object.h,
        Quality::Width => object.w,
        Quality::Height => object.h,
        Quality::Colors => object.colors(),
        Quality::Left => return i32::from(object.x),
        Quality::Top => return i32::from(object.y),
        Quality::Right => return i32::from(object.x) + object.w as i32,
        Quality::Bottom => return i32::from(object.y) + object.h as i32,
        Quality::Parts => regions(object, Join::Color4).count,
        Quality::Empty => object.cells.len() - object.count(),
        Quality::Enclosed => enclosed_mask(object, false)
            .into_iter()
            .filter(|inside| *inside)
            .count(),
        Quality::Symmetry => (1..8).filter(|&which| object.is_symmetric(which)).count(),
        Quality::MirrorX => usize::from(object.is_symmetric(1)),
        Quality::MirrorY => usize::from(object.is_symmetric(2)),
        Quality::Square => usize::from(object.w == object.h),
        Quality::Rarest => object.histogram()[1..]
            .iter()
            .copied()
            .filter(|&count| count > 0)
            .min()
            .unwrap_or(0),
        Quality::Solid => usize::from(object.count() == object.cells.len()),
        Quality::Border => {
            let far = object.x as usize + object.w >= w || object.y as usize + object.h >= h;
            usize::from(object.x <= 0 || object.y <= 0 || far)
        }
        Quality::SameShape | Quality::SameForm | Quality::SameColors | Quality::SameContent => 0,
    };
    number as i32
}

fn shape(object: &Image) -> (usize, Vec<u8>) {
    (object.w, object.map(|cell| u8::from(cell != 0)).cells)
}

/// The shape in the symmetry that comes first.
pub(crate) fn form(object: &Image) -> (usize, Vec<u8>) {
    let shape = object.map(|cell| u8::from(cell != 0));
    let forms = (0..8).map(|which| shape.symmetry(which));
    forms
        .map(|form| (form.w, form.cells))
        .min()
        .unwrap_or_default()
}

fn repeats<'a, K: PartialEq>(objects: &'a [Image], key: impl Fn(&'a Image) -> K) -> Vec<i32> {
    let keys: Vec<K> = objects.iter().map(key).collect();
    keys.iter()
        .map(|key| keys.iter().filter(|other| *other == key).count() as i32)
        .collect()
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::SameShape => "same-shape".to_owned(),
            Self::SameForm => "same-form".to_owned(),
            Self::SameColors => "same-colors".to_owned(),
            Self::SameContent => "same-content".to_owned(),
            Self::MirrorX => "mirror-x".to_owned(),
            Self::MirrorY => "mirror-y".to_owned(),
            other => format!("{other:?}").to_lowercase(),
        };
        f.write_str(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;
    use crate::op::region::split;

    #[test]
    fn objects_are_measured() {
        let objects = split(
            &image(&["111..", "1.1.2", "111.2", ".....", "22..."]),
            Join::Color4,
        );
        let values = |quality| measure(quality, &objects, (5, 5));
        assert_eq!(objects.len(), 3);
        assert_eq!(values(Quality::Count), [8, 2, 2]);
        assert_eq!(values(Quality::Enclosed), [1, 0, 0]);
        assert_eq!(values(Quality::SameShape), [1, 1, 1]);
        assert_eq!(values(Quality::SameForm), [1, 2, 2]);
        assert_eq!(values(Quality::SameColors), [1, 2, 2]);
        assert_eq!(values(Quality::Border), [1, 1, 1]);
        assert_eq!(values(Quality::Solid), [0, 1, 1]);
        assert_eq!(values(Quality::Symmetry), [7, 3, 3]);
        assert_eq!(values(Quality::Bottom), [3, 3, 5]);
    }
}
