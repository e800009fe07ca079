//! Quarter turns.

use crate::SpriteError;

/// A number of quarter turns, clockwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rotation {
    /// Upright.
    #[default]
    R0,
    /// A quarter turn clockwise.
    R90,
    /// Upside down.
    R180,
    /// A quarter turn counter-clockwise.
    R270,
}

impl Rotation {
    /// All rotations in order.
    pub const ALL: [Self; 4] = [Self::R0, Self::R90, Self::R180, Self::R270];

    /// The rotation by this many degrees clockwise, which may be negative or beyond a full turn.
    pub const fn from_degrees(degrees: i64) -> Result<Self, SpriteError> {
        match degrees.rem_euclid(360) {
            0 => Ok(Self::R0),
            90 => Ok(Self::R90),
            180 => Ok(Self::R180),
            270 => Ok(Self::R270),
            _ => Err(SpriteError::Rotation(degrees)),
        }
    }

    /// Degrees clockwise, below 360.
    pub const fn degrees(self) -> u16 {
        self as u16 * 90
    }

    /// Both rotations, one after the other.
    pub const fn then(self, other: Self) -> Self {
        Self::ALL[(self as usize + other as usize) % 4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_wrap_round() {
        assert_eq!(Rotation::from_degrees(-90), Ok(Rotation::R270));
        assert_eq!(Rotation::from_degrees(450), Ok(Rotation::R90));
        assert_eq!(Rotation::from_degrees(45), Err(SpriteError::Rotation(45)));
        assert_eq!(Rotation::R270.then(Rotation::R180).degrees(), 90);
    }
}
