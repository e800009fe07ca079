//! Proptest strategies for pictures and sprites.

use std::ops::Range;

use proptest::prelude::*;

use crate::{Blocking, Interaction, Picture, Rotation, SOLID, Sprite, TRANSPARENT};

fn cell() -> impl Strategy<Value = i8> {
    prop_oneof![3 => 0_i8..16, 2 => Just(TRANSPARENT), 1 => Just(SOLID)]
}

fn picture_of(
    cell: impl Strategy<Value = i8> + Clone,
    width: Range<usize>,
    height: Range<usize>,
) -> impl Strategy<Value = Picture> {
    (width, height).prop_flat_map(move |(width, height)| {
        prop::collection::vec(prop::collection::vec(cell.clone(), width), height)
            .prop_map(|rows| Picture::from_rows(&rows).unwrap())
    })
}

/// Generates pictures with coloured, transparent and solid cells.
pub(crate) fn picture(width: Range<usize>, height: Range<usize>) -> impl Strategy<Value = Picture> {
    picture_of(cell().boxed(), width, height)
}

/// Generates pictures with coloured and transparent cells only, which can always be reduced.
pub(crate) fn plain_picture(
    width: Range<usize>,
    height: Range<usize>,
) -> impl Strategy<Value = Picture> {
    picture_of((TRANSPARENT..16).boxed(), width, height)
}

pub(crate) fn rotation() -> impl Strategy<Value = Rotation> {
    prop::sample::select(Rotation::ALL.to_vec())
}

/// Generates sprites in or near the frame, in any orientation and mode.
pub(crate) fn sprite() -> impl Strategy<Value = Sprite> {
    let looks = (
        picture(1..12, 1..12),
        rotation(),
        any::<bool>(),
        any::<bool>(),
        1..4,
    );
    let blocking = prop::sample::select(vec![
        Blocking::NotBlocked,
        Blocking::BoundingBox,
        Blocking::PixelPerfect,
    ]);
    let interaction = prop::sample::select(vec![
        Interaction::Tangible,
        Interaction::Intangible,
        Interaction::Invisible,
        Interaction::Removed,
    ]);
    (looks, -12..40, -12..40, -3..4, blocking, interaction).prop_map(
        |((picture, rotation, mirror_ud, mirror_lr, scale), x, y, layer, blocking, interaction)| {
            let mut sprite = Sprite::new("any", picture)
                .at(x, y)
                .on_layer(layer)
                .blocking(blocking)
                .interacting(interaction);
            sprite.set_rotation(rotation);
            sprite.set_mirror_ud(mirror_ud);
            sprite.set_mirror_lr(mirror_lr);
            sprite.set_scale(scale).unwrap();
            sprite
        },
    )
}
