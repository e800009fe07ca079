//! Levels as text: a rectangle of characters, one for each cell.

/// A rectangular text map.
///
/// Leading and trailing blank lines and the common indentation are dropped, so that a map can stand indented in source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextMap {
    width: usize,
    cells: Vec<u8>,
}

impl TextMap {
    /// Reads a map. Panics if the rows differ in length or hold anything but ASCII, because maps are constants of a game.
    pub fn new(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let content: Vec<&str> = lines
            .into_iter()
            .skip_while(|line| line.is_empty())
            .collect();
        let height = content
            .iter()
            .rposition(|line| !line.is_empty())
            .map_or(0, |last| last + 1);
        let rows: Vec<&str> = content[..height]
            .iter()
            .map(|line| line.trim_start())
            .collect();
        let width = rows.first().map_or(0, |row| row.len());
        assert!(
            rows.iter().all(|row| row.len() == width && row.is_ascii()),
            "the rows of a map differ in length:\n{text}"
        );
        Self {
            width,
            cells: rows.concat().into_bytes(),
        }
    }

    /// Number of columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub const fn height(&self) -> usize {
        match self.cells.len().checked_div(self.width) {
            Some(height) => height,
            None => 0,
        }
    }

    /// The character at column `x`, row `y`.
    pub fn get(&self, x: usize, y: usize) -> u8 {
        self.cells[y * self.width + x]
    }

    /// Every cell as (column, row, character), row by row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, u8)> {
        self.cells
            .iter()
            .enumerate()
            .map(|(index, &cell)| (index % self.width, index / self.width, cell))
    }

    /// The places of a character, row by row.
    pub fn find(&self, wanted: u8) -> impl Iterator<Item = (usize, usize)> {
        self.iter()
            .filter(move |&(_, _, cell)| cell == wanted)
            .map(|(x, y, _)| (x, y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_and_blank_lines_are_dropped() {
        let map = TextMap::new(
            "
            #..
            .#a
            ",
        );
        assert_eq!((map.width(), map.height()), (3, 2));
        assert_eq!(map.get(2, 1), b'a');
        assert_eq!(map.find(b'#').collect::<Vec<_>>(), [(0, 0), (1, 1)]);
    }

    #[test]
    #[should_panic(expected = "differ in length")]
    fn ragged_rows_are_refused() {
        TextMap::new("##\n#");
    }
}
