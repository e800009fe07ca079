//! The levels as text maps.
//!
//! Each cell has two characters. `..` is ground, `##` rock (blocks sight and movement), `~~` water
//! (blocks movement only), `(k` the nest of kind `k`. Anything else is a creature: its kind, then
//! its gaze (`^`, `>`, `v`, `<`, or `z` for asleep). The kinds are `p` plain, `a` and `b` the two
//! colours that approach and have nests, `s` shy, `r` restless.

use rhae_engine::{LevelIndex, TextMap};

use super::herd::{Creature, Gaze, Herd, Kind, Land, MAX_CREATURES, all_cells};
use super::{Level, MAX_NESTS, draw};

const MAPS: [&str; 8] = [
    // A creature walks to the called one that it looks at, and adopts its gaze. Each creature is
    // called once, and no other call has an effect.
    "
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. a> .. .. .. .. pv .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. pv (a .. .. .. .. .. ..
    .. .. .. .. .. p< .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    ",
    // Plain creatures must first be moved and turned by further calls.
    "
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. pv .. .. .. ..
    .. .. .. .. (a .. .. .. ..
    a> .. p< .. .. .. pv .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. pv .. ..
    .. .. .. .. p> .. p^ .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    ",
    // Two nests: coloured creatures also guide each other and the plain ones.
    "
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. pv .. .. .. b<
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. (a .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. p> .. (b p^ .. ..
    .. .. .. .. .. .. p> .. ..
    .. .. .. p^ a< .. .. .. ..
    ",
    // A shy creature backs away from a called one that it sees, up to the next obstacle.
    "
    .. .. .. .. .. .. .. .. ..
    .. ## .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. pv .. .. .. .. .. p< ..
    ## (s .. .. .. s> p^ .. ..
    .. p> .. (a .. p^ a^ .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    ",
    // Water: an approaching creature stops at the shore and adopts the gaze there.
    "
    .. .. .. .. .. .. .. .. ..
    p> .. .. p> .. bv .. .. ..
    .. .. ~~ (b .. .. .. .. ..
    .. .. .. .. .. s< .. .. (s
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    a> .. .. (a .. .. .. .. ..
    p> ~~ .. .. p^ .. .. .. ..
    ",
    // Sleepers: a creature that walks up to a sleeper keeps its own gaze, and the sleeper wakes and
    // looks at it.
    "
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    (s .. .. .. s> (b .. bv ..
    .. .. .. .. .. ~~ .. ~~ ..
    .. p> (a .. .. p< pz .. pz
    .. .. .. .. .. a^ .. .. ..
    .. .. .. .. .. .. .. .. ..
    ",
    // A restless creature turns after each call, so the same call has another effect next time.
    "
    .. .. .. pv .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. pz .. .. b< .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. (b .. a< .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. ~~ .. (a .. .. ..
    .. .. .. r^ .. .. p^ .. ..
    ",
    // All kinds combined.
    "
    av .. .. .. .. .. .. .. ..
    .. pv .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. (b .. .. .. pz .. ..
    (a .. .. .. .. .. .. .. ..
    s^ .. b> .. p< rv .. .. ..
    .. .. .. .. .. .. .. .. ..
    (s .. .. .. .. .. .. .. ..
    ~~ .. .. .. .. .. .. .. ..
    ",
];

/// Parses the map of a level.
pub(super) fn level(index: LevelIndex) -> Level {
    let map = TextMap::new(MAPS[index.get()]);
    let (mut rocks, mut water) = ([false; 256], [false; 256]);
    let mut nests = [(0, Kind::Plain); MAX_NESTS];
    let mut nest_count = 0;
    let mut kinds = [Kind::Plain; MAX_CREATURES];
    let mut start = Herd::EMPTY;
    let mut count = 0;
    for cell in all_cells() {
        // Two characters and a space for each cell.
        let (column, row) = (usize::from(cell & 15) * 3, usize::from(cell >> 4));
        match (map.get(column, row), map.get(column + 1, row)) {
            (b'.', b'.') => {}
            (b'#', b'#') => rocks[usize::from(cell)] = true,
            (b'~', b'~') => water[usize::from(cell)] = true,
            (b'(', letter) => {
                nests[nest_count] = (cell, kind(letter));
                nest_count += 1;
            }
            (letter, sign) => {
                kinds[count] = kind(letter);
                start.set(
                    count,
                    Creature {
                        cell,
                        gaze: gaze(sign),
                    },
                );
                count += 1;
            }
        }
    }
    let background = draw::background(&rocks, &water, &nests[..nest_count]);
    Level {
        land: Land::new(&rocks, &water, kinds, count),
        nests,
        nest_count,
        start,
        background,
    }
}

fn kind(letter: u8) -> Kind {
    match letter {
        b'p' => Kind::Plain,
        b'a' => Kind::First,
        b'b' => Kind::Second,
        b's' => Kind::Shy,
        b'r' => Kind::Restless,
        other => panic!("`{}` is not a kind of creature", char::from(other)),
    }
}

fn gaze(sign: u8) -> Gaze {
    match sign {
        b'^' => Gaze::Up,
        b'>' => Gaze::Right,
        b'v' => Gaze::Down,
        b'<' => Gaze::Left,
        b'z' => Gaze::Asleep,
        other => panic!("`{}` is not a gaze", char::from(other)),
    }
}
