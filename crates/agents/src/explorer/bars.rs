//! Recognises counters and progress bars by how they change.
//!
//! A bar is a thin line in which most actions change a few cells that do not change again. A moving
//! object, in contrast, changes the same cells repeatedly and is usually thicker.

use rhae_engine::{CELLS, Frame, SIZE};

/// The cells to ignore when frames are compared.
pub(super) type Mask = [bool; CELLS];

/// The maximum number of cells of a bar that one action changes.
const MAX_BAR_CELLS: u32 = 3;
/// The maximum number of adjacent lines that form a bar.
const MAX_THICKNESS: usize = 3;
/// The number of actions to observe before a line is classified.
const MIN_ACTIONS: u32 = 4;

/// The number of lines: rows first, then columns.
const LINES: usize = 2 * SIZE;

/// The bars of a game that were recognised so far, and the statistics for recognising more.
pub(super) struct Bars {
    mask: Box<Mask>,
    /// The number of actions observed on this level.
    seen: u32,
    /// For each line, the number of actions that changed a few of its cells for the first time.
    small_changes: [u32; LINES],
    /// For each line, the number of actions that changed many of its cells, or one of them again.
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
    /// Starts a level. The mask persists, because games usually keep their bars in the same
    /// position on every level.
    pub(super) fn start_level(&mut self) {
        *self = Self {
            mask: std::mem::replace(&mut self.mask, Box::new([false; CELLS])),
            ..Self::default()
        };
    }

    pub(super) fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Records the effect of one action and returns whether the mask has changed.
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
                1..=MAX_BAR_CELLS if !again[line] => self.small_changes[line] += 1,
                _ => self.other_changes[line] += 1,
            }
        }
        self.seen >= MIN_ACTIONS && self.mask_new_bars()
    }

    /// Masks the lines that form a bar and returns whether the mask has changed.
    fn mask_new_bars(&mut self) -> bool {
        let mut found = false;
        for lines in [0..SIZE, SIZE..LINES] {
            let mut line = lines.start;
            while line < lines.end {
                // Adjacent lines that change often belong together. They can form a bar only if
                // there are few of them.
                let end = (line..lines.end)
                    .find(|&next| !self.changes_often(next))
                    .unwrap_or(lines.end);
                let thickness = end - line;
                if (1..=MAX_THICKNESS).contains(&thickness)
                    && (line..end).all(|line| self.changes_like_a_bar(line))
                {
                    for bar in line..end {
                        found |= self.mask_line(bar);
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

    /// Masks a line and returns whether any of its cells was not masked before.
    fn mask_line(&mut self, line: usize) -> bool {
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
    fn shrinking_bar_is_masked_and_moving_object_is_not() {
        let mut bars = Bars::default();
        let frame = |step: usize| {
            let mut frame = Frame::filled(0);
            frame.rect(0, 63, 64 - step, 1, 9);
            frame.rect(4 * step, 20, 4, 4, 3);
            frame
        };
        let mut found = false;
        for step in 0..6 {
            found |= bars.observe(&frame(step), &frame(step + 1));
        }
        assert!(found);
        assert!((0..64).all(|x| bars.mask()[63 * SIZE + x]));
        assert!((0..63 * SIZE).all(|cell| !bars.mask()[cell]));
    }
}
