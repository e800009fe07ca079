//! The levels as text maps.
//!
//! `1`, `2` and `3` are creatures that listen to intervals of one, two and three beats, and `s` is
//! one that listens to silence. `A`, `B`, `C` and `S` are the nests for them, and `a`, `b` and `c`
//! are tuners. `#` is a wall and `~` a pit. The comment before each level says what the level
//! teaches.

use rhae_engine::{Frame, LevelIndex, TextMap};

use super::beat::{Cell, CellSet, Creatures, Field, Interval, MAX_CREATURES, NOWHERE, WIDTH, bit};
use super::{Board, Level, draw};

pub(super) struct LevelSpec {
    /// The number of beats before the level restarts; 0 if there is no limit.
    pub(super) beats: u8,
    pub(super) map: &'static str,
}

const LEVELS: [LevelSpec; 8] = [
    // The first press of a key only lights its lamp. Repeating the key moves the creature.
    LevelSpec {
        beats: 0,
        map: "
            1....
            .....
            ...A.
        ",
    },
    // This creature listens to intervals of two beats: interleave two keys.
    LevelSpec {
        beats: 28,
        map: "
            .~..#.
            ~##~#~
            B~~.2.
            ..~...
            ~...#~
            ~.~~#.
        ",
    },
    // Two colours: repeated keys move one creature, interleaved keys the other.
    LevelSpec {
        beats: 28,
        map: "
            .#~~##
            ~.....
            #.#2~.
            #~.A.#
            .B.#.#
            ..1~#.
        ",
    },
    // Silence is an interval as well. Once its creature is on the nest, no key may call it.
    LevelSpec {
        beats: 30,
        map: "
            2.#~s.
            .##~~S
            ....~~
            ~#.~##
            #.B...
            ..~.~.
        ",
    },
    // Two creatures listen to the same interval. A wall stops one of them.
    LevelSpec {
        beats: 36,
        map: "
            ..~..#
            2.~~~.
            #.#.##
            ..##~.
            ~.2#.B
            ~~B...
        ",
    },
    // A tuner changes the interval to which a creature listens.
    LevelSpec {
        beats: 36,
        map: "
            ~B~.##
            ...~#.
            b.B..#
            .#...~
            ~1.~~#
            .2.##.
        ",
    },
    // Three creatures listen to three different intervals.
    LevelSpec {
        beats: 44,
        map: "
            .B~###
            #.3.##
            ...#.~
            C~.#..
            .##~#1
            2~#~A.
        ",
    },
    // Choose which creature steps on which tuner. One creature listens to silence at first.
    LevelSpec {
        beats: 50,
        map: "
            #..s..
            #~A.c#
            ##C#.~
            ..2.##
            a..#~.
            ~~~#..
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
    assert!(
        map.width() <= WIDTH && map.height() <= WIDTH,
        "{}",
        spec.map
    );
    let all = |wanted: u8| {
        map.find(wanted)
            .fold(0, |set: CellSet, place| set | bit(cell(place)))
    };
    // Returns the cells of four signs, with the intervals for which the signs stand.
    let marked = |signs: &[u8; 4]| {
        let signs = signs.iter().zip(Interval::ALL);
        signs
            .flat_map(|(&sign, interval)| map.find(sign).map(move |place| (cell(place), interval)))
            .collect::<Vec<_>>()
    };
    let mut creatures = Creatures {
        cells: [NOWHERE; MAX_CREATURES],
        intervals: [Interval::Silence; MAX_CREATURES],
    };
    let found = marked(b"s123");
    for (creature, &(cell, interval)) in found.iter().enumerate() {
        creatures.cells[creature] = cell;
        creatures.intervals[creature] = interval;
    }
    let mut field = Field {
        columns: map.width(),
        rows: map.height(),
        walls: all(b'#'),
        pits: all(b'~'),
        tuners: [None; 64],
        count: found.len(),
    };
    // No tuner stands for silence.
    for (cell, interval) in marked(b" abc") {
        field.tuners[usize::from(cell)] = Some(interval);
    }
    let mut level = Level {
        field,
        start: Board {
            lights: [0; 4],
            creatures,
            beats: spec.beats,
        },
        nests: marked(b"SABC"),
        background: Frame::filled(0),
    };
    level.background = draw::background(&level);
    level
}

const fn cell((x, y): (usize, usize)) -> Cell {
    (y * WIDTH + x) as Cell
}
