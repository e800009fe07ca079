//! The levels as text maps.
//!
//! Each row is a layer. The left half of a map shows the start, and the right half the wanted
//! places `o`. `=` is a slab, `~` one whose underside is slippery, `+` one that is glued to the
//! slab below, `H` a heavy slab and `G` a heavy glued one. `T` in the last row is a table. The
//! comment before each level says what the level teaches.

use rhae_engine::{Frame, LevelIndex, TextMap};

use super::tower::{Joint, MAX_SLABS, Slab, Tower, WIDTH};
use super::{Level, draw};

const MAPS: [&str; 8] = [
    // A push carries the slabs above. If a wall stops a carried slab, the slab below still moves.
    // The top slab falls if it is pushed to its place before the slab below it.
    "
        ..===.....|.......ooo
        ====......|......oooo
        =====.....|....ooooo.
        .TTTTTTTTT|..........
    ",
    // Only the differences between neighbours need pushes. The tower stands if the slabs are moved
    // from the bottom to the top.
    "
        ====......|oooo......
        ====......|..oooo....
        ====......|...oooo...
        ====......|.oooo.....
        ====......|...oooo...
        TTTTT.....|..........
    ",
    // No slab can be pushed to its place in one pass: push it partly now, and the rest later.
    "
        ====......|...oooo...
        ====......|.oooo.....
        ====......|..oooo....
        ====......|.oooo.....
        ====......|...oooo...
        TTTT......|..........
    ",
    // A heavy slab holds a plank down until the plank has crossed the gap. Then the heavy slab
    // follows over the plank.
    "
        .....===..|.ooo......
        ......H...|..o.......
        .....=====|ooooo.....
        TTT...TTTT|..........
    ",
    // A slippery slab is not carried: push the lowest slab out from below its load.
    "
        ...=====..|...ooooo..
        .....~~~~.|.....oooo.
        .....HHHHH|..ooooo...
        TTT...TTTT|..........
    ",
    // Glued slabs move as one, and their joints hold even where they hang over.
    "
        .....++++.|......oooo
        ...===....|....ooo...
        .....HH...|.....oo...
        ...HHHH...|......oooo
        TTTT..TTTT|..........
    ",
    // There are two gaps. The heavy slab alternately moves ahead of the other slabs and follows
    // them.
    "
        .====.....|.....oooo.
        HHH.......|.......ooo
        ====......|......oooo
        TT..TT..TT|..........
    ",
    // There are two gaps, a load that is not carried, and joints of all kinds.
    "
        ..GGG.....|.......ooo
        ~~~.......|.....ooo..
        ===.......|.......ooo
        ====......|......oooo
        TTT..T..TT|..........
    ",
];

/// Builds a level.
pub(super) fn level(index: LevelIndex) -> Level {
    read(MAPS[index.get()])
}

/// Reads a map.
pub(super) fn read(text: &str) -> Level {
    let map = TextMap::new(text);
    let width = usize::from(WIDTH);
    assert_eq!(map.width(), 2 * width + 1, "the width of the map\n{text}");
    let layers = map.height() - 1;
    assert!(layers <= MAX_SLABS, "too many slabs in the map\n{text}");
    let mut level = Level {
        tower: Tower {
            slabs: Vec::with_capacity(layers),
            tables: std::array::from_fn(|unit| map.get(unit, layers) == b'T'),
        },
        start: [0; MAX_SLABS],
        wanted: [0; MAX_SLABS],
        pictures: Vec::with_capacity(layers),
        background: Frame::filled(0),
    };
    for layer in 0..layers {
        let y = layers - 1 - layer;
        let filled = |from: usize| {
            let mut units = (0..width).filter(|unit| map.get(from + unit, y) != b'.');
            let first = units
                .next()
                .expect("every layer has a slab and its wanted place");
            (first, 1 + units.count())
        };
        let ((start, length), (wanted, wanted_length)) = (filled(0), filled(width + 1));
        assert_eq!(
            length, wanted_length,
            "the wanted place of layer {layer}\n{text}"
        );
        level.start[layer] = start as u8;
        level.wanted[layer] = wanted as u8;
        let slab = slab(map.get(start, y), length as u8);
        level.tower.slabs.push(slab);
        level.pictures.push(draw::Picture::both(slab));
    }
    level.background = draw::background(&level.tower, &level.wanted);
    level
}

fn slab(sign: u8, length: u8) -> Slab {
    let (is_heavy, joint) = match sign {
        b'=' => (false, Joint::Rough),
        b'~' => (false, Joint::Slippery),
        b'+' => (false, Joint::Glued),
        b'H' => (true, Joint::Rough),
        b'G' => (true, Joint::Glued),
        _ => panic!("a map contains the unknown sign {}", char::from(sign)),
    };
    Slab {
        length,
        is_heavy,
        joint,
    }
}
