//! What a sprite is for others: whether it is seen, whether it is felt, and in which shape.
//!
//! The two are independent of each other and of the picture; [`Sprite::collides_with`](crate::Sprite::collides_with) says
//! what they mean for a pair.

/// How a sprite takes part in collisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Blocking {
    /// It never collides.
    NotBlocked,
    /// Its whole rectangle collides, if the other sprite has no finer shape.
    BoundingBox,
    /// Its cells collide.
    #[default]
    PixelPerfect,
}

/// Whether a sprite is seen and whether it takes part in collisions at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interaction {
    /// Seen and felt.
    #[default]
    Tangible,
    /// Seen only.
    Intangible,
    /// Felt only.
    Invisible,
    /// Neither.
    Removed,
}

impl Interaction {
    /// The mode with these two properties.
    pub const fn new(visible: bool, collidable: bool) -> Self {
        match (visible, collidable) {
            (true, true) => Self::Tangible,
            (true, false) => Self::Intangible,
            (false, true) => Self::Invisible,
            (false, false) => Self::Removed,
        }
    }

    /// Whether it is drawn.
    pub const fn is_visible(self) -> bool {
        matches!(self, Self::Tangible | Self::Intangible)
    }

    /// Whether it takes part in collisions.
    pub const fn is_collidable(self) -> bool {
        matches!(self, Self::Tangible | Self::Invisible)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_its_two_properties() {
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
