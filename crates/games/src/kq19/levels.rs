//! The levels as text maps.
//!
//! `#` is wall, `~` is glue, `a` and `b` are grains of the two kinds, and `A` and `B` are the cells
//! that they must fill. `d` is a grain of the second kind on a cell that its kind must fill. Grains
//! cannot leave the map. The comment before each level says what the level teaches.

use rhae_engine::{LevelIndex, TextMap};

use super::Room;
use super::draw;
use super::heap::{CellSet, Ground, Heap, SIDE, cell};

struct LevelSpec {
    budget: Option<u8>,
    map: &'static str,
}

/// Builds a level.
pub(super) fn room(index: LevelIndex) -> Room {
    let spec = &LEVELS[index.get()];
    let map = TextMap::new(spec.map);
    assert!(
        map.width() == SIDE && map.height() == SIDE,
        "the map of level {index} is not {SIDE} by {SIDE}"
    );
    let all = |wanted: u8| {
        map.find(wanted)
            .fold(0, |set: CellSet, (x, y)| set | cell(x, y))
    };
    let (walls, glue) = (all(b'#'), all(b'~'));
    let on_target = all(b'd');
    let grains = [all(b'a'), all(b'b') | on_target];
    let targets = [all(b'A'), all(b'B') | on_target];
    Room {
        ground: Ground::new(walls, glue),
        start: Heap {
            grains,
            hard: false,
        },
        counts: grains.map(u128::count_ones),
        targets,
        budget: spec.budget,
        background: draw::background(walls, glue, targets, spec.budget),
    }
}

const LEVELS: [LevelSpec; 8] = [
    // A key moves every grain.
    LevelSpec {
        budget: None,
        map: "
            ###########
            #.........#
            #.........#
            #.....AA..#
            #.....AAA.#
            #.........#
            #.........#
            #..aa.....#
            #..aaa....#
            #.........#
            ###########
        ",
    },
    // A ledge folds a row of grains.
    LevelSpec {
        budget: Some(30),
        map: "
            ...........
            .......AA..
            .......AA..
            ...........
            ...........
            ......##...
            ...........
            ...........
            ..aaaa.....
            ...........
            ...........
        ",
    },
    // Glue holds loose grains; a hard heap crosses it.
    LevelSpec {
        budget: Some(39),
        map: "
            ......~....
            ......~....
            ......~.A..
            ......~AA..
            ..##..~A...
            ......~....
            ......~....
            ......~....
            .aaaa.~....
            ......~....
            ......~....
        ",
    },
    // One cell of glue holds a grain while the others move.
    LevelSpec {
        budget: Some(30),
        map: "
            ###########
            #.........#
            #...A.A...#
            #.........#
            #...A.A...#
            #.........#
            #....~....#
            #.........#
            #....aa...#
            #....aa...#
            ###########
        ",
    },
    // A wall stops one hard body while the other one approaches it.
    LevelSpec {
        budget: Some(32),
        map: "
            ...........
            ...........
            ....A......
            ...AA......
            ......A....
            ......AA...
            ..#........
            ...........
            ..a.....a..
            .aa.....aa.
            ...........
        ",
    },
    // Grains held by glue are overtaken by the other kind.
    LevelSpec {
        budget: Some(28),
        map: "
            ###########
            #.........#
            #.........#
            #.........#
            #...ABAB..#
            #.........#
            #....~....#
            #.........#
            #..aabb...#
            #.........#
            ###########
        ",
    },
    // The two bars must change sides at a cell of glue and then cross the row of glue in the hard
    // state.
    LevelSpec {
        budget: Some(40),
        map: "
            ###########
            #...BA....#
            #...BA....#
            #.........#
            #~~~~~~~~~#
            #.........#
            #....~....#
            #.........#
            #..a...b..#
            #..a...b..#
            ###########
        ",
    },
    // Both bars must be turned upright, which takes two changes between loose and hard.
    LevelSpec {
        budget: Some(40),
        map: "
            ###########
            ###########
            ##aa...A~##
            ##.....A.##
            ##.......##
            ##.......##
            ##.......##
            ##.#.bd..##
            ##....B..##
            ###########
            ###########
        ",
    },
];
