//! The logical grid: the size and position of the cells that a game draws its board with.

use rhae_engine::{CELLS, Frame, SIZE};

use crate::{Bounds, Scene, ShapeId};

/// The cell sizes that are tried, in pixels, the largest first.
const SIZES: [u8; 11] = [16, 12, 10, 9, 8, 7, 6, 5, 4, 3, 2];
/// The cell sizes that look-alikes may suggest. Smaller distances are details of a drawing.
const LOOK_ALIKE_SIZES: std::ops::RangeInclusive<u8> = 4..=16;
/// The number of distances between look-alikes below which they prove nothing.
const MIN_DISTANCES: u32 = 12;
/// The share of colour changes, in percent, that must lie on the lines of a grid.
const MIN_ALIGNED_PERCENT: u32 = 98;
/// Status bars are usually drawn pixel by pixel near the edge, so this many pixels at each side are
/// not examined.
const EDGE: usize = 4;
/// The number of different lines with colour changes, in each direction, below which a grid is not
/// recognised: a few objects are aligned to almost any grid.
const MIN_LINES: usize = 3;

/// A regular grid on the frame. Pixels outside its bounds belong to a margin of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The number of pixels along one side of a cell; 1 if no larger cells were recognised.
    pub cell: u8,
    /// The pixels inside the margin.
    pub bounds: Bounds,
    /// The first column of pixels on which a cell begins, below `cell`.
    pub offset_x: u8,
    /// The first row of pixels on which a cell begins, below `cell`.
    pub offset_y: u8,
}

impl Grid {
    /// Returns the column and row of the cell that covers a pixel. Cells are counted from the first
    /// one that is completely inside the frame; pixels before it belong to cell 0.
    pub const fn cell_at(&self, x: u8, y: u8) -> (u8, u8) {
        (
            x.saturating_sub(self.offset_x) / self.cell,
            y.saturating_sub(self.offset_y) / self.cell,
        )
    }

    /// Returns the pixel in the middle of a cell, limited to the frame.
    pub fn pixel_of(&self, column: u8, row: u8) -> (u8, u8) {
        let pixel = |offset: u8, index: u8| {
            let pixel = u16::from(offset) + u16::from(index) * u16::from(self.cell);
            (pixel + u16::from(self.cell / 2)).min(SIZE as u16 - 1) as u8
        };
        (pixel(self.offset_x, column), pixel(self.offset_y, row))
    }
}

/// Recognises the grid of a level from the frames seen so far.
///
/// The lines of a grid are where colours change. One frame may show too few objects to distinguish a
/// grid from one with cells of twice the size, so the evidence of all frames is combined. The
/// result is the largest cell size that explains 98 % of the changes.
///
/// Detailed drawings change colour inside cells, too. If no size explains the changes, the result
/// is the most frequent distance between neighbouring objects of the same look, provided that most
/// distances are multiples of it: equal objects are drawn at equal places of their cells. The offset
/// is then the one with the most colour changes, which may be wrong by the width of a line between
/// cells.
///
/// # Examples
///
/// ```
/// use rhae_engine::Frame;
/// use rhae_percept::GridFinder;
///
/// let mut frame = Frame::filled(5);
/// for (x, y) in [(1, 1), (2, 4), (5, 3), (7, 8)] {
///     frame.rect(7 + 5 * x, 7 + 5 * y, 5, 5, 9);
/// }
/// let mut finder = GridFinder::default();
/// finder.observe(&frame);
/// let grid = finder.grid();
/// assert_eq!((grid.cell, grid.offset_x, grid.offset_y), (5, 2, 2));
/// assert_eq!(grid.cell_at(12, 12), (2, 2));
/// ```
#[derive(Clone, Debug)]
pub struct GridFinder {
    /// For each column, the number of colour changes between it and the column before.
    columns: [u32; SIZE],
    /// The same for rows.
    rows: [u32; SIZE],
    /// The pixels that were part of a margin in every frame.
    bounds: Option<Bounds>,
    /// For each distance, how often an object and the next one of the same look have it, in columns
    /// or in rows.
    distances: [u32; SIZE],
    scene: Scene,
    /// Colour, shape and position of objects, sorted.
    positions: Vec<(u8, ShapeId, u8)>,
}

impl Default for GridFinder {
    fn default() -> Self {
        Self {
            columns: [0; SIZE],
            rows: [0; SIZE],
            bounds: None,
            distances: [0; SIZE],
            scene: Scene::default(),
            positions: Vec::new(),
        }
    }
}

impl GridFinder {
    /// Adds the evidence of a settled frame.
    pub fn observe(&mut self, frame: &Frame) {
        let cells = frame.cells();
        for y in EDGE..SIZE - EDGE {
            for x in EDGE..SIZE - EDGE {
                let cell = cells[y * SIZE + x];
                if x > EDGE {
                    self.columns[x] += u32::from(cell != cells[y * SIZE + x - 1]);
                }
                if y > EDGE {
                    self.rows[y] += u32::from(cell != cells[(y - 1) * SIZE + x]);
                }
            }
        }
        let inside = inside_margin(cells);
        self.bounds = Some(self.bounds.map_or(inside, |bounds| bounds.joined(inside)));
        self.scene.read(frame);
        self.measure_distances(|bounds| bounds.left);
        self.measure_distances(|bounds| bounds.top);
    }

    /// Counts the distances between neighbouring objects of the same look in one direction.
    fn measure_distances(&mut self, position: fn(Bounds) -> u8) {
        self.positions.clear();
        self.positions.extend(
            self.scene
                .objects()
                .iter()
                .map(|object| (object.color, object.shape, position(object.bounds))),
        );
        self.positions.sort_unstable();
        self.positions.dedup();
        for pair in self.positions.windows(2) {
            if (pair[0].0, pair[0].1) == (pair[1].0, pair[1].1) {
                self.distances[usize::from(pair[1].2 - pair[0].2)] += 1;
            }
        }
    }

    /// Returns the most frequent distance between look-alikes if most distances are multiples of it.
    fn look_alike_size(&self) -> Option<u8> {
        let count = |distance: u8| self.distances[usize::from(distance)];
        let cell = LOOK_ALIKE_SIZES.max_by_key(|&distance| (count(distance), distance))?;
        let details = usize::from(*LOOK_ALIKE_SIZES.start());
        let total: u32 = self.distances[details..].iter().sum();
        let multiples: u32 = self.distances.iter().step_by(cell.into()).sum();
        (total >= MIN_DISTANCES && multiples * 2 > total).then_some(cell)
    }

    /// Returns the grid that explains the frames seen so far.
    pub fn grid(&self) -> Grid {
        let bounds = self.bounds.unwrap_or(WHOLE);
        let enough = [&self.columns, &self.rows]
            .iter()
            .all(|lines| lines.iter().filter(|&&count| count > 0).count() >= MIN_LINES);
        let found = SIZES.into_iter().filter(|_| enough).find_map(|cell| {
            let offset_x = offset(&self.columns, cell)?;
            let offset_y = offset(&self.rows, cell)?;
            Some((cell, offset_x, offset_y))
        });
        let found = found.or_else(|| {
            let cell = self.look_alike_size()?;
            Some((
                cell,
                busiest_offset(&self.columns, cell),
                busiest_offset(&self.rows, cell),
            ))
        });
        let (cell, offset_x, offset_y) = found.unwrap_or((1, 0, 0));
        Grid {
            cell,
            bounds,
            offset_x,
            offset_y,
        }
    }
}

const WHOLE: Bounds = Bounds {
    left: 0,
    top: 0,
    right: 63,
    bottom: 63,
};

/// Returns the offset at which almost all changes lie on the lines of a grid.
fn offset(changes: &[u32; SIZE], cell: u8) -> Option<u8> {
    let total: u32 = changes.iter().sum();
    (0..cell).find(|&offset| {
        let lines = changes.iter().skip(offset.into()).step_by(cell.into());
        lines.sum::<u32>() * 100 >= total * MIN_ALIGNED_PERCENT
    })
}

/// Returns the offset of the grid on whose lines most changes lie; of several, the first.
fn busiest_offset(changes: &[u32; SIZE], cell: u8) -> u8 {
    let count = |&offset: &u8| {
        let lines = changes.iter().skip(offset.into()).step_by(cell.into());
        lines.sum::<u32>()
    };
    (0..cell)
        .min_by_key(|offset| std::cmp::Reverse(count(offset)))
        .unwrap_or(0)
}

/// Returns the pixels inside the margin: the rows and columns at each side that have the colour of
/// the frame's corner throughout.
fn inside_margin(cells: &[u8; CELLS]) -> Bounds {
    let color = cells[0];
    let is_row_plain = |y: usize| {
        cells[y * SIZE..(y + 1) * SIZE]
            .iter()
            .all(|&cell| cell == color)
    };
    let is_column_plain = |x: usize| (0..SIZE).all(|y| cells[y * SIZE + x] == color);
    let first = |is_plain: &dyn Fn(usize) -> bool| (0..SIZE).find(|&line| !is_plain(line));
    let last = |is_plain: &dyn Fn(usize) -> bool| (0..SIZE).rfind(|&line| !is_plain(line));
    match (
        first(&is_column_plain),
        first(&is_row_plain),
        last(&is_column_plain),
        last(&is_row_plain),
    ) {
        (Some(left), Some(top), Some(right), Some(bottom)) => Bounds {
            left: left as u8,
            top: top as u8,
            right: right as u8,
            bottom: bottom as u8,
        },
        _ => WHOLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(cell: usize, left: usize, top: usize, seed: u64) -> Frame {
        let mut rng = rhae_engine::Rng::new(seed, 0);
        let mut frame = Frame::filled(5);
        for _ in 0..12 {
            let columns = ((SIZE - left) / cell) as u32;
            let rows = ((SIZE - top) / cell) as u32;
            let (x, y) = (rng.below(columns) as usize, rng.below(rows) as usize);
            frame.rect(left + x * cell, top + y * cell, cell, cell, 9);
        }
        frame
    }

    #[test]
    fn cells_of_every_size_are_recognised_with_their_offset() {
        for cell in [2, 3, 4, 5, 6, 8] {
            for (left, top) in [(0, 0), (1, 0), (1, 1)] {
                let mut finder = GridFinder::default();
                for seed in 0..4 {
                    finder.observe(&board(cell, left, top, seed));
                }
                let grid = finder.grid();
                assert_eq!(
                    (grid.cell, grid.offset_x, grid.offset_y),
                    (cell as u8, left as u8, top as u8)
                );
            }
        }
    }

    #[test]
    fn detailed_drawings_are_on_the_grid_of_their_look_alikes() {
        for cell in [5, 6, 7, 9] {
            let mut frame = Frame::filled(5);
            for (x, y) in [
                (0, 0),
                (1, 3),
                (2, 1),
                (3, 5),
                (4, 4),
                (5, 2),
                (2, 5),
                (4, 0),
            ] {
                let (left, top) = (4 + x * cell, 4 + y * cell);
                frame.rect(left, top, cell, cell, 9);
                frame.rect(left + 1, top + 1, cell - 2, cell - 2, 12);
                frame.set(left + 2, top + 1, 0);
            }
            let mut finder = GridFinder::default();
            for _ in 0..2 {
                finder.observe(&frame);
            }
            assert_eq!(finder.grid().cell, cell as u8);
        }
    }

    #[test]
    fn status_bar_at_the_edge_does_not_hide_the_grid() {
        let mut frame = board(4, 0, 0, 1);
        frame.rect(0, 63, 37, 1, 11);
        let mut finder = GridFinder::default();
        finder.observe(&frame);
        assert_eq!(finder.grid().cell, 4);
    }

    #[test]
    fn frames_without_structure_have_cells_of_one_pixel() {
        let mut finder = GridFinder::default();
        assert_eq!(finder.grid().cell, 1);
        finder.observe(&Frame::filled(3));
        assert_eq!(finder.grid().cell, 1);
        assert_eq!(finder.grid().bounds, WHOLE);
    }

    #[test]
    fn margin_is_outside_the_bounds() {
        let mut frame = Frame::filled(5);
        frame.rect(8, 12, 40, 20, 9);
        let mut finder = GridFinder::default();
        finder.observe(&frame);
        let bounds = finder.grid().bounds;
        assert_eq!(
            (bounds.left, bounds.top, bounds.right, bounds.bottom),
            (8, 12, 47, 31)
        );
    }
}
