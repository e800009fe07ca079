//! What the rules know about a frame: drops, empty vessels, rocks, grates, vents, the bands of the
//! scale, fuel and lives.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{CELL, FUEL_TOP, LEFT, LIVES_TOP, PITCH, SCALE_WIDTH, TOP, WIDTH, band_rows, corner};
use crate::mf73::settle::{Cell, CellSet, Phase, bit};
use crate::mf73::{Level, Mf73};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};

impl Annotated for Mf73 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((LEFT % CELL) as u8, (TOP % CELL) as u8),
        })
    }

    fn bars(level: &Level) -> Vec<Bounds> {
        let blocks = 0..usize::from(level.fuel);
        blocks
            .map(|fuel| block(LEFT + fuel * PITCH, FUEL_TOP, 4, 4))
            .collect()
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let (room, drops) = (&level.room, &state.board.drops);
        let in_vessel = |cell: Cell| level.vessels.iter().any(|&(vessel, _)| vessel == cell);
        let mut found: Vec<Thing> = (0..room.drop_count)
            .filter(|&drop| !in_vessel(drops[drop]))
            .map(|drop| Thing::new("drop", drop_area(level, state, drop)))
            .collect();
        let empty = level.vessels.iter().map(|&(vessel, _)| vessel);
        found.extend(
            empty
                .filter(|vessel| !drops.contains(vessel))
                .map(|vessel| Thing::new("vessel", whole(vessel))),
        );
        for (name, set) in [("grate", room.grates), ("vent", room.vents)] {
            let free = places(level, set).filter(|cell| !drops.contains(cell));
            found.extend(free.map(|cell| Thing::new(name, whole(cell))));
        }
        let rocks = places(level, room.rocks).map(|cell| {
            let cell = usize::from(cell);
            (cell % WIDTH, cell / WIDTH)
        });
        let last = (WIDTH - 1, level.rows - 1);
        let at_border = |&(x, y): &(usize, usize)| x == 0 || y == 0 || x == last.0 || y == last.1;
        found.extend(
            groups(rocks, false)
                .into_iter()
                .filter(|group| !group.iter().any(at_border))
                .map(|group| Thing::new("rock", area(&group))),
        );
        found.extend((0..=level.hottest).map(|degree| {
            let (top, height) = band_rows(level, degree);
            Thing::new("band", block(0, top, SCALE_WIDTH, height))
        }));
        let fuel = state.board.fuel.min(level.fuel);
        let lives = if level.is_dangerous() { state.spent } else { 0 };
        for (name, count, top) in [("fuel", fuel, FUEL_TOP), ("life", lives, LIVES_TOP)] {
            let blocks = 0..usize::from(count);
            found.extend(blocks.map(|at| Thing::new(name, block(LEFT + at * PITCH, top, 4, 4))));
        }
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        if before.spent != after.spent {
            return Vec::new();
        }
        let phase = |state: &StateOf<Self>, drop| level.room.phase(drop, state.board.temperature);
        let alike =
            (0..level.room.drop_count).filter(|&drop| phase(before, drop) == phase(after, drop));
        let moved = alike.filter_map(|drop| {
            let [from, to] = [before, after].map(|state| corner(state.board.drops[drop]));
            Movement::between(drop_area(level, before, drop), from, to)
        });
        moved.collect()
    }
}

fn drop_area(level: &Level, state: &StateOf<Mf73>, drop: usize) -> Bounds {
    let (x, y) = corner(state.board.drops[drop]);
    match level.room.phase(drop, state.board.temperature) {
        Phase::Solid | Phase::Gas => block(x, y, CELL, CELL),
        Phase::Liquid => block(x, y + 2, CELL, 3),
    }
}

fn places(level: &Level, set: CellSet) -> impl Iterator<Item = Cell> {
    (0..(level.rows * WIDTH) as Cell).filter(move |&cell| set & bit(cell) != 0)
}

fn whole(cell: Cell) -> Bounds {
    let (x, y) = corner(cell);
    block(x, y, CELL, CELL)
}

fn area(group: &[(usize, usize)]) -> Bounds {
    let cells = group
        .iter()
        .map(|&(x, y)| block(LEFT + x * CELL, TOP + y * CELL, CELL, CELL));
    cells
        .reduce(Bounds::joined)
        .expect("a group has at least one cell")
}
