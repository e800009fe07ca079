//! What the rules know about a frame: you, the stones, the rings, free-standing walls and moss.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{CELL, LEFT, TOP, corners};
use crate::ny40::{Cells, Hall, Ny40, WIDTH};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};

impl Annotated for Ny40 {
    fn grid(_hall: &Hall) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((LEFT % CELL) as u8, (TOP % CELL) as u8),
        })
    }

    fn things(hall: &Hall, state: &StateOf<Self>) -> Vec<Thing> {
        let board = &state.board;
        let taken = board.you | board.stones;
        let single = [
            ("you", board.you & !hall.void),
            ("stone", board.stones & !hall.void),
            ("ring", (hall.your_ring | hall.stone_rings) & !taken),
        ];
        let mut found: Vec<Thing> = single
            .into_iter()
            .flat_map(|(name, set)| {
                corners(set).map(move |(x, y)| Thing::new(name, block(x, y, CELL, CELL)))
            })
            .collect();
        for (name, set) in [("wall", hall.walls), ("moss", hall.moss & !taken)] {
            let groups = groups(places(set), false).into_iter();
            let free = groups.filter(|group| {
                let far = WIDTH - 1;
                let at_border = |&(x, y): &(usize, usize)| x == 0 || y == 0 || x == far || y == far;
                !group.iter().any(at_border)
            });
            found.extend(free.map(|group| Thing::new(name, area(&group))));
        }
        found
    }

    fn movements(
        hall: &Hall,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let (old, new) = (&before.board, &after.board);
        if new.you & hall.void != 0 {
            return Vec::new();
        }
        let yours = movement(old.you, new.you);
        let mut found: Vec<Movement> = yours.into_iter().collect();
        if let Some(yours) = yours {
            // Held stones move with you.
            found.extend(corners(old.held).map(|(x, y)| Movement {
                from: block(x, y, CELL, CELL),
                ..yours
            }));
        }
        let (left, arrived) = (old.stones & !new.stones, new.stones & !old.stones);
        if old.held == 0 && left.count_ones() == 1 && arrived & !hall.void == arrived {
            found.extend(movement(left, arrived));
        }
        found
    }
}

/// Returns the movement from one cell to another, `None` if one set is not a single other cell.
fn movement(from: Cells, to: Cells) -> Option<Movement> {
    let single = from.count_ones() == 1 && to.count_ones() == 1 && from != to;
    let ((x, y), (new_x, new_y)) = corners(from).next().zip(corners(to).next())?;
    single.then(|| Movement {
        from: block(x, y, CELL, CELL),
        dx: (new_x as isize - x as isize) as i8,
        dy: (new_y as isize - y as isize) as i8,
    })
}

fn places(set: Cells) -> impl Iterator<Item = (usize, usize)> {
    corners(set).map(|(x, y)| ((x - LEFT) / CELL, (y - TOP) / CELL))
}

fn area(group: &[(usize, usize)]) -> Bounds {
    let cells = group
        .iter()
        .map(|&(x, y)| block(LEFT + x * CELL, TOP + y * CELL, CELL, CELL));
    cells
        .reduce(Bounds::joined)
        .expect("a group has at least one cell")
}
