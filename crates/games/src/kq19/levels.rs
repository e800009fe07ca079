//! The levels as text maps.
//!
//! `#` wall, `~` glue, `a` and `b` grains of the two kinds, `A` and `B` the places they must fill. The outside is wall.

use rhae_engine::{LevelIndex, TextMap};

use super::Room;
use super::draw;
use super::heap::{Ground, Heap, Places, SIDE, place};

struct Plan {
    budget: Option<u8>,
    map: &'static str,
}

/// Reads a level.
pub(super) fn room(index: LevelIndex) -> Room {
    let plan = &PLANS[index.get()];
    let map = TextMap::new(plan.map);
    assert!(map.width() == SIDE && map.height() == SIDE, "level {index} is not {SIDE} by {SIDE}");
    let all = |wanted: u8| map.find(wanted).fold(0, |set: Places, (x, y)| set | place(x, y));
    let (walls, glue) = (all(b'#'), all(b'~'));
    let (grains, targets) = ([all(b'a'), all(b'b')], [all(b'A'), all(b'B')]);
    Room {
        ground: Ground::new(walls, glue),
        start: Heap { grains, hard: false },
        targets,
        budget: plan.budget,
        background: draw::background(walls, glue, targets, plan.budget.is_some()),
    }
}

const PLANS: [Plan; 8] = [
    Plan {
        budget: None,
        map: "
            ###########
            #.........#
            #.........#
            #.....A...#
            #.....AA..#
            #.....A...#
            #.........#
            #..a......#
            #..aa.....#
            #..a......#
            ###########
        ",
    },
    Plan {
        budget: Some(45),
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
    Plan {
        budget: Some(52),
        map: "
            ...........
            ..A........
            .AAA....#..
            ..A..#.....
            ...........
            ~~~~~~~~~~~
            ...........
            ..#...#.a..
            .......aaa.
            ....#...a..
            ...........
        ",
    },
    Plan {
        budget: Some(60),
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
    Plan {
        budget: Some(64),
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
    Plan {
        budget: Some(60),
        map: "
            ###########
            #.........#
            #.........#
            #...ABAB..#
            #.........#
            #.........#
            #....~....#
            #.........#
            #..aabb...#
            #.........#
            ###########
        ",
    },
    Plan {
        budget: Some(68),
        map: "
            ###########
            #....~....#
            #....~.AB.#
            #....~.BA.#
            #....~....#
            #....~....#
            #..#.~....#
            #....~....#
            #.aa.~....#
            #.bb.~....#
            ###########
        ",
    },
    Plan {
        budget: Some(88),
        map: "
            ###########
            #...B.A...#
            #...B.A...#
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
];
