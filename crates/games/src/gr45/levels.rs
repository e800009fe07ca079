//! The levels as text maps.
//!
//! The signs in even columns and rows are rooms, numbered row by row: `.` is a room whose bowl has
//! no lid, `l` one with a closed lid and `L` one with an open lid. Between two rooms is a wall `#`,
//! a doorway `o`, a drape `:`, a curtain (`k` closed, `K` open) or a window (`w` closed, `W` open).
//! Every curtain, window and lid has its own cord, except for the pairs in `shared_cords`. The
//! comment before each level says what the level teaches.

use rhae_engine::{Frame, LevelIndex, TextMap};

use super::minds::{
    Board, House, MAX_CORDS, MAX_CREATURES, NOWHERE, Opening, Pull, Room, Way, look,
};
use super::{Level, draw};

/// The column and row of a sign in a map.
type Place = (usize, usize);

pub(super) struct LevelSpec {
    pub(super) map: &'static str,
    /// The pairs of signs that share a cord.
    pub(super) shared_cords: &'static [(Place, Place)],
    pub(super) tubes: &'static [(Room, Room)],
    /// The room in which the fruit starts, and the one in which it must end.
    pub(super) fruit: (Room, Room),
    /// The room in which each creature starts, and the one that it must reach.
    pub(super) creatures: &'static [(Room, Room)],
}

const LEVELS: [LevelSpec; 8] = [
    // A creature goes to where it last saw the fruit. Close the curtain, move the fruit, and send
    // the creature.
    LevelSpec {
        map: "
            .K.:.
        ",
        shared_cords: &[],
        tubes: &[(0, 2)],
        fruit: (0, 2),
        creatures: &[(1, 0)],
    },
    // A short view of the fruit is enough: open a curtain and close it again. The creature keeps
    // its belief.
    LevelSpec {
        map: "
            .#.K.
            k####
            .k.K.
        ",
        shared_cords: &[],
        tubes: &[(1, 5), (3, 4), (3, 5), (4, 5)],
        fruit: (3, 1),
        creatures: &[(5, 3)],
    },
    // A creature sees the fruit through a window but must take a long path to it.
    LevelSpec {
        map: "
            .K.:.
            :#W#:
            .o.o.
        ",
        shared_cords: &[],
        tubes: &[(0, 1), (0, 4), (1, 3), (1, 4)],
        fruit: (1, 4),
        creatures: &[(4, 0)],
    },
    // A closed lid hides the fruit even from a creature in the same room.
    LevelSpec {
        map: "
            .:.:l
            ##o#o
            l#lol
        ",
        shared_cords: &[],
        tubes: &[(1, 3), (1, 4), (1, 5), (4, 5)],
        fruit: (1, 3),
        creatures: &[(1, 5)],
    },
    // A creature that has not seen the fruit takes over the belief of a creature that passes.
    LevelSpec {
        map: "
            .W.#.
            k#:#W
            .:.:.
        ",
        shared_cords: &[],
        tubes: &[(0, 5), (1, 5)],
        fruit: (1, 0),
        creatures: &[(0, 3), (4, 0)],
    },
    // One pull on a shared cord opens one curtain and closes another one.
    LevelSpec {
        map: "
            .k.#.
            ##K#K
            .k.#.
        ",
        shared_cords: &[((1, 0), (4, 1)), ((2, 1), (1, 2))],
        tubes: &[(0, 1), (1, 3), (1, 4)],
        fruit: (1, 3),
        creatures: &[(3, 1)],
    },
    // A creature walks through the room of the fruit and does not see it, because a lid covers the
    // bowl.
    LevelSpec {
        map: "
            .k.W.
            w#:#:
            .Wl:l
        ",
        shared_cords: &[],
        tubes: &[(0, 1), (1, 2), (2, 4)],
        fruit: (2, 4),
        creatures: &[(1, 2), (5, 1)],
    },
    // One walk spreads a belief to all creatures. Where each creature stops depends on what it sees
    // from the room before its goal.
    LevelSpec {
        map: "
            .W.ol
            :###o
            .K.k.
            K#W#:
            .Wl:.
        ",
        shared_cords: &[((0, 3), (4, 0)), ((2, 3), (2, 4))],
        tubes: &[(0, 7), (6, 7)],
        fruit: (0, 6),
        creatures: &[(7, 3), (8, 3), (4, 7)],
    },
];

/// Builds a level.
pub(super) fn level(index: LevelIndex) -> Level {
    read(&LEVELS[index.get()])
}

/// Reads a level.
pub(super) fn read(spec: &LevelSpec) -> Level {
    let map = TextMap::new(spec.map);
    let columns = map.width().div_ceil(2);
    let mut cords = Cords::new(spec.shared_cords);
    let mut ways = Vec::new();
    let mut lids = Vec::new();
    for (x, y, sign) in map.iter() {
        let room = (y / 2 * columns + x / 2) as Room;
        let mut pull = |is_open| Pull::new(cords.at((x, y)), is_open);
        if x % 2 == 0 && y % 2 == 0 {
            match sign {
                b'.' => {}
                b'l' | b'L' => lids.push((room, pull(sign == b'L'))),
                _ => panic!("unknown room at {x},{y} of the map\n{}", spec.map),
            }
            continue;
        }
        let opening = match sign {
            b'#' => continue,
            b'o' => Opening::Doorway,
            b':' => Opening::Drape,
            b'k' | b'K' => Opening::Curtain(pull(sign == b'K')),
            b'w' | b'W' => Opening::Window(pull(sign == b'W')),
            _ => panic!("unknown opening at {x},{y} of the map\n{}", spec.map),
        };
        let step = if x % 2 == 1 { 1 } else { columns as Room };
        ways.push(Way {
            rooms: (room, room + step),
            opening,
        });
    }
    let mut house = House::new(columns, map.height().div_ceil(2), ways);
    for (room, lid) in lids {
        house.lids[usize::from(room)] = Some(lid);
    }
    house.tubes = spec.tubes.to_vec();
    house.count = spec.creatures.len();
    finish(house, spec)
}

fn finish(house: House, spec: &LevelSpec) -> Level {
    let mut start = Board {
        fruit: spec.fruit.0,
        rooms: [NOWHERE; MAX_CREATURES],
        beliefs: [NOWHERE; MAX_CREATURES],
        pulled: 0,
        eater: NOWHERE,
    };
    let mut goals = [NOWHERE; MAX_CREATURES];
    for (creature, &(room, goal)) in spec.creatures.iter().enumerate() {
        start.rooms[creature] = room;
        goals[creature] = goal;
    }
    look(&house, &mut start);
    let mut level = Level {
        house,
        start,
        fruit_goal: spec.fruit.1,
        goals,
        cord_colors: [0; MAX_CORDS],
        background: Frame::filled(0),
    };
    level.cord_colors = draw::cord_colors(&level);
    level.background = draw::background(&level);
    level
}

/// Numbers the cords in the order in which their first signs appear.
struct Cords {
    shared: &'static [(Place, Place)],
    known: Vec<Place>,
}

impl Cords {
    const fn new(shared: &'static [(Place, Place)]) -> Self {
        Self {
            shared,
            known: Vec::new(),
        }
    }

    fn at(&mut self, place: Place) -> u8 {
        let first = self
            .shared
            .iter()
            .find(|pair| pair.1 == place || pair.0 == place)
            .map_or(place, |pair| pair.0);
        let cord = self.known.iter().position(|&known| known == first);
        cord.unwrap_or_else(|| {
            self.known.push(first);
            self.known.len() - 1
        }) as u8
    }
}
