//! The levels: maps of squares and the edges between them, and what the beings hold and like.

use rhae_engine::{Frame, TextMap};

use super::{Board, MOST, SQUARES, STRIDE, draw, next_to};

/// Columns and rows of every map.
pub(crate) const COLUMNS: usize = 7;
pub(crate) const ROWS: usize = 6;

/// How many colours a liking may name.
pub(crate) const LIKES: usize = 3;

/// A level as it is written down.
///
/// In the map, squares stand at odd places and edges between them. `.` floor, `#` wall, `|` and `-` a fence (none may
/// cross it, but hands reach over it), a capital letter a shrine of that colour, a small one a mood of that colour, a digit a
/// being, in the order of `beings`.
pub(crate) struct Sketch {
    map: &'static str,
    beings: &'static [Being],
    /// How many actions may be spent.
    budget: u16,
}

/// A being as it is written down.
struct Being {
    holds: char,
    /// What it likes, best first. One that likes nothing is a stump.
    likes: &'static str,
    /// What it stands on at the start.
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

pub(crate) const ALL: [Sketch; 8] = [
    // A trade: walk up to each other, ring.
    Sketch {
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
        budget: 40,
    },
    // A chain: take what you do not need to get what you need.
    Sketch {
        map: "
            +-+-+-+-+-+-+-+
            |# # # # # # #|
            + + + + + + + +
            |2|. . . . .|3|
            + + + + + + + +
            |R|. . 1 . .|G|
            + + + + + + + +
            |#|. . . . .|#|
            + + + + + + + +
            |#|. . B . .|#|
            + + + + + + + +
            |# # # # # # #|
            +-+-+-+-+-+-+-+
        ",
        beings: &[being('R', "BG"), being('G', "R"), being('B', "G")],
        budget: 68,
    },
    // A temptation: one that is well served must be led away for a while.
    Sketch {
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
        budget: 88,
    },
    // A ring of four, where a pair would trade too early.
    Sketch {
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
        budget: 80,
    },
    // Moods: a place changes what one wants.
    Sketch {
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
        budget: 100,
    },
    // A stump between three rooms: a token can be left there, and be taken by another.
    Sketch {
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
        budget: 108,
    },
    // A ring of six: the two in its middle touch each other, too.
    Sketch {
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
        budget: 100,
    },
    // All together.
    Sketch {
        map: "
            +-+-+-+-+-+-+-+
            |5|6 .|# . . #|
            +-+-+-+ + + + +
            |. . .|. 3 . G|
            + + + + + + + +
            |# . .|. . # #|
            + + + + + + + +
            |B . r|. . # #|
            + + + + + + + +
            |R 2 .|. 4 . Y|
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
        budget: 172,
    },
];

/// A place where a being must stand and what it must hold there.
#[derive(Clone, Copy)]
pub(crate) struct Shrine {
    pub(crate) square: u8,
    pub(crate) color: u8,
}

/// What never changes while a level is played.
pub(crate) struct Level {
    pub(crate) start: Board,
    pub(crate) count: usize,
    pub(crate) budget: u16,
    pub(crate) background: Frame,
    pub(crate) shrines: Vec<Shrine>,
    /// For each square, a bit for each direction in which one may leave it.
    open: [u8; SQUARES],
    /// The colour of the mood on each square, 0 for none.
    mood: [u8; SQUARES],
    /// A bit for each being that walks and wants, as all do but stumps.
    walkers: u8,
    /// For each being and mood: its body, which shows what it likes.
    bodies: [[draw::Body; 16]; MOST],
    /// For each being and mood: how good each colour is, 0 the best.
    ranks: [[[u8; 16]; 16]; MOST],
}

impl Level {
    pub(crate) fn new(sketch: &Sketch) -> Self {
        let map = TextMap::new(sketch.map);
        assert_eq!(
            (map.width(), map.height()),
            (2 * COLUMNS + 1, 2 * ROWS + 1),
            "the map has the size of the board"
        );
        let mut level = Self {
            start: Board {
                square: [0; MOST],
                token: [0; MOST],
                chosen: 0,
            },
            count: sketch.beings.len(),
            budget: sketch.budget,
            background: Frame::filled(0),
            shrines: Vec::new(),
            open: [0; SQUARES],
            mood: [0; SQUARES],
            walkers: 0,
            bodies: [[[0; 8]; 16]; MOST],
            ranks: [[[u8::MAX; 16]; 16]; MOST],
        };
        let at = |column: usize, row: usize| map.get(2 * column + 1, 2 * row + 1);
        for (column, row) in squares() {
            let square = square(column, row);
            let cell = at(column, row);
            let mut ground = cell;
            if let b'1'..=b'8' = cell {
                let being = usize::from(cell - b'1');
                level.start.square[being] = square;
                ground = sketch.beings[being].on as u8;
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
        for (index, being) in sketch.beings.iter().enumerate() {
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

    /// Whether a being walks and wants, as all do but stumps.
    #[inline]
    pub(crate) const fn walks(&self, being: usize) -> bool {
        self.walkers >> being & 1 == 1
    }

    /// Whether neither wall nor fence nor rim is in the way.
    #[inline]
    pub(crate) const fn is_open(&self, square: u8, direction: usize) -> bool {
        self.open[square as usize] >> direction & 1 == 1
    }

    /// What a being looks like on a square, its token left out.
    #[inline]
    pub(crate) const fn body(&self, being: usize, square: u8) -> draw::Body {
        self.bodies[being][self.mood[square as usize] as usize]
    }

    /// How good each colour is to a being on a square, 0 the best.
    #[inline]
    pub(crate) const fn ranks(&self, being: usize, square: u8) -> &[u8; 16] {
        &self.ranks[being][self.mood[square as usize] as usize]
    }

    /// The colour of the mood on a square, 0 for none.
    pub(crate) const fn mood(&self, square: u8) -> u8 {
        self.mood[square as usize]
    }

    /// Whether somebody stands on the shrine with the right token. Beings that a level does not have stand nowhere.
    #[inline]
    pub(crate) fn is_served(board: &Board, shrine: Shrine) -> bool {
        let beings = board.square.iter().zip(&board.token);
        beings.fold(false, |served, (&square, &token)| {
            served | ((square == shrine.square) & (token == shrine.color))
        })
    }

    /// Whether all shrines are served.
    #[inline]
    pub(crate) fn is_won(&self, board: &Board) -> bool {
        self.shrines
            .iter()
            .all(|&shrine| Self::is_served(board, shrine))
    }
}

/// Whether a place of the map lies inside its rim.
pub(crate) const fn is_inside(x: usize, y: usize) -> bool {
    !x.is_multiple_of(2 * COLUMNS) && !y.is_multiple_of(2 * ROWS)
}

/// The square in a column and row of the board.
pub(crate) const fn square(column: usize, row: usize) -> u8 {
    ((row + 1) * STRIDE + column + 1) as u8
}

/// The column and row of a square.
pub(crate) const fn place(square: u8) -> (usize, usize) {
    (
        (square as usize % STRIDE).wrapping_sub(1),
        (square as usize / STRIDE).wrapping_sub(1),
    )
}

/// Every column and row.
pub(crate) fn squares() -> impl Iterator<Item = (usize, usize)> {
    (0..ROWS).flat_map(|row| (0..COLUMNS).map(move |column| (column, row)))
}

/// The frame colour that a letter of a map stands for.
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
