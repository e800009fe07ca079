//! Rectangles of cells.

/// A rectangle of cells. All four edges are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bounds {
    /// The first column.
    pub left: u8,
    /// The first row.
    pub top: u8,
    /// The last column.
    pub right: u8,
    /// The last row.
    pub bottom: u8,
}

impl Bounds {
    /// The rectangle of one cell.
    pub const fn cell(x: u8, y: u8) -> Self {
        Self {
            left: x,
            top: y,
            right: x,
            bottom: y,
        }
    }

    /// Returns the number of columns.
    pub const fn width(self) -> u8 {
        self.right - self.left + 1
    }

    /// Returns the number of rows.
    pub const fn height(self) -> u8 {
        self.bottom - self.top + 1
    }

    /// Returns the number of cells.
    pub const fn area(self) -> u16 {
        self.width() as u16 * self.height() as u16
    }

    /// Returns whether the cell in column `x`, row `y` is inside.
    pub const fn contains(self, x: u8, y: u8) -> bool {
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }

    /// Returns whether the rectangle contains a cell of the frame's edge.
    pub const fn touches_frame_edge(self) -> bool {
        self.left == 0 || self.top == 0 || self.right == 63 || self.bottom == 63
    }

    /// Returns the smallest rectangle that contains both.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Returns the distance between the edges of two rectangles in columns plus rows, 0 if they
    /// overlap. Adjacent rectangles have the distance 1.
    pub const fn distance(self, other: Self) -> u8 {
        gap(self.left, self.right, other.left, other.right)
            + gap(self.top, self.bottom, other.top, other.bottom)
    }
}

const fn gap(first: u8, last: u8, other_first: u8, other_last: u8) -> u8 {
    if other_first > last {
        other_first - last
    } else {
        first.saturating_sub(other_last)
    }
}
