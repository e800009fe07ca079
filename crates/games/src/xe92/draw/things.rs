//! What the rules know about a frame: crystals, rocks, marks and the pips left. Nothing moves:
//! crystals grow and melt.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{LEFT, PIP_PITCH, PIPS_TOP, PITCH, TOP, corner};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};
use crate::xe92::crystal::{Cell, cells};
use crate::xe92::{Level, Xe92};

impl Annotated for Xe92 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        // The lines to the left of and above a cell belong to it.
        Some(CellGrid {
            cell: PITCH as u8,
            offset: (((LEFT - 1) % PITCH) as u8, ((TOP - 1) % PITCH) as u8),
        })
    }

    fn bars(level: &Level) -> Vec<Bounds> {
        (0..level.pips).map(pip).collect()
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let ice = cells(state.board.ice).map(|cell| (cell.x as usize, cell.y as usize));
        let crystals = groups(ice, false).into_iter().map(|group| {
            let cells = group.iter().map(|&(x, y)| {
                whole(Cell {
                    x: x as i8,
                    y: y as i8,
                })
            });
            let area = cells.reduce(Bounds::joined);
            Thing::new("crystal", area.expect("a group has at least one cell"))
        });
        let mut found: Vec<Thing> = crystals.collect();
        found.extend(cells(level.rocks).map(|cell| Thing::new("rock", whole(cell))));
        found.extend(cells(level.wanted).map(|cell| {
            let (x, y) = corner(cell);
            Thing::new("mark", block(x + 1, y + 1, 2, 2))
        }));
        found.extend((0..state.board.pips).map(|index| Thing::new("pip", pip(index))));
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

fn whole(cell: Cell) -> Bounds {
    let (x, y) = corner(cell);
    block(x, y, 4, 4)
}

fn pip(index: u8) -> Bounds {
    block(LEFT + usize::from(index) * PIP_PITCH, PIPS_TOP, 3, 3)
}
