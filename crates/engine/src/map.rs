//! Levels as text: a rectangle of characters, one for each cell.

/// A rectangular text map.
///
/// Blank lines at both ends and the indentation of every row are removed, so that a map can be
/// indented in source code.
///
/// # Examples
///
/// ```
/// use rhae_engine::TextMap;
///
/// let map = TextMap::new(
///     "
///     ....
///     .S#.
///     ....
///     ",
/// );
/// assert_eq!((map.width(), map.height()), (4, 3));
/// assert_eq!(map.find(b'S').next(), Some((1, 1)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextMap {
    width: usize,
    cells: Vec<u8>,
}

impl TextMap {
    /// Parses a map.
    ///
    /// # Panics
    ///
    /// Panics if the rows differ in length or contain non-ASCII characters. Maps are constants of a
    /// game, so this is a programming error.
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
            "the rows of a map must be ASCII and must not differ in length:\n{text}"
        );
        Self {
            width,
            cells: rows.concat().into_bytes(),
        }
    }

    /// Returns the number of columns.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub const fn height(&self) -> usize {
        match self.cells.len().checked_div(self.width) {
            Some(height) => height,
            None => 0,
        }
    }

    /// Returns the character at column `x`, row `y`.
    ///
    /// # Panics
    ///
    /// Panics if the cell lies beyond the last cell of the map. The column is not checked
    /// separately.
    pub fn get(&self, x: usize, y: usize) -> u8 {
        self.cells[y * self.width + x]
    }

    /// Iterates over all cells as `(column, row, character)`, row by row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, u8)> {
        self.cells
            .iter()
            .enumerate()
            .map(|(index, &cell)| (index % self.width, index / self.width, cell))
    }

    /// Iterates over the cells `(column, row)` that hold the character `wanted`, row by row.
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
    fn indentation_and_blank_lines_are_removed() {
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
    fn ragged_rows_panic() {
        TextMap::new("##\n#");
    }
}
