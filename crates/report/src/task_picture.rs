//! Static tasks as PNG and SVG pictures: one row for each training pair and each test.
//!
//! Invariant: a cell is a square of whole pixels in exactly its colour, and the space between grids
//! has a colour that no cell has. Wrong cells of an attempt are outlined in black and white, which
//! is visible on every colour. If the size of an attempt is wrong, a dashed frame shows the
//! expected size.

use std::fmt::Write as _;

use rhae_engine::PALETTE;
use rhae_tasks::{Grid, Task};

use crate::picture::{GAP, PictureError, encode};
use crate::svg::{Attributes, Content, Svg};
use crate::task_scene::{Panel, SceneRow, task_scene, wrong_cells};

/// For each of the ten colours of static tasks, its index in the sixteen-colour palette, which
/// contains all of them.
pub const TASK_COLORS: [u8; 10] = [5, 9, 8, 14, 11, 2, 6, 12, 10, 13];

const WHITE: u8 = 0;
const BLACK: u8 = 5;

const SCENE_STYLE: &str = "
.scene { font: 12px system-ui, sans-serif; }
.row { fill: #e4e6ea; }
.panel { fill: #fff; font-weight: 600; }
";

/// Draws a task as a PNG, each cell `zoom` pixels wide. Tests without a known solution show only
/// their input.
///
/// # Errors
///
/// Returns [`PictureError::Empty`] if the task has no grids, and an encoding error if the picture
/// is too large.
///
/// # Examples
///
/// ```
/// use rhae_report::task_picture;
/// use rhae_tasks::{Grid, Pair, Task, Test};
///
/// let grid = |rows: &[Vec<u8>]| Grid::new(rows).unwrap();
/// let task = Task {
///     train: vec![Pair { input: grid(&[vec![1, 2]]), output: grid(&[vec![2, 1]]) }],
///     test: vec![Test { input: grid(&[vec![3, 4]]), output: None }],
/// };
/// let png = task_picture(&task, 8)?;
/// assert!(png.starts_with(b"\x89PNG"));
/// # Ok::<(), rhae_report::PictureError>(())
/// ```
pub fn task_picture(task: &Task, zoom: usize) -> Result<Vec<u8>, PictureError> {
    scene_picture(&task_scene(task, &[]), zoom)
}

/// Draws rows of grids as a PNG.
///
/// # Errors
///
/// Returns the same errors as [`task_picture`].
pub fn scene_picture(rows: &[SceneRow<'_>], zoom: usize) -> Result<Vec<u8>, PictureError> {
    let zoom = zoom.clamp(1, 64);
    if rows.iter().all(|row| row.panels.is_empty()) {
        return Err(PictureError::Empty);
    }
    let columns = widths(rows);
    // A margin of one cell, two cells between grids, and one more above the tests.
    let width = (2 + columns.iter().sum::<usize>() + 2 * (columns.len() - 1)) * zoom;
    let tests = usize::from(rows.iter().any(|row| row.is_test));
    let height = (rows.iter().map(|row| tallest(row) + 1).sum::<usize>() + 1 + tests) * zoom;
    let mut canvas = Canvas {
        pixels: vec![GAP; width * height],
        width,
        zoom,
    };
    let (mut top, mut in_tests) = (1, false);
    for row in rows {
        if row.is_test && !in_tests {
            (top, in_tests) = (top + 1, true);
        }
        let mut left = 1;
        for (panel, column) in row.panels.iter().zip(&columns) {
            canvas.panel(panel, left, top);
            left += column + 2;
        }
        top += tallest(row) + 1;
    }
    encode(&canvas.pixels, width, height)
}

/// Returns the width of each column in cells.
fn widths(rows: &[SceneRow<'_>]) -> Vec<usize> {
    let columns = rows.iter().map(|row| row.panels.len()).max().unwrap_or(0);
    let widest = |index: usize| {
        rows.iter()
            .filter_map(|row| row.panels.get(index))
            .map(|panel| size(panel).0)
            .max()
            .unwrap_or(0)
    };
    (0..columns).map(widest).collect()
}

fn tallest(row: &SceneRow<'_>) -> usize {
    row.panels
        .iter()
        .map(|panel| size(panel).1)
        .max()
        .unwrap_or(0)
}

/// Returns width and height in cells, including the frame of the expected size.
fn size(panel: &Panel<'_>) -> (usize, usize) {
    let of = |grid: Option<&Grid>| grid.map_or((0, 0), |grid| (grid.width(), grid.height()));
    let ((width, height), (wide, high)) = (of(panel.grid), of(panel.expected));
    (width.max(wide), height.max(high))
}

struct Canvas {
    pixels: Vec<u8>,
    width: usize,
    zoom: usize,
}

impl Canvas {
    /// Draws a panel. `left` and `top` are in cells.
    fn panel(&mut self, panel: &Panel<'_>, left: usize, top: usize) {
        let Some(grid) = panel.grid else { return };
        for (y, row) in grid.rows().enumerate() {
            for (x, &cell) in row.iter().enumerate() {
                let (x, y, zoom) = ((left + x) * self.zoom, (top + y) * self.zoom, self.zoom);
                self.fill(x, y, zoom, zoom, TASK_COLORS[usize::from(cell)]);
            }
        }
        let Some(expected) = panel.expected else {
            return;
        };
        for (x, y) in wrong_cells(grid, expected) {
            self.outline(left + x, top + y);
        }
        if !grid.same_size(expected) {
            self.frame(left, top, expected.width(), expected.height());
        }
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, color: u8) {
        for line in y..y + height {
            self.pixels[line * self.width + x..line * self.width + x + width].fill(color);
        }
    }

    /// Draws a white ring with a black ring inside it, both within the cell.
    fn outline(&mut self, x: usize, y: usize) {
        let (x, y, zoom) = (x * self.zoom, y * self.zoom, self.zoom);
        let thick = zoom.div_ceil(8);
        for (inset, color) in [(0, WHITE), (thick, BLACK)] {
            if zoom < 2 * (inset + thick) + 1 {
                return;
            }
            let side = zoom - 2 * inset;
            let (x, y) = (x + inset, y + inset);
            self.fill(x, y, side, thick, color);
            self.fill(x, y + side - thick, side, thick, color);
            self.fill(x, y, thick, side, color);
            self.fill(x + side - thick, y, thick, side, color);
        }
    }

    /// Draws a dashed frame around `width` × `height` cells.
    fn frame(&mut self, left: usize, top: usize, width: usize, height: usize) {
        let (x, y, zoom) = (left * self.zoom, top * self.zoom, self.zoom);
        let (wide, high) = (width * zoom, height * zoom);
        let dash = |place: usize| {
            if (place / zoom.div_ceil(3).max(2)).is_multiple_of(2) {
                WHITE
            } else {
                BLACK
            }
        };
        for step in 0..wide {
            self.fill(x + step, y, 1, 1, dash(step));
            self.fill(x + step, y + high - 1, 1, 1, dash(step));
        }
        for step in 0..high {
            self.fill(x, y + step, 1, 1, dash(step));
            self.fill(x + wide - 1, y + step, 1, 1, dash(step));
        }
    }
}

/// Draws rows of grids with their titles as SVG, each cell `zoom` wide. The picture has its own
/// background and looks the same on light and dark pages.
pub fn scene_svg(rows: &[SceneRow<'_>], zoom: usize) -> String {
    let zoom = zoom.clamp(1, 64) as f64;
    let (margin, line) = (16.0, 18.0);
    // A letter of a title is about seven units wide. Columns are wide enough that a title does not
    // overlap the next one.
    let wide = |panel: &Panel<'_>| {
        (size(panel).0 as f64 * zoom).max(7.0 * panel.title.chars().count() as f64)
    };
    let count = rows.iter().map(|row| row.panels.len()).max().unwrap_or(0);
    let column = |index: usize| {
        rows.iter()
            .filter_map(|row| row.panels.get(index))
            .map(wide)
            .fold(0.0, f64::max)
            + 2.0 * margin
    };
    let columns: Vec<f64> = (0..count).map(column).collect();
    let width = columns.iter().sum::<f64>() + margin;
    let full = |row: &SceneRow<'_>| tallest(row) as f64 * zoom + 2.0 * line + margin;
    let total = rows.iter().map(full).sum::<f64>() + margin;
    let mut svg = Svg::new();
    let background: &Attributes<'_> = &[
        ("width", &"100%"),
        ("height", &"100%"),
        ("fill", &"#505866"),
    ];
    svg.element("rect", background, Content::Empty);
    let mut y = margin;
    for row in rows {
        svg.text("row", margin, y + 10.0, &row.title);
        let mut x = margin;
        for (panel, column) in row.panels.iter().zip(&columns) {
            let top = y + 2.0 * line;
            svg.text("panel", x, top - 8.0, &panel.title);
            let place = format!("translate({x:.1} {top:.1}) scale({zoom})");
            svg.group(&[("transform", &place)], |svg| cells(svg, panel));
            x += column;
        }
        y += full(row);
    }
    svg.finish_fixed("scene", (width, total), "Grids of a task", SCENE_STYLE)
}

/// Draws the cells of a panel, with one rectangle per run of one colour, and its marks. A cell is
/// one unit wide.
fn cells(svg: &mut Svg, panel: &Panel<'_>) {
    let Some(grid) = panel.grid else { return };
    for (y, row) in grid.rows().enumerate() {
        let mut x = 0;
        for run in row.chunk_by(|a, b| a == b) {
            let [red, green, blue] = PALETTE[usize::from(TASK_COLORS[usize::from(run[0])])];
            let wide = run.len();
            let color = format!("#{red:02x}{green:02x}{blue:02x}");
            svg.element(
                "rect",
                &[
                    ("x", &x),
                    ("y", &y),
                    ("width", &wide),
                    ("height", &1),
                    ("fill", &color),
                ],
                Content::Empty,
            );
            x += wide;
        }
    }
    let (width, height) = (grid.width(), grid.height());
    let across: String = (1..height).map(|y| format!("M0 {y}H{width}")).collect();
    let down: String = (1..width).map(|x| format!("M{x} 0V{height}")).collect();
    stroke(svg, &(across + &down), "#505866", "0.04");
    if let Some(expected) = panel.expected {
        draw_marks(svg, grid, expected);
    }
}

/// Returns the marks of an attempt in units of cells: outlines around wrong cells, and a frame of
/// the expected size if the sizes differ.
pub(crate) fn marks(grid: &Grid, expected: &Grid) -> String {
    let mut svg = Svg::new();
    draw_marks(&mut svg, grid, expected);
    svg.into_elements()
}

fn draw_marks(svg: &mut Svg, grid: &Grid, expected: &Grid) {
    let outline = outline(&wrong_cells(grid, expected));
    if !outline.is_empty() {
        stroke(svg, &outline, "#fff", "0.3");
        stroke(svg, &outline, "#000", "0.12");
    }
    if !grid.same_size(expected) {
        let (width, height) = (expected.width(), expected.height());
        for (color, is_dashed) in [("#000", false), ("#fff", true)] {
            let attributes: &Attributes<'_> = &[
                ("width", &width),
                ("height", &height),
                ("fill", &"none"),
                ("stroke", &color),
                ("stroke-width", &"0.2"),
                ("stroke-dasharray", &"0.5"),
            ];
            let count = attributes.len() - usize::from(!is_dashed);
            svg.element("rect", &attributes[..count], Content::Empty);
        }
    }
}

/// Draws a path as a line of this color and width.
fn stroke(svg: &mut Svg, d: &str, color: &str, width: &str) {
    svg.element(
        "path",
        &[
            ("d", &d),
            ("fill", &"none"),
            ("stroke", &color),
            ("stroke-width", &width),
        ],
        Content::Empty,
    );
}

/// Returns the border between these cells and all others as a path.
fn outline(cells: &[(usize, usize)]) -> String {
    let has =
        |x: Option<usize>, y: Option<usize>| x.zip(y).is_some_and(|cell| cells.contains(&cell));
    let mut path = String::new();
    for &(x, y) in cells {
        if !has(Some(x), y.checked_sub(1)) {
            let _ = write!(path, "M{x} {y}h1");
        }
        if !has(Some(x), Some(y + 1)) {
            let _ = write!(path, "M{x} {}h1", y + 1);
        }
        if !has(x.checked_sub(1), Some(y)) {
            let _ = write!(path, "M{x} {y}v1");
        }
        if !has(Some(x + 1), Some(y)) {
            let _ = write!(path, "M{} {y}v1", x + 1);
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use rhae_tasks::{Pair, Test};

    use super::*;
    use crate::task_scene::SceneAttempt;

    fn grid(rows: &[&[u8]]) -> Grid {
        Grid::new(&rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>()).unwrap()
    }

    fn pixels(file: Vec<u8>) -> (usize, usize, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.width as usize, info.height as usize, pixels)
    }

    #[test]
    fn cells_have_their_position_and_colour() {
        let task = Task {
            train: vec![Pair {
                input: grid(&[&[1, 2]]),
                output: grid(&[&[3], &[4]]),
            }],
            test: vec![Test {
                input: grid(&[&[9]]),
                output: None,
            }],
        };
        let (width, height, pixels) = pixels(task_picture(&task, 2).unwrap());
        // Across: margin 1, column 2, gap 2, column 1, margin 1. Down: margin 1, row 2, gap 2, row
        // 1, margin 1.
        assert_eq!((width, height), (2 * 7, 2 * 7));
        let cell = |x: usize, y: usize| pixels[2 * y * 14 + 2 * x];
        assert_eq!(
            [cell(1, 1), cell(2, 1), cell(5, 1), cell(5, 2), cell(1, 5)],
            [1, 2, 3, 4, 9].map(|color| TASK_COLORS[color])
        );
        assert_eq!([cell(0, 0), cell(3, 1), cell(1, 2), cell(5, 5)], [GAP; 4]);
    }

    #[test]
    fn wrong_cells_and_wrong_sizes_are_marked() {
        let (right, wrong, small) = (
            grid(&[&[1, 2], &[3, 4]]),
            grid(&[&[1, 2], &[3, 5]]),
            grid(&[&[1]]),
        );
        let task = Task {
            train: vec![Pair {
                input: right.clone(),
                output: right.clone(),
            }],
            test: vec![Test {
                input: right.clone(),
                output: Some(right.clone()),
            }],
        };
        let attempts = [&wrong, &small, &right].map(Ok).into_iter().enumerate();
        let attempts: Vec<SceneAttempt<'_>> = attempts
            .map(|(index, grid)| SceneAttempt {
                test: 0,
                attempt: index + 1,
                grid,
            })
            .collect();
        let scene = task_scene(&task, &attempts);
        let titles: Vec<&str> = scene[1]
            .panels
            .iter()
            .skip(2)
            .map(|panel| panel.title.as_str())
            .collect();
        assert_eq!(
            titles,
            [
                "attempt 1, 2 × 2, 1 wrong cell",
                "attempt 2, 1 × 1, wrong size, 2 × 2 expected",
                "attempt 3, 2 × 2, right"
            ]
        );
        let (width, _, pixels) = pixels(scene_picture(&scene, 8).unwrap());
        // The tests start at row 5, the first attempt at column 9, the second at column 13.
        let at = |x: usize, y: usize| pixels[y * width + x];
        let (left, top) = (8 * 9, 8 * 5);
        assert_eq!(
            [at(left + 8, top + 8), at(left + 9, top + 9)],
            [WHITE, BLACK],
            "the wrong cell is outlined"
        );
        assert_eq!(at(left, top), TASK_COLORS[1], "a correct cell is not");
        assert!(
            [WHITE, BLACK].contains(&at(8 * 13 + 15, top + 12)),
            "a frame shows the expected size"
        );
        let svg = scene_svg(&scene, 10);
        assert_eq!(svg.matches("stroke-dasharray").count(), 1);
        assert!(svg.contains("M1 1h1") && svg.contains("1 wrong cell"));
    }

    #[test]
    fn shared_borders_are_not_drawn() {
        assert_eq!(outline(&[(0, 0), (1, 0)]).matches('M').count(), 6);
    }
}
