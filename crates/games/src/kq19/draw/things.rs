//! What the rules know about a frame: grains or bodies, outlines, glue and free-standing walls.

use rhae_engine::{Action, Direction, StateOf};

use super::{CELL, FRAME, ORIGIN, corner};
use crate::kq19::heap::{CellSet, ROOM, cell, cells};
use crate::kq19::{Kq19, Room};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};

impl Annotated for Kq19 {
    fn grid(_room: &Room) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((ORIGIN % CELL) as u8, (ORIGIN % CELL) as u8),
        })
    }

    fn things(room: &Room, state: &StateOf<Self>) -> Vec<Thing> {
        let heap = &state.board;
        let all = heap.all();
        let grains = if heap.hard {
            things("body", all)
        } else {
            cells(all)
                .map(|(x, y)| Thing::new("grain", area(&[(x, y)])))
                .collect()
        };
        let walls = cells(ROOM).fold(0, |walls, (x, y)| {
            let (left, top) = corner(x, y);
            let is_wall = room.background.get(left + 2, top + 2) == FRAME;
            if is_wall { walls | cell(x, y) } else { walls }
        });
        let outlines = room.targets.into_iter().flat_map(|target| {
            groups(cells(target), false)
                .into_iter()
                .filter(|group| group.iter().all(|&(x, y)| all & cell(x, y) == 0))
                .map(|group| Thing::new("outline", area(&group)))
        });
        let free = groups(cells(walls), false).into_iter().filter(|group| {
            let at_border = |&(x, y): &(usize, usize)| x == 0 || y == 0 || x == 10 || y == 10;
            !group.iter().any(at_border)
        });
        let mut found = grains;
        found.extend(outlines);
        found.extend(free.map(|group| Thing::new("wall", area(&group))));
        found.extend(things("glue", room.ground.glue() & !all));
        found
    }

    fn movements(
        room: &Room,
        before: &StateOf<Self>,
        action: Action,
        _after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let Some(direction) = Direction::of(action) else {
            return Vec::new();
        };
        let heap = &before.board;
        let moving = heap.all() & !room.ground.stuck(heap, direction);
        let (dx, dy) = direction.delta();
        let bodies = if heap.hard {
            groups(cells(moving), false)
        } else {
            cells(moving).map(|grain| vec![grain]).collect()
        };
        let moved = bodies.iter().map(|body| Movement {
            from: area(body),
            dx: (dx * CELL as isize) as i8,
            dy: (dy * CELL as isize) as i8,
        });
        moved.collect()
    }
}

fn things(name: &'static str, set: CellSet) -> Vec<Thing> {
    let groups = groups(cells(set), false).into_iter();
    groups.map(|group| Thing::new(name, area(&group))).collect()
}

fn area(group: &[(usize, usize)]) -> rhae_percept::Bounds {
    let cells = group.iter().map(|&(x, y)| {
        let (left, top) = corner(x, y);
        block(left, top, CELL, CELL)
    });
    cells
        .reduce(rhae_percept::Bounds::joined)
        .expect("a group has at least one cell")
}
