//! What the rules know about a frame: the raft, homes, holes, free-standing rocks, pulls, seats and
//! passengers.

use rhae_engine::{Action, Direction, StateOf};
use rhae_percept::Bounds;

use super::{CELL, HEIGHT, LEFT, PANEL_TOP, SEAT, TOP, WIDTH, corner, pull_corner, seat_left};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block, groups};
use crate::zc67::crew::{Board, Cell, Kind, all_pulls, bit};
use crate::zc67::{Level, Zc67};

impl Annotated for Zc67 {
    fn grid(_level: &Level) -> Option<CellGrid> {
        Some(CellGrid {
            cell: CELL as u8,
            offset: ((LEFT % CELL) as u8, (TOP % CELL) as u8),
        })
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let (sea, board) = (&level.sea, &state.board);
        let mut found = vec![Thing::new("raft", whole(board.raft))];
        let homes = sea.passengers.iter().map(|passenger| passenger.home);
        found.extend(
            homes
                .filter(|&home| home != board.raft)
                .map(|home| Thing::new("home", whole(home))),
        );
        let all = || 0..(WIDTH * HEIGHT) as Cell;
        let holes = all().filter(|&cell| sea.holes & bit(cell) != 0);
        found.extend(holes.map(|cell| Thing::new("hole", whole(cell))));
        let rocks = all()
            .filter(|&cell| sea.rocks & bit(cell) != 0)
            .map(|cell| (usize::from(cell) % WIDTH, usize::from(cell) / WIDTH));
        let at_border =
            |&(x, y): &(usize, usize)| x == 0 || y == 0 || x == WIDTH - 1 || y == HEIGHT - 1;
        found.extend(
            groups(rocks, false)
                .into_iter()
                .filter(|group| !group.iter().any(at_border))
                .map(|group| Thing::new("rock", area(&group))),
        );
        let totals = all_pulls(sea, board, None);
        for direction in Direction::ALL {
            found.extend((0..totals[direction as usize]).map(|index| {
                let (x, y) = pull_corner(direction, index, &totals);
                Thing::new("pull", block(x, y, 3, 3))
            }));
        }
        for passenger in 0..sea.passengers.len() {
            seat(level, board, passenger, &mut found);
        }
        found
    }

    fn movements(
        _level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let (from, to) = (before.board.raft, after.board.raft);
        Movement::between(whole(from), corner(from), corner(to))
            .into_iter()
            .collect()
    }
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

/// Adds the seat of a passenger, and the passenger or the blindfold over it.
fn seat(level: &Level, board: &Board, passenger: usize, found: &mut Vec<Thing>) {
    let left = seat_left(passenger);
    let seat = block(left, PANEL_TOP, SEAT, SEAT);
    if board.is_blindfolded(passenger) {
        found.push(Thing::new("blindfold", block(left, PANEL_TOP + 3, SEAT, 2)));
    } else if !board.is_aboard(passenger) {
        found.push(Thing::new("seat", seat));
    } else if level.sea.passengers[passenger].kind == Kind::Big {
        found.push(Thing::new("passenger", seat));
    } else {
        found.push(Thing::new("seat", seat));
        let body = block(left + 2, PANEL_TOP + 2, 4, 4);
        found.push(Thing::new("passenger", body));
    }
}
