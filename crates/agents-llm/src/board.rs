//! Boards and their changes as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rhae_engine::Frame;

/// The groups of changes that a text lists.
const MAX_GROUPS: usize = 12;
/// The width of the border in which changes do not count, because status bars are there.
const BORDER: usize = 4;

/// Returns a board as 64 lines of hexadecimal digits. Cells beyond 15 are written as `?`.
pub(crate) fn board_text(frame: &Frame) -> String {
    let mut text = String::with_capacity(64 * 65);
    for row in frame.rows() {
        text.extend(row.iter().map(|&cell| digit(cell)));
        text.push('\n');
    }
    text
}

/// Describes the cells in which two boards differ, grouped by old and new colour.
pub(crate) fn changes_text(before: &Frame, after: &Frame) -> String {
    let mut groups: BTreeMap<(u8, u8), Group> = BTreeMap::new();
    let cells = before.cells().iter().zip(after.cells()).enumerate();
    for (index, (&old, &new)) in cells.filter(|(_, (old, new))| old != new) {
        groups
            .entry((old, new))
            .or_insert(Group::EMPTY)
            .add(index / 64, index % 64);
    }
    if groups.is_empty() {
        return "nothing".to_owned();
    }
    let total: usize = groups.values().map(|group| group.cells).sum();
    let mut sorted: Vec<_> = groups.into_iter().collect();
    sorted.sort_by_key(|(colors, group)| (std::cmp::Reverse(group.cells), *colors));
    let mut text = format!("{total} cells:");
    for (number, ((old, new), group)) in sorted.iter().take(MAX_GROUPS).enumerate() {
        let separator = if number == 0 { "" } else { ";" };
        let _ = write!(
            text,
            "{separator} {}>{} x{} (rows {}-{}, columns {}-{})",
            digit(*old),
            digit(*new),
            group.cells,
            group.rows.0,
            group.rows.1,
            group.columns.0,
            group.columns.1
        );
    }
    if sorted.len() > MAX_GROUPS {
        let _ = write!(text, "; and {} more kinds", sorted.len() - MAX_GROUPS);
    }
    text
}

/// Returns the character of a colour.
pub(crate) fn digit(cell: u8) -> char {
    char::from_digit(u32::from(cell), 16).unwrap_or('?')
}

/// Returns whether two frames differ in a cell that is not near the edge.
pub(crate) fn interior_changed(before: &Frame, after: &Frame) -> bool {
    let inside = BORDER..64 - BORDER;
    inside
        .clone()
        .any(|y| inside.clone().any(|x| before.get(x, y) != after.get(x, y)))
}

/// The cells that changed from one colour to another.
struct Group {
    cells: usize,
    rows: (usize, usize),
    columns: (usize, usize),
}

impl Group {
    const EMPTY: Self = Self {
        cells: 0,
        rows: (usize::MAX, 0),
        columns: (usize::MAX, 0),
    };

    fn add(&mut self, row: usize, column: usize) {
        self.cells += 1;
        self.rows = (self.rows.0.min(row), self.rows.1.max(row));
        self.columns = (self.columns.0.min(column), self.columns.1.max(column));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn border_does_not_count_as_a_change() {
        let before = Frame::filled(1);
        let mut after = before.clone();
        after.rect(0, 0, 64, 4, 2);
        after.rect(60, 0, 4, 64, 2);
        assert!(!interior_changed(&before, &after));
        after.set(4, 4, 2);
        assert!(interior_changed(&before, &after));
    }

    #[test]
    fn changes_are_grouped_by_colours() {
        let before = Frame::filled(5);
        let mut after = before.clone();
        after.rect(10, 20, 3, 2, 9);
        after.rect(0, 63, 1, 1, 15);
        assert_eq!(changes_text(&before, &before), "nothing");
        assert_eq!(
            changes_text(&before, &after),
            "7 cells: 5>9 x6 (rows 20-21, columns 10-12); 5>f x1 (rows 63-63, columns 0-0)"
        );
        let text = board_text(&after);
        assert_eq!(text.lines().count(), 64);
        assert_eq!(&text.lines().nth(20).unwrap()[9..14], "59995");
    }
}
