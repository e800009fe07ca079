//! What the rules know about a frame: beings, empty shrines and empty moods.

use rhae_engine::{Action, StateOf};

use super::{PITCH, corner};
use crate::hk26::Hk26;
use crate::hk26::levels::{Level, square, squares};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block};

impl Annotated for Hk26 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: PITCH as u8,
            offset: (0, 0),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let taken = &state.board.square[..level.count];
        let beings = taken.iter().map(|&square| {
            let (x, y) = corner(square);
            Thing::new("being", block(x, y, 8, 8))
        });
        let shrines = level.shrines.iter().map(|shrine| shrine.square);
        let empty_shrines = shrines.filter(|square| !taken.contains(square));
        let moods = squares().map(|(column, row)| square(column, row));
        let empty_moods =
            moods.filter(|&square| level.mood(square) != 0 && !taken.contains(&square));
        let mut found: Vec<Thing> = beings.collect();
        found.extend(empty_shrines.map(|square| {
            let (x, y) = corner(square);
            Thing::new("shrine", block(x, y, 8, 8))
        }));
        found.extend(empty_moods.map(|square| {
            let (x, y) = corner(square);
            Thing::new("mood", block(x + 2, y + 2, 4, 4))
        }));
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let moved = (0..level.count).filter_map(|being| {
            let squares = [before, after].map(|state| state.board.square[being]);
            let [(x, y), (new_x, new_y)] = squares.map(corner);
            (squares[0] != squares[1]).then(|| Movement {
                from: block(x, y, 8, 8),
                dx: (new_x as isize - x as isize) as i8,
                dy: (new_y as isize - y as isize) as i8,
            })
        });
        moved.collect()
    }
}
