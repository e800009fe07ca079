//! The levels as text maps.
//!
//! `@` is the raft, `a` to `e` are the homes of the passengers, `#` is a rock and `~` a hole. The
//! comment before each level says what the level teaches.

use rhae_engine::{Frame, LevelIndex, TextMap};

use super::crew::Kind::{self, Big, Contrarian, Echo, Plain};
use super::crew::{
    Board, Cell, CellSet, HEIGHT, MAX_PASSENGERS, NO_PASSENGER, Passenger, Sea, WIDTH, bit,
};
use super::{Level, draw};

pub(super) struct LevelSpec {
    /// The kinds of the passengers `a`, `b` and so on.
    pub(super) kinds: &'static [Kind],
    pub(super) map: &'static str,
}

const LEVELS: [LevelSpec; 8] = [
    // The raft moves in the direction with the most pulls. A vote in this direction carries the
    // raft too far, and a vote against it only makes a tie: vote for a third direction.
    LevelSpec {
        kinds: &[Plain, Plain, Plain],
        map: "
            ###########
            #.........#
            #.........#
            #.........#
            #.........#
            #a...@...b#
            #.....c...#
            #.........#
            ###########
        ",
    },
    // Blindfold one passenger to bring the other one home.
    LevelSpec {
        kinds: &[Plain, Plain],
        map: "
            ###########
            #...#.....#
            #.........#
            #.........#
            #.........#
            #~..a.....#
            #b..~....@#
            #..~......#
            ###########
        ",
    },
    // A blindfolded passenger stays aboard, even at its home: carry one past its home.
    LevelSpec {
        kinds: &[Plain, Plain, Plain],
        map: "
            ###########
            #~.......c#
            #.........#
            #.........#
            #....~....#
            #........~#
            #....b~a..#
            #..~.@....#
            ###########
        ",
    },
    // A contrarian pulls against the vote: vote down to go up.
    LevelSpec {
        kinds: &[Contrarian, Plain, Plain],
        map: "
            ###########
            #......~..#
            #........c#
            #.........#
            #.......~.#
            #~..~.....#
            #...@....~#
            #...a...b~#
            ###########
        ",
    },
    // A big passenger pulls twice. Blindfold it, or let two others pull against it.
    LevelSpec {
        kinds: &[Plain, Plain, Plain, Big],
        map: "
            ###########
            #...a.....#
            #.~c~.....#
            #..~......#
            #b........#
            #..@......#
            #.~.......#
            #.d.......#
            ###########
        ",
    },
    // An echo pulls in the direction of the vote. With it, the player outvotes two passengers.
    LevelSpec {
        kinds: &[Echo, Plain, Plain, Plain],
        map: "
            ###########
            #.........#
            #.........#
            #.........#
            #.....~.d.#
            #.@.~.b...#
            #..~c.....#
            #.......~a#
            ###########
        ",
    },
    // There is a contrarian, and one passenger must pass its home blindfolded.
    LevelSpec {
        kinds: &[Contrarian, Plain, Plain, Plain],
        map: "
            ###########
            #......~.d#
            #.....~...#
            #.....b...#
            #..a.~....#
            #...c.~...#
            #....~...~#
            #....@....#
            ###########
        ",
    },
    // An echo and a contrarian cancel each other until one of them is blindfolded.
    LevelSpec {
        kinds: &[Echo, Contrarian, Plain, Plain, Plain],
        map: "
            ###########
            #........a#
            #~........#
            #..~.d..b##
            #.........#
            #..e...~..#
            #....~.c@.#
            #.........#
            ###########
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
    assert!(spec.kinds.len() <= MAX_PASSENGERS, "too many passengers");
    let all = |wanted: u8| {
        map.find(wanted)
            .fold(0, |set: CellSet, place| set | bit(cell(place)))
    };
    let place = |sign: u8| {
        let found = map.find(sign).next();
        cell(found.expect("the map has a raft and the homes of all passengers"))
    };
    let passengers = (b'a'..).zip(spec.kinds).map(|(sign, &kind)| Passenger {
        home: place(sign),
        kind,
    });
    let mut level = Level {
        sea: Sea {
            rocks: all(b'#'),
            holes: all(b'~'),
            passengers: passengers.collect(),
        },
        start: Board {
            raft: place(b'@'),
            aboard: (1 << spec.kinds.len()) - 1,
            blindfolded: NO_PASSENGER,
        },
        background: Frame::filled(0),
    };
    level.background = draw::background(&level);
    level
}

const fn cell((x, y): (usize, usize)) -> Cell {
    (y * WIDTH + x) as Cell
}
