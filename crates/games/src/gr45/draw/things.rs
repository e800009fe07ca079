//! What the rules know about a frame: creatures, goals, beliefs, bowls, the fruit, lids, and what
//! closes an opening.

use rhae_engine::{Action, StateOf};
use rhae_percept::Bounds;

use super::{
    BELIEFS_AT, BOWL, BOWL_AT, LID_AT, OPENING, Point, SEAT, SEATS_AT, WALL_WIDTH, has_bowl,
    in_room, opening_area, rooms,
};
use crate::gr45::minds::{Board, NOWHERE, Opening, Room, Way};
use crate::gr45::{Gr45, Level};
use crate::perception::{Annotated, CellGrid, Movement, Thing, block};

impl Annotated for Gr45 {
    /// The rooms are larger than any cell, and the things inside them are not on a grid.
    fn grid(_level: &Level) -> Option<CellGrid> {
        None
    }

    fn things(level: &Level, state: &StateOf<Self>) -> Vec<Thing> {
        let (house, board) = (&level.house, &state.board);
        let mut found = Vec::new();
        for (creature, &place) in SEATS_AT.iter().enumerate().take(house.count) {
            let (x, y) = in_room(level, board.rooms[creature], place);
            found.push(Thing::new("creature", block(x + 1, y + 1, 4, 4)));
            let (x, y) = in_room(level, level.goals[creature], place);
            found.push(Thing::new("goal", block(x, y, SEAT, SEAT)));
            let belief = board.beliefs[creature];
            if belief != NOWHERE {
                found.push(Thing::new("belief", belief_area(level, creature, belief)));
            }
        }
        for room in rooms(level) {
            bowl(level, board, room, &mut found);
        }
        for way in &house.ways {
            found.extend(closed(level, board, way));
        }
        found
    }

    fn movements(
        level: &Level,
        before: &StateOf<Self>,
        _action: Action,
        after: &StateOf<Self>,
    ) -> Vec<Movement> {
        let (old, new) = (&before.board, &after.board);
        let mut found = Vec::new();
        for creature in 0..level.house.count {
            let seat = |board: &Board| in_room(level, board.rooms[creature], SEATS_AT[creature]);
            let (x, y) = seat(old);
            let body = block(x + 1, y + 1, 4, 4);
            found.extend(Movement::between(body, (x, y), seat(new)));
            let beliefs = [old, new].map(|board| board.beliefs[creature]);
            if !beliefs.contains(&NOWHERE) {
                let place = |room: Room| in_room(level, room, BELIEFS_AT[creature]);
                found.extend(Movement::between(
                    belief_area(level, creature, beliefs[0]),
                    place(beliefs[0]),
                    place(beliefs[1]),
                ));
            }
        }
        let is_visible = |board: &Board| !is_covered(level, board, board.fruit);
        if is_visible(old) && is_visible(new) {
            let bowl = |board: &Board| in_room(level, board.fruit, BOWL_AT);
            found.extend(Movement::between(fruit(bowl(old)), bowl(old), bowl(new)));
        }
        found
    }
}

fn fruit((x, y): Point) -> Bounds {
    block(x + 1, y + 1, 4, 4)
}

fn belief_area(level: &Level, creature: usize, room: Room) -> Bounds {
    let (x, y) = in_room(level, room, BELIEFS_AT[creature]);
    block(x, y, 3, 3)
}

fn is_covered(level: &Level, board: &Board, room: Room) -> bool {
    level.house.lids[usize::from(room)].is_some_and(|lid| !lid.is_open(board.pulled))
}

/// Adds the bowl of a room with its lid and the fruit.
fn bowl(level: &Level, board: &Board, room: Room, found: &mut Vec<Thing>) {
    let at = in_room(level, room, BOWL_AT);
    let is_covered = is_covered(level, board, room);
    if has_bowl(level, room) && !is_covered {
        found.push(Thing::new("bowl", block(at.0, at.1, BOWL, BOWL)));
    }
    if board.fruit == room && !is_covered {
        found.push(Thing::new("fruit", fruit(at)));
    }
    if level.house.lids[usize::from(room)].is_some() {
        let (x, y) = in_room(level, room, LID_AT);
        if is_covered {
            found.push(Thing::new("knob", block(x + 2, y + 2, 2, 2)));
            found.push(Thing::new("lid", block(at.0, at.1 + 2, BOWL, 4)));
        } else {
            found.push(Thing::new("open lid", block(x, y, 4, BOWL)));
        }
    }
}

/// Returns what closes an opening. A curtain covers the ends of its opening as well.
fn closed(level: &Level, board: &Board, way: &Way) -> Option<Thing> {
    let (name, ends) = match way.opening {
        Opening::Curtain(pull) if !pull.is_open(board.pulled) => ("curtain", 1),
        Opening::Window(pull) if !pull.is_open(board.pulled) => ("window", 0),
        Opening::Drape => ("drape", 0),
        _ => return None,
    };
    let (area, is_vertical) = opening_area(level, way);
    let ((x, y), length) = (area.at, OPENING + 2 * ends);
    let bounds = if is_vertical {
        block(x, y - ends, WALL_WIDTH, length)
    } else {
        block(x - ends, y, length, WALL_WIDTH)
    };
    Some(Thing::new(name, bounds))
}
