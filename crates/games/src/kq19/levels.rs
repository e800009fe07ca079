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
    assert!(
        map.width() == SIDE && map.height() == SIDE,
        "level {index} is not {SIDE} by {SIDE}"
    );
    let all = |wanted: u8| {
        map.find(wanted)
            .fold(0, |set: Places, (x, y)| set | place(x, y))
    };
    let (walls, glue) = (all(b'#'), all(b'~'));
    let (grains, targets) = ([all(b'a'), all(b'b')], [all(b'A'), all(b'B')]);
    Room {
        ground: Ground::new(walls, glue),
        start: Heap {
            grains,
            hard: false,
        },
        counts: grains.map(u128::count_ones),
        targets,
        budget: plan.budget,
        background: draw::background(walls, glue, targets, plan.budget.is_some()),
    }
}

const PLANS: [Plan; 8] = [
    // One key moves every grain.
    Plan {
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
    // The ledge folds the row.
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
    // Glue catches what is loose; hard, the heap crosses.
    Plan {
        budget: Some(56),
        map: "
            ......~....
            ......~....
            ......~..A.
            ......~.AA.
            ..##..~.A..
            ......~....
            ......~....
            ......~....
            .aaaa.~....
            ......~....
            ......~....
        ",
    },
    // One spot of glue holds a grain while the others go on.
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
    // Hard, a wall stops one body whole and lets the other come nearer.
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
    // Held at the spot, grains are overtaken by the other kind.
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
    // Shape it on this side, carry it to the other.
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
    // The bars change sides at the spot and cross as they are.
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
