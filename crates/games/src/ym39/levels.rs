//! The levels as text maps.
//!
//! Two characters for each cell: `..` ground, `##` rock (stops sight and walking), `~~` water (stops walking only), `(k` the
//! nest of kind `k`, otherwise a creature, its kind first and then its gaze: `^`, `>`, `v`, `<`, or `z` asleep. Kinds: `p` plain,
//! `a` and `b` the two colours that come and have nests, `s` shy, `r` restless.

use rhae_engine::{LevelIndex, TextMap};

use super::herd::{Creature, Gaze, Herd, Kind, Land, MOST, all_cells};
use super::{Level, NESTS, draw};

const MAPS: [&str; 8] = [
    // A creature comes to the one it looks at, and then looks on.
    "
    .. .. .. .. .. .. .. .. ..
    .. a> .. .. .. .. .. pv ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. p> .. .. .. .. ..
    .. .. .. (a .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. p^ .. .. .. .. .. ..
    .. .. .. .. .. .. p< .. ..
    .. .. .. .. .. .. .. .. ..
    ",
    // The plain ones have to be brought into place, and turned, by calling each other.
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
    // Two nests: the coloured ones are waymarks, too, for each other and for the plain ones.
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
    // A shy one backs away from whom it sees called, up to the next obstacle.
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
    // Water: whoever comes stops at the shore and looks along from there.
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
    // Sleepers: whoever comes to one keeps its gaze, and the sleeper wakes and looks back at it.
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
    // A restless one turns by a quarter after each call, so the same call does something else next time.
    "
    .. .. av .. .. .. .. .. ..
    .. .. .. .. .. .. .. bv ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. pz ..
    .. .. .. .. .. .. .. .. ..
    .. p> .. .. (a ~~ .. .. ..
    .. .. .. ~~ .. .. .. (b ..
    .. p^ .. .. .. .. .. r> ..
    ",
    // Every kind at once.
    "
    pv .. .. .. .. .. .. .. rv
    (s .. .. s> .. (b .. .. ..
    .. .. .. .. .. .. .. ~~ ..
    .. .. .. .. .. .. .. ~~ ..
    .. ~~ .. .. .. .. .. ~~ ..
    .. ~~ .. .. .. .. .. (a ..
    .. ~~ .. .. .. .. .. .. bv
    a> .. .. .. .. .. .. .. ..
    .. .. .. .. .. .. .. .. pz
    ",
];

/// Reads a level's map.
pub(super) fn level(index: LevelIndex) -> Level {
    let map = TextMap::new(MAPS[index.get()]);
    let (mut rocks, mut water) = ([false; 256], [false; 256]);
    let mut nests = [(0, Kind::Plain); NESTS];
    let mut nest_count = 0;
    let mut kinds = [Kind::Plain; MOST];
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
        other => panic!("`{}` in a map is no kind of creature", char::from(other)),
    }
}

fn gaze(sign: u8) -> Gaze {
    match sign {
        b'^' => Gaze::Up,
        b'>' => Gaze::Right,
        b'v' => Gaze::Down,
        b'<' => Gaze::Left,
        b'z' => Gaze::Asleep,
        other => panic!("`{}` in a map is no gaze", char::from(other)),
    }
}
