//! The four directions that arrow keys mean by convention.

use serde::{Deserialize, Serialize};

use crate::Action;

/// Up, down, left or right; each beside its opposite.
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
    /// All four, in the order of the actions that mean them.
    pub const ALL: [Self; 4] = [Self::Up, Self::Down, Self::Left, Self::Right];

    /// What an arrow key means.
    pub const fn of(action: Action) -> Option<Self> {
        Some(match action {
            Action::Action1 => Self::Up,
            Action::Action2 => Self::Down,
            Action::Action3 => Self::Left,
            Action::Action4 => Self::Right,
            _ => return None,
        })
    }

    /// The other way.
    #[inline]
    pub const fn opposite(self) -> Self {
        Self::ALL[self as usize ^ 1]
    }

    /// One step in columns and rows.
    #[inline]
    pub const fn delta(self) -> (isize, isize) {
        match self {
            Self::Up => (0, -1),
            Self::Down => (0, 1),
            Self::Left => (-1, 0),
            Self::Right => (1, 0),
        }
    }

    /// Whether columns change, not rows.
    #[inline]
    pub const fn is_sideways(self) -> bool {
        matches!(self, Self::Left | Self::Right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_cancel() {
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
