//! The positions of the board and the texts on a terminal of a given size, and the mapping from
//! screen positions to cells.

use rhae_engine::SIZE;

/// The size of the board at zoom 1. A character shows two cells, one above the other.
const BOARD_COLUMNS: u16 = SIZE as u16;
const BOARD_ROWS: u16 = SIZE as u16 / 2;

/// Rows of text below the board: one blank, one status, two message and two key rows.
const BELOW_ROWS: u16 = 6;
/// Columns of text to the right of the board, and the gap between board and text.
const RIGHT_COLUMNS: u16 = 28;
const GAP: u16 = 2;

/// Numbers of status rows and key rows in [`Layout::fit_with_long_message`], for text below the
/// board and for text to its right.
const LONG_MESSAGE_BELOW: (u16, u16) = (2, 2);
const LONG_MESSAGE_RIGHT: (u16, u16) = (7, 8);
/// The maximum width of a long message to the right of the board.
const MAX_MESSAGE_COLUMNS: u16 = 80;

/// The minimum terminal size with the text below the board, in columns and rows.
pub(crate) const MIN_SIZE_TEXT_BELOW: (u16, u16) = (BOARD_COLUMNS, BOARD_ROWS + BELOW_ROWS);
/// The minimum terminal size with the text to the right of the board.
pub(crate) const MIN_SIZE_TEXT_RIGHT: (u16, u16) =
    (BOARD_COLUMNS + GAP + RIGHT_COLUMNS, BOARD_ROWS);

/// A rectangle of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) column: u16,
    pub(crate) row: u16,
    pub(crate) columns: u16,
    pub(crate) rows: u16,
}

/// The areas of the screen, which never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) board: Area,
    /// A cell is this many columns wide and half as many rows high.
    pub(crate) zoom: u16,
    pub(crate) status: Area,
    pub(crate) message: Area,
    pub(crate) keys: Area,
}

impl Layout {
    /// Lays out the largest board that fits, with the text below it if possible, otherwise to its
    /// right. Returns `None` if the terminal is too small.
    pub(crate) fn fit(columns: u16, rows: u16) -> Option<Self> {
        let largest = (columns / BOARD_COLUMNS).min(rows / BOARD_ROWS);
        (1..=largest).rev().find_map(|zoom| {
            let (width, height) = (BOARD_COLUMNS * zoom, BOARD_ROWS * zoom);
            if rows >= height + BELOW_ROWS {
                Some(Self::text_below(
                    zoom,
                    (columns - width) / 2,
                    (rows - height - BELOW_ROWS) / 2,
                ))
            } else if columns >= width + GAP + RIGHT_COLUMNS {
                Some(Self::text_right(
                    zoom,
                    (columns - width - GAP - RIGHT_COLUMNS) / 2,
                    (rows - height) / 2,
                ))
            } else {
                None
            }
        })
    }

    /// Like [`Layout::fit`], but with more status rows and with all remaining space for the
    /// message.
    pub(crate) fn fit_with_long_message(columns: u16, rows: u16) -> Option<Self> {
        let fitted = Self::fit(columns, rows)?;
        let zoom = fitted.zoom;
        let is_right = fitted.status.column > fitted.board.column;
        let (board, text, (status, keys)) = if is_right {
            // Leave a column for the border if there is one to spare.
            let spare = columns - fitted.board.columns - GAP - RIGHT_COLUMNS;
            let board = board(zoom, spare.min(1), fitted.board.row);
            let column = board.column + board.columns + GAP;
            (
                board,
                Area {
                    column,
                    columns: (columns - column).min(MAX_MESSAGE_COLUMNS),
                    ..board
                },
                LONG_MESSAGE_RIGHT,
            )
        } else {
            let spare = rows - fitted.board.rows - BELOW_ROWS;
            let board = board(zoom, fitted.board.column, spare.min(1));
            let row = board.row + board.rows + 1;
            (
                board,
                Area {
                    row,
                    rows: rows - row,
                    ..board
                },
                LONG_MESSAGE_BELOW,
            )
        };
        let lines = |row: u16, rows: u16| Area {
            row: text.row + row,
            rows,
            ..text
        };
        // To the right of the board, blank rows separate the message from status and keys.
        let gap = u16::from(is_right);
        Some(Self {
            board,
            zoom,
            status: lines(0, status),
            message: lines(status + gap, text.rows - status - keys - 2 * gap),
            keys: lines(text.rows - keys, keys),
        })
    }

    fn text_below(zoom: u16, column: u16, row: u16) -> Self {
        let board = board(zoom, column, row);
        let text = board.row + board.rows;
        let lines = |row: u16, rows: u16| Area {
            row: text + row,
            rows,
            ..board
        };
        Self {
            board,
            zoom,
            status: lines(1, 1),
            message: lines(2, 2),
            keys: lines(4, 2),
        }
    }

    fn text_right(zoom: u16, column: u16, row: u16) -> Self {
        let board = board(zoom, column, row);
        let text = board.column + board.columns + GAP;
        let lines = |row: u16, rows: u16| Area {
            column: text,
            row: board.row + row,
            columns: RIGHT_COLUMNS,
            rows,
        };
        Self {
            board,
            zoom,
            status: lines(1, 4),
            message: lines(6, 8),
            keys: lines(15, 16),
        }
    }

    /// Returns the cell, as x and y in the frame, shown at a screen position: the upper one if the
    /// character shows two. Returns `None` outside the board.
    pub(crate) fn cell_at(&self, column: u16, row: u16) -> Option<(u8, u8)> {
        let (column, row) = (
            column.checked_sub(self.board.column)?,
            row.checked_sub(self.board.row)?,
        );
        let inside = column < self.board.columns && row < self.board.rows;
        inside.then(|| self.cells_of(column, row).0)
    }

    /// Returns the upper and the lower cell shown by a character at a position relative to the
    /// board.
    pub(crate) const fn cells_of(&self, column: u16, row: u16) -> ((u8, u8), (u8, u8)) {
        let x = (column / self.zoom) as u8;
        (
            (x, (2 * row / self.zoom) as u8),
            (x, ((2 * row + 1) / self.zoom) as u8),
        )
    }
}

const fn board(zoom: u16, column: u16, row: u16) -> Area {
    Area {
        column,
        row,
        columns: BOARD_COLUMNS * zoom,
        rows: BOARD_ROWS * zoom,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn board_is_centred_with_text_below_on_80x40() {
        let layout = Layout::fit(80, 40).unwrap();
        assert_eq!(
            layout.board,
            Area {
                column: 8,
                row: 1,
                columns: 64,
                rows: 32
            }
        );
        assert_eq!(
            (
                layout.zoom,
                layout.status.row,
                layout.message.row,
                layout.keys.row
            ),
            (1, 34, 35, 37)
        );
    }

    #[test]
    fn minimum_sizes_are_tight() {
        for (columns, rows) in [MIN_SIZE_TEXT_BELOW, MIN_SIZE_TEXT_RIGHT] {
            assert!(Layout::fit(columns, rows).is_some());
            assert_eq!(Layout::fit(columns - 1, rows), None);
            assert_eq!(Layout::fit(columns, rows - 1), None);
        }
        assert_eq!(Layout::fit(0, 0), None);
    }

    #[test]
    fn areas_are_on_the_screen_and_disjoint_at_every_size() {
        for columns in (0..=u16::MAX).step_by(1311).chain(60..300) {
            for rows in (0..150).chain([u16::MAX]) {
                for layout in [
                    Layout::fit(columns, rows),
                    Layout::fit_with_long_message(columns, rows),
                ]
                .into_iter()
                .flatten()
                {
                    assert_on_screen_and_disjoint(&layout, columns, rows);
                }
            }
        }
    }

    fn assert_on_screen_and_disjoint(layout: &Layout, columns: u16, rows: u16) {
        let areas = [layout.board, layout.status, layout.message, layout.keys];
        for (index, area) in areas.iter().enumerate() {
            assert!(area.columns > 0 && area.rows > 0, "{columns} x {rows}");
            assert!(
                u32::from(area.column) + u32::from(area.columns) <= u32::from(columns),
                "{columns} x {rows}"
            );
            assert!(
                u32::from(area.row) + u32::from(area.rows) <= u32::from(rows),
                "{columns} x {rows}"
            );
            let horizontally = |other: &Area| {
                area.column + area.columns <= other.column
                    || other.column + other.columns <= area.column
            };
            let vertically = |other: &Area| {
                area.row + area.rows <= other.row || other.row + other.rows <= area.row
            };
            assert!(
                areas[index + 1..]
                    .iter()
                    .all(|other| horizontally(other) || vertically(other)),
                "{columns} x {rows}"
            );
        }
    }

    #[test]
    fn long_message_gets_the_remaining_space() {
        let rows = |columns: u16, rows: u16| {
            Layout::fit_with_long_message(columns, rows)
                .unwrap()
                .message
                .rows
        };
        assert_eq!([rows(64, 38), rows(80, 40), rows(80, 60)], [1, 2, 22]);
        let right = Layout::fit_with_long_message(160, 32).unwrap();
        assert_eq!(
            (
                right.board.column,
                right.message.columns,
                right.message.rows
            ),
            (1, 80, 15)
        );
    }

    #[test]
    fn screen_positions_map_to_cells_at_every_zoom() {
        let layout = Layout::fit(80, 40).unwrap();
        assert_eq!(layout.cell_at(8, 1), Some((0, 0)));
        assert_eq!(layout.cell_at(71, 32), Some((63, 62)));
        for outside in [(7, 1), (72, 1), (8, 0), (8, 33), (0, 0)] {
            assert_eq!(layout.cell_at(outside.0, outside.1), None);
        }
        let double = Layout::fit(128, 70).unwrap();
        assert_eq!(
            (double.zoom, double.board.column, double.board.row),
            (2, 0, 0)
        );
        assert_eq!(
            [(0, 0), (1, 0), (2, 1), (127, 63)].map(|(c, r)| double.cell_at(c, r).unwrap()),
            [(0, 0), (0, 0), (1, 1), (63, 63)]
        );
        let triple = Layout::fit(192, 102).unwrap();
        assert_eq!(triple.zoom, 3);
        assert_eq!(triple.cells_of(5, 1), ((1, 0), (1, 1)));
        assert_eq!(triple.cells_of(191, 95), ((63, 63), (63, 63)));
    }

    #[test]
    fn every_cell_is_shown() {
        for zoom in 1..=5 {
            let layout = Layout::text_below(zoom, 0, 0);
            let mut shown = [[false; SIZE]; SIZE];
            for row in 0..layout.board.rows {
                for column in 0..layout.board.columns {
                    let (upper, lower) = layout.cells_of(column, row);
                    for (x, y) in [upper, lower] {
                        shown[usize::from(y)][usize::from(x)] = true;
                    }
                }
            }
            assert!(shown.iter().flatten().all(|&cell| cell), "zoom {zoom}");
        }
    }
}
