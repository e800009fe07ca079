//! What the rules know about a frame: creatures, the selection, free nests, pits and free-standing
//! walls.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{BODY, CELL, HEIGHT, LEFT, TOP, WIDTH, corner};
use crate::iv71::habit::{Cell, bit};
use crate::iv71::{Iv71, Level, first_board};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};

impl Annotated for Iv71 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((LEFT % CELL) as u8, (TOP % CELL) as u8),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let board = &state.board;
        let taken = &board.creatures.cells[..level.count];
        let mut found: Vec<Thing> = taken
            .iter()
            .map(|&cell| Thing::new("creature", body(cell)))
            .collect();
        let selected = taken[usize::from(board.selected)];
        found.push(Thing::new("selection", whole(selected)));
        let nests = level.nests[..level.count].iter();
        found.extend(
            nests
                .filter(|nest| !taken.contains(nest))
                .map(|&nest| Thing::new("nest", whole(nest))),
        );
        let all = || 0..(WIDTH * HEIGHT) as Cell;
        let pits = all().filter(|&cell| level.pits & bit(cell) != 0);
        found.extend(pits.map(|cell| Thing::new("pit", whole(cell))));
        let walls = all()
            .filter(|&cell| level.walls & bit(cell) != 0)
            .map(|cell| (usize::from(cell) % WIDTH, usize::from(cell) / WIDTH));
        let at_rim =
            |&(x, y): &(usize, usize)| x == 0 || y == 0 || x == WIDTH - 1 || y == HEIGHT - 1;
        found.extend(
            groups(walls, false)
                .into_iter()
                .filter(|group| !group.iter().any(at_rim))
                .map(|group| Thing::new("wall", area(&group))),
        );
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        if after.board == first_board(level) {
            return Vec::new();
        }
        let (old, new) = (&before.board.creatures, &after.board.creatures);
        let alike = (0..level.count).filter(|&one| old.habits[one] == new.habits[one]);
        let moved = alike.filter_map(|one| {
            let (from, to) = (old.cells[one], new.cells[one]);
            Movement::between(body(from), corner(from), corner(to))
        });
        moved.collect()
    }
}

fn body(cell: Cell) -> Bounds {
    let (x, y) = corner(cell);
    block(x + 1, y + 1, BODY, BODY)
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
