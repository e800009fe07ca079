//! What the rules know about a frame: the sheet with its marks and plates, the punches left, the
//! folds and the spare sheets. Nothing moves: a fold changes the sheet itself.

use rhae_engine::{Action, StateOf};

use super::{CELL, PUNCH_PITCH, PUNCHES, SLOTS, SPARES};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block};
use crate::pz19::paper::cells_of;
use crate::pz19::{Level, Pz19};

impl Annotated for Pz19 {
    fn grid(level: &Level) -> Option<CellGrid> {
        let canvas = &level.canvas;
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((canvas.origin % CELL) as u8, (canvas.top % CELL) as u8),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let (sheet, canvas, board) = (&level.sheet, &level.canvas, &state.board);
        let folds = &board.folds;
        let hull = folds.hull(sheet.size);
        let (left, top) = canvas.corner((hull.left(), hull.top()));
        let (right, bottom) = canvas.corner((hull.right(), hull.bottom()));
        let paper = block(left, top, right - left, bottom - top);
        let mut found = vec![Thing::new("sheet", paper)];
        let look = sheet.look(folds, board.open, false);
        for (name, set) in [("mark", look.right), ("plate", look.inner_plate)] {
            found.extend(cells_of(set).map(|place| {
                let (x, y) = canvas.corner(place);
                Thing::new(name, block(x, y, 4, 4))
            }));
        }
        found.extend((0..usize::from(board.punches)).map(|token| {
            Thing::new(
                "punch",
                block(PUNCHES.0 + PUNCH_PITCH * token, PUNCHES.1, 4, 4),
            )
        }));
        found.extend(
            (0..folds.list().len())
                .map(|slot| Thing::new("fold", block(SLOTS.0 + 6 * slot, SLOTS.1, 5, 5))),
        );
        found.extend(
            (1..usize::from(state.spent.0))
                .map(|spare| Thing::new("spare", block(SPARES.0 + 7 * spare - 7, SPARES.1, 6, 6))),
        );
        found
    }

    fn movements(
        _level: &Level,
        _before: &StateOf<Self>,
        _action: Action,
        _after: &StateOf<Self>,
    ) -> Vec<Movement> {
        Vec::new()
    }
}
