//! What the rules know about a frame: creatures, empty nests, rocks and water.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{GROUND, PITCH, ROCK, SPRITES, WATER, corner};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};
use crate::ym39::herd::{Herd, all_cells};
use crate::ym39::{Level, Ym39};

impl Annotated for Ym39 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: PITCH as u8,
            offset: (0, 0),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let herd = &state.board;
        let mut found: Vec<Thing> = (0..level.land.count)
            .map(|index| Thing::new("creature", creature(level, herd, index)))
            .collect();
        for &(cell, _) in level.nests() {
            if herd.creatures_at(cell) == 0 {
                let (x, y) = corner(cell);
                found.push(Thing::new("nest", block(x, y, PITCH + 1, PITCH + 1)));
            }
        }
        let drawn = |color: u8| {
            let cells = all_cells().map(corner).filter(move |&(x, y)| {
                // This pixel is plain in rocks and in water, and a nest's dot does not cover it.
                level.background.get(x + 2, y + 2) == color
            });
            cells.map(|(x, y)| (x / PITCH, y / PITCH))
        };
        for place in drawn(ROCK) {
            found.push(Thing::new("rock", inside(&[place])));
        }
        for group in groups(drawn(WATER), false) {
            found.push(Thing::new("water", inside(&group)));
        }
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let moved = (0..level.land.count).filter_map(|index| {
            let cells = [before, after].map(|state| corner(state.board.get(index).cell));
            let [(x, y), (new_x, new_y)] = cells;
            (cells[0] != cells[1]).then(|| Movement {
                from: creature(level, &before.board, index),
                dx: (new_x as isize - x as isize) as i8,
                dy: (new_y as isize - y as isize) as i8,
            })
        });
        moved.collect()
    }
}

/// Returns the bounds of a creature's sprite without the ground around it.
fn creature(level: &Level, herd: &Herd, index: usize) -> Bounds {
    let creature = herd.get(index);
    let sprite = &SPRITES[level.land.kinds[index] as usize][creature.gaze as usize];
    let (left, top) = corner(creature.cell);
    let pixels = (0..36).filter(|pixel| sprite[pixel / 6][pixel % 6] != GROUND);
    let cells = pixels.map(|pixel| block(left + 1 + pixel % 6, top + 1 + pixel / 6, 1, 1));
    cells.reduce(Bounds::joined).expect("a sprite is not empty")
}

/// Returns the bounds of cells without the lines around them.
fn inside(group: &[(usize, usize)]) -> Bounds {
    let cells = group
        .iter()
        .map(|&(x, y)| block(x * PITCH + 1, y * PITCH + 1, PITCH - 1, PITCH - 1));
    cells
        .reduce(Bounds::joined)
        .expect("a group has at least one cell")
}
