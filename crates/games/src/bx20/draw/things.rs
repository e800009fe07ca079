//! What the rules know about a frame: plants, empty bloom cells, rocks and windows.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{CELL, WALL_WIDTH, corner, window_area};
use crate::bx20::Bx20;
use crate::bx20::board::{Board, NONE, SIDE, bit};
use crate::bx20::levels::Level;
use crate::perception::{Annotated, CellGrid, Movement, Thing, block};

impl Annotated for Bx20 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL,
            offset: (WALL_WIDTH % CELL, WALL_WIDTH % CELL),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let (layout, board) = (&level.layout, &state.board);
        let mut found = Vec::new();
        for plant in 0..layout.count {
            found.push(Thing::new("plant", bounds(level, board, plant)));
            let bloom = layout.bloom_cells[plant];
            if board.plants & bit(bloom) == 0 {
                found.push(Thing::new("bloom cell", whole(bloom)));
            }
        }
        let rocks = (0..SIDE * SIDE).filter(|&cell| layout.rocks & bit(cell) != 0);
        found.extend(rocks.map(|cell| Thing::new("rock", whole(cell))));
        found.extend(level.windows.iter().map(|window| {
            let (x, y, width, height) = window_area(window);
            Thing::new(
                "window",
                block(x.into(), y.into(), width.into(), height.into()),
            )
        }));
        found
    }

    /// The tip of a plant moves when the plant grows or shrinks.
    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let moved = (0..level.layout.count).filter_map(|plant| {
            let tips = [before, after].map(|state| state.board.tips[plant]);
            let in_flower = tips.contains(&level.layout.bloom_cells[plant]);
            let [(x, y), (new_x, new_y)] = tips.map(corner);
            (tips[0] != tips[1] && !in_flower).then(|| Movement {
                from: bud(tips[0]),
                dx: (new_x as isize - x as isize) as i8,
                dy: (new_y as isize - y as isize) as i8,
            })
        });
        moved.collect()
    }
}

/// Returns the bounds of a plant: its pot, its stem and its end.
fn bounds(level: &Level, board: &Board, plant: usize) -> Bounds {
    let tip = board.tips[plant];
    let end = if tip == level.layout.bloom_cells[plant] {
        whole(tip)
    } else {
        bud(tip)
    };
    let stem = board.walk(&level.layout, plant);
    let cells = stem.map(|(cell, way)| {
        if way == NONE {
            whole(cell)
        } else {
            let (x, y) = corner(cell);
            block(x + 2, y + 2, 2, 2)
        }
    });
    cells.fold(end, Bounds::joined)
}

fn bud(cell: u8) -> Bounds {
    let (x, y) = corner(cell);
    block(x + 1, y + 1, 4, 4)
}

fn whole(cell: u8) -> Bounds {
    let (x, y) = corner(cell);
    block(x, y, CELL.into(), CELL.into())
}
