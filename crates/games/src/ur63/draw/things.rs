//! What the rules know about a frame: creatures, free nests and tuners, pits, free-standing walls,
//! lamps and the row of beats.

use rhae_engine::{Action, Direction, StateOf};
use rhae_percept::Bounds;

use super::{BEATS_TOP, CELL, MIDDLE, corner, field_corner, lamp_area};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};
use crate::ur63::beat::{Cell, LAMPS, WIDTH, bit};
use crate::ur63::{Level, Ur63};

impl Annotated for Ur63 {
    fn grid(level: &Level) -> Option<CellGrid> {
        let (left, top) = field_corner(level);
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((left % CELL) as u8, (top % CELL) as u8),
        })
    }

    fn bars(level: &Level) -> Vec<Bounds> {
        beats(level, level.start.beats).into_iter().collect()
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let (field, board) = (&level.field, &state.board);
        let taken = &board.creatures.cells[..field.count];
        let mut found: Vec<Thing> = taken
            .iter()
            .map(|&cell| Thing::new("creature", body(level, cell)))
            .collect();
        let is_free = |cell: &Cell| !taken.contains(cell);
        let nests: Vec<Cell> = level.nests.iter().map(|&(cell, _)| cell).collect();
        let free_nests = nests.iter().copied().filter(is_free);
        found.extend(free_nests.map(|cell| Thing::new("nest", whole(level, cell))));
        for (x, y) in places(level) {
            let cell = (y * WIDTH + x) as Cell;
            if field.pits & bit(cell) != 0 {
                found.push(Thing::new("pit", whole(level, cell)));
            }
            let is_tuner = field.tuners[usize::from(cell)].is_some();
            if is_tuner && is_free(&cell) && !nests.contains(&cell) {
                let (x, y) = corner(level, cell);
                found.push(Thing::new("tuner", block(x + 2, y + 2, 2, 2)));
            }
        }
        found.extend(free_walls(level));
        for direction in Direction::ALL {
            found.extend((1..=LAMPS).map(|lamp| {
                let (x, y, width, height) = lamp_area(level, direction, lamp);
                Thing::new("lamp", block(x, y, width, height))
            }));
        }
        found.extend(beats(level, board.beats).map(|area| Thing::new("beats", area)));
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        if after.board == level.start {
            return Vec::new();
        }
        let (old, new) = (&before.board.creatures, &after.board.creatures);
        let alike = (0..level.field.count).filter(|&one| old.intervals[one] == new.intervals[one]);
        let moved = alike.filter_map(|one| {
            let (from, to) = (old.cells[one], new.cells[one]);
            Movement::between(body(level, from), corner(level, from), corner(level, to))
        });
        moved.collect()
    }
}

fn places(level: &Level) -> impl Iterator<Item = (usize, usize)> {
    let (columns, rows) = (level.field.columns, level.field.rows);
    (0..rows).flat_map(move |y| (0..columns).map(move |x| (x, y)))
}

fn free_walls(level: &Level) -> impl Iterator<Item = Thing> {
    let is_wall = |&(x, y): &(usize, usize)| level.field.walls & bit((y * WIDTH + x) as Cell) != 0;
    let last = (level.field.columns - 1, level.field.rows - 1);
    let free = groups(places(level).filter(is_wall), false)
        .into_iter()
        .filter(move |group| {
            let at_edge = |&(x, y): &(usize, usize)| x == 0 || y == 0 || x == last.0 || y == last.1;
            !group.iter().any(at_edge)
        });
    free.map(|group| {
        let cells = group
            .iter()
            .map(|&(x, y)| whole(level, (y * WIDTH + x) as Cell));
        let area = cells.reduce(Bounds::joined);
        Thing::new("wall", area.expect("a group has at least one cell"))
    })
}

fn body(level: &Level, cell: Cell) -> Bounds {
    let (x, y) = corner(level, cell);
    block(x + 1, y + 1, 4, 4)
}

fn whole(level: &Level, cell: Cell) -> Bounds {
    let (x, y) = corner(level, cell);
    block(x, y, CELL, CELL)
}

/// Returns the row of some beats, `None` if there are none.
fn beats(level: &Level, count: u8) -> Option<Bounds> {
    let left = MIDDLE - usize::from(level.start.beats) / 2;
    (count > 0).then(|| block(left, BEATS_TOP, count.into(), 1))
}
