//! The levels as text maps.
//!
//! In a map, cells are at odd columns and rows, and corners of cells at even ones. `a` to `c` are
//! beads and `#` is a rock. `o` is a peg of the first band and `x` one of the second band. An
//! upper-case letter is a peg that its band encloses at the start. A second map shows the frames of
//! the beads. The comment before each level says what the level teaches.
//!
//! A seed other than 0 rotates and mirrors the maps. The rules treat all directions equally, so the
//! optimum stays the same.

use std::sync::{Arc, OnceLock};

use rhae_engine::{Frame, LevelIndex, Rng, TextMap};

use super::band::{BANDS, Band, Cell, CellSet, MAX_BEADS, NOWHERE, Point, SIDE, bit};
use super::{Board, Level, draw};

/// The number of columns and rows of a map.
const MAP_SIDE: usize = 2 * SIDE + 1;

pub(super) struct LevelSpec {
    pub(super) map: &'static str,
    pub(super) frames: &'static str,
}

const LEVELS: [LevelSpec; 8] = [
    // Pull the band over a bead, move the bead, and release it.
    LevelSpec {
        map: "
            o-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-o-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-O-+-+-+-+-+-+
            |.|.|.|a|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-O-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-O-+
        ",
        frames: "
            .......
            ....a..
            .......
            .......
            .......
            .......
            .......
        ",
    },
    // The beads need different moves: enclose both, release one, and move the other.
    LevelSpec {
        map: "
            o-+-+-o-+-+-+-+
            |.|.|.|.|.|.|.|
            o-+-+-+-+-+-+-o
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |a|.|.|.|.|.|.|
            +-+-+-+-O-+-+-+
            |b|.|.|.|.|.|.|
            +-+-O-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            O-+-+-+-+-+-+-+
        ",
        frames: "
            .......
            .......
            .b.....
            .......
            a......
            .......
            .......
        ",
    },
    // One pull encloses two pegs and two beads. Choose the order in which to release them.
    LevelSpec {
        map: "
            +-+-O-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-o
            |.|.|.|.|a|.|c|
            +-O-+-+-+-+-o-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|b|.|
            +-+-+-O-+-+-o-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-o-o-+-+-+-+
        ",
        frames: "
            .......
            .......
            ...a...
            .......
            .....c.
            .......
            ..b....
        ",
    },
    // Rocks inside the band stop single beads while the others move.
    LevelSpec {
        map: "
            +-O-O-+-O-+-O-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|b|.|c|.|.|
            +-+-+-+-+-+-+-+
            |.|.|#|.|.|.|.|
            +-+-+-+-O-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|#|.|.|.|.|.|
            +-+-+-+-+-+-O-+
            |a|.|.|.|#|.|.|
            +-+-+-+-+-+-+-+
            |.|.|#|.|.|.|#|
            o-+-+-+-+-+-+-+
        ",
        frames: "
            .......
            .c.....
            ..#....
            ..b....
            .#.....
            ..a.#..
            ..#...#
        ",
    },
    // There is only the second band, whose beads move opposite to the key.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            X-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|b|.|.|.|.|
            +-+-+-+-+-+-+-X
            |.|.|.|.|.|.|.|
            +-X-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-x-+-+-+-+-+
            |.|.|.|a|.|.|.|
            +-+-+-+-x-+-+-+
        ",
        frames: "
            .......
            .......
            .......
            ....b..
            .a.....
            .......
            .......
        ",
    },
    // Each band holds one bead, and each bead needs the other band.
    LevelSpec {
        map: "
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-O-+-+-O-+-X
            |.|.|.|.|.|.|.|
            +-o-+-+-+-+-+-+
            |.|.|.|a|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            X-+-+-+-+-+-+-+
            |.|.|.|.|.|b|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            X-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-O-x
        ",
        frames: "
            .......
            .......
            .......
            .......
            .a....b
            .......
            .......
        ",
    },
    // No key moves a bead inside both bands: overlap the bands to keep it in place.
    LevelSpec {
        map: "
            +-+-+-+-+-X-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-X-+-O-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-x-+
            |.|.|b|.|a|.|.|
            +-+-+-+-+-+-+-O
            |.|.|.|.|.|.|.|
            +-X-+-+-+-+-+-O
            |.|.|.|.|.|.|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            +-+-+-o-+-+-+-+
        ",
        frames: "
            .......
            .......
            .......
            ....a..
            ......b
            .......
            .......
        ",
    },
    // One key moves two beads in opposite directions. Bands and rocks stop single beads.
    LevelSpec {
        map: "
            +-+-+-+-+-+-X-+
            |.|.|.|.|.|#|.|
            +-+-+-+-+-+-+-+
            |.|.|.|.|.|.|.|
            X-+-+-+-+-O-+-+
            |.|.|.|.|#|.|.|
            +-+-+-+-+-+-X-+
            |.|.|a|.|.|.|.|
            x-+-+-+-+-+-+-+
            |.|.|c|.|.|.|.|
            +-+-+-+-O-+-+-+
            |.|.|.|.|.|.|.|
            O-+-x-+-+-+-+-+
            |.|.|.|.|.|b|.|
            +-+-+-+-+-+-+-O
        ",
        frames: "
            .....#.
            .......
            ..b.#..
            .a...c.
            .......
            .......
            .......
        ",
    },
];

/// Builds a level. Seed 0 shows the maps as they are written.
///
/// The shapes and lines of the bands around all sets of pegs take long to compute and much memory, so
/// all plays share them.
pub(super) fn level(index: LevelIndex, seed: u64) -> Level {
    static LEVELS_BY_ORIENTATION: [[OnceLock<Level>; ORIENTATIONS]; LEVELS.len()] =
        [const { [const { OnceLock::new() }; ORIENTATIONS] }; LEVELS.len()];
    let orientation = Orientation::new(index, seed);
    LEVELS_BY_ORIENTATION[index.get()][orientation.number()]
        .get_or_init(|| read(&LEVELS[index.get()], orientation))
        .clone()
}

/// The number of ways to rotate and mirror a map.
const ORIENTATIONS: usize = 8;

/// How maps are rotated and mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation {
    is_mirrored: bool,
    quarter_turns: u32,
}

impl Orientation {
    pub(super) const AS_WRITTEN: Self = Self {
        is_mirrored: false,
        quarter_turns: 0,
    };

    const fn new(index: LevelIndex, seed: u64) -> Self {
        if seed == 0 {
            return Self::AS_WRITTEN;
        }
        let mut rng = Rng::new(seed, index.0 as u64);
        Self {
            is_mirrored: rng.below(2) == 1,
            quarter_turns: rng.below(4),
        }
    }

    /// The number of this orientation, below [`ORIENTATIONS`].
    const fn number(self) -> usize {
        4 * self.is_mirrored as usize + self.quarter_turns as usize
    }

    const fn place(self, x: usize, y: usize) -> Point {
        const LAST: usize = MAP_SIDE - 1;
        let (mut x, mut y) = (if self.is_mirrored { LAST - x } else { x }, y);
        let mut turns = 0;
        while turns < self.quarter_turns {
            (x, y) = (LAST - y, x);
            turns += 1;
        }
        Point {
            x: x as i8,
            y: y as i8,
        }
    }
}

/// Reads a level.
pub(super) fn read(spec: &LevelSpec, orientation: Orientation) -> Level {
    let (map, frames) = (TextMap::new(spec.map), TextMap::new(spec.frames));
    assert_eq!(
        (map.width(), map.height()),
        (MAP_SIDE, MAP_SIDE),
        "{}",
        spec.map
    );
    assert_eq!(
        (frames.width(), frames.height()),
        (SIDE, SIDE),
        "{}",
        spec.frames
    );
    let all = |wanted: &[u8]| {
        map.iter()
            .filter(|(_, _, sign)| wanted.contains(sign))
            .map(|(x, y, sign)| (orientation.place(x, y), sign))
            .collect::<Vec<_>>()
    };
    let bands: [_; BANDS] = [*b"oO", *b"xX"].map(|signs| all(&signs));
    let enclosed = bands.each_ref().map(|pegs| {
        let flags = pegs.iter().map(|(_, sign)| sign.is_ascii_uppercase());
        flags
            .enumerate()
            .map(|(peg, flag)| u8::from(flag) << peg)
            .sum()
    });
    let mut beads = [NOWHERE; MAX_BEADS];
    let mut goals = [NOWHERE; MAX_BEADS];
    for (bead, letter) in (0..MAX_BEADS).zip(b'a'..) {
        if let Some(&(point, _)) = all(&[letter]).first() {
            beads[bead] = cell(point);
        }
        if let Some((x, y)) = frames.find(letter).next() {
            goals[bead] = cell(orientation.place(2 * x + 1, 2 * y + 1));
        }
    }
    let bands = bands.map(|pegs| Band::new(pegs.into_iter().map(|(point, _)| point).collect()));
    let mut level = Level {
        lines: Arc::new(bands.each_ref().map(draw::lines)),
        bands: Arc::new(bands),
        rocks: all(b"#")
            .into_iter()
            .fold(0, |set: CellSet, (point, _)| set | bit(cell(point))),
        count: beads.iter().filter(|&&bead| bead != NOWHERE).count(),
        start: Board { enclosed, beads },
        frames: goals,
        background: Frame::filled(0),
    };
    level.background = draw::background(&level);
    level
}

const fn cell(point: Point) -> Cell {
    (point.y as usize / 2 * SIDE + point.x as usize / 2) as Cell
}
