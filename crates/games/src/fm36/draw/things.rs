//! What the rules know about a frame: pieces, frames, rocks and the square of the breath.

use rhae_engine::{Action, StateOf};

use super::{BOARD, CELL, ORIGIN, corner};
use crate::fm36::breath::{Breath, cells};
use crate::fm36::{Fm36, Level};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block};

impl Annotated for Fm36 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((ORIGIN % CELL) as u8, (ORIGIN % CELL) as u8),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let board = &state.board;
        let whole = |cell| {
            let (x, y) = corner(cell);
            block(x, y, CELL, CELL)
        };
        let mut found = Vec::new();
        for piece in 0..level.count {
            let (x, y) = corner(board.pieces[piece]);
            found.push(Thing::new("piece", block(x + 1, y + 1, 4, 4)));
            found.push(Thing::new("frame", whole(level.frames[piece])));
        }
        found.extend(cells(level.rocks).map(|rock| Thing::new("rock", whole(rock))));
        let distance = match board.breath {
            Breath::Out => 1,
            Breath::In => 4,
        };
        let (start, side) = (ORIGIN - distance, BOARD + 2 * distance);
        found.push(Thing::new("breath", block(start, start, side, side)));
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let moved = (0..level.count).filter_map(|piece| {
            let [from, to] = [before, after].map(|state| corner(state.board.pieces[piece]));
            Movement::between(block(from.0 + 1, from.1 + 1, 4, 4), from, to)
        });
        moved.collect()
    }
}
