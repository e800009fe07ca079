//! The functions that programs consist of.
//!
//! A function maps a value to a value, or to `None` if it does not apply. A function that is
//! defined for single images is applied to each image of a list. [`PairContext`] provides the sizes
//! of the input and output of the pair.
//!
//! Invariant: the result depends only on the value and the context.

pub(crate) mod list;
pub(crate) mod ray;
pub(crate) mod region;
pub(crate) mod repair;
pub(crate) mod shape;

use std::fmt;

use crate::image::{Image, Value};
use crate::property::{Property, PropertyCache};
use region::{Adjacency, Connectivity, NEIGHBOR_OFFSETS};

/// The sizes of a training pair or test that functions may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairContext {
    /// Width and height of the input.
    pub(crate) input: (usize, usize),
    /// Width and height of the output; for the test, the predicted size.
    pub(crate) target: (usize, usize),
    /// The maximum number of cells of a value.
    pub(crate) max_cells: usize,
}

/// A function from values to values. Colour parameters are roles; direction parameters are indices
/// of [`NEIGHBOR_OFFSETS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Only(u8),
    Without(u8),
    Paint(u8),
    Majority,
    Minority,
    Invert,
    Symmetry(u8),
    Mirrored(u8),
    Shift(u8),
    Half(u8),
    Crop,
    ToOrigin,
    DropEmpty,
    DropDoubles,
    Hull,
    Enclosed(bool),
    Fill,
    Inner,
    Edge,
    Outline(Adjacency),
    Framed,
    NoSpecks,
    Smear(u8),
    Gravity(u8),
    Connect(u8),
    Spread,
    Slide(u8),
    Symmetric,
    Periodic,
    Split(Connectivity),
    Cut,
    ByColor,
    Columns,
    Rows,
    Pick(Property, bool),
    Keep(Property, bool),
    Others(Property, bool),
    Compose(bool),
    LineUp(bool),
    Overlay(bool),
    /// Paints the image onto a canvas of the input's size.
    OnInput,
    /// Paints the image onto a canvas of the output's size.
    OnTarget,
    Scale,
    Tile,
    MirrorTile,
    Wrap,
    Kron(bool),
}

impl Op {
    /// Applies the function. Returns `None` if it does not apply to the value or the result exceeds
    /// the maximum size.
    pub(crate) fn apply(
        self,
        value: &Value,
        context: &PairContext,
        property_cache: &mut PropertyCache,
    ) -> Option<Value> {
        let result = match value {
            Value::One(image) => self.on_image(image, context)?,
            Value::Many(images) => match self.on_list(images, context, property_cache) {
                Some(result) => result?,
                None => Value::Many(
                    images
                        .iter()
                        .map(|image| match self.on_image(image, context) {
                            Some(Value::One(image)) => Some(image),
                            _ => None,
                        })
                        .collect::<Option<Vec<Image>>>()?,
                ),
            },
        };
        (result.weight() <= context.max_cells).then_some(result)
    }

    /// Returns the approximate number of times the function reads each cell, for metering.
    pub(crate) fn effort(self) -> usize {
        match self {
            Self::Periodic => 25,
            Self::Symmetric => 20,
            Self::Slide(_) | Self::Spread => 8,
            Self::Pick(Property::SameForm | Property::Symmetry, _)
            | Self::Keep(Property::SameForm | Property::Symmetry, _) => 16,
            Self::Split(_) | Self::Enclosed(_) | Self::Fill => 4,
            _ => 1,
        }
    }

    /// Applies a function that is defined for lists. The outer `None` means that the function is
    /// defined for single images instead, the inner `None` that it has no result.
    fn on_list(
        self,
        images: &[Image],
        context: &PairContext,
        property_cache: &mut PropertyCache,
    ) -> Option<Option<Value>> {
        if images.is_empty() {
            return Some(None);
        }
        Some(match self {
            Self::Pick(property, least) => list::pick(
                images,
                property_cache.get(property, images, context.input),
                least,
            )
            .map(Value::One),
            Self::Keep(property, least) => list::keep(
                images,
                property_cache.get(property, images, context.input),
                least,
                false,
            )
            .map(Value::Many),
            Self::Others(property, least) => list::keep(
                images,
                property_cache.get(property, images, context.input),
                least,
                true,
            )
            .map(Value::Many),
            Self::Compose(growing) => list::compose(images, growing).map(Value::One),
            Self::LineUp(down) => list::line_up(images, down).map(Value::One),
            Self::Overlay(over) => list::overlay(images, over).map(Value::One),
            Self::Split(_) | Self::Cut | Self::ByColor | Self::Columns | Self::Rows => None,
            _ => return None,
        })
    }

    fn on_image(self, image: &Image, context: &PairContext) -> Option<Value> {
        let many = |images: Vec<Image>| {
            (!images.is_empty() && images.len() <= 400).then_some(Value::Many(images))
        };
        let one = match self {
            Self::Only(color) => image.map(|cell| if cell == color { cell } else { 0 }),
            Self::Without(color) => image.map(|cell| if cell == color { 0 } else { cell }),
            Self::Paint(color) => image.map(|cell| if cell == 0 { 0 } else { color }),
            Self::Majority => Self::Only(image.majority()).image(image, context)?,
            Self::Minority => Self::Only(image.minority()).image(image, context)?,
            Self::Invert => {
                let color = image.majority();
                image.map(|cell| if cell == 0 { color } else { 0 })
            }
            Self::Symmetry(which) => image.symmetry(which),
            Self::Mirrored(which) => shape::mirrored(image, which)?,
            Self::Shift(direction) => {
                shape::shifted(image, NEIGHBOR_OFFSETS[usize::from(direction)])
            }
            Self::Half(which) => shape::half(image, which)?,
            Self::Crop => image.cropped()?,
            Self::ToOrigin => image.clone().moved_to(0, 0),
            Self::DropEmpty => shape::without_empty(image)?,
            Self::DropDoubles => shape::without_doubles(image)?,
            Self::Hull => shape::hull(image)?,
            Self::Enclosed(corners) => region::enclosed(image, corners),
            Self::Fill => region::filled(image),
            Self::Inner => region::inner(image, false),
            Self::Edge => region::inner(image, true),
            Self::Outline(touch) => region::outline(image, touch),
            Self::Framed => region::framed(image)?,
            Self::NoSpecks => region::without_specks(image),
            Self::Smear(set) => ray::smear(image, set),
            Self::Gravity(direction) => ray::gravity(image, direction),
            Self::Connect(lines) => ray::connect(image, lines),
            Self::Spread => ray::spread(image),
            Self::Slide(direction) => {
                ray::slide(image, direction, &region::split(image, Connectivity::Any8))
            }
            Self::Symmetric => repair::by_symmetry(image)?,
            Self::Periodic => repair::by_period(image)?,
            Self::Split(join) => return many(region::split(image, join)),
            Self::Cut => return many(list::cut(image)?),
            Self::ByColor => return many(list::by_color(image)),
            Self::Columns => return many(list::columns(image)),
            Self::Rows => return many(list::rows(image)),
            Self::OnInput => shape::placed(image, context.input),
            Self::OnTarget => shape::placed(image, context.target),
            Self::Scale => shape::scaled(image, context.target)?,
            Self::Tile => shape::tiled(image, context.target)?,
            Self::MirrorTile => shape::mirror_tiled(image, context.target)?,
            Self::Wrap => shape::wrapped(image, context.target)?,
            Self::Kron(ground) => shape::kron(image, ground)?,
            Self::Pick(..)
            | Self::Keep(..)
            | Self::Others(..)
            | Self::Compose(_)
            | Self::LineUp(_)
            | Self::Overlay(_) => {
                return None;
            }
        };
        Some(Value::One(one))
    }

    fn image(self, image: &Image, context: &PairContext) -> Option<Image> {
        match self.on_image(image, context)? {
            Value::One(image) => Some(image),
            Value::Many(_) => None,
        }
    }
}

impl fmt::Display for Op {
    /// Writes the name of the function as it appears in displayed programs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = |least: bool| if least { "least" } else { "most" };
        match self {
            Self::Only(color) => write!(f, "only {color}"),
            Self::Without(color) => write!(f, "without {color}"),
            Self::Paint(color) => write!(f, "paint {color}"),
            Self::Symmetry(which) => f.write_str(SYMMETRIES[usize::from(*which)]),
            Self::Mirrored(which) => write!(f, "add {}", SYMMETRIES[usize::from(*which)]),
            Self::Shift(direction) => write!(f, "shift {}", WAYS[usize::from(*direction)]),
            Self::Half(which) => write!(
                f,
                "{} half",
                ["left", "upper", "right", "lower"][usize::from(*which)]
            ),
            Self::ToOrigin => f.write_str("to origin"),
            Self::DropEmpty => f.write_str("drop empty lines"),
            Self::DropDoubles => f.write_str("drop double lines"),
            Self::Enclosed(corners) => {
                write!(f, "enclosed{}", if *corners { " tightly" } else { "" })
            }
            Self::Outline(touch) => write!(f, "outline {}", format!("{touch:?}").to_lowercase()),
            Self::NoSpecks => f.write_str("drop specks"),
            Self::Smear(set) => write!(f, "smear {}", ways(ray::DIRECTIONS[usize::from(*set)])),
            Self::Gravity(direction) => write!(f, "fall {}", WAYS[usize::from(*direction)]),
            Self::Connect(lines) => write!(f, "connect {lines:04b}"),
            Self::Slide(direction) => write!(f, "slide {}", WAYS[usize::from(*direction)]),
            Self::Symmetric => f.write_str("complete symmetry"),
            Self::Periodic => f.write_str("complete period"),
            Self::Split(join) => write!(f, "objects {}", format!("{join:?}").to_lowercase()),
            Self::ByColor => f.write_str("by color"),
            Self::Pick(property, least) => write!(f, "the one with {} {property}", most(*least)),
            Self::Keep(property, least) => write!(f, "those with {} {property}", most(*least)),
            Self::Others(property, least) => write!(f, "those without {} {property}", most(*least)),
            Self::Compose(growing) => {
                write!(f, "compose{}", if *growing { " growing" } else { "" })
            }
            Self::LineUp(down) => write!(f, "line up {}", if *down { "down" } else { "across" }),
            Self::Overlay(over) => write!(
                f,
                "overlay {}",
                if *over { "first on top" } else { "last on top" }
            ),
            Self::OnInput => f.write_str("on input"),
            Self::OnTarget => f.write_str("on output"),
            Self::MirrorTile => f.write_str("mirror tile"),
            Self::Kron(ground) => write!(
                f,
                "copy for each {}",
                if *ground { "ground cell" } else { "cell" }
            ),
            other => f.write_str(&format!("{other:?}").to_lowercase()),
        }
    }
}

const SYMMETRIES: [&str; 8] = [
    "identity",
    "flip across",
    "flip down",
    "turn half",
    "transpose",
    "turn left",
    "turn right",
    "transpose anti",
];
const WAYS: [&str; 8] = [
    "right",
    "down",
    "left",
    "up",
    "down-right",
    "down-left",
    "up-left",
    "up-right",
];

fn ways(set: u8) -> String {
    let names: Vec<&str> = (0..8)
        .filter(|bit| set >> bit & 1 == 1)
        .map(|bit| WAYS[bit])
        .collect();
    if set == 0xff {
        "all ways".to_owned()
    } else {
        names.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::image;

    const CONTEXT: PairContext = PairContext {
        input: (3, 2),
        target: (6, 2),
        max_cells: 100,
    };

    #[test]
    fn functions_of_images_work_on_lists() {
        let value = Value::One(image(&["11.", "..2"]));
        let objects = Op::Split(Connectivity::Color4)
            .apply(&value, &CONTEXT, &mut PropertyCache::default())
            .unwrap();
        let painted = Op::Paint(3)
            .apply(&objects, &CONTEXT, &mut PropertyCache::default())
            .unwrap();
        let whole = Op::Compose(false)
            .apply(&painted, &CONTEXT, &mut PropertyCache::default())
            .unwrap();
        assert_eq!(whole, Value::One(image(&["33.", "..3"])));
        assert_eq!(
            Op::Compose(false).apply(&value, &CONTEXT, &mut PropertyCache::default()),
            None
        );
        assert_eq!(
            Op::Rows.apply(&objects, &CONTEXT, &mut PropertyCache::default()),
            None
        );
    }

    #[test]
    fn result_above_the_size_limit_is_rejected() {
        let context = PairContext {
            max_cells: 11,
            ..CONTEXT
        };
        assert_eq!(
            Op::Tile.apply(
                &Value::One(image(&["1"])),
                &context,
                &mut PropertyCache::default()
            ),
            None
        );
        assert!(
            Op::Tile
                .apply(
                    &Value::One(image(&["1"])),
                    &CONTEXT,
                    &mut PropertyCache::default()
                )
                .is_some()
        );
    }

    #[test]
    fn functions_have_readable_names() {
        assert_eq!(Op::Smear(4).to_string(), "smear right left");
        assert_eq!(
            Op::Keep(Property::Count, true).to_string(),
            "those with least count"
        );
        assert_eq!(Op::Crop.to_string(), "crop");
    }
}
