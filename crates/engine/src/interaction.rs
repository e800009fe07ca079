//! The modes of a sprite: its collision shape, whether it is visible and whether it collides.
//!
//! [`Sprite::collides_with`](crate::Sprite::collides_with) defines how the modes of two sprites
//! decide whether they collide.

/// The shape with which a sprite takes part in collisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blocking {
    /// The sprite never collides.
    NotBlocked,
    /// The bounding box collides. If the other sprite is pixel-perfect, only the cells that are not
    /// transparent collide.
    BoundingBox,
    /// The cells that are not transparent collide.
    #[default]
    PixelPerfect,
}

/// Whether a sprite is visible and whether it takes part in collisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interaction {
    /// Visible and collidable.
    #[default]
    Tangible,
    /// Visible only.
    Intangible,
    /// Collidable only.
    Invisible,
    /// Neither visible nor collidable.
    Removed,
}

impl Interaction {
    /// Returns the mode with these two properties.
    pub const fn new(visible: bool, collidable: bool) -> Self {
        match (visible, collidable) {
            (true, true) => Self::Tangible,
            (true, false) => Self::Intangible,
            (false, true) => Self::Invisible,
            (false, false) => Self::Removed,
        }
    }

    pub const fn is_visible(self) -> bool {
        matches!(self, Self::Tangible | Self::Intangible)
    }

    pub const fn is_collidable(self) -> bool {
        matches!(self, Self::Tangible | Self::Invisible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mode_round_trips_through_its_properties() {
        for mode in [
            Interaction::Tangible,
            Interaction::Intangible,
            Interaction::Invisible,
            Interaction::Removed,
        ] {
            assert_eq!(
                Interaction::new(mode.is_visible(), mode.is_collidable()),
                mode
            );
        }
    }
}
