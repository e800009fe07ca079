//! Properties: numbers by which the objects of a list are compared.

use std::fmt;

use crate::image::Image;
use crate::op::region::{Connectivity, enclosed_mask, regions};

/// A property of an object. "Box" is its bounding box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property {
    /// The number of cells that are not ground.
    Count,
    /// The area of the box.
    Area,
    Width,
    Height,
    Colors,
    /// The edges of the box: distances from the left or the top of the input.
    Left,
    Top,
    Right,
    Bottom,
    /// The number of regions of one colour.
    Parts,
    /// The number of ground cells in the box.
    Empty,
    /// The number of enclosed ground cells.
    Enclosed,
    /// The number of symmetries of the square that map the object onto itself.
    Symmetry,
    /// Whether the object is symmetric left to right, or top to bottom.
    MirrorX,
    MirrorY,
    /// Whether the box is a square.
    Square,
    /// The number of objects in the list with the same shape (`SameShape`), the same shape up to
    /// symmetries (`SameForm`), the same set of colours (`SameColors`), or the same cells
    /// (`SameContent`).
    SameShape,
    SameForm,
    SameColors,
    SameContent,
    /// The number of cells of the rarest colour.
    Rarest,
    /// Whether the object fills its box.
    Solid,
    /// Whether the object touches the border of the input.
    Border,
}

/// All properties in the order in which programs try them.
pub(crate) const PROPERTIES: [Property; 23] = [
    Property::Count,
    Property::Area,
    Property::Width,
    Property::Height,
    Property::Colors,
    Property::Left,
    Property::Top,
    Property::Right,
    Property::Bottom,
    Property::Parts,
    Property::Empty,
    Property::Enclosed,
    Property::Symmetry,
    Property::MirrorX,
    Property::MirrorY,
    Property::Square,
    Property::SameShape,
    Property::SameForm,
    Property::SameColors,
    Property::SameContent,
    Property::Rarest,
    Property::Solid,
    Property::Border,
];

/// The properties of one list of objects, computed on first use.
#[derive(Default)]
pub(crate) struct PropertyCache([Option<Vec<i32>>; PROPERTIES.len()]);

impl PropertyCache {
    /// Returns the same values as [`measure`]. All calls on one cache must pass the same list and
    /// input size.
    pub(crate) fn get(
        &mut self,
        property: Property,
        objects: &[Image],
        input_size: (usize, usize),
    ) -> &[i32] {
        self.0[property as usize].get_or_insert_with(|| measure(property, objects, input_size))
    }
}

/// Returns the property of each object; `input_size` is the size of the input image.
pub(crate) fn measure(
    property: Property,
    objects: &[Image],
    input_size: (usize, usize),
) -> Vec<i32> {
    match property {
        Property::SameShape => repeats(objects, shape),
        Property::SameForm => repeats(objects, form),
        Property::SameColors => {
            repeats(objects, |object| object.histogram().map(|count| count > 0))
        }
        Property::SameContent => repeats(objects, |object| (object.w, &object.cells)),
        _ => objects
            .iter()
            .map(|object| alone(property, object, input_size))
            .collect(),
    }
}

fn alone(property: Property, object: &Image, (w, h): (usize, usize)) -> i32 {
    let number = match property {
        Property::Count => object.count(),
        Property::Area => object.w * object.h,
        Property::Width => object.w,
        Property::Height => object.h,
        Property::Colors => object.colors(),
        Property::Left => return i32::from(object.x),
        Property::Top => return i32::from(object.y),
        Property::Right => return i32::from(object.x) + object.w as i32,
        Property::Bottom => return i32::from(object.y) + object.h as i32,
        Property::Parts => regions(object, Connectivity::Color4).count,
        Property::Empty => object.cells.len() - object.count(),
        Property::Enclosed => enclosed_mask(object, false)
            .into_iter()
            .filter(|inside| *inside)
            .count(),
        Property::Symmetry => (1..8).filter(|&which| object.is_symmetric(which)).count(),
        Property::MirrorX => usize::from(object.is_symmetric(1)),
        Property::MirrorY => usize::from(object.is_symmetric(2)),
        Property::Square => usize::from(object.w == object.h),
        Property::Rarest => object.histogram()[1..]
            .iter()
            .copied()
            .filter(|&count| count > 0)
            .min()
            .unwrap_or(0),
        Property::Solid => usize::from(object.count() == object.cells.len()),
        Property::Border => {
            // An object may begin before the grid.
            let right = i32::from(object.x) + object.w as i32;
            let bottom = i32::from(object.y) + object.h as i32;
            let far = right >= w as i32 || bottom >= h as i32;
            usize::from(object.x <= 0 || object.y <= 0 || far)
        }
        Property::SameShape | Property::SameForm | Property::SameColors | Property::SameContent => {
            0
        }
    };
    number as i32
}

fn shape(object: &Image) -> (usize, Vec<u8>) {
    (object.w, object.map(|cell| u8::from(cell != 0)).cells)
}

/// Returns the canonical shape of an object, without colours: the smallest of its eight mirrored
/// and rotated shapes.
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

impl fmt::Display for Property {
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
            Connectivity::Color4,
        );
        let values = |property| measure(property, &objects, (5, 5));
        assert_eq!(objects.len(), 3);
        assert_eq!(values(Property::Count), [8, 2, 2]);
        assert_eq!(values(Property::Enclosed), [1, 0, 0]);
        assert_eq!(values(Property::SameShape), [1, 1, 1]);
        assert_eq!(values(Property::SameForm), [1, 2, 2]);
        assert_eq!(values(Property::SameColors), [1, 2, 2]);
        assert_eq!(values(Property::Border), [1, 1, 1]);
        assert_eq!(values(Property::Solid), [0, 1, 1]);
        assert_eq!(values(Property::Symmetry), [7, 3, 3]);
        assert_eq!(values(Property::Bottom), [3, 3, 5]);
    }
}
