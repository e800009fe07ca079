//! A picture with a position, a scale, an orientation, and modes for visibility and collisions.
//!
//! A sprite does not know which level contains it, nor whether another sprite has the same name.

use std::sync::Arc;

use crate::{Blocking, Interaction, Picture, Rotation, SpriteError};

/// An object of a level: a [`Picture`] with a position, layer, orientation, scale and tags.
///
/// Sprites follow the rules of the official engine. They are optional: a native game may draw its
/// [`Frame`](crate::Frame) directly. A [`Camera`](crate::Camera) draws sprites, and
/// [`collides_with`](Sprite::collides_with) tests whether two of them collide.
///
/// # Invariants
///
/// * The [`rendered`](Sprite::rendered) picture always reflects the current rotation, mirroring and
///   scale. It is computed when one of them changes, so drawing and collision tests neither
///   transform the picture nor allocate memory.
/// * A setter that returns an error leaves the sprite unchanged, except
///   [`adjust_scale`](Sprite::adjust_scale).
///
/// # Examples
///
/// ```
/// use rhae_engine::{Picture, Rotation, Sprite, TRANSPARENT};
///
/// let hook = Picture::from_rows(&[[9, 9], [9, TRANSPARENT]])?;
/// let mut sprite = Sprite::new("hook", hook).at(10, 20).on_layer(1).tagged("movable");
/// sprite.move_by(1, 0);
/// sprite.rotate(Rotation::R90);
/// sprite.set_scale(2)?;
/// assert_eq!((sprite.x, sprite.width(), sprite.height()), (11, 4, 4));
///
/// let wall = Sprite::new("wall", Picture::from_rows(&[[4]])?).at(11, 20);
/// assert!(sprite.collides_with(&wall));
/// assert!(!sprite.collides_with(&wall.at(11, 23)), "the lower left quarter is transparent");
/// # Ok::<(), rhae_engine::SpriteError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sprite {
    /// The name by which rules refer to the sprite; several sprites may share a name.
    pub name: String,
    /// The column of the left edge, in level coordinates.
    pub x: i32,
    /// The row of the upper edge, in level coordinates.
    pub y: i32,
    /// Higher layers cover lower ones; within a layer, later sprites cover earlier ones.
    pub layer: i32,
    /// The shape that takes part in collisions.
    pub blocking: Blocking,
    /// Whether the sprite is visible and whether it takes part in collisions.
    pub interaction: Interaction,
    /// The tags by which rules find the sprite.
    pub tags: Vec<String>,
    rotation: Rotation,
    mirror_ud: bool,
    mirror_lr: bool,
    scale: i32,
    picture: Arc<Picture>,
    /// The scaled picture before it is oriented. The official engine orients first, but the result
    /// does not depend on the order. Scaling first separates scaling, which can fail, from
    /// orienting, which cannot.
    scaled: Arc<Picture>,
    rendered: Arc<Picture>,
}

impl Sprite {
    /// Creates a sprite at the origin on layer 0: upright, at scale 1, tangible and pixel-perfect.
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

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, x: i32, y: i32) -> Self {
        (self.x, self.y) = (x, y);
        self
    }

    /// Sets the layer.
    #[must_use]
    pub fn on_layer(mut self, layer: i32) -> Self {
        self.layer = layer;
        self
    }

    /// Sets the collision shape.
    #[must_use]
    pub fn blocking(mut self, blocking: Blocking) -> Self {
        self.blocking = blocking;
        self
    }

    /// Sets whether the sprite is visible and whether it takes part in collisions.
    #[must_use]
    pub fn interacting(mut self, interaction: Interaction) -> Self {
        self.interaction = interaction;
        self
    }

    /// Adds a tag.
    #[must_use]
    pub fn tagged(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own == tag)
    }

    /// Moves the sprite. Coordinates saturate at the limits of `i32`.
    pub const fn move_by(&mut self, dx: i32, dy: i32) {
        self.x = self.x.saturating_add(dx);
        self.y = self.y.saturating_add(dy);
    }

    /// Shows or hides the sprite. Collisions are not affected.
    pub const fn set_visible(&mut self, visible: bool) {
        self.interaction = Interaction::new(visible, self.interaction.is_collidable());
    }

    /// Includes the sprite in collisions or excludes it. Visibility is not affected.
    pub const fn set_collidable(&mut self, collidable: bool) {
        self.interaction = Interaction::new(self.interaction.is_visible(), collidable);
    }

    /// Returns the original picture: upright, at scale 1.
    pub fn picture(&self) -> &Picture {
        &self.picture
    }

    /// Returns the picture that is drawn and that collides: rotated, then mirrored top to bottom,
    /// then mirrored left to right, and scaled.
    pub fn rendered(&self) -> &Picture {
        &self.rendered
    }

    /// Returns the width of the rendered picture in cells.
    pub fn width(&self) -> usize {
        self.rendered.width()
    }

    /// Returns the height of the rendered picture in cells.
    pub fn height(&self) -> usize {
        self.rendered.height()
    }

    pub const fn rotation(&self) -> Rotation {
        self.rotation
    }

    /// Returns whether the sprite is mirrored top to bottom after its rotation.
    pub const fn mirror_ud(&self) -> bool {
        self.mirror_ud
    }

    /// Returns whether the sprite is mirrored left to right after its rotation.
    pub const fn mirror_lr(&self) -> bool {
        self.mirror_lr
    }

    /// Returns the scale; see [`Sprite::set_scale`].
    pub const fn scale(&self) -> i32 {
        self.scale
    }

    /// Sets the rotation. The upper left corner keeps its position.
    pub fn set_rotation(&mut self, rotation: Rotation) {
        self.rotation = rotation;
        self.orient();
    }

    /// Rotates the sprite relative to its current rotation.
    pub fn rotate(&mut self, by: Rotation) {
        self.set_rotation(self.rotation.then(by));
    }

    /// Sets whether the sprite is mirrored top to bottom.
    pub fn set_mirror_ud(&mut self, mirrored: bool) {
        self.mirror_ud = mirrored;
        self.orient();
    }

    /// Sets whether the sprite is mirrored left to right.
    pub fn set_mirror_lr(&mut self, mirrored: bool) {
        self.mirror_lr = mirrored;
        self.orient();
    }

    /// Sets the scale. A positive scale `n` enlarges every cell to a square of `n` × `n` cells. A
    /// negative scale `-n` reduces every square of `n + 1` × `n + 1` cells to one cell.
    ///
    /// # Errors
    ///
    /// Returns an error if the scale is 0, if the squares of a negative scale do not divide the
    /// picture evenly or one of them cannot be reduced (see [`Picture::reduced`]), or if the result
    /// would be too large.
    pub fn set_scale(&mut self, scale: i32) -> Result<(), SpriteError> {
        self.scaled = scaled(&self.picture, scale)?;
        self.scale = scale;
        self.orient();
        Ok(())
    }

    /// Changes the scale by `delta`, one step at a time, skipping 0.
    ///
    /// # Errors
    ///
    /// If an intermediate scale does not divide the picture evenly, the call fails and the sprite
    /// takes the last scale before it. A target of exactly 0 cannot be reached: from a positive
    /// scale, the steps continue below 0 until one fails. If the steps would never end, the call
    /// fails immediately and leaves the sprite unchanged. This happens for a target of 0 from a
    /// negative scale, where the official engine loops forever, and for a picture of 0 × 0 cells,
    /// which every scale divides. The call also fails, and leaves the sprite unchanged, if
    /// [`set_scale`](Self::set_scale) fails for the scale that was reached.
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
                // Positive scales divide every picture, so they need no check.
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

    /// Replaces the picture and keeps the orientation and scale.
    ///
    /// # Errors
    ///
    /// Returns an error if the scale cannot be applied to the new picture.
    pub fn set_picture(&mut self, picture: impl Into<Arc<Picture>>) -> Result<(), SpriteError> {
        let picture = picture.into();
        self.scaled = scaled(&picture, self.scale)?;
        self.picture = picture;
        self.orient();
        Ok(())
    }

    /// Replaces the cells of value `old`, or of every colour if `old` is `None`, with `new`.
    ///
    /// # Errors
    ///
    /// Returns an error if the scale cannot be applied to the recoloured picture.
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

    /// Expected values from the official engine 0.9.3: side, scale, delta, final scale, and the
    /// factor that failed.
    #[test]
    fn adjust_scale_stops_at_the_last_valid_scale() {
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
    fn failed_change_leaves_the_sprite_unchanged() {
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
    fn visibility_and_collisions_are_independent() {
        let mut sprite = square(1);
        sprite.set_visible(false);
        assert_eq!(sprite.interaction, Interaction::Invisible);
        sprite.set_collidable(false);
        assert_eq!(sprite.interaction, Interaction::Removed);
        sprite.set_visible(true);
        assert_eq!(sprite.interaction, Interaction::Intangible);
    }

    #[test]
    fn movement_saturates_at_the_limits_of_i32() {
        let mut sprite = square(1).at(i32::MAX - 1, i32::MIN + 1);
        sprite.move_by(5, -5);
        assert_eq!((sprite.x, sprite.y), (i32::MAX, i32::MIN));
    }

    proptest! {
        #[test]
        fn rendered_picture_does_not_depend_on_the_order_of_setters(
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
