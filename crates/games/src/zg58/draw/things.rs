//! What the rules know about a frame: beads, frames and rocks that no band crosses, bands, and pegs
//! that are not a corner of a band.

use rhae_engine::{Action, Frame, StateOf};
use rhae_percept::Bounds;

use super::{CELL, ORIGIN, Point, cells, corner, pixel};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block};
use crate::zg58::band::{BANDS, Cell};
use crate::zg58::{Level, Zg58};

impl Annotated for Zg58 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((ORIGIN % CELL) as u8, (ORIGIN % CELL) as u8),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let board = &state.board;
        let mut frame = Frame::filled(0);
        super::settled(level, board, &mut frame);
        let beads = board.beads[..level.count].iter();
        let mut found: Vec<Thing> = beads.map(|&cell| Thing::new("bead", bead(cell))).collect();
        let frames = level.frames[..level.count].iter();
        let rocks = cells(level.rocks).map(|cell| ("rock", inside(cell)));
        let outlined = frames
            .map(|&cell| ("frame", inside(cell)))
            .chain(rocks)
            .filter(|(_, area)| is_outline_whole(&frame, *area));
        found.extend(outlined.map(|(name, area)| Thing::new(name, area)));
        for band in 0..BANDS {
            let pegs = &level.bands[band].pegs;
            let corners = &level.bands[band].shape(board.enclosed[band]).corners;
            let outline = corners.iter().map(|&corner| peg(pegs[corner]));
            found.extend(
                outline
                    .reduce(Bounds::joined)
                    .map(|area| Thing::new("band", area)),
            );
            let loose = (0..pegs.len()).filter(|peg| !corners.contains(peg));
            found.extend(loose.map(|index| Thing::new("peg", peg(pegs[index]))));
        }
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let moved = (0..level.count).filter_map(|index| {
            let cells = [before, after].map(|state| state.board.beads[index]);
            Movement::between(bead(cells[0]), corner(cells[0]), corner(cells[1]))
        });
        moved.collect()
    }
}

fn bead(cell: Cell) -> Bounds {
    let (x, y) = corner(cell);
    block(x + 2, y + 2, 5, 5)
}

/// Returns a cell without the lines around it.
fn inside(cell: Cell) -> Bounds {
    let (x, y) = corner(cell);
    block(x + 1, y + 1, 7, 7)
}

fn peg(point: Point) -> Bounds {
    let (x, y) = pixel(point);
    block(usize::from(x) - 1, usize::from(y) - 1, 3, 3)
}

/// Returns whether the pixels at the sides of an area have one colour: no band crosses them.
fn is_outline_whole(frame: &Frame, area: Bounds) -> bool {
    let color = |x: u8, y: u8| frame.get(x.into(), y.into());
    let first = color(area.left, area.top);
    let rows = (area.left..=area.right)
        .all(|x| [area.top, area.bottom].map(|y| color(x, y)) == [first; 2]);
    let columns = (area.top..=area.bottom)
        .all(|y| [area.left, area.right].map(|x| color(x, y)) == [first; 2]);
    rows && columns
}
