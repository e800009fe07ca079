//! The levels as text maps, 11 × 11.
//!
//! `#` is wall, `.` floor, `:` moss, `~` void; `@` is you, `o` a stone, `%` a stone on moss, `Y`
//! your ring, `O` a stone's ring.
//!
//! A budget is three times the length of the shortest solution. On levels 2 and 3, whose solutions
//! are short, it is only twice and two and a half times that length, so that random play rarely
//! wins. Level 1 has no budget.

use rhae_engine::{Frame, TextMap};

use super::{Board, Cells, Hall, WIDTH, draw};

struct LevelSpec {
    /// Actions until the level is lost; 0 for no limit.
    budget: u8,
    map: &'static str,
}

const LEVELS: [LevelSpec; 8] = [
    // You touch only a stone: three of the four arrows find nothing to push off.
    LevelSpec {
        budget: 0,
        map: "
            ###########
            #.........#
            #.........#
            #.........#
            #......Y#.#
            ##..o@....#
            #........##
            #....#...##
            #.........#
            #.........#
            ###########
        ",
    },
    LevelSpec {
        budget: 26,
        map: "
            ###########
            #.........#
            ##.....#..#
            #@.....Y#.#
            #.........#
            #.......#.#
            #O....o..##
            ##.......##
            #.....#...#
            #......#..#
            ###########
        ",
    },
    LevelSpec {
        budget: 35,
        map: "
            ###########
            #.........#
            #.........#
            #........Y#
            #........##
            #....#....#
            #.........#
            ##......#.#
            #...o.....#
            #@.o.O##..#
            ###########
        ",
    },
    LevelSpec {
        budget: 45,
        map: "
            ###########
            #@O.......#
            #.........#
            #.........#
            #.........#
            #.........#
            #Y........#
            ##........#
            #...o.....#
            #.........#
            ###########
        ",
    },
    LevelSpec {
        budget: 48,
        map: "
            ###########
            #O........#
            ##...#....#
            #.....#...#
            #...~~~...#
            #Y..~~~...#
            #.#.~~~...#
            #.....o@..#
            #........o#
            #.........#
            ###########
        ",
    },
    LevelSpec {
        budget: 54,
        map: "
            ~~~~###~~~~
            ~~...O...~~
            ~.........~
            ~.........~
            #.........#
            #...::....#
            #Y.o.:....#
            ~.........~
            ~.........~
            ~~...@...~~
            ~~~~###~~~~
        ",
    },
    LevelSpec {
        budget: 63,
        map: "
            ###########
            ~...#..#..~
            ~....o....~
            ~....@....~
            ~...#...O.~
            ~..#Y:o.:.~
            ~.........~
            ~.........~
            ~.........~
            ~...O#...#~
            ###########
        ",
    },
    LevelSpec {
        budget: 72,
        map: "
            ~~~~###~~~~
            ~~.......~~
            ~......o..~
            ~......o..~
            #........##
            #......:..#
            #@......O.#
            ~...::..##~
            ~......#..~
            ~~...Y...~~
            ~~~~###~~~~
        ",
    },
];

/// Builds a level.
pub(super) fn hall(index: usize) -> Hall {
    let spec = &LEVELS[index];
    read(spec.map, spec.budget)
}

/// Parses a map, which is a constant of this file or of a test.
pub(super) fn read(text: &str, budget: u8) -> Hall {
    let map = TextMap::new(text);
    assert!(
        map.width() == WIDTH && map.height() == WIDTH,
        "a hall must have {WIDTH} columns and rows"
    );
    let cells = |signs: &[u8]| -> Cells {
        map.iter()
            .filter(|(_, _, sign)| signs.contains(sign))
            .fold(0, |cells, (x, y, _)| cells | 1 << (y * WIDTH + x))
    };
    let mut hall = Hall {
        walls: cells(b"#"),
        moss: cells(b":%"),
        void: cells(b"~"),
        your_ring: cells(b"Y"),
        stone_rings: cells(b"O"),
        start: Board {
            you: cells(b"@"),
            stones: cells(b"o%"),
            held: 0,
        },
        budget,
        background: Frame::filled(0),
    };
    draw::background(&mut hall);
    hall
}
