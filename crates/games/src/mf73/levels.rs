//! The levels as text maps.
//!
//! `#` is rock, `v` a vent, `=` a grate, `A` to `C` are drops of three substances, and `a` to `c` the
//! vessels for them. The comment before each level says what the level teaches.

use rhae_engine::{LevelIndex, TextMap};

use super::settle::{Cell, CellSet, MAX_DROPS, NOWHERE, Points, Room, WIDTH, bit};
use super::{Level, draw};

struct LevelSpec {
    hottest: u8,
    fuel: u8,
    /// The melting and boiling points of the substances that occur.
    points: &'static [(u8, u8)],
    map: &'static str,
}

/// The boiling point of a substance that never boils.
const NEVER: u8 = 9;

const LEVELS: [LevelSpec; 8] = [
    // Warm drops flow; leaning the box moves them.
    LevelSpec {
        hottest: 2,
        fuel: 0,
        points: &[(1, NEVER)],
        map: "
            ###########
            #A........#
            ####......#
            #......####
            #.........#
            #..####...#
            #a........#
            ###########
        ",
    },
    // Hot drops rise. Both obey every key, so that one must be held back by rock or by the other.
    LevelSpec {
        hottest: 3,
        fuel: 8,
        points: &[(1, 2)],
        map: "
            ###########
            #..#.a....#
            ###.#..AA.#
            #..#a.#####
            #....#....#
            #.###.....#
            #.........#
            ###########
        ",
    },
    // Two substances: one is parked frozen, or on the floor, while the other travels.
    LevelSpec {
        hottest: 3,
        fuel: 7,
        points: &[(1, 2), (2, 3)],
        map: "
            #v#########
            #......b#.#
            #B........#
            #A........#
            #...#.....#
            ##.#a.....#
            ###########
        ",
    },
    // A drop is a stop for another drop.
    LevelSpec {
        hottest: 3,
        fuel: 6,
        points: &[(1, 3), (1, 2)],
        map: "
            ###########
            #.........#
            #...B.....#
            #...####..#
            #....A..###
            #.........#
            #....#..ab#
            ######v####
        ",
    },
    // A gas below a liquid changes places with it.
    LevelSpec {
        hottest: 4,
        fuel: 7,
        points: &[(3, 4), (1, NEVER)],
        map: "
            ###########
            #.B.......#
            #.........#
            #.###a....#
            #.#bA.#####
            #..###....#
            #.........#
            ###########
        ",
    },
    // Only a gas passes a grate, and a liquid cannot fall back through it.
    LevelSpec {
        hottest: 4,
        fuel: 9,
        points: &[(1, 4), (3, NEVER)],
        map: "
            ###########
            #.B......a#
            #.........#
            #...=.....#
            #...A######
            #.........#
            #b........#
            ###v#######
        ",
    },
    // Three drops in one corner: exchange and stopping combined.
    LevelSpec {
        hottest: 4,
        fuel: 9,
        points: &[(1, 4), (2, 3), (1, 3)],
        map: "
            ######v####
            #.......cb#
            #.....A..a#
            #.....##..#
            #......B.C#
            #.......###
            #.........#
            ###########
        ",
    },
    // Everything combined.
    LevelSpec {
        hottest: 4,
        fuel: 9,
        points: &[(2, 4), (1, 2), (2, 3)],
        map: "
            ##v########
            #......ca.#
            #....A.##.#
            #==####...#
            #...BC....#
            #.........#
            #.........#
            #........b#
            ###########
        ",
    },
];

/// Builds a level.
pub(super) fn level(index: LevelIndex) -> Level {
    let spec = &LEVELS[index.get()];
    let map = &TextMap::new(spec.map);
    assert_eq!(map.width(), WIDTH, "the width of the map of level {index}");
    let all = |wanted: u8| {
        map.find(wanted)
            .fold(0, |set: CellSet, place| set | bit(cell(place)))
    };
    let letters = |first: u8| {
        (0..spec.points.len()).flat_map(move |substance| {
            let letter = first + substance as u8;
            map.find(letter).map(move |place| (cell(place), substance))
        })
    };
    let mut room = Room {
        rocks: all(b'#'),
        grates: all(b'='),
        vents: all(b'v'),
        drop_count: 0,
        substances: [0; MAX_DROPS],
        points: [Points { melts: 0, boils: 0 }; MAX_DROPS],
    };
    for (points, &(melts, boils)) in room.points.iter_mut().zip(spec.points) {
        *points = Points { melts, boils };
    }
    let mut start = [NOWHERE; MAX_DROPS];
    for (cell, substance) in letters(b'A') {
        start[room.drop_count] = cell;
        room.substances[room.drop_count] = substance;
        room.drop_count += 1;
    }
    let vessels: Vec<_> = letters(b'a').collect();
    let mut level = Level {
        room,
        hottest: spec.hottest,
        fuel: spec.fuel,
        substance_count: spec.points.len(),
        rows: map.height(),
        start,
        vessels,
        backgrounds: Vec::new(),
    };
    level.backgrounds = draw::backgrounds(&level);
    level
}

const fn cell((x, y): (usize, usize)) -> Cell {
    (y * WIDTH + x) as Cell
}
