//! Collisions of sprites and hit tests, with the rules of the official engine 0.9.3.
//!
//! **Invariant:** collision is symmetric, and no sprite collides with itself. Nothing here moves a
//! sprite; the rules of a game decide the effect of a collision.

use std::ptr;

use crate::{Blocking, Picture, Sprite, TRANSPARENT};

impl Sprite {
    /// Returns whether the two sprites overlap and both take part in collisions. A sprite takes
    /// part if its interaction mode is collidable and its blocking mode is not
    /// [`Blocking::NotBlocked`].
    pub fn collides_with(&self, other: &Self) -> bool {
        let takes_part = |sprite: &Self| {
            sprite.interaction.is_collidable() && sprite.blocking != Blocking::NotBlocked
        };
        takes_part(self) && takes_part(other) && self.overlaps(other)
    }

    /// Returns whether the two sprites would collide if both took part in collisions.
    ///
    /// If either sprite is pixel-perfect, two cells that are not transparent must coincide,
    /// whatever the mode of the other sprite. Otherwise the bounding boxes must intersect. A sprite
    /// does not overlap itself, meaning the same value in memory; it does overlap a copy of itself.
    pub fn overlaps(&self, other: &Self) -> bool {
        if ptr::eq(self, other) {
            return false;
        }
        let (dx, dy) = (
            i64::from(other.x) - i64::from(self.x),
            i64::from(other.y) - i64::from(self.y),
        );
        let (one, two) = (self.rendered(), other.rendered());
        let apart = |distance: i64, length: usize, other_length: usize| {
            -distance >= other_length as i64 || distance >= length as i64
        };
        if apart(dx, one.width(), two.width()) || apart(dy, one.height(), two.height()) {
            return false;
        }
        let pixel_perfect =
            self.blocking == Blocking::PixelPerfect || other.blocking == Blocking::PixelPerfect;
        !pixel_perfect || masks_intersect(one, two, dx, dy)
    }

    /// Returns whether the level cell lies within the sprite: in its bounding box and, if the
    /// sprite is pixel-perfect, on a cell that is not transparent. The interaction mode is ignored.
    pub fn covers(&self, x: i32, y: i32) -> bool {
        let (column, row) = (
            i64::from(x) - i64::from(self.x),
            i64::from(y) - i64::from(self.y),
        );
        let (Ok(column), Ok(row)) = (usize::try_from(column), usize::try_from(row)) else {
            return false;
        };
        self.rendered()
            .get(column, row)
            .is_some_and(|cell| self.blocking != Blocking::PixelPerfect || cell != TRANSPARENT)
    }
}

/// Returns the sprite on the highest layer among those that cover the level cell. If that layer has
/// several, it returns the **first** of them, as the official engine does, although the last one is
/// drawn on top.
///
/// For clicks, usually pass only the collidable sprites.
pub fn topmost_at<'a>(
    sprites: impl IntoIterator<Item = &'a Sprite>,
    x: i32,
    y: i32,
) -> Option<&'a Sprite> {
    let covering = sprites.into_iter().filter(|sprite| sprite.covers(x, y));
    covering.reduce(|best, sprite| {
        if sprite.layer > best.layer {
            sprite
        } else {
            best
        }
    })
}

/// Returns whether a cell of `one` that is not transparent coincides with such a cell of `two`.
/// `(dx, dy)` is the offset of `two` from `one`. The bounding boxes must intersect.
fn masks_intersect(one: &Picture, two: &Picture, dx: i64, dy: i64) -> bool {
    // The bounding boxes intersect, so both distances are at most a picture's side and fit.
    let (columns, rows) = (dx.unsigned_abs() as usize, dy.unsigned_abs() as usize);
    let (above, below) = if dy >= 0 { (rows, 0) } else { (0, rows) };
    let (words, other_words) = (one.words(), two.words());
    if words == 1 && other_words == 1 {
        let mut pairs = one.solid()[above..].iter().zip(&two.solid()[below..]);
        return if dx >= 0 {
            pairs.any(|(&bits, &other)| bits >> columns & other != 0)
        } else {
            pairs.any(|(&bits, &other)| other >> columns & bits != 0)
        };
    }
    if words == 0 || other_words == 0 {
        return false;
    }
    let mut pairs = one
        .solid()
        .chunks_exact(words)
        .skip(above)
        .zip(two.solid().chunks_exact(other_words).skip(below));
    pairs.any(|(row, other)| {
        if dx >= 0 {
            rows_intersect(row, other, columns)
        } else {
            rows_intersect(other, row, columns)
        }
    })
}

/// Returns whether two mask rows share a bit when `row` is shifted left by a number of columns.
fn rows_intersect(row: &[u64], other: &[u64], columns: usize) -> bool {
    let (skipped, shift) = (columns / 64, columns % 64);
    let row = &row[skipped..];
    other
        .iter()
        .enumerate()
        .take(row.len())
        .any(|(index, bits)| {
            let low = row[index] >> shift;
            // If `shift` is 0, the next word contributes no bits: `checked_shl` by 64 is `None`.
            let high = row
                .get(index + 1)
                .and_then(|next| next.checked_shl(64 - shift as u32))
                .unwrap_or(0);
            (low | high) & bits != 0
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arbitrary::{picture, sprite};
    use crate::{Interaction, SOLID};

    fn block(x: i32, y: i32, rows: &[&[i8]], blocking: Blocking) -> Sprite {
        Sprite::new("block", Picture::from_rows(rows).unwrap())
            .at(x, y)
            .blocking(blocking)
    }

    fn cell_by_cell(one: &Sprite, two: &Sprite) -> bool {
        let solid = |sprite: &Sprite, x: i32, y: i32| {
            let place = (usize::try_from(x - sprite.x), usize::try_from(y - sprite.y));
            let (Ok(x), Ok(y)) = place else { return false };
            sprite
                .rendered()
                .get(x, y)
                .is_some_and(|cell| cell != TRANSPARENT)
        };
        (one.y..one.y + one.height() as i32).any(|y| {
            (one.x..one.x + one.width() as i32).any(|x| solid(one, x, y) && solid(two, x, y))
        })
    }

    /// Expected values from the official engine 0.9.3: two sprites with the rows `1.` and `.1`, the
    /// second one moved.
    #[test]
    fn finer_blocking_mode_decides() {
        use Blocking::{BoundingBox, NotBlocked, PixelPerfect};
        let table = [
            ((0, 0), true, true),
            ((1, 0), true, false),
            ((2, 0), false, false),
            ((0, 1), true, false),
            ((1, 1), true, true),
            ((-1, -1), true, true),
            ((-1, 0), true, false),
            ((-2, 0), false, false),
            ((2, 2), false, false),
        ];
        for ((x, y), rectangles, cells) in table {
            let collide = |one: Blocking, two: Blocking| {
                let rows: [&[i8]; 2] = [&[1, -1], &[-1, 1]];
                let (one, two) = (block(0, 0, &rows, one), block(x, y, &rows, two));
                (one.collides_with(&two), one.overlaps(&two))
            };
            assert_eq!(
                collide(BoundingBox, BoundingBox),
                (rectangles, rectangles),
                "{x} {y}"
            );
            assert_eq!(
                collide(PixelPerfect, PixelPerfect),
                (cells, cells),
                "{x} {y}"
            );
            assert_eq!(
                collide(PixelPerfect, BoundingBox),
                (cells, cells),
                "{x} {y}"
            );
            assert_eq!(
                collide(BoundingBox, PixelPerfect),
                (cells, cells),
                "{x} {y}"
            );
            assert_eq!(
                collide(NotBlocked, NotBlocked),
                (false, rectangles),
                "{x} {y}"
            );
            assert_eq!(
                collide(NotBlocked, BoundingBox),
                (false, rectangles),
                "{x} {y}"
            );
            assert_eq!(collide(PixelPerfect, NotBlocked), (false, cells), "{x} {y}");
        }
    }

    /// Expected values from the official engine 0.9.3: a bounding box without columns can lie
    /// within another one.
    #[test]
    fn empty_sprite_collides_only_by_bounding_box() {
        let wide = block(3, 0, &[&[1; 5]], Blocking::BoundingBox);
        let empty = block(5, 0, &[&[]], Blocking::BoundingBox);
        assert!(empty.collides_with(&wide));
        assert!(
            !empty
                .clone()
                .blocking(Blocking::PixelPerfect)
                .collides_with(&wide)
        );
        assert!(!empty.at(3, 0).collides_with(&wide));
    }

    /// Expected values from the official engine 0.9.3.
    #[test]
    fn topmost_is_the_first_sprite_of_the_highest_layer() {
        let dot = |name: &str, layer: i32, cell: i8| {
            Sprite::new(name, Picture::from_rows(&[[cell]]).unwrap()).on_layer(layer)
        };
        let at_origin =
            |sprites: &[Sprite]| topmost_at(sprites, 0, 0).map(|sprite| sprite.name.clone());
        let sprites = [
            dot("a", 0, 1),
            dot("b", 2, 1),
            dot("c", 2, 1),
            dot("d", 1, 1),
        ];
        assert_eq!(at_origin(&sprites).as_deref(), Some("b"));
        let coarse = dot("c", 1, TRANSPARENT).blocking(Blocking::BoundingBox);
        let sprites = [
            dot("a", 0, 1),
            dot("b", 2, TRANSPARENT),
            coarse,
            dot("d", 1, SOLID),
        ];
        assert_eq!(at_origin(&sprites).as_deref(), Some("c"));
        assert_eq!(topmost_at(&sprites, 1, 0), None);
    }

    proptest! {
        #[test]
        fn collision_is_symmetric(one in sprite(), two in sprite()) {
            prop_assert_eq!(one.collides_with(&two), two.collides_with(&one));
            prop_assert_eq!(one.overlaps(&two), two.overlaps(&one));
        }

        #[test]
        fn sprite_does_not_collide_with_itself(one in sprite()) {
            prop_assert!(!one.collides_with(&one) && !one.overlaps(&one));
        }

        #[test]
        fn collision_implies_overlap(one in sprite(), two in sprite()) {
            prop_assert!(!one.collides_with(&two) || one.overlaps(&two));
        }

        #[test]
        fn intersecting_cells_imply_intersecting_bounding_boxes(one in sprite(), two in sprite()) {
            let (fine, coarse) = (one.blocking(Blocking::PixelPerfect), two.blocking(Blocking::BoundingBox));
            if fine.overlaps(&coarse) {
                prop_assert!(fine.blocking(Blocking::BoundingBox).overlaps(&coarse));
            }
        }

        #[test]
        fn mask_test_agrees_with_cell_by_cell_test(
            one in picture(1..150, 1..6), two in picture(1..150, 1..6), x in -150..150, y in -6..6,
        ) {
            let (one, two) = (Sprite::new("one", one), Sprite::new("two", two).at(x, y));
            prop_assert_eq!(one.overlaps(&two), cell_by_cell(&one, &two));
        }

        #[test]
        fn narrow_mask_test_agrees_with_cell_by_cell_test(one in sprite(), two in sprite()) {
            let (one, two) = (one.blocking(Blocking::PixelPerfect), two.blocking(Blocking::NotBlocked));
            prop_assert_eq!(one.overlaps(&two), cell_by_cell(&one, &two));
        }

        #[test]
        fn moving_both_sprites_keeps_the_result(mut one in sprite(), mut two in sprite(), dx in -500..500, dy in -500..500) {
            let before = one.collides_with(&two);
            one.move_by(dx, dy);
            two.move_by(dx, dy);
            prop_assert_eq!(one.collides_with(&two), before);
        }
    }

    #[test]
    fn extreme_coordinates_do_not_overflow() {
        let near = block(i32::MIN, i32::MIN, &[&[1]], Blocking::BoundingBox);
        let far = block(i32::MAX, i32::MAX, &[&[1]], Blocking::BoundingBox);
        assert!(!near.overlaps(&far) && !far.overlaps(&near) && !near.covers(i32::MAX, i32::MAX));
    }

    #[test]
    fn interaction_mode_affects_collisions_but_not_overlaps() {
        let one = block(0, 0, &[&[1]], Blocking::PixelPerfect);
        for (interaction, collides) in [
            (Interaction::Tangible, true),
            (Interaction::Invisible, true),
            (Interaction::Intangible, false),
            (Interaction::Removed, false),
        ] {
            let two = one.clone().interacting(interaction);
            assert_eq!(
                (one.collides_with(&two), one.overlaps(&two)),
                (collides, true),
                "{interaction:?}"
            );
        }
    }

    #[test]
    fn solid_cells_collide_and_can_be_clicked() {
        let one = block(0, 0, &[&[SOLID, TRANSPARENT]], Blocking::PixelPerfect);
        let two = block(0, 0, &[&[3]], Blocking::BoundingBox);
        assert!(one.collides_with(&two) && one.covers(0, 0));
        assert!(!one.collides_with(&two.at(1, 0)) && !one.covers(1, 0));
        assert!(one.blocking(Blocking::BoundingBox).covers(1, 0));
    }
}
