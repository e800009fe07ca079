//! The drawing code.
//!
//! Each room has a bowl in the middle if a tube leads to it. A tube joins two bowls that have the
//! same dot at the same corner. Every creature has its own corner in all rooms, and a frame in that
//! corner marks its goal room. A small ring with a fruit-coloured middle at the bottom of a room
//! shows that the creature of that colour believes the fruit is there. Things that share a cord
//! have the colour of that cord.
//!
//! **Invariant:** the areas that react to clicks do not overlap.

#[cfg(test)]
mod things;

use rhae_engine::{Frame, FrameSink};

use super::Level;
use super::minds::{Board, MAX_CORDS, MAX_CREATURES, NOWHERE, Opening, Pull, Room, Way};
use crate::flash::flash;

/// The distance from one room to the next, and the width of the wall between them.
const PITCH: usize = 20;
const WALL_WIDTH: usize = 2;
const ROOM: usize = PITCH - WALL_WIDTH;
const BOWL: usize = 6;
const SEAT: usize = 6;
/// The positions of things in a room.
const BOWL_AT: Point = (6, 6);
const LID_AT: Point = (13, 6);
const SEATS_AT: [Point; MAX_CREATURES] = [(0, 0), (12, 0), (0, 12)];
const BELIEFS_AT: [Point; MAX_CREATURES] = [(6, 14), (10, 14), (14, 14)];
/// The dots that show which bowls a tube joins, one for each tube.
const DOTS: [(Point, u8); 4] = [((5, 5), 5), ((11, 5), 0), ((5, 11), 13), ((11, 11), 3)];
/// The length of an opening, and its distance from the corner of a room.
const OPENING: usize = 6;
const OPENING_AT: usize = 6;
const RIDE_FRAMES: usize = 3;

const OUTSIDE: u8 = 5;
const WALL: u8 = 4;
const FLOOR: u8 = 1;
const DRAPE: u8 = 13;
const GLASS: u8 = 0;
const RING: u8 = 3;
const HOLLOW: u8 = 2;
const FRUIT: u8 = 12;
const CREATURES: [u8; MAX_CREATURES] = [9, 6, 14];
const EYE: u8 = 5;
const SINGLE_CORD: u8 = 11;
const SHARED_CORDS: [u8; 2] = [15, 10];
const LIT: u8 = 0;
/// The colour of refusals and losses. Nothing else has it.
const ALERT: u8 = 8;

type Point = (usize, usize);

/// What a click can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Bowl(Room),
    Cord(u8),
    Creature(usize),
}

/// What a blinking animation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The rim of the house: the click hit no target, or there is nothing to undo.
    Outside,
    Target(Target),
    /// The creature that has eaten the fruit.
    Eater,
    Goals,
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug)]
struct Area {
    at: Point,
    width: usize,
    height: usize,
}

impl Area {
    const fn middle(self) -> (u8, u8) {
        (
            (self.at.0 + self.width / 2) as u8,
            (self.at.1 + self.height / 2) as u8,
        )
    }

    const fn contains(self, (x, y): Point) -> bool {
        self.at.0 <= x
            && x < self.at.0 + self.width
            && self.at.1 <= y
            && y < self.at.1 + self.height
    }
}

/// Returns the upper left pixel of the house.
const fn house_corner(level: &Level) -> Point {
    let house = &level.house;
    (
        (64 - house.columns * PITCH - WALL_WIDTH) / 2,
        (64 - house.rows * PITCH - WALL_WIDTH) / 2,
    )
}

/// Returns the pixel at a place in a room.
const fn in_room(level: &Level, room: Room, (x, y): Point) -> Point {
    let (left, top) = house_corner(level);
    let (column, row) = (
        room as usize % level.house.columns,
        room as usize / level.house.columns,
    );
    (
        left + WALL_WIDTH + column * PITCH + x,
        top + WALL_WIDTH + row * PITCH + y,
    )
}

/// Returns the area of the wall in which an opening is, and whether the wall is vertical.
fn opening_area(level: &Level, way: &Way) -> (Area, bool) {
    let (one, other) = way.rooms;
    if other == one + 1 {
        let (x, y) = in_room(level, other, (0, OPENING_AT));
        let at = (x - WALL_WIDTH, y);
        (
            Area {
                at,
                width: WALL_WIDTH,
                height: OPENING,
            },
            true,
        )
    } else {
        let (x, y) = in_room(level, other, (OPENING_AT, 0));
        let at = (x, y - WALL_WIDTH);
        (
            Area {
                at,
                width: OPENING,
                height: WALL_WIDTH,
            },
            false,
        )
    }
}

fn has_bowl(level: &Level, room: Room) -> bool {
    let tubes = &level.house.tubes;
    tubes
        .iter()
        .any(|&(one, other)| one == room || other == room)
}

fn rooms(level: &Level) -> impl Iterator<Item = Room> {
    0..level.house.room_count() as Room
}

/// Returns all targets with the areas in which a click hits them.
fn areas(level: &Level, board: &Board) -> impl Iterator<Item = (Target, Area)> {
    let square = |at: Point, side: usize| Area {
        at,
        width: side,
        height: side,
    };
    let bowls = rooms(level)
        .filter(|&room| has_bowl(level, room))
        .map(move |room| {
            (
                Target::Bowl(room),
                square(in_room(level, room, BOWL_AT), BOWL),
            )
        });
    let lids = rooms(level).filter_map(|room| {
        let lid = level.house.lids[usize::from(room)]?;
        let at = in_room(level, room, LID_AT);
        Some((
            Target::Cord(lid.cord),
            Area {
                at,
                width: 4,
                height: BOWL,
            },
        ))
    });
    let ways = level.house.ways.iter().filter_map(|way| {
        let (Opening::Curtain(pull) | Opening::Window(pull)) = way.opening else {
            return None;
        };
        let (mut area, is_vertical) = opening_area(level, way);
        // The area includes one row or column of pixels of each room next to the opening.
        if is_vertical {
            area.at.0 -= 1;
            area.width += 2;
        } else {
            area.at.1 -= 1;
            area.height += 2;
        }
        Some((Target::Cord(pull.cord), area))
    });
    let places = board.rooms;
    let creatures = (0..level.house.count).map(move |creature| {
        let at = in_room(level, places[creature], SEATS_AT[creature]);
        (Target::Creature(creature), square(at, SEAT))
    });
    creatures.chain(bowls).chain(lids).chain(ways)
}

/// Returns the target under a pixel.
pub(super) fn target_at(level: &Level, board: &Board, x: u8, y: u8) -> Option<Target> {
    let point = (usize::from(x), usize::from(y));
    areas(level, board)
        .find(|(_, area)| area.contains(point))
        .map(|(target, _)| target)
}

/// Returns one pixel of every target.
pub(super) fn targets(level: &Level, board: &Board) -> impl Iterator<Item = (u8, u8)> {
    areas(level, board).map(|(_, area)| area.middle())
}

/// Returns the colours of all cords. A cord that several things share has its own colour.
pub(super) fn cord_colors(level: &Level) -> [u8; MAX_CORDS] {
    let mut shared = SHARED_CORDS.into_iter();
    std::array::from_fn(|cord| {
        let hangs = |(target, _): &(Target, Area)| *target == Target::Cord(cord as u8);
        if areas(level, &level.start).filter(hangs).count() > 1 {
            shared.next().unwrap_or(SINGLE_CORD)
        } else {
            SINGLE_CORD
        }
    })
}

/// Draws everything that never changes during a level.
pub(super) fn background(level: &Level) -> Frame {
    let mut frame = Frame::filled(OUTSIDE);
    let (left, top) = house_corner(level);
    let house = &level.house;
    let (width, height) = (
        house.columns * PITCH + WALL_WIDTH,
        house.rows * PITCH + WALL_WIDTH,
    );
    frame.rect(left, top, width, height, WALL);
    for room in rooms(level) {
        let (x, y) = in_room(level, room, (0, 0));
        frame.rect(x, y, ROOM, ROOM, FLOOR);
        if has_bowl(level, room) {
            let (x, y) = in_room(level, room, BOWL_AT);
            frame.block::<BOWL, BOWL>(x, y, RING);
            frame.block::<4, 4>(x + 1, y + 1, HOLLOW);
        }
    }
    for way in &house.ways {
        draw_opening(level, way, &mut frame);
    }
    for (&(one, other), (place, color)) in house.tubes.iter().zip(DOTS) {
        for room in [one, other] {
            let (x, y) = in_room(level, room, place);
            frame.block::<2, 2>(x, y, color);
        }
    }
    frame
}

/// Draws a state at rest.
pub(super) fn settled(level: &Level, board: &Board, frame: &mut Frame) {
    scene(level, board, frame);
    if !board.is_eaten() {
        draw_fruit(level, board.fruit, frame);
    }
    draw_lids(level, board, frame);
    for (creature, &place) in SEATS_AT.iter().enumerate().take(level.house.count) {
        let ate = usize::from(board.eater) == creature;
        let place = if ate { BOWL_AT } else { place };
        let seat = in_room(level, board.rooms[creature], place);
        draw_creature(creature, seat, frame);
    }
}

/// Draws everything but the fruit, the lids and the creatures.
fn scene(level: &Level, board: &Board, frame: &mut Frame) {
    frame.copy_from(&level.background);
    for way in &level.house.ways {
        if let Opening::Curtain(pull) | Opening::Window(pull) = way.opening
            && !pull.is_open(board.pulled)
        {
            draw_closed(level, way, pull.cord, frame);
        }
    }
    let (x, y) = in_room(level, level.fruit_goal, BOWL_AT);
    let is_there = board.fruit == level.fruit_goal && !board.is_eaten();
    // The dots at the corners of the bowl stay visible.
    for side in 1..BOWL - 1 {
        let color = if is_there { LIT } else { FRUIT };
        for (across, down) in [(side, 0), (side, BOWL - 1), (0, side), (BOWL - 1, side)] {
            frame.set(x + across, y + down, color);
        }
    }
    for creature in 0..level.house.count {
        let is_home = board.rooms[creature] == level.goals[creature];
        let color = if is_home { LIT } else { CREATURES[creature] };
        let (x, y) = in_room(level, level.goals[creature], SEATS_AT[creature]);
        frame.outline(x, y, SEAT, SEAT, color);
        draw_belief(
            level,
            creature,
            board.beliefs[creature],
            CREATURES[creature],
            frame,
        );
    }
}

fn draw_belief(level: &Level, creature: usize, belief: Room, color: u8, frame: &mut Frame) {
    if belief != NOWHERE {
        let (x, y) = in_room(level, belief, BELIEFS_AT[creature]);
        frame.block::<3, 3>(x, y, color);
        frame.set(x + 1, y + 1, FRUIT);
    }
}

fn draw_creature(creature: usize, (x, y): Point, frame: &mut Frame) {
    frame.block::<4, 4>(x + 1, y + 1, CREATURES[creature]);
    frame.set(x + 2, y + 2, EYE);
    frame.set(x + 3, y + 2, EYE);
}

fn draw_fruit(level: &Level, room: Room, frame: &mut Frame) {
    let (x, y) = in_room(level, room, BOWL_AT);
    frame.block::<4, 4>(x + 1, y + 1, FRUIT);
}

fn draw_lids(level: &Level, board: &Board, frame: &mut Frame) {
    for room in rooms(level) {
        let Some(lid) = level.house.lids[usize::from(room)] else {
            continue;
        };
        let color = level.cord_colors[usize::from(lid.cord)];
        let (x, y) = in_room(level, room, LID_AT);
        frame.block::<2, 2>(x + 2, y + 2, color);
        if lid.is_open(board.pulled) {
            frame.block::<2, BOWL>(x, y, color);
        } else {
            let (x, y) = in_room(level, room, BOWL_AT);
            frame.block::<BOWL, 4>(x, y + 2, color);
        }
    }
}

/// Draws an opening in its open state, with one pixel of the wall at each end. A window has white
/// ends and glass.
fn draw_opening(level: &Level, way: &Way, frame: &mut Frame) {
    let (area, is_vertical) = opening_area(level, way);
    for (along, across) in (0..OPENING + 2).flat_map(|along| [(along, 0), (along, 1)]) {
        let is_end = along == 0 || along == OPENING + 1;
        let is_stub = along == 1 || along == OPENING;
        let hanging = |pull: Pull| level.cord_colors[usize::from(pull.cord)];
        let color = match way.opening {
            Opening::Doorway | Opening::Drape if is_end => WALL,
            Opening::Doorway => FLOOR,
            Opening::Drape => DRAPE,
            Opening::Window(_) if is_end => GLASS,
            Opening::Curtain(pull) | Opening::Window(pull) if is_end || is_stub => hanging(pull),
            Opening::Window(_) if across == 0 => GLASS,
            Opening::Curtain(_) | Opening::Window(_) => FLOOR,
        };
        let (x, y) = area.at;
        if is_vertical {
            frame.set(x + across, y + along - 1, color);
        } else {
            frame.set(x + along - 1, y + across, color);
        }
    }
}

/// Draws a curtain or a window that is closed.
fn draw_closed(level: &Level, way: &Way, cord: u8, frame: &mut Frame) {
    let (area, is_vertical) = opening_area(level, way);
    let (x, y) = area.at;
    let color = level.cord_colors[usize::from(cord)];
    if is_vertical {
        frame.block::<2, 4>(x, y + 1, color);
    } else {
        frame.block::<4, 2>(x + 1, y, color);
    }
}

/// Draws the frame between two boards: a creature halfway between two rooms, and the beliefs that
/// change. A new belief is white, and a dark square marks the previous room of a belief.
pub(super) fn changing(level: &Level, before: &Board, after: &Board, frame: &mut Frame) {
    settled(level, after, frame);
    for creature in 0..level.house.count {
        let (old, new) = (before.beliefs[creature], after.beliefs[creature]);
        if old != new {
            draw_belief(level, creature, new, LIT, frame);
            draw_belief(level, creature, old, WALL, frame);
        }
        let (from, to) = (before.rooms[creature], after.rooms[creature]);
        if from != to {
            let (x, y) = in_room(level, to, SEATS_AT[creature]);
            let is_goal = level.goals[creature] == to;
            frame.block::<4, 4>(x + 1, y + 1, FLOOR);
            if is_goal {
                frame.outline(x, y, SEAT, SEAT, CREATURES[creature]);
            }
            let (old_x, old_y) = in_room(level, from, SEATS_AT[creature]);
            draw_creature(creature, (x.midpoint(old_x), y.midpoint(old_y)), frame);
        }
    }
}

/// Shows how the fruit moves to another bowl.
pub(super) fn ride(level: &Level, board: &Board, goal: Room, sink: &mut impl FrameSink) {
    let joins =
        |rooms: &(Room, Room)| *rooms == (board.fruit, goal) || *rooms == (goal, board.fruit);
    let color = level
        .house
        .tubes
        .iter()
        .zip(DOTS)
        .find(|(rooms, _)| joins(rooms))
        .map_or(RING, |(_, (_, color))| color);
    let (from, to) = (
        in_room(level, board.fruit, BOWL_AT),
        in_room(level, goal, BOWL_AT),
    );
    // The dots and the fruit are placed at fractions of the line between the bowls.
    let at = |part: usize, parts: usize| {
        let between = |from: usize, to: usize| (from * (parts - part) + to * part) / parts;
        (between(from.0, to.0), between(from.1, to.1))
    };
    for part in 1..=RIDE_FRAMES {
        sink.frame(|frame| {
            settled(level, board, frame);
            frame.block::<4, 4>(from.0 + 1, from.1 + 1, HOLLOW);
            for dot in 0..=8 {
                let (x, y) = at(dot, 8);
                frame.block::<2, 2>(x + 2, y + 2, color);
            }
            let (x, y) = at(part, RIDE_FRAMES + 1);
            frame.block::<4, 4>(x + 1, y + 1, FRUIT);
        });
    }
}

/// Shows a creature that eats the fruit.
pub(super) fn meal(level: &Level, board: &Board, sink: &mut impl FrameSink) {
    sink.frame(|frame| settled(level, board, frame));
    flash(
        sink,
        |frame| settled(level, board, frame),
        |frame| mark(level, board, Mark::Eater, frame),
    );
}

/// Draws a mark over a state.
pub(super) fn mark(level: &Level, board: &Board, mark: Mark, frame: &mut Frame) {
    match mark {
        Mark::Outside => {
            let (left, top) = house_corner(level);
            let (width, height) = (64 - 2 * left, 64 - 2 * top);
            frame.outline(left, top, width, height, ALERT);
        }
        Mark::Target(refusing) => {
            for (_, area) in areas(level, board).filter(|(target, _)| *target == refusing) {
                frame.outline(area.at.0, area.at.1, area.width, area.height, ALERT);
            }
            // A click on the fruit shows where it can move.
            if refusing == Target::Bowl(board.fruit) {
                let rooms = 0..level.house.room_count() as Room;
                for room in rooms.filter(|&room| level.house.is_joined(board.fruit, room)) {
                    let (x, y) = in_room(level, room, BOWL_AT);
                    frame.outline(x, y, BOWL, BOWL, LIT);
                }
            }
        }
        Mark::Eater => {
            let (x, y) = in_room(level, board.fruit, BOWL_AT);
            frame.outline(x, y, BOWL, BOWL, ALERT);
        }
        Mark::Goals => {
            for creature in 0..level.house.count {
                let (x, y) = in_room(level, level.goals[creature], SEATS_AT[creature]);
                frame.outline(x, y, SEAT, SEAT, CREATURES[creature]);
            }
        }
    }
}
