//! The levels: a specification of each, and the generator that makes a sheet from it and a seed.
//!
//! A sheet is generated backwards: the generator folds a blank sheet at random within the
//! specification, punches it at random, and marks the holes. It accepts the sheet only if the exact
//! search proves that the shortest solution has the specified length and that the sheet needs the
//! rule that the level teaches. If no draft is accepted, the generator uses a stored sheet of the
//! same optimum, mirrored or transposed according to the seed; the rules are symmetric under these
//! operations. The baselines therefore hold for every seed.

use rhae_engine::{Direction, LevelIndex, Rng, TextMap};

use super::paper::{Cells, Folds, cell, cells_of};
use super::search::Foldings;
use super::sheet::Sheet;

pub(super) struct LevelSpec {
    size: u8,
    punches: u8,
    /// The length of the shortest solution, for every seed.
    pub(super) optimum: u32,
    /// The number of keys by which the shortest solution is shorter than the construction, because
    /// a later folding can keep a fold of the previous one.
    saved: u32,
    /// The foldings in which punches are made, one after the other, each starting from a flat
    /// sheet.
    rounds: &'static [PunchRound],
    /// The sheet to use if the generator finds none: `o` is marked, `_` open, `#` a plate.
    fixed: &'static str,
}

/// One folding and the punches made in it.
struct PunchRound {
    folds: &'static [Axis],
    punches: &'static [Kind],
}

/// The axis of a fold, relative to the first fold of the level. The axis of the first fold, and the
/// direction and depth of every fold, are random.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Along,
    Across,
}

/// The layers below a punch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As many layers as the folds allow, all marked.
    Full,
    /// The same, but one of the layers is already open.
    Gap,
    /// Three or more marked layers, then a plate, which spares the layers below it.
    Plate,
}

use Axis::{Across, Along};
use Kind::{Full, Gap, Plate};

/// The maximum number of attempts to generate a random sheet, and the maximum number of generated
/// sheets that are searched, before the stored sheet is used.
const DRAFTS: u32 = 4000;
const SEARCHES: usize = 24;

/// Generates the sheet of a level.
pub(super) fn sheet(index: LevelIndex, seed: u64) -> Sheet {
    let spec = &LEVELS[index.get()];
    let mut rng = Rng::new(seed, u64::from(index.0));
    let foldings = Foldings::new(spec.size);
    let drafts = (0..DRAFTS)
        .filter_map(|_| spec.draft(&foldings, &mut rng))
        .take(SEARCHES);
    let mut good = drafts.filter(|draft| spec.accepts(draft, &foldings));
    good.next().unwrap_or_else(|| spec.fallback(seed))
}

impl LevelSpec {
    /// Generates a random sheet. Returns `None` if its parts conflict, or if its construction does
    /// not take the specified number of actions.
    fn draft(&self, foldings: &Foldings, rng: &mut Rng) -> Option<Sheet> {
        let mut sheet = Sheet {
            size: self.size,
            punches: self.punches,
            wanted: 0,
            gaps: 0,
            plates: 0,
        };
        let sideways = rng.below(2) == 0;
        // Cells that must stay closed because a plate spares them.
        let mut spared = 0;
        let mut folds = Folds::NONE;
        let mut length = 0;
        for round in self.rounds {
            length += folds.list().len() as u32;
            folds = random_folds(round, sideways, self.size, rng)?;
            length += foldings.distance(&folds) + round.punches.len() as u32;
            let hull = folds.hull(self.size).cells();
            let is_thick = |&(x, y): &(u8, u8)| {
                folds.stack(self.size, x, y).layers().len() == 1 << round.folds.len()
            };
            let mut places: Vec<(u8, u8)> = cells_of(hull).filter(is_thick).collect();
            rng.shuffle(&mut places);
            for (index, &kind) in round.punches.iter().enumerate() {
                let &(x, y) = places.get(index)?;
                spared |= print(&mut sheet, kind, folds.stack(self.size, x, y).layers(), rng);
            }
        }
        let overlap = sheet.wanted & (sheet.gaps | sheet.plates | spared)
            | sheet.gaps & (sheet.plates | spared);
        (overlap == 0 && length == self.optimum + self.saved).then_some(sheet)
    }

    /// Returns whether the optimum is as specified, all punches are needed, and the sheet needs the
    /// rule that the level teaches.
    pub(super) fn accepts(&self, sheet: &Sheet, foldings: &Foldings) -> bool {
        let punch_to_spare = foldings.is_possible(
            &Sheet {
                punches: sheet.punches - 1,
                ..*sheet
            },
            |_| true,
        );
        !punch_to_spare
            && foldings.optimum(sheet, self.optimum) == Some(self.optimum)
            && self.teaches(sheet, foldings)
    }

    /// Returns whether the sheet cannot be finished without the rule that the level teaches.
    fn teaches(&self, sheet: &Sheet, foldings: &Foldings) -> bool {
        let uses = |kind| {
            self.rounds
                .iter()
                .any(|round| round.punches.contains(&kind))
        };
        let needs_gaps = || !foldings.is_possible(&Sheet { gaps: 0, ..*sheet }, |_| true);
        let needs_plates = || {
            !foldings.is_possible(
                &Sheet {
                    plates: 0,
                    ..*sheet
                },
                |_| true,
            )
        };
        let needs_refolding = || !foldings.one_folding_is_enough(sheet);
        let needs_two_along_one_axis =
            || !foldings.is_possible(sheet, |folds| !is_folded_twice_along_one_axis(folds));
        (!uses(Gap) || needs_gaps())
            && (!uses(Plate) || needs_plates())
            && (self.rounds.len() == 1 || needs_refolding())
            && (self.rounds[0].folds != [Along, Along] || needs_two_along_one_axis())
    }

    /// Returns the stored sheet in one of its eight orientations.
    pub(super) fn fallback(&self, seed: u64) -> Sheet {
        let map = TextMap::new(self.fixed);
        let last = self.size - 1;
        let place = |(x, y): (usize, usize)| {
            let (x, y) = (x as u8, y as u8);
            let (x, y) = if seed & 1 == 0 { (x, y) } else { (y, x) };
            cell(
                if seed & 2 == 0 { x } else { last - x },
                if seed & 4 == 0 { y } else { last - y },
            )
        };
        let all = |letter: u8| {
            map.find(letter)
                .map(place)
                .fold(0, |set: Cells, cell| set | cell)
        };
        Sheet {
            size: self.size,
            punches: self.punches,
            wanted: all(b'o'),
            gaps: all(b'_'),
            plates: all(b'#'),
        }
    }
}

fn is_folded_twice_along_one_axis(folds: &Folds) -> bool {
    let sideways = folds
        .list()
        .iter()
        .filter(|fold| fold.toward.is_sideways())
        .count();
    sideways > 1 || folds.list().len() - sideways > 1
}

/// Folds a flat sheet along the specified axes, in random directions to random depths. Returns
/// `None` if there is no room for a fold.
fn random_folds(round: &PunchRound, sideways: bool, size: u8, rng: &mut Rng) -> Option<Folds> {
    let mut folds = Folds::NONE;
    for &axis in round.folds {
        let pair = if sideways == (axis == Along) {
            [Direction::Left, Direction::Right]
        } else {
            [Direction::Up, Direction::Down]
        };
        let mut toward = pair[rng.below(2) as usize];
        if folds
            .list()
            .last()
            .is_some_and(|last| last.toward == toward)
        {
            // A second fold in the same direction would only roll the first one further.
            toward = toward.opposite();
        }
        let depth = 1 + rng.below(u32::from(size / 2));
        for _ in 0..depth {
            folds = folds.rolled(toward, size).ok()?;
        }
    }
    Some(folds)
}

/// Marks the layers below one punch and returns the cells that must stay closed.
fn print(sheet: &mut Sheet, kind: Kind, layers: &[(u8, u8)], rng: &mut Rng) -> Cells {
    let all = |layers: &[(u8, u8)]| layers.iter().fold(0, |set, &(x, y)| set | cell(x, y));
    match kind {
        Full => {
            sheet.wanted |= all(layers);
            0
        }
        Gap => {
            let (x, y) = layers[rng.below(layers.len() as u32) as usize];
            sheet.gaps |= cell(x, y);
            sheet.wanted |= all(layers) & !cell(x, y);
            0
        }
        Plate => {
            let depth = 3 + rng.below(layers.len() as u32 - 3) as usize;
            sheet.wanted |= all(&layers[..depth]);
            sheet.plates |= all(&layers[depth..=depth]);
            all(&layers[depth + 1..])
        }
    }
}

pub(super) const LEVELS: [LevelSpec; 8] = [
    // Marks that are folded onto each other are punched together.
    LevelSpec {
        size: 6,
        punches: 1,
        optimum: 4,
        saved: 0,
        rounds: &[PunchRound {
            folds: &[Along],
            punches: &[Full],
        }],
        fixed: "
            ......
            ......
            ......
            .o..o.
            ......
            ......
        ",
    },
    // The crease need not be in the middle, and one folding allows several punches.
    LevelSpec {
        size: 7,
        punches: 4,
        optimum: 7,
        saved: 0,
        rounds: &[PunchRound {
            folds: &[Along],
            punches: &[Full; 4],
        }],
        fixed: "
            o....o.
            ..oo...
            .......
            ..oo...
            .o..o..
            .......
            .......
        ",
    },
    // A plate spares the layers below it, so the order of two folds matters.
    LevelSpec {
        size: 6,
        punches: 2,
        optimum: 7,
        saved: 0,
        rounds: &[PunchRound {
            folds: &[Along, Across],
            punches: &[Plate; 2],
        }],
        fixed: "
            ......
            ...#o.
            ..#..o
            ..o..o
            ...oo.
            ......
        ",
    },
    // Two folds along one axis, from opposite sides.
    LevelSpec {
        size: 8,
        punches: 2,
        optimum: 8,
        saved: 0,
        rounds: &[PunchRound {
            folds: &[Along, Along],
            punches: &[Full; 2],
        }],
        fixed: "
            ........
            ........
            ........
            ........
            ........
            o..oo..o
            ........
            .oo..oo.
        ",
    },
    // A mark without a counterpart must be folded onto an open cell.
    LevelSpec {
        size: 8,
        punches: 3,
        optimum: 9,
        saved: 0,
        rounds: &[PunchRound {
            folds: &[Along, Across],
            punches: &[Gap, Gap, Full],
        }],
        fixed: "
            ........
            ........
            ........
            ........
            .o....o.
            o.o..o.o
            o.o.._.o
            .o...._.
        ",
    },
    // The sheet must be refolded between punches, each of which ends at a plate.
    LevelSpec {
        size: 7,
        punches: 2,
        optimum: 10,
        saved: 1,
        rounds: &[
            PunchRound {
                folds: &[Along, Across],
                punches: &[Plate],
            },
            PunchRound {
                folds: &[Across, Along],
                punches: &[Plate],
            },
        ],
        fixed: "
            .oo....
            .o#....
            .....#o
            .......
            .......
            .....oo
            .......
        ",
    },
    // Three folds and eight layers, with two plates.
    LevelSpec {
        size: 8,
        punches: 2,
        optimum: 12,
        saved: 0,
        rounds: &[PunchRound {
            folds: &[Along, Across, Along],
            punches: &[Plate; 2],
        }],
        fixed: "
            ........
            ........
            .oo..oo.
            o......#
            o......o
            .o#...o.
            ........
            ........
        ",
    },
    // All rules combined.
    LevelSpec {
        size: 8,
        punches: 2,
        optimum: 20,
        saved: 0,
        rounds: &[
            PunchRound {
                folds: &[Along, Across, Along],
                punches: &[Gap],
            },
            PunchRound {
                folds: &[Along, Across, Along],
                punches: &[Plate],
            },
        ],
        fixed: "
            ........
            .oooo...
            ....#ooo
            ........
            ........
            ....oooo
            .o_oo...
            ........
        ",
    },
];
