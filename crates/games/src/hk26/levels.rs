//! The levels: maps of squares with the edges between them, and what the beings hold and like.

use rhae_engine::{Frame, TextMap};

use super::{Board, MAX_BEINGS, SQUARES, STRIDE, draw, next_to};

pub(crate) const COLUMNS: usize = 7;
pub(crate) const ROWS: usize = 6;

/// The maximum number of colours that a being likes.
pub(crate) const LIKES: usize = 3;

/// The source form of a level.
///
/// In the map, squares are at odd coordinates and the edges between them at even ones. `.` is
/// floor, `#` is wall. `|` and `-` are fences: no being can cross them, but hands reach over them.
/// A capital letter is a shrine of that colour. A small letter is a mood of that colour: a being on
/// this square, unless it is a stump, likes the colour best. A digit is a being, in the order of
/// `beings`.
pub(crate) struct LevelSpec {
    map: &'static str,
    beings: &'static [Being],
    /// The number of times the bell can ring.
    rings: u8,
}

/// The source form of a being.
struct Being {
    holds: char,
    /// The colours it likes, best first. A being that likes nothing is a stump and cannot walk.
    likes: &'static str,
    /// The character of the square on which the being starts, because the map shows its digit
    /// there.
    on: char,
}

const fn being(holds: char, likes: &'static str) -> Being {
    Being {
        holds,
        likes,
        on: '.',
    }
}

const fn being_on(on: char, holds: char, likes: &'static str) -> Being {
    Being { holds, likes, on }
}

pub(crate) const ALL: [LevelSpec; 8] = [
    // A trade: two beings meet, and the bell rings.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |. . . . .|. .|
            + + + + + + + +
            |. . . . .|. .|
            + + + + + + + +
            |. 1 . . .|2 .|
            + + + + + + + +
            |. . . . .|. .|
            + + + + + + + +
            |. . . B .|. .|
            + + + + + + + +
            |. . . . .|. .|
            +-+-+-+-+-+-+-+
        ",
        beings: &[being('R', "B"), being('B', "R")],
        rings: 1,
    },
    // A chain: a being accepts a token that it does not need and trades it for the one it needs.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |# # # # # # #|
            + + + + + + + +
            |2 # . . . # 3|
            + + + + + + + +
            |. # . 1 . .|.|
            + + + + + + + +
            |.|. . . . # .|
            + + + + + + + +
            |R # . B . # G|
            + + + + + + + +
            |# # # # # # #|
            +-+-+-+-+-+-+-+
        ",
        beings: &[being('R', "BG"), being('G', "R"), being('B', "G")],
        rings: 2,
    },
    // A detour: a being that already has its token must leave its shrine for a while.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |2|. . . . . #|
            +-+ + + + + + +
            |3|. . . . . #|
            + + + + + + + +
            |.|. . 1 . .|.|
            + + + + + + + +
            |.|. . . . .|G|
            + + + + + + + +
            |.|. . B . .|4|
            + + + + + + + +
            |#|. . . . .|.|
            +-+-+-+-+-+-+-+
        ",
        beings: &[
            being('R', "BG"),
            being_on('R', 'G', "YR"),
            being_on('Y', 'Y', "Y"),
            being('B', "G"),
        ],
        rings: 2,
    },
    // A loop of four, where two of the beings would trade with each other too early.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |# . .|. . . #|
            + + + + + + + +
            |. 1 B|. 2 . .|
            + + + + + + + +
            |. . .|. G . .|
            +-+-+-+-+-+-+-+
            |. R .|. . . .|
            + + + + + + + +
            |. 4 .|Y . 3 .|
            + + + + + + + +
            |# . .|. . . #|
            +-+-+-+-+-+-+-+
        ",
        beings: &[
            being('R', "BY"),
            being('B', "G"),
            being('G', "Y"),
            being('Y', "R"),
        ],
        rings: 1,
    },
    // Moods: a square changes what a being wants.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |2|. . . . .|#|
            + + + + + + + +
            |.|. . 1 . .|3|
            + + + + + + + +
            |r|. . . . .|.|
            + + + + + + + +
            |R|. . . # b|.|
            + + + + + + + +
            |#|. . B # #|G|
            + + + + + + + +
            |#|. . . # #|#|
            +-+-+-+-+-+-+-+
        ",
        beings: &[being('R', "GB"), being('G', "GR"), being('B', "G")],
        rings: 2,
    },
    // A stump between three rooms: one being leaves a token there and another takes it.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |# . . . . B #|
            + + + + + + + +
            |# . 1 . . . #|
            + + + + + + + +
            |# # # . # # #|
            + + + + + + + +
            |. . . 4 . . .|
            + + + + + + + +
            |. 2 . # . 3 .|
            + + + + + + + +
            |Y . . # . . R|
            +-+-+-+-+-+-+-+
        ",
        beings: &[
            being('R', "BYO"),
            being('B', "Y"),
            being('Y', "R"),
            being('O', ""),
        ],
        rings: 4,
    },
    // A loop of six, in which the two middle beings are also neighbours.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |# . . . . . #|
            + + + + + + + +
            |# 1 . . . 2 #|
            + + +-+-+ + + +
            |# .|5|6|. . #|
            + + +-+-+ + + +
            |# . . . . . #|
            + + + + + + + +
            |# 3 . . . 4 #|
            + + + + + + + +
            |# # B . R # #|
            +-+-+-+-+-+-+-+
        ",
        beings: &[
            being('R', "YB"),
            being('B', "G"),
            being('P', "O"),
            being('O', "R"),
            being_on('Y', 'G', "OY"),
            being_on('P', 'Y', "P"),
        ],
        rings: 1,
    },
    // All rules combined.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |5|6 .|# . . #|
            +-+-+-+ + + + +
            |. . .|. 3 . .|
            + + + + + + + +
            |# B .|. G # #|
            + + + + + + + +
            |. . r|. Y # #|
            + + + + + + + +
            |. 2 R|. 4 . .|
            + + + + + + + +
            |# 1 #|# . . #|
            +-+-+-+-+-+-+-+
        ",
        beings: &[
            being('O', "BYR"),
            being('Y', "YR"),
            being('B', "G"),
            being('G', "Y"),
            being('R', "PO"),
            being_on('P', 'P', "P"),
        ],
        rings: 2,
    },
];

/// A square on which a being must hold a token of this colour.
#[derive(Clone, Copy)]
pub(crate) struct Shrine {
    pub(crate) square: u8,
    pub(crate) color: u8,
}

/// The data that does not change while a level is played.
pub(crate) struct Level {
    pub(crate) start: Board,
    pub(crate) count: usize,
    pub(crate) rings: u8,
    pub(crate) background: Frame,
    pub(crate) shrines: Vec<Shrine>,
    /// For each square, one bit for each direction in which a being can leave it.
    open: [u8; SQUARES],
    /// The colour of the mood on each square, or 0.
    mood: [u8; SQUARES],
    /// One bit for each being that walks and wants, which is every being except stumps.
    walkers: u8,
    /// The body of each being in each mood, which shows its likings.
    bodies: [[draw::Body; 16]; MAX_BEINGS],
    /// The rank of each colour for each being in each mood; 0 is the best.
    ranks: [[[u8; 16]; 16]; MAX_BEINGS],
}

impl Level {
    pub(crate) fn new(spec: &LevelSpec) -> Self {
        let map = TextMap::new(spec.map);
        assert_eq!(
            (map.width(), map.height()),
            (2 * COLUMNS + 1, 2 * ROWS + 1),
            "the map does not have the size of the board"
        );
        let mut level = Self {
            start: Board {
                square: [0; MAX_BEINGS],
                token: [0; MAX_BEINGS],
                chosen: 0,
                rings: spec.rings,
            },
            count: spec.beings.len(),
            rings: spec.rings,
            background: Frame::filled(0),
            shrines: Vec::new(),
            open: [0; SQUARES],
            mood: [0; SQUARES],
            walkers: 0,
            bodies: [[[0; 8]; 16]; MAX_BEINGS],
            ranks: [[[u8::MAX; 16]; 16]; MAX_BEINGS],
        };
        let at = |column: usize, row: usize| map.get(2 * column + 1, 2 * row + 1);
        for (column, row) in squares() {
            let square = square(column, row);
            let cell = at(column, row);
            let mut ground = cell;
            if let b'1'..=b'8' = cell {
                let being = usize::from(cell - b'1');
                level.start.square[being] = square;
                ground = spec.beings[being].on as u8;
            }
            match ground {
                b'A'..=b'Z' => level.shrines.push(Shrine {
                    square,
                    color: color(ground),
                }),
                b'a'..=b'z' => level.mood[usize::from(square)] = color(ground.to_ascii_uppercase()),
                _ => {}
            }
            let (x, y) = (2 * column + 1, 2 * row + 1);
            for (direction, (x, y)) in [(x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)]
                .into_iter()
                .enumerate()
            {
                let goal = place(next_to(square, direction));
                if is_inside(x, y)
                    && map.get(x, y) == b' '
                    && cell != b'#'
                    && at(goal.0, goal.1) != b'#'
                {
                    level.open[usize::from(square)] |= 1 << direction;
                }
            }
        }
        for (index, being) in spec.beings.iter().enumerate() {
            level.start.token[index] = color(being.holds as u8);
            level.walkers |= u8::from(!being.likes.is_empty()) << index;
            for mood in 0..16 {
                let first = (mood != 0 && !being.likes.is_empty()).then_some(mood);
                let others = being
                    .likes
                    .bytes()
                    .map(color)
                    .filter(|&liked| liked != mood);
                let mut likes = [0; LIKES];
                for (rank, liked) in first.into_iter().chain(others).take(LIKES).enumerate() {
                    likes[rank] = liked;
                    level.ranks[index][usize::from(mood)][usize::from(liked)] = rank as u8;
                }
                level.bodies[index][usize::from(mood)] = draw::body(&likes);
            }
        }
        level.background = draw::background(&level, &map);
        level
    }

    /// Returns whether a being walks and wants. Only stumps do not.
    #[inline]
    pub(crate) const fn walks(&self, being: usize) -> bool {
        self.walkers >> being & 1 == 1
    }

    /// Returns whether no wall, fence or border blocks the way.
    #[inline]
    pub(crate) const fn is_open(&self, square: u8, direction: usize) -> bool {
        self.open[square as usize] >> direction & 1 == 1
    }

    /// Returns the body of a being on a square, without its token.
    #[inline]
    pub(crate) const fn body(&self, being: usize, square: u8) -> draw::Body {
        self.bodies[being][self.mood[square as usize] as usize]
    }

    /// Returns the rank of each colour for a being on a square; 0 is the best.
    #[inline]
    pub(crate) const fn ranks(&self, being: usize, square: u8) -> &[u8; 16] {
        &self.ranks[being][self.mood[square as usize] as usize]
    }

    /// Returns the colour of the mood on a square, or 0.
    pub(crate) const fn mood(&self, square: u8) -> u8 {
        self.mood[square as usize]
    }

    /// Returns whether a being on the shrine holds the right token. Unused entries of the board are
    /// on square 0, which is never a shrine.
    #[inline]
    pub(crate) fn is_served(board: &Board, shrine: Shrine) -> bool {
        let beings = board.square.iter().zip(&board.token);
        beings.fold(false, |served, (&square, &token)| {
            served | ((square == shrine.square) & (token == shrine.color))
        })
    }

    #[inline]
    pub(crate) fn is_won(&self, board: &Board) -> bool {
        self.shrines
            .iter()
            .all(|&shrine| Self::is_served(board, shrine))
    }
}

/// Returns whether a map position lies inside the outermost edges.
pub(crate) const fn is_inside(x: usize, y: usize) -> bool {
    !x.is_multiple_of(2 * COLUMNS) && !y.is_multiple_of(2 * ROWS)
}

/// Returns the square at a column and row of the board.
pub(crate) const fn square(column: usize, row: usize) -> u8 {
    ((row + 1) * STRIDE + column + 1) as u8
}

/// Returns the column and row of a square.
pub(crate) const fn place(square: u8) -> (usize, usize) {
    (
        (square as usize % STRIDE).wrapping_sub(1),
        (square as usize / STRIDE).wrapping_sub(1),
    )
}

/// Iterates over the columns and rows of all squares.
pub(crate) fn squares() -> impl Iterator<Item = (usize, usize)> {
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row)))
}

/// Returns the frame colour of a letter in a map.
fn color(letter: u8) -> u8 {
    match letter {
        b'R' => 8,
        b'B' => 9,
        b'Y' => 11,
        b'O' => 12,
        b'G' => 14,
        b'P' => 15,
        _ => panic!("no token has the colour {}", letter as char),
    }
}
