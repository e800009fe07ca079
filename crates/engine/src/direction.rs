//! The four directions of the arrow keys.

use serde::{Deserialize, Serialize};

use crate::Action;

/// A direction on the frame. The discriminants of opposite directions differ in the lowest bit
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Direction {
    /// Towards row 0.
    Up,
    /// Towards the last row.
    Down,
    /// Towards column 0.
    Left,
    /// Towards the last column.
    Right,
}

impl Direction {
    /// All directions, in the order of ACTION1 to ACTION4.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// Returns the direction that ACTION1 to ACTION4 mean by convention, `None` for other actions.
    pub const fn of(action: Action) -> Option<Self> {
        Some(match action {
            Action::Action1 => Self::Up,
            Action::Action2 => Self::Down,
            Action::Action3 => Self::Left,
            Action::Action4 => Self::Right,
            _ => return None,
        })
    }

    #[inline]
    pub const fn opposite(self) -> Self {
        Self::ALL[self as usize ^ 1]
    }

    /// Returns the change of column and row for one step.
    #[inline]
    pub const fn delta(self) -> (isize, isize) {
        match self {
            Self::Up => (0, -1),
            Self::Down => (0, 1),
            Self::Left => (-1, 0),
            Self::Right => (1, 0),
        }
    }

    /// Returns whether the direction is left or right.
    #[inline]
    pub const fn is_sideways(self) -> bool {
        matches!(self, Self::Left | Self::Right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_directions_cancel() {
        for direction in Direction::ALL {
            let ((x, y), (back_x, back_y)) = (direction.delta(), direction.opposite().delta());
            assert_eq!((x + back_x, y + back_y), (0, 0));
            assert_eq!(direction.opposite().opposite(), direction);
            assert_eq!(direction.is_sideways(), y == 0);
        }
        assert_eq!(Direction::of(Action::Action3), Some(Direction::Left));
        assert_eq!(Direction::of(Action::Action5), None);
    }
}
