//! Recognising counters and bars by how they change.
//!
//! A bar is a thin line in which, on most actions, one or two cells change for good. A thing that moves along a line
//! changes cells back and forth, and is as thick as it is.

use rhae_engine::{CELLS, Frame, SIZE};

/// Cells that are left out when pictures are compared.
pub(super) type Mask = [bool; CELLS];

/// Changes of a line in one action that still look like a bar's.
const MOST_CELLS: u32 = 3;
/// Lines side by side that still look like a bar.
const THICKEST: usize = 3;
/// Actions to watch before judging.
const LEAST_SEEN: u32 = 4;

/// Rows first, then columns.
const LINES: usize = 2 * SIZE;

/// What is known of the bars of a game.
pub(super) struct Bars {
    mask: Box<Mask>,
    /// Actions watched on this level.
    seen: u32,
    /// For each line, the actions that changed a few of its cells.
    small_changes: [u32; LINES],
    /// For each line, the actions that changed many of its cells, or a cell that had changed before.
    other_changes: [u32; LINES],
    changed_before: Box<[bool; CELLS]>,
}

impl Default for Bars {
    fn default() -> Self {
        Self {
            mask: Box::new([false; CELLS]),
            seen: 0,
            small_changes: [0; LINES],
            other_changes: [0; LINES],
            changed_before: Box::new([false; CELLS]),
        }
    }
}

impl Bars {
    /// Begins a level. What was found to be a bar stays one: games keep their bars in place.
    pub(super) fn new_level(&mut self) {
        *self = Self {
            mask: std::mem::replace(&mut self.mask, Box::new([false; CELLS])),
            ..Self::default()
        };
    }

    /// The cells to leave out.
    pub(super) fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Watches one action; true if the mask has changed.
    pub(super) fn observe(&mut self, before: &Frame, after: &Frame) -> bool {
        let mut changes = [0_u32; LINES];
        let mut again = [false; LINES];
        for (cell, (old, new)) in before.cells().iter().zip(after.cells()).enumerate() {
            if old != new {
                for line in [cell / SIZE, SIZE + cell % SIZE] {
                    changes[line] += 1;
                    again[line] |= self.changed_before[cell];
                }
                self.changed_before[cell] = true;
            }
        }
        self.seen += 1;
        for line in 0..LINES {
            match changes[line] {
                0 => {}
                1..=MOST_CELLS if !again[line] => self.small_changes[line] += 1,
                _ => self.other_changes[line] += 1,
            }
        }
        self.seen >= LEAST_SEEN && self.judge()
    }

    fn judge(&mut self) -> bool {
        let mut found = false;
        for lines in [0..SIZE, SIZE..LINES] {
            let mut line = lines.start;
            while line < lines.end {
                // A run of neighbouring lines that change often is one thing; it is a bar if it is thin.
                let end = (line..lines.end)
                    .find(|&next| !self.changes_often(next))
                    .unwrap_or(lines.end);
                let thick = end - line;
                if (1..=THICKEST).contains(&thick)
                    && (line..end).all(|line| self.changes_like_a_bar(line))
                {
                    for bar in line..end {
                        found |= self.leave_out(bar);
                    }
                }
                line = end.max(line + 1);
            }
        }
        found
    }

    fn changes_often(&self, line: usize) -> bool {
        (self.small_changes[line] + self.other_changes[line]) * 5 >= self.seen * 2
    }

    fn changes_like_a_bar(&self, line: usize) -> bool {
        self.other_changes[line] == 0 && self.small_changes[line] * 5 >= self.seen * 2
    }

    /// Leaves out a line; true if that is new.
    fn leave_out(&mut self, line: usize) -> bool {
        let cell = |index: usize| {
            if line < SIZE {
                line * SIZE + index
            } else {
                index * SIZE + line - SIZE
            }
        };
        let new = (0..SIZE).any(|index| !self.mask[cell(index)]);
        (0..SIZE).for_each(|index| self.mask[cell(index)] = true);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shrinking_bar_is_found_and_a_moving_thing_is_not() {
        let mut bars = Bars::default();
        let picture = |step: usize| {
            let mut picture = Frame::filled(0);
            picture.rect(0, 63, 64 - step, 1, 9);
            picture.rect(4 * step, 20, 4, 4, 3);
            picture
        };
        let mut found = false;
        for step in 0..6 {
            found |= bars.observe(&picture(step), &picture(step + 1));
        }
        assert!(found);
        assert!((0..64).all(|x| bars.mask()[63 * SIZE + x]));
        assert!((0..63 * SIZE).all(|cell| !bars.mask()[cell]));
    }
}
