//! Rotations by multiples of 90 degrees.

use crate::SpriteError;

/// A clockwise rotation by a multiple of 90 degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rotation {
    #[default]
    R0,
    R90,
    R180,
    R270,
}

impl Rotation {
    pub const ALL: [Self; 4] = [Self::R0, Self::R90, Self::R180, Self::R270];

    /// Returns the rotation by this many degrees clockwise. The angle may be negative or above 360.
    ///
    /// # Errors
    ///
    /// Returns [`SpriteError::Rotation`] if the angle is not a multiple of 90.
    pub const fn from_degrees(degrees: i64) -> Result<Self, SpriteError> {
        match degrees.rem_euclid(360) {
            0 => Ok(Self::R0),
            90 => Ok(Self::R90),
            180 => Ok(Self::R180),
            270 => Ok(Self::R270),
            _ => Err(SpriteError::Rotation(degrees)),
        }
    }

    /// Returns the angle in degrees clockwise, below 360.
    pub const fn degrees(self) -> u16 {
        self as u16 * 90
    }

    /// Returns the rotation by the sum of both angles.
    pub const fn then(self, other: Self) -> Self {
        Self::ALL[(self as usize + other as usize) % 4]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn degrees_wrap_at_a_full_turn() {
        assert_eq!(Rotation::from_degrees(-90), Ok(Rotation::R270));
        assert_eq!(Rotation::from_degrees(450), Ok(Rotation::R90));
        assert_eq!(Rotation::from_degrees(45), Err(SpriteError::Rotation(45)));
        assert_eq!(Rotation::R270.then(Rotation::R180).degrees(), 90);
    }
}
