//! What creatures see, believe and tell each other, and where they walk.
//!
//! Rooms are numbered row by row. The belief of a creature is the room in which it thinks the fruit
//! is. Creatures act only on their beliefs.
//!
//! **Invariant:** every belief names a room with a bowl.

use serde::{Deserialize, Serialize};

pub(super) const MAX_ROOMS: usize = 9;
pub(super) const MAX_CREATURES: usize = 3;
/// The maximum number of cords; a board has one bit for each of them.
pub(super) const MAX_CORDS: usize = 8;
/// The value for "no room": a creature has no belief, there is no path, or the level has no such
/// creature.
pub(super) const NOWHERE: Room = 15;

pub(super) type Room = u8;
/// One bit for each room.
pub(super) type RoomSet = u16;

pub(super) const fn bit(room: Room) -> RoomSet {
    1 << room
}

/// The cord of a curtain, window or lid, and whether the thing is open before the cord is pulled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pull {
    pub(super) cord: u8,
    starts_open: bool,
}

impl Pull {
    pub(super) const fn new(cord: u8, starts_open: bool) -> Self {
        Self { cord, starts_open }
    }

    /// Returns whether the thing is open, given one bit for each cord that is pulled.
    pub(super) const fn is_open(self, pulled: u8) -> bool {
        self.starts_open != (pulled >> self.cord & 1 == 1)
    }
}

/// An opening in the wall between two neighbouring rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// Creatures pass and see through it.
    Doorway,
    /// Creatures pass but never see through it.
    Drape,
    /// Creatures pass, and see through it while it is open.
    Curtain(Pull),
    /// Creatures do not pass, and see through it while it is open.
    Window(Pull),
}

impl Opening {
    const fn lets_pass(self) -> bool {
        !matches!(self, Self::Window(_))
    }

    const fn is_clear(self, pulled: u8) -> bool {
        match self {
            Self::Doorway => true,
            Self::Drape => false,
            Self::Curtain(pull) | Self::Window(pull) => pull.is_open(pulled),
        }
    }
}

/// An opening and the two rooms on its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// The left or upper room first.
    pub(super) rooms: (Room, Room),
    pub(super) opening: Opening,
}

/// The parts of a level that never change: rooms, openings, lids and tubes.
#[derive(Clone, Debug)]
pub(super) struct House {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) ways: Vec<Way>,
    /// The lid of each room's bowl, if it has one.
    pub(super) lids: [Option<Pull>; MAX_ROOMS],
    /// The pairs of rooms whose bowls are joined by a tube.
    pub(super) tubes: Vec<(Room, Room)>,
    /// The number of creatures.
    pub(super) count: usize,
    /// Whether creatures in the same room tell each other what they believe. Only tests set it to
    /// `false`.
    pub(super) tells: bool,
    /// `next[room][goal]` is the next room on a shortest path from `room` to `goal`.
    next: [[Room; MAX_ROOMS]; MAX_ROOMS],
}

/// The parts of a level that actions change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Board {
    pub(super) fruit: Room,
    pub(super) rooms: [Room; MAX_CREATURES],
    pub(super) beliefs: [Room; MAX_CREATURES],
    /// One bit for each cord that is pulled.
    pub(super) pulled: u8,
    /// The creature that has eaten the fruit, or [`NOWHERE`].
    pub(super) eater: u8,
}

impl Board {
    pub(super) const fn is_eaten(&self) -> bool {
        self.eater != NOWHERE
    }
}

/// How the walk of a creature ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// The creature has no belief, or no path leads to the room of its belief. It has not moved.
    Refused,
    /// The creature has stopped without finding the fruit.
    Stopped,
    /// The creature has found the fruit and eats it.
    Ate,
}

impl House {
    pub(super) fn new(columns: usize, rows: usize, ways: Vec<Way>) -> Self {
        let mut house = Self {
            columns,
            rows,
            ways,
            lids: [None; MAX_ROOMS],
            tubes: Vec::new(),
            count: 0,
            tells: true,
            next: [[NOWHERE; MAX_ROOMS]; MAX_ROOMS],
        };
        for goal in 0..house.room_count() {
            house.find_paths_to(goal as Room);
        }
        house
    }

    pub(super) const fn room_count(&self) -> usize {
        self.columns * self.rows
    }

    /// Fills in `next` for one goal. Between equally short paths, a creature prefers up, then
    /// right, down and left.
    fn find_paths_to(&mut self, goal: Room) {
        let mut distances = [usize::MAX; MAX_ROOMS];
        distances[usize::from(goal)] = 0;
        for distance in 0..MAX_ROOMS {
            for room in (0..MAX_ROOMS)
                .filter(|&room| distances[room] == distance)
                .collect::<Vec<_>>()
            {
                for near in self.reachable_from(room as Room) {
                    let known = &mut distances[usize::from(near)];
                    *known = (*known).min(distance + 1);
                }
            }
        }
        for room in 0..self.room_count() {
            let nearer = |near: &Room| {
                distances[room] != usize::MAX && distances[usize::from(*near)] < distances[room]
            };
            let next = self.reachable_from(room as Room).into_iter().find(nearer);
            self.next[room][usize::from(goal)] = next.unwrap_or(NOWHERE);
        }
    }

    /// Returns the rooms that a creature can enter from a room, in the order up, right, down, left.
    fn reachable_from(&self, room: Room) -> Vec<Room> {
        let columns = self.columns as Room;
        let near = [
            room.checked_sub(columns),
            Some(room + 1),
            Some(room + columns),
            room.checked_sub(1),
        ];
        let is_joined = |near: &Room| {
            let rooms = (room.min(*near), room.max(*near));
            self.ways
                .iter()
                .any(|way| way.rooms == rooms && way.opening.lets_pass())
        };
        near.into_iter().flatten().filter(is_joined).collect()
    }

    /// Returns the rooms whose bowls a creature in `room` sees.
    pub(super) fn visible_from(&self, room: Room, pulled: u8) -> RoomSet {
        let mut rooms = bit(room);
        for way in self.ways.iter().filter(|way| way.opening.is_clear(pulled)) {
            let (one, other) = way.rooms;
            if one == room {
                rooms |= bit(other);
            } else if other == room {
                rooms |= bit(one);
            }
        }
        let is_covered = |room: &usize| self.lids[*room].is_some_and(|lid| !lid.is_open(pulled));
        (0..self.room_count())
            .filter(is_covered)
            .fold(rooms, |rooms, room| rooms & !bit(room as Room))
    }

    /// Returns whether a tube joins the bowl of the fruit to the bowl of a room.
    pub(super) fn is_joined(&self, fruit: Room, room: Room) -> bool {
        self.tubes
            .iter()
            .any(|&(one, other)| (one, other) == (fruit, room) || (other, one) == (fruit, room))
    }
}

/// Lets all creatures look around and then tell each other what they believe.
///
/// A creature that sees the fruit believes what it sees. A creature that sees that the bowl of its
/// belief is empty loses the belief. A creature without a belief takes over the belief of the first
/// creature in its room that has one.
pub(super) fn look(house: &House, board: &mut Board) {
    for creature in 0..house.count {
        let seen = house.visible_from(board.rooms[creature], board.pulled);
        let belief = &mut board.beliefs[creature];
        if seen & bit(board.fruit) != 0 {
            *belief = board.fruit;
        } else if *belief != NOWHERE && seen & bit(*belief) != 0 {
            *belief = NOWHERE;
        }
    }
    for creature in (0..house.count).filter(|_| house.tells) {
        if board.beliefs[creature] == NOWHERE {
            let told = (0..house.count).find(|&other| {
                board.rooms[other] == board.rooms[creature] && board.beliefs[other] != NOWHERE
            });
            board.beliefs[creature] = told.map_or(NOWHERE, |other| board.beliefs[other]);
        }
    }
}

/// Lets a creature walk to the room where it believes the fruit is. There, the creature checks the
/// bowl, even under a lid. All creatures look around after every room. The walk continues as long
/// as the creature has a belief. It also ends if another creature tells it of a room that it has
/// given up during this walk. Calls `show` with the boards before and after each part of the walk.
pub(super) fn walk(
    house: &House,
    board: &mut Board,
    creature: usize,
    mut show: impl FnMut(&Board, &Board),
) -> Walk {
    let mut given_up: RoomSet = 0;
    let mut end = Walk::Refused;
    loop {
        let (room, belief) = (board.rooms[creature], board.beliefs[creature]);
        if belief == NOWHERE || given_up & bit(belief) != 0 {
            return end;
        }
        let before = *board;
        if room == belief {
            if board.fruit == room {
                return Walk::Ate;
            }
            board.beliefs[creature] = NOWHERE;
        } else {
            let next = house.next[usize::from(room)][usize::from(belief)];
            if next == NOWHERE {
                return end;
            }
            board.rooms[creature] = next;
        }
        look(house, board);
        if room == belief || board.beliefs[creature] != belief {
            given_up |= bit(belief);
        }
        show(&before, board);
        end = Walk::Stopped;
    }
}
