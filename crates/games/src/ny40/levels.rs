//! The levels as text maps, 11 × 11.
//!
//! `#` wall, `.` floor, `:` moss, `~` void; `@` you, `o` a stone, `%` a stone on moss, `Y` your ring, `O` a stone's ring.
//!
//! A budget is about three times the shortest win; on levels 2 and 3, whose wins are short, twice and two and a half times, so that
//! blind play stays hopeless.

use rhae_engine::{Frame, TextMap};

use super::{Board, Cells, Hall, WIDTH, draw};

struct Plan {
    /// Actions until the level is lost; 0 for no limit.
    budget: u8,
    map: &'static str,
}

const PLANS: [Plan; 8] = [
    Plan {
        budget: 0,
        map: "
            ###########
            #.........#
            ###....##.#
            ##......#.#
            #.........#
            #.........#
            ##...Y#...#
            ###.......#
            #.........#
            #@......#.#
            ###########
        ",
    },
    Plan {
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
    Plan {
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
    Plan {
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
    Plan {
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
    Plan {
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
    Plan {
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
    Plan {
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

/// Makes the hall of a level.
pub(super) fn hall(index: usize) -> Hall {
    let plan = &PLANS[index];
    read(plan.map, plan.budget)
}

/// Reads a hall; a constant of this file, or of a test.
pub(super) fn read(text: &str, budget: u8) -> Hall {
    let map = TextMap::new(text);
    assert!(
        map.width() == WIDTH && map.height() == WIDTH,
        "a hall has {WIDTH} columns and rows"
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
