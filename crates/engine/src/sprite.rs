//! A picture with a place, a size, an orientation, and a say in what is seen and what collides.
//!
//! Invariant: what a sprite shows is computed when its looks change, so that drawing and colliding read it without work
//! or memory. A change that fails leaves the sprite as it was, unless its function says otherwise.
//! A sprite does not know the level that it stands in, nor whether another sprite has its name.

use std::sync::Arc;

use crate::{Blocking, Interaction, Picture, Rotation, SpriteError};

/// Something that stands in a level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sprite {
    /// What rules call it; several sprites may share a name.
    pub name: String,
    /// The column of its left edge, in the level.
    pub x: i32,
    /// The row of its upper edge, in the level.
    pub y: i32,
    /// Higher layers cover lower ones; within a layer, later sprites cover earlier ones.
    pub layer: i32,
    /// How it takes part in collisions.
    pub blocking: Blocking,
    /// Whether it is seen and felt.
    pub interaction: Interaction,
    /// What rules find it by.
    pub tags: Vec<String>,
    rotation: Rotation,
    mirror_ud: bool,
    mirror_lr: bool,
    scale: i32,
    picture: Arc<Picture>,
    /// The picture in its scale. Kept beside the next one because only scaling can fail: orientation comes first in the
    /// official engine, but the two do not depend on their order.
    scaled: Arc<Picture>,
    rendered: Arc<Picture>,
}

impl Sprite {
    /// A sprite at the origin on layer 0, upright, tangible and pixel-perfect.
    pub fn new(name: impl Into<String>, picture: impl Into<Arc<Picture>>) -> Self {
        let picture = picture.into();
        Self {
            name: name.into(),
            x: 0,
            y: 0,
            layer: 0,
            blocking: Blocking::default(),
            interaction: Interaction::default(),
            tags: Vec::new(),
            rotation: Rotation::R0,
            mirror_ud: false,
            mirror_lr: false,
            scale: 1,
            scaled: Arc::clone(&picture),
            rendered: Arc::clone(&picture),
            picture,
        }
    }

    /// The sprite at another place.
    #[must_use]
    pub fn at(mut self, x: i32, y: i32) -> Self {
        (self.x, self.y) = (x, y);
        self
    }

    /// The sprite on another layer.
    #[must_use]
    pub fn on_layer(mut self, layer: i32) -> Self {
        self.layer = layer;
        self
    }

    /// The sprite with another way to collide.
    #[must_use]
    pub fn blocking(mut self, blocking: Blocking) -> Self {
        self.blocking = blocking;
        self
    }

    /// The sprite with another way to be seen and felt.
    #[must_use]
    pub fn interacting(mut self, interaction: Interaction) -> Self {
        self.interaction = interaction;
        self
    }

    /// The sprite with one more tag.
    #[must_use]
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Whether rules find it by this tag.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    /// Moves it; at the ends of the number range it stops.
    pub const fn move_by(&mut self, dx: i32, dy: i32) {
        self.x = self.x.saturating_add(dx);
        self.y = self.y.saturating_add(dy);
    }

    /// Shows or hides it, without a change to what it collides with.
    pub const fn set_visible(&mut self, visible: bool) {
        self.interaction = Interaction::new(visible, self.interaction.is_collidable());
    }

    /// Lets it take part in collisions or not, without a change to what is seen.
    pub const fn set_collidable(&mut self, collidable: bool) {
        self.interaction = Interaction::new(self.interaction.is_visible(), collidable);
    }

    /// The picture as it was given: upright, in its own size.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// What is drawn and what collides: the picture turned, mirrored top to bottom, mirrored left to right, scaled.
    pub fn rendered(&self) -> &Picture {
        &self.rendered
    }

    /// The columns that it covers.
    pub fn width(&self) -> usize {
        self.rendered.width()
    }

    /// The rows that it covers.
    pub fn height(&self) -> usize {
        self.rendered.height()
    }

    /// How it is turned.
    pub const fn rotation(&self) -> Rotation {
        self.rotation
    }

    /// Whether it is mirrored top to bottom, after it is turned.
    pub const fn mirror_ud(&self) -> bool {
        self.mirror_ud
    }

    /// Whether it is mirrored left to right, after it is turned.
    pub const fn mirror_lr(&self) -> bool {
        self.mirror_lr
    }

    /// The scale; see [`Sprite::set_scale`].
    pub const fn scale(&self) -> i32 {
        self.scale
    }

    /// Turns it to a direction. Its upper left corner stays where it is.
    pub fn set_rotation(&mut self, rotation: Rotation) {
        self.rotation = rotation;
        self.orient();
    }

    /// Turns it further.
    pub fn rotate(&mut self, by: Rotation) {
        self.set_rotation(self.rotation.then(by));
    }

    /// Mirrors it top to bottom, or no longer.
    pub fn set_mirror_ud(&mut self, mirrored: bool) {
        self.mirror_ud = mirrored;
        self.orient();
    }

    /// Mirrors it left to right, or no longer.
    pub fn set_mirror_lr(&mut self, mirrored: bool) {
        self.mirror_lr = mirrored;
        self.orient();
    }

    /// Scales it: `n` from 1 up makes every cell a square of that side; `-n` makes every square of side `n + 1` one cell.
    pub fn set_scale(&mut self, scale: i32) -> Result<(), SpriteError> {
        self.scaled = scaled(&self.picture, scale)?;
        self.scale = scale;
        self.orient();
        Ok(())
    }

    /// Goes through the scales one by one, past 0, until it has gone `delta` steps on the number line.
    ///
    /// If a scale on the way does not divide the picture, it stays at the one before. There is no way to arrive at 0: from
    /// above, the steps go on below it until one fails; from below, where the official engine never ends, it fails at once.
    pub fn adjust_scale(&mut self, delta: i32) -> Result<(), SpriteError> {
        let target = self.scale.saturating_add(delta);
        let endless = self.picture.width() == 0 && self.picture.height() == 0;
        if target == 0 && (delta > 0 || endless) {
            return Err(SpriteError::ZeroScale);
        }
        let mut reached = self.scale;
        while reached != target {
            let next = match reached + delta.signum() {
                0 => delta.signum(),
                next => next,
            };
            if next > 0 {
                // Enlarging always divides.
                reached = if delta > 0 { target } else { target.max(1) };
            } else if let Err(error) = self
                .picture
                .check_divisible(next.unsigned_abs() as usize + 1)
            {
                self.set_scale(reached)?;
                return Err(error);
            } else {
                reached = next;
            }
        }
        self.set_scale(reached)
    }

    /// Replaces the picture, under the same orientation and scale.
    pub fn set_picture(&mut self, picture: impl Into<Arc<Picture>>) -> Result<(), SpriteError> {
        let picture = picture.into();
        self.scaled = scaled(&picture, self.scale)?;
        self.picture = picture;
        self.orient();
        Ok(())
    }

    /// Replaces one kind of cell in the picture, or every colour if none is named.
    pub fn remap_color(&mut self, old: Option<i8>, new: i8) -> Result<(), SpriteError> {
        self.set_picture(self.picture.recolored(old, new))
    }

    fn orient(&mut self) {
        self.rendered = if self.rotation == Rotation::R0 && !self.mirror_ud && !self.mirror_lr {
            Arc::clone(&self.scaled)
        } else {
            Arc::new(
                self.scaled
                    .oriented(self.rotation, self.mirror_ud, self.mirror_lr),
            )
        };
    }
}

fn scaled(picture: &Arc<Picture>, scale: i32) -> Result<Arc<Picture>, SpriteError> {
    let factor = scale.unsigned_abs() as usize;
    Ok(match scale {
        0 => return Err(SpriteError::ZeroScale),
        1 => Arc::clone(picture),
        2.. => Arc::new(picture.enlarged(factor)?),
        _ => Arc::new(picture.reduced(factor + 1)?),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::arbitrary::{plain_picture, rotation};

    fn square(side: usize) -> Sprite {
        Sprite::new(
            "square",
            Picture::from_rows(&vec![vec![1; side]; side]).unwrap(),
        )
    }

    /// The official engine's answers, version 0.9.3: side, scale, delta, and where it ends, with the factor that failed.
    #[test]
    fn scales_are_walked_one_by_one() {
        let table = [
            (4, 1, 2, 3, None),
            (4, 1, -2, -1, None),
            (4, 1, -3, -1, Some(3)),
            (4, 1, -1, -1, Some(3)),
            (12, 1, -4, -3, None),
            (12, 1, -5, -3, Some(5)),
            (12, -3, 5, 2, None),
            (12, -2, 6, 4, None),
            (4, -1, 2, 1, None),
            (4, 2, -3, -1, None),
            (4, 3, -2, 1, None),
            (4, 2, -1, 1, None),
        ];
        for (side, scale, delta, expected, failed) in table {
            let mut sprite = square(side);
            sprite.set_scale(scale).unwrap();
            let error = failed.map(|factor| SpriteError::Indivisible {
                width: side,
                height: side,
                factor,
            });
            assert_eq!(
                sprite.adjust_scale(delta).err(),
                error,
                "{side} {scale} {delta}"
            );
            assert_eq!(sprite.scale(), expected, "{side} {scale} {delta}");
        }
        let mut half = square(4);
        half.set_scale(-1).unwrap();
        assert_eq!(half.adjust_scale(1), Err(SpriteError::ZeroScale));
        assert_eq!(half.scale(), -1);
        assert!(matches!(
            half.adjust_scale(i32::MAX),
            Err(SpriteError::TooLarge { .. })
        ));
    }

    #[test]
    fn a_change_that_fails_changes_nothing() {
        let mut sprite = square(4);
        sprite.set_scale(-1).unwrap();
        let before = sprite.clone();
        assert_eq!(sprite.set_scale(0), Err(SpriteError::ZeroScale));
        assert_eq!(
            sprite.set_scale(-2),
            Err(SpriteError::Indivisible {
                width: 4,
                height: 4,
                factor: 3
            })
        );
        assert_eq!(
            sprite.remap_color(None, -2),
            Err(SpriteError::Colorless(-2))
        );
        let odd = Picture::from_rows(&[[1]]).unwrap();
        assert_eq!(
            sprite.set_picture(odd),
            Err(SpriteError::Indivisible {
                width: 1,
                height: 1,
                factor: 2
            })
        );
        assert_eq!(sprite, before);
    }

    #[test]
    fn seen_and_felt_change_apart() {
        let mut sprite = square(1);
        sprite.set_visible(false);
        assert_eq!(sprite.interaction, Interaction::Invisible);
        sprite.set_collidable(false);
        assert_eq!(sprite.interaction, Interaction::Removed);
        sprite.set_visible(true);
        assert_eq!(sprite.interaction, Interaction::Intangible);
    }

    #[test]
    fn moving_stops_at_the_ends_of_the_number_range() {
        let mut sprite = square(1).at(i32::MAX - 1, i32::MIN + 1);
        sprite.move_by(5, -5);
        assert_eq!((sprite.x, sprite.y), (i32::MAX, i32::MIN));
    }

    proptest! {
        #[test]
        fn what_is_shown_depends_on_the_settings_alone(
            picture in plain_picture(1..5, 1..5), rotation in rotation(), ud in any::<bool>(), lr in any::<bool>(),
            scale in prop::sample::select(vec![-3, -1, 1, 2, 3]), order in Just([0, 1, 2, 3, 4]).prop_shuffle(),
        ) {
            let picture = picture.enlarged(4).unwrap();
            let mut sprite = Sprite::new("any", Picture::from_rows(&[[0; 4]; 4]).unwrap());
            for setting in order {
                match setting {
                    0 => sprite.set_rotation(rotation),
                    1 => sprite.set_mirror_ud(ud),
                    2 => sprite.set_mirror_lr(lr),
                    3 => sprite.set_scale(scale).unwrap(),
                    _ => sprite.set_picture(picture.clone()).unwrap(),
                }
            }
            let oriented = picture.oriented(rotation, ud, lr);
            let factor = scale.unsigned_abs() as usize;
            let expected = if scale > 0 { oriented.enlarged(factor) } else { oriented.reduced(factor + 1) };
            prop_assert_eq!(sprite.rendered(), &expected.unwrap());
            prop_assert_eq!(sprite.picture(), &picture);
        }
    }
}
