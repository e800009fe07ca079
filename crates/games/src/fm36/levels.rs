//! The levels as text maps of three parts: the pieces `a` to `c`, their frames `A` to `C`, and the
//! floor.
//!
//! `#` is a rock, `.` is live floor, and `-` is inert floor, which does not react to clicks. The
//! comment before each level says what the level teaches.

use rhae_engine::{Frame, LevelIndex, TextMap};

use super::breath::{Breath, Cell, CellSet, MAX_PIECES, NOWHERE, SIDE};
use super::{Level, draw};

const MAPS: [&str; 8] = [
    // Breaths out and in alternate. The distance is too large for one breath out.
    "
        .........|.........|.........
        .........|.........|.........
        .........|.........|.........
        .........|.........|.........
        .a.......|.....A...|.........
        .........|.........|.........
        .........|.........|.........
        .........|.........|.........
        .........|.........|.........
    ",
    // A breath out and a breath in shift all pieces by the same distance. Two shifts add up. Choose
    // centres at which no piece would leave the board.
    "
        .........|.........|.........
        .........|........C|.........
        .........|.........|.........
        .........|.........|.........
        ...c.....|.....A...|.........
        .........|......B..|.........
        .........|.........|.........
        a........|.........|.........
        .b.......|.........|.........
    ",
    // A piece that would leave the board stays, so it does not move like the two others.
    "
        .........|.........|.........
        .c.......|.........|.........
        .........|.........|.........
        .........|.........|.........
        .....b...|.........|.........
        .........|..C......|.........
        .........|.........|.........
        .........|.....A...|.........
        ........a|......B..|.........
    ",
    // A piece at an odd distance stays as well. Only the corners are live.
    "
        .........|.........|...---...
        .........|.........|...---...
        ......c..|.....C...|...---...
        .........|.........|---------
        .......a.|.........|---------
        .........|.......B.|---------
        ......b..|.........|...---...
        .........|.....A...|...---...
        .........|.........|...---...
    ",
    // A rock stops a piece during a breath out.
    "
        ...c...b.|.........|.........
        .........|....A....|......#..
        .........|.........|.........
        .........|.........|.#.......
        .........|.........|.........
        .........|.....B...|.........
        .........|.........|.........
        ..a......|..C......|.#..#....
        .........|.........|.........
    ",
    // Two pieces exchange places. Only the border is live.
    "
        .........|.........|.........
        .c.......|.B.......|.-------.
        .b.......|.C.......|.-------.
        .........|.....A...|.-------.
        .........|.........|.-------.
        .........|.........|.-------.
        .........|.........|.-------.
        .....a...|.........|.-------.
        .........|.........|.........
    ",
    // Only the diagonals are live, so few shifts are possible.
    "
        ........b|.....B...|.-------.
        .........|.......C.|-.-----.-
        .........|.........|--.---.--
        .........|..A......|---.-.---
        .........|.........|----.----
        .........|.........|---.-.---
        .....a...|.........|--.---.--
        ......c..|.........|-.-----.-
        .........|.........|.-------.
    ",
    // Combines live strips, rocks, distance and parity.
    "
        .........|.........|--------#
        .........|.........|---------
        .......a.|.B.......|--------#
        .......c.|......C..|--#------
        .........|.........|##------#
        .........|.........|---------
        ..b......|.........|---------
        .........|A........|.........
        .........|.........|....#....
    ",
];

/// Builds a level.
pub(super) fn level(index: LevelIndex) -> Level {
    read(MAPS[index.get()])
}

/// Reads a level.
pub(super) fn read(text: &str) -> Level {
    const SIZE: usize = SIDE as usize;
    let map = TextMap::new(text);
    assert_eq!((map.width(), map.height()), (3 * SIZE + 2, SIZE), "{text}");
    let all = |first: usize, wanted: u8| {
        map.iter()
            .filter(|&(x, _, sign)| sign == wanted && (first..first + SIZE).contains(&x))
            .map(|(x, y, _)| Cell {
                x: (x - first) as i8,
                y: y as i8,
            })
            .collect::<Vec<_>>()
    };
    let set = |sign: u8| {
        all(2 * SIZE + 2, sign)
            .into_iter()
            .fold(0, |set: CellSet, cell| set | cell.set())
    };
    let piece = |first: usize, letter: u8| {
        let all = &all;
        move |index: usize| {
            all(first, letter + index as u8)
                .first()
                .copied()
                .unwrap_or(NOWHERE)
        }
    };
    let start: [Cell; MAX_PIECES] = std::array::from_fn(piece(0, b'a'));
    let mut level = Level {
        rocks: set(b'#'),
        live: set(b'.'),
        count: start.iter().filter(|&&cell| cell != NOWHERE).count(),
        start,
        frames: std::array::from_fn(piece(SIZE + 1, b'A')),
        backgrounds: [Frame::filled(0), Frame::filled(0)],
    };
    level.backgrounds = [Breath::Out, Breath::In].map(|breath| draw::background(&level, breath));
    level
}
