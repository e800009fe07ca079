//! The levels as text maps.
//!
//! The outermost characters are the wall: a run of one letter, `m` or `n`, is a window (two letters
//! allow windows next to each other), and `+` is solid wall. Inside, `.` is ground, `#` is rock,
//! `A`, `B` and `C` are the pots of plants that grow towards the light, and `X` is the pot of a shy
//! plant, which grows away from the light. The same letter in lower case is the bloom cell of the
//! plant. `^`, `>`, `v` and `<` are cells into which a plant has grown in that direction before the
//! level starts.

use rhae_engine::{Frame, LevelIndex, TextMap};

use super::board::{Board, Layout, MAX_PLANTS, NONE, SIDE, bit, neighbour};
use super::draw;

pub(crate) struct Level {
    pub(super) layout: Layout,
    pub(super) start: Board,
    pub(super) colors: [u8; MAX_PLANTS],
    pub(super) windows: Vec<Window>,
    pub(super) day: Frame,
    pub(super) night: Frame,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// The wall: 0 top, 1 right, 2 bottom, 3 left.
    pub(super) side: u8,
    /// The first and the last row or column that the window lights.
    pub(super) first: u8,
    pub(super) last: u8,
}

impl Window {
    /// Returns whether a cell lies in the rows or columns of the window.
    #[inline]
    pub(super) fn covers(&self, cell: u8) -> bool {
        let line = if self.side.is_multiple_of(2) {
            cell % SIDE
        } else {
            cell / SIDE
        };
        (self.first..=self.last).contains(&line)
    }

    /// Returns the cell directly inside the window in row or column `line`.
    pub(super) fn first_cell(&self, line: u8) -> u8 {
        let far = SIDE - 1;
        match self.side {
            0 => line,
            1 => line * SIDE + far,
            2 => far * SIDE + line,
            _ => line * SIDE,
        }
    }

    /// Returns the middle pixel of the window.
    pub(super) fn center(&self) -> (u8, u8) {
        let (x, y, width, height) = draw::window_area(self);
        (x + width / 2, y + height / 2)
    }
}

impl Level {
    pub(super) fn of(index: LevelIndex) -> Self {
        Self::read(LEVELS[index.get()])
    }

    /// Parses a map. Panics on an invalid one, because maps are constants of the game.
    pub(super) fn read(text: &str) -> Self {
        let map = TextMap::new(text);
        assert!(
            map.width() == map.height() && map.width() == usize::from(SIDE) + 2,
            "a map must have the size of the room and its wall:\n{text}"
        );
        let inside = |(x, y): (usize, usize)| {
            u8::try_from((y - 1) * usize::from(SIDE) + x - 1).expect("a room has few cells")
        };
        let rocks = map
            .find(b'#')
            .map(inside)
            .fold(0, |rocks, cell| rocks | bit(cell));
        let mut layout = Layout {
            rocks,
            count: 0,
            pots: [0; MAX_PLANTS],
            bloom_cells: [0; MAX_PLANTS],
            shy: [false; MAX_PLANTS],
        };
        let mut colors = [0; MAX_PLANTS];
        for (letter, color) in draw::PLANT_COLORS {
            if let Some(pot) = map.find(letter).next() {
                layout.pots[layout.count] = inside(pot);
                let place = map.find(letter.to_ascii_lowercase()).next();
                layout.bloom_cells[layout.count] =
                    inside(place.expect("every plant has a bloom cell"));
                layout.shy[layout.count] = letter == b'X';
                colors[layout.count] = color;
                layout.count += 1;
            }
        }
        let windows = (0..4).flat_map(|side| windows_on(&map, side)).collect();
        let mut start = Board::of(&layout);
        for plant in 0..layout.count {
            grow_by_map(&map, &mut start, plant);
        }
        let mut level = Self {
            layout,
            start,
            colors,
            windows,
            day: Frame::filled(0),
            night: Frame::filled(0),
        };
        level.day = draw::background(&level, draw::DAY);
        level.night = draw::background(&level, draw::NIGHT);
        level
    }

    /// Returns the window at a pixel.
    pub(super) fn window_at(&self, x: u8, y: u8) -> Option<&Window> {
        self.windows.iter().find(|window| {
            let (left, top, width, height) = draw::window_area(window);
            (left..left + width).contains(&x) && (top..top + height).contains(&y)
        })
    }
}

/// Grows a plant along the direction signs of the map, from its pot on.
fn grow_by_map(map: &TextMap, board: &mut Board, plant: usize) {
    let next = |board: &Board| {
        let tip = board.tips[plant];
        (0_u8..4).zip(b"^>v<").find_map(|(direction, &sign)| {
            let cell = neighbour(tip, direction);
            let is_free = cell != NONE && board.plants & bit(cell) == 0;
            let (x, y) = (usize::from(cell % SIDE) + 1, usize::from(cell / SIDE) + 1);
            (is_free && map.get(x, y) == sign).then_some((cell, direction))
        })
    };
    while let Some((cell, direction)) = next(board) {
        board.grow(plant, cell, direction);
    }
}

/// Returns the windows of one wall: the runs of one letter.
fn windows_on(map: &TextMap, side: u8) -> Vec<Window> {
    let far = usize::from(SIDE) + 1;
    let letter = |line: u8| {
        let along = usize::from(line) + 1;
        let (x, y) = [(along, 0), (far, along), (along, far), (0, along)][usize::from(side)];
        map.get(x, y)
    };
    let mut windows: Vec<Window> = Vec::new();
    for line in (0..SIDE).filter(|&line| letter(line) != b'+') {
        match windows.last_mut() {
            Some(window) if window.last + 1 == line && letter(window.last) == letter(line) => {
                window.last = line;
            }
            _ => windows.push(Window {
                side,
                first: line,
                last: line,
            }),
        }
    }
    windows
}

const LEVELS: [&str; 8] = [
    // The plant has grown past the light of the right window. Only darkness leads back.
    "
    +++mmmmm+++
    +.........+
    +.........+
    +......a..+
    +..^......+
    +..^......m
    +..^......m
    +..^......m
    +..A......+
    +.........+
    +++++++++++
    ",
    "
    +++++++++++
    +....B....m
    +.....A...m
    +.....#...m
    +.....b...m
    m..a......m
    m.........+
    m.........+
    m.........n
    +.........n
    ++++mmmm+++
    ",
    "
    +++++++++++
    m.........+
    m.........+
    m........B+
    m.........+
    m.....A...+
    m.a.......+
    m.........+
    m.........+
    m........b+
    +++mmmmmmm+
    ",
    "
    ++++++mmmm+
    +.....#...+
    +.........m
    +....A....m
    +.....a#b.m
    +.........m
    +....B....m
    +.........m
    +.........+
    +.........+
    ++++mmmmm++
    ",
    "
    +++++mmm+++
    +.........+
    m.......A.+
    m.........m
    m.........m
    +.......a.m
    +.......X.m
    +.........m
    +.....x...+
    +.........+
    +++mmm+++++
    ",
    "
    ++++mmmmmm+
    +.....a...+
    +.........m
    m.........m
    m....X....m
    m.........m
    m.......x.+
    m.........+
    +.....A...+
    +.........+
    +++++++++++
    ",
    "
    +mmmmmmmmm+
    +......b..m
    +.........m
    +...a.....m
    +.A.......m
    +.........m
    +......B..m
    +.........m
    +.C.c.....m
    +.........m
    ++++++mmm++
    ",
    "
    +++mm++++++
    m.........+
    m.........+
    m.........+
    m.a....A..+
    m......x.B+
    m.......#.+
    m.......#b+
    m.........+
    m.X.......+
    +mmmmmmmmm+
    ",
];
