//! The levels as text maps.
//!
//! `a`, `b` and `c` are creatures, and `A`, `B` and `C` their nests. `#` is a wall and `~` a pit.
//! The comment before each level says what the level teaches.

use rhae_engine::Direction::{Down, Left, Right, Up};
use rhae_engine::{Direction, Frame, LevelIndex, TextMap};

use super::habit::{Cell, CellSet, Creatures, HEIGHT, Habit, MAX_CREATURES, NOWHERE, WIDTH, bit};
use super::{Level, draw};

pub(super) struct LevelSpec {
    /// The next move of each creature and the move after it.
    pub(super) habits: &'static [(Direction, Direction)],
    /// The number of creatures that can be selected. They come before the wild ones.
    pub(super) tame: usize,
    pub(super) map: &'static str,
}

const LEVELS: [LevelSpec; 8] = [
    // The other creature moves by itself. Both must be on their nests in the same turn.
    LevelSpec {
        habits: &[(Left, Right), (Right, Left)],
        tame: 2,
        map: "
            #######
            #..bB.#
            #.....#
            #a....#
            #....A#
            #######
        ",
    },
    // A creature whose two moves lead into a wall stays there. Then select the other creature.
    LevelSpec {
        habits: &[(Right, Left), (Up, Down)],
        tame: 2,
        map: "
            #...##.
            .a.~#..
            ..~....
            ...~#.#
            ..B....
            .~.~bA.
        ",
    },
    // A creature that steps back and forth is on its nest in every second turn.
    LevelSpec {
        habits: &[(Up, Down), (Up, Down)],
        tame: 2,
        map: "
            ~.A.#.a
            ......~
            .b.~.~.
            .###..B
            ....#..
            .##..~.
        ",
    },
    // A creature that is left in motion reaches its nest while the player steers the other one.
    LevelSpec {
        habits: &[(Left, Right), (Right, Left)],
        tame: 2,
        map: "
            ~..#~..
            ..#....
            ....~A.
            ~b.#.~#
            .#..a#.
            ..#..B.
        ",
    },
    // A wild creature cannot be steered. It takes over the habit of the creature that it runs into.
    LevelSpec {
        habits: &[(Up, Down), (Up, Down)],
        tame: 1,
        map: "
            ~...##.
            .B.b~..
            ..aA...
            ...##.~
            ...#...
            .....#.
        ",
    },
    // Two creatures that collide head-on exchange their habits.
    LevelSpec {
        habits: &[(Right, Left), (Up, Down), (Down, Up)],
        tame: 2,
        map: "
            .ac.B.A
            ...#..~
            .......
            .#.#C..
            .#..~#.
            .b##~##
        ",
    },
    // Two tame creatures must pass the right habit to a wild one.
    LevelSpec {
        habits: &[(Up, Down), (Down, Up), (Left, Right)],
        tame: 2,
        map: "
            .#~..b.
            #~....A
            #..c~.~
            #...#..
            .#C.##.
            ..aB..#
        ",
    },
    // The tame creature passes its habit to one wild creature, which passes it to the other one.
    LevelSpec {
        habits: &[(Left, Right), (Right, Left), (Right, Left)],
        tame: 1,
        map: "
            ..#.B..
            bC....#
            .A..a.#
            c.~..#.
            ..~...#
            ~.##.#.
        ",
    },
];

/// Builds a level.
pub(super) fn level(index: LevelIndex) -> Level {
    read(&LEVELS[index.get()])
}

/// Reads a level.
pub(super) fn read(spec: &LevelSpec) -> Level {
    let map = TextMap::new(spec.map);
    assert_eq!((map.width(), map.height()), (WIDTH, HEIGHT), "{}", spec.map);
    let all = |wanted: u8| {
        map.find(wanted)
            .fold(0, |set: CellSet, place| set | bit(cell(place)))
    };
    let place = |sign: u8| map.find(sign).next().map_or(NOWHERE, cell);
    let letter = |first: u8| move |creature: usize| place(first + creature as u8);
    let mut level = Level {
        walls: all(b'#'),
        pits: all(b'~'),
        count: spec.habits.len(),
        wild: std::array::from_fn(|creature| creature >= spec.tame),
        nests: std::array::from_fn(letter(b'A')),
        start: Creatures {
            cells: std::array::from_fn(letter(b'a')),
            habits: [Habit { next: Up, then: Up }; MAX_CREATURES],
        },
        background: Frame::filled(0),
    };
    for (habit, &(next, then)) in level.start.habits.iter_mut().zip(spec.habits) {
        *habit = Habit { next, then };
    }
    level.background = draw::background(&level);
    level
}

const fn cell((x, y): (usize, usize)) -> Cell {
    (y * WIDTH + x) as Cell
}
