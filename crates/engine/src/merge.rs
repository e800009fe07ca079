//! Merging two sprites into one, with the rules of the official engine 0.9.3.
//!
//! The merged sprite is upright and at scale 1: its picture is made of the rendered pictures of
//! both sprites, which already contain their orientation and scale.

use crate::picture::check_size;
use crate::{Blocking, Interaction, Picture, Sprite, SpriteError, TRANSPARENT};

impl Sprite {
    /// Merges this sprite, drawn on top, with another one. The result has the name of this sprite,
    /// the higher of the two layers, the finer of the two blocking modes and the tags of both
    /// sprites. A pixel-perfect mode is finer than a bounding box, which is finer than no blocking.
    ///
    /// # Errors
    ///
    /// Returns [`SpriteError::TooLarge`] if the common bounding box of both sprites exceeds 2²⁴
    /// cells.
    pub fn merged(&self, other: &Self) -> Result<Self, SpriteError> {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let end = |from: fn(&Self) -> i32, length: fn(&Self) -> usize| {
            [self, other]
                .map(|sprite| i64::from(from(sprite)) + length(sprite) as i64)
                .into_iter()
                .max()
                .unwrap_or(0)
        };
        // The ends are never before the starts, so the differences are not negative.
        let width = (end(|sprite| sprite.x, Self::width) - i64::from(x)).unsigned_abs() as usize;
        let height = (end(|sprite| sprite.y, Self::height) - i64::from(y)).unsigned_abs() as usize;
        check_size(width, height)?;

        let mut cells = vec![TRANSPARENT; width * height];
        for sprite in [other, self] {
            let (left, top) = (sprite.x.abs_diff(x) as usize, sprite.y.abs_diff(y) as usize);
            for (row, line) in sprite.rendered().rows().enumerate() {
                let start = (top + row) * width + left;
                for (place, &cell) in cells[start..start + line.len()].iter_mut().zip(line) {
                    *place = if cell == TRANSPARENT { *place } else { cell };
                }
            }
        }

        let mut merged = Self::new(self.name.clone(), Picture::of(width, height, cells))
            .at(x, y)
            .on_layer(self.layer.max(other.layer))
            .blocking(merged_blocking(self.blocking, other.blocking))
            .interacting(merged_interaction(self.interaction, other.interaction));
        for tag in self.tags.iter().chain(&other.tags) {
            if !merged.has_tag(tag) {
                merged.tags.push(tag.clone());
            }
        }
        Ok(merged)
    }
}

const fn merged_blocking(one: Blocking, two: Blocking) -> Blocking {
    match (one, two) {
        (Blocking::NotBlocked, _) => two,
        (Blocking::BoundingBox, Blocking::PixelPerfect) => Blocking::PixelPerfect,
        _ => one,
    }
}

/// Returns the interaction mode of a merged sprite. The rule is not symmetric: if one sprite is
/// only visible and the other only collidable, the result has the mode of the first one.
const fn merged_interaction(one: Interaction, two: Interaction) -> Interaction {
    match (one, two) {
        (Interaction::Removed, _) => two,
        (_, Interaction::Tangible) => Interaction::Tangible,
        _ => one,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Frame;
    use crate::arbitrary::sprite;

    /// Expected values from the official engine 0.9.3.
    #[test]
    fn first_sprite_covers_the_second() {
        let one = Sprite::new("one", Picture::from_rows(&[[1, -1], [-2, 1]]).unwrap())
            .at(-1, 2)
            .on_layer(-4)
            .tagged("a")
            .tagged("b");
        let two = Sprite::new("two", Picture::from_rows(&[[2, 2], [2, 2]]).unwrap())
            .at(-1, 1)
            .on_layer(3)
            .tagged("b")
            .tagged("c");
        let merged = one.merged(&two).unwrap();
        assert_eq!(
            (merged.name.as_str(), merged.x, merged.y, merged.layer),
            ("one", -1, 1, 3)
        );
        assert_eq!(
            merged.picture(),
            &Picture::from_rows(&[[2, 2], [1, 2], [-2, 1]]).unwrap()
        );
        assert_eq!(merged.tags, ["a", "b", "c"]);
    }

    /// Expected values from the official engine 0.9.3.
    #[test]
    fn modes_are_merged() {
        use Blocking::{BoundingBox, NotBlocked, PixelPerfect};
        use Interaction::{Intangible, Invisible, Removed, Tangible};
        let blocking = [NotBlocked, BoundingBox, PixelPerfect];
        let found = blocking.map(|one| blocking.map(|two| merged_blocking(one, two)));
        assert_eq!(
            found,
            [
                [NotBlocked, BoundingBox, PixelPerfect],
                [BoundingBox, BoundingBox, PixelPerfect],
                [PixelPerfect; 3]
            ]
        );
        let interactions = [Tangible, Intangible, Invisible, Removed];
        let found = interactions.map(|one| interactions.map(|two| merged_interaction(one, two)));
        assert_eq!(
            found,
            [
                [Tangible; 4],
                [Tangible, Intangible, Intangible, Intangible],
                [Tangible, Invisible, Invisible, Invisible],
                interactions
            ]
        );
    }

    #[test]
    fn merging_distant_sprites_is_an_error() {
        let one = Sprite::new("one", Picture::from_rows(&[[1]]).unwrap()).at(i32::MIN, i32::MIN);
        let two = one.clone().at(i32::MAX, i32::MAX);
        assert!(matches!(
            one.merged(&two),
            Err(SpriteError::TooLarge { .. })
        ));
    }

    proptest! {
        #[test]
        fn merged_sprite_looks_like_both_sprites(one in sprite(), two in sprite()) {
            // Solid cells cover colours in a merged sprite, but not when the sprites are drawn
            // separately, so they are replaced by a colour here.
            let plain = |mut sprite: Sprite| {
                sprite.remap_color(Some(-2), 5).unwrap();
                sprite
            };
            let (one, two) = (plain(one), plain(two));
            let (mut apart, mut together) = (Frame::filled(0), Frame::filled(0));
            two.rendered().draw(&mut apart, two.x, two.y);
            one.rendered().draw(&mut apart, one.x, one.y);
            let merged = one.merged(&two).unwrap();
            merged.rendered().draw(&mut together, merged.x, merged.y);
            prop_assert_eq!(apart, together);
        }
    }
}
