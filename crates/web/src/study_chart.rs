//! The figures of a study: durations by outcome, actions by level, and click maps.
//!
//! The types compute coordinates, and templates draw them. Colours are classes of the style sheet,
//! except those of the board, which are fixed.

use std::collections::BTreeMap;

use rhae_engine::{PALETTE, SIZE};
use rhae_protocol::{DurationBin, LevelClicks, LevelResults};

/// The height of the bars of a chart, and the width of one.
const BAR_HEIGHT: f64 = 120.0;
const BAR_WIDTH: f64 = 44.0;

/// A bar chart of durations.
pub(crate) struct DurationChart {
    pub(crate) bars: Vec<DurationBar>,
    pub(crate) attempts: u64,
}

/// The attempts of a range of two minutes: the unsolved ones stand on the solved ones.
pub(crate) struct DurationBar {
    pub(crate) x: f64,
    pub(crate) label: String,
    pub(crate) solved: u64,
    pub(crate) unsolved: u64,
    pub(crate) solved_y: f64,
    pub(crate) solved_height: f64,
    pub(crate) unsolved_y: f64,
    pub(crate) unsolved_height: f64,
}

impl DurationChart {
    pub(crate) fn new(bins: &[DurationBin]) -> Self {
        let total = |bin: &DurationBin| bin.solved + bin.unsolved;
        let highest = bins.iter().map(total).max().unwrap_or(0).max(1);
        let scale = |count: u64| count as f64 * BAR_HEIGHT / highest as f64;
        let bar = |(bin, number): (&DurationBin, u32)| {
            let (solved_height, unsolved_height) = (scale(bin.solved), scale(bin.unsolved));
            DurationBar {
                x: f64::from(number) * BAR_WIDTH,
                label: bin.from_minutes.to_string(),
                solved: bin.solved,
                unsolved: bin.unsolved,
                solved_y: BAR_HEIGHT - solved_height,
                solved_height,
                unsolved_y: BAR_HEIGHT - solved_height - unsolved_height,
                unsolved_height,
            }
        };
        Self {
            bars: bins.iter().zip(0..).map(bar).collect(),
            attempts: bins.iter().map(total).sum(),
        }
    }

    pub(crate) fn width(&self) -> f64 {
        self.bars.len() as f64 * BAR_WIDTH
    }
}

/// The space for the number of the level, the width of the scale, and the height of a row.
const LEVEL_WIDTH: f64 = 40.0;
const SCALE_WIDTH: f64 = 600.0;
const ROW_HEIGHT: f64 = 26.0;

/// The actions of every person on every level, with the reference points.
pub(crate) struct ActionsChart {
    pub(crate) rows: Vec<ActionsRow>,
    /// The largest number of actions, where the scale ends.
    pub(crate) most: u32,
}

pub(crate) struct ActionsRow {
    pub(crate) level: u32,
    pub(crate) y: f64,
    /// The people, each with the number of actions.
    pub(crate) people: Vec<(f64, u32)>,
    pub(crate) marks: Vec<ReferenceMark>,
}

/// A reference point of a level.
pub(crate) struct ReferenceMark {
    pub(crate) class: &'static str,
    pub(crate) name: &'static str,
    pub(crate) actions: u32,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) height: f64,
}

impl ActionsChart {
    pub(crate) fn new(levels: &[LevelResults]) -> Self {
        let most = levels.iter().flat_map(|level| {
            let marks = [level.optimal, level.upper_median];
            level
                .actions
                .iter()
                .copied()
                .chain(marks.into_iter().flatten())
        });
        let most = most.max().unwrap_or(0).max(1);
        let x = |actions: u32| LEVEL_WIDTH + f64::from(actions) * SCALE_WIDTH / f64::from(most);
        let row = |(level, number): (&LevelResults, u32)| {
            let y = (f64::from(number) + 0.5) * ROW_HEIGHT;
            let mark = |class, name, actions: Option<u32>, above: f64, below: f64| {
                let actions = actions?;
                Some(ReferenceMark {
                    class,
                    name,
                    actions,
                    x: x(actions),
                    y: y - above,
                    height: above + below,
                })
            };
            // Both baselines are often equal, so each takes one half.
            let marks = [
                mark("optimal", "optimal", level.optimal, 10.0, 10.0),
                mark("best", "best", level.best, 10.0, 10.0),
                mark("second", "second best", level.second_best, 10.0, 0.0),
                mark("median", "upper median", level.upper_median, 0.0, 10.0),
            ];
            ActionsRow {
                level: level.level,
                y,
                people: level.actions.iter().map(|&one| (x(one), one)).collect(),
                marks: marks.into_iter().flatten().collect(),
            }
        };
        Self {
            rows: levels.iter().zip(0..).map(row).collect(),
            most,
        }
    }

    pub(crate) fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW_HEIGHT
    }

    /// Returns whether a person completed a level.
    pub(crate) fn has_people(&self) -> bool {
        self.rows.iter().any(|row| !row.people.is_empty())
    }
}

/// The first frame of a level with the clicks of all people.
pub(crate) struct ClickMap {
    pub(crate) level: u32,
    pub(crate) clicks: u32,
    pub(crate) areas: Vec<Area>,
    pub(crate) dots: Vec<Dot>,
}

/// A rectangle of cells of one colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) color: String,
}

/// A clicked cell. The area of the circle is proportional to the number of clicks.
pub(crate) struct Dot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) radius: f64,
    pub(crate) clicks: u32,
}

impl ClickMap {
    pub(crate) fn new(level: &LevelClicks) -> Self {
        let most = level
            .cells
            .iter()
            .map(|cell| cell.clicks)
            .max()
            .unwrap_or(1);
        let dots = level.cells.iter().map(|cell| Dot {
            x: f64::from(cell.x) + 0.5,
            y: f64::from(cell.y) + 0.5,
            radius: 0.6 + 1.8 * (f64::from(cell.clicks) / f64::from(most.max(1))).sqrt(),
            clicks: cell.clicks,
        });
        Self {
            level: level.level,
            clicks: level.clicks,
            areas: areas(&level.board),
            dots: dots.collect(),
        }
    }
}

/// Divides a board of hexadecimal digits into rectangles: equal runs in consecutive rows are merged.
fn areas(board: &str) -> Vec<Area> {
    let cells: Vec<u32> = board
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .collect();
    let mut done: Vec<Area> = Vec::new();
    let mut open: BTreeMap<(usize, usize, u32), Area> = BTreeMap::new();
    for (y, row) in cells.chunks(SIZE).enumerate() {
        let mut next = BTreeMap::new();
        let mut x = 0;
        for run in row.chunk_by(|one, other| one == other) {
            let key = (x, run.len(), run[0]);
            let mut area = open.remove(&key).unwrap_or_else(|| Area {
                x,
                y,
                width: run.len(),
                height: 0,
                color: color(run[0]),
            });
            area.height += 1;
            next.insert(key, area);
            x += run.len();
        }
        done.extend(std::mem::replace(&mut open, next).into_values());
    }
    done.extend(open.into_values());
    done
}

fn color(cell: u32) -> String {
    let [red, green, blue] = PALETTE[cell as usize % PALETTE.len()];
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use rhae_protocol::ClickedCell;

    use super::*;

    #[test]
    fn areas_cover_the_board_once() {
        let mut cells = vec!['5'; SIZE * SIZE];
        for (x, y) in [(3, 3), (4, 3), (3, 4), (4, 4), (60, 63)] {
            cells[y * SIZE + x] = 'a';
        }
        let board: String = cells.iter().collect();
        let areas = areas(&board);
        let mut covered = vec![0; SIZE * SIZE];
        for area in &areas {
            for y in area.y..area.y + area.height {
                for x in area.x..area.x + area.width {
                    covered[y * SIZE + x] += 1;
                }
            }
        }
        assert!(covered.iter().all(|&count| count == 1));
        let square = areas
            .iter()
            .find(|area| (area.x, area.y) == (3, 3))
            .unwrap();
        assert_eq!((square.width, square.height), (2, 2));
        assert_eq!(square.color, color(10));
        assert!(areas.len() < 12, "{}", areas.len());
    }

    #[test]
    fn dots_grow_with_the_clicks() {
        let cell = |x, clicks| ClickedCell { x, y: 0, clicks };
        let map = ClickMap::new(&LevelClicks {
            level: 2,
            board: String::new(),
            clicks: 10,
            cells: vec![cell(0, 9), cell(1, 1)],
        });
        assert!(map.dots[0].radius > map.dots[1].radius);
        assert!((map.dots[0].radius - 2.4).abs() < 1e-9);
    }

    #[test]
    fn bars_are_scaled_to_the_highest() {
        let bin = |from_minutes, solved, unsolved| DurationBin {
            from_minutes,
            solved,
            unsolved,
        };
        let chart = DurationChart::new(&[bin(0, 1, 3), bin(2, 2, 0)]);
        assert_eq!(chart.attempts, 6);
        let bar = &chart.bars[0];
        assert_eq!((bar.unsolved_y, bar.solved_y), (0.0, 90.0));
        assert_eq!(chart.bars[1].solved_height, 60.0);
        let empty = DurationChart::new(&[bin(0, 0, 0)]);
        assert_eq!((empty.attempts, empty.bars[0].solved_height), (0, 0.0));
    }
}
