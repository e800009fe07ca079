//! The levels: a plan for each, and the generator that makes a sheet from a plan and a seed.
//!
//! A sheet is made backwards: fold a blank sheet at random as the plan says, punch it at random, and mark what was holed.
//! It is kept only if the exact search proves that its shortest solution has just the length that the plan declares, and that
//! what the level is to teach is needed. So the baselines hold for every seed. If no try succeeds, a fixed sheet that was made
//! the same way is taken, mirrored or turned by the seed: the rules know no preferred direction.

use rhae_engine::{Direction, LevelIndex, Rng, TextMap};

use super::paper::{Cells, Folds, cell, cells_of};
use super::search::Foldings;
use super::sheet::Sheet;

/// What a level is made of.
pub(super) struct Plan {
    size: u8,
    punches: u8,
    /// The length of the shortest solution, for every seed.
    pub(super) optimum: u32,
    /// The foldings in which punches are made, one after the other, each beginning with a flat sheet.
    stages: &'static [Stage],
    /// Taken when the generator finds none: `o` wanted, `_` open, `#` plate.
    fixed: &'static str,
}

/// One folding and the punches made in it.
struct Stage {
    folds: &'static [Axis],
    punches: &'static [Kind],
}

/// Which way a fold goes, relative to the level's first one. Its direction and depth are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    Along,
    Across,
}

/// What lies below a punch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As many layers as the folds allow, all marked.
    Full,
    /// The same, but one of the layers is open already.
    Gap,
    /// Three or more marked layers, then a plate, which spares what lies below it.
    Plate,
}

use Axis::{Across, Along};
use Kind::{Full, Gap, Plate};

/// How many sheets are drawn at most, and how many of them are searched, before the fixed one is taken.
const DRAFTS: u32 = 4000;
const SEARCHES: usize = 24;

/// The sheet of a level.
pub(super) fn sheet(index: LevelIndex, seed: u64) -> Sheet {
    let plan = &PLANS[index.get()];
    let mut rng = Rng::new(seed, u64::from(index.0));
    let foldings = Foldings::new(plan.size);
    let drafts = (0..DRAFTS)
        .filter_map(|_| plan.draft(&foldings, &mut rng))
        .take(SEARCHES);
    let mut good = drafts.filter(|draft| plan.accepts(draft, &foldings));
    good.next().unwrap_or_else(|| plan.fallback(seed))
}

impl Plan {
    /// Makes a sheet at random; `None` if its parts do not fit together or the making took more or fewer actions than the
    /// plan declares.
    fn draft(&self, foldings: &Foldings, rng: &mut Rng) -> Option<Sheet> {
        let mut sheet = Sheet {
            size: self.size,
            punches: self.punches,
            wanted: 0,
            gaps: 0,
            plates: 0,
        };
        let sideways = rng.below(2) == 0;
        // Cells that must stay closed because a plate is to spare them.
        let mut spared = 0;
        let mut folds = Folds::NONE;
        let mut length = 0;
        for stage in self.stages {
            length += keys_to_open(folds);
            folds = random_folds(stage, sideways, self.size, rng)?;
            length += foldings.distance(&folds) + stage.punches.len() as u32;
            let hull = folds.hull(self.size).cells();
            let is_thick = |&(x, y): &(u8, u8)| {
                folds.stack(self.size, x, y).layers().len() == 1 << stage.folds.len()
            };
            let mut places: Vec<(u8, u8)> = cells_of(hull).filter(is_thick).collect();
            rng.shuffle(&mut places);
            for (index, &kind) in stage.punches.iter().enumerate() {
                let &(x, y) = places.get(index)?;
                spared |= print(&mut sheet, kind, folds.stack(self.size, x, y).layers(), rng);
            }
        }
        let overlap = sheet.wanted & (sheet.gaps | sheet.plates | spared)
            | sheet.gaps & (sheet.plates | spared);
        (overlap == 0 && length == self.optimum).then_some(sheet)
    }

    /// Whether nothing shorter finishes the sheet, all punches are needed, and what the level is about is needed too.
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

    /// Whether the sheet cannot be finished without what the level is about.
    fn teaches(&self, sheet: &Sheet, foldings: &Foldings) -> bool {
        let uses = |kind| {
            self.stages
                .iter()
                .any(|stage| stage.punches.contains(&kind))
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
            && (self.stages.len() == 1 || needs_refolding())
            && (self.stages[0].folds != [Along, Along] || needs_two_along_one_axis())
    }

    /// The fixed sheet in one of its eight positions.
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

/// The fewest keys that open all folds: a live one is rolled back, or pressed and opened.
fn keys_to_open(folds: Folds) -> u32 {
    let Some(last) = folds.list().last() else {
        return 0;
    };
    let for_last = if folds.is_live() {
        u32::from(last.depth).min(2)
    } else {
        1
    };
    for_last + folds.list().len() as u32 - 1
}

/// Folds a flat sheet as a stage says, in random directions to random depths; `None` if there is no room for a fold.
fn random_folds(stage: &Stage, sideways: bool, size: u8, rng: &mut Rng) -> Option<Folds> {
    let mut folds = Folds::NONE;
    for &axis in stage.folds {
        let pair = if sideways == (axis == Along) {
            [Direction::Left, Direction::Right]
        } else {
            [Direction::Up, Direction::Down]
        };
        let toward = pair[rng.below(2) as usize];
        if folds.is_live() {
            folds = folds.pressed_or_opened()?;
        }
        let depth = 1 + rng.below(u32::from(size / 2));
        for _ in 0..depth {
            folds = folds.rolled(toward, size).ok()?;
        }
    }
    Some(folds)
}

/// Prints what one punch is to meet, and gives the cells that must stay closed.
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
            let depth = 3 + rng.below(layers.len() as u32 - 4) as usize;
            sheet.wanted |= all(&layers[..depth]);
            sheet.plates |= all(&layers[depth..=depth]);
            all(&layers[depth + 1..])
        }
    }
}

pub(super) const PLANS: [Plan; 8] = [
    // Marks that are folded onto each other are made together.
    Plan {
        size: 6,
        punches: 1,
        optimum: 4,
        stages: &[Stage {
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
    // The crease need not be in the middle, and one folding serves several punches.
    Plan {
        size: 7,
        punches: 4,
        optimum: 7,
        stages: &[Stage {
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
    // Folds along both axes multiply.
    Plan {
        size: 6,
        punches: 2,
        optimum: 7,
        stages: &[Stage {
            folds: &[Along, Across],
            punches: &[Full; 2],
        }],
        fixed: "
            ......
            ......
            o.oo.o
            ......
            ......
            o.oo.o
        ",
    },
    // Two folds along one axis: the first has to be pressed.
    Plan {
        size: 8,
        punches: 2,
        optimum: 8,
        stages: &[Stage {
            folds: &[Along, Along],
            punches: &[Full; 2],
        }],
        fixed: "
            ........
            oo....oo
            ........
            oo....oo
            ........
            ........
            ........
            ........
        ",
    },
    // A mark without a partner must meet an open cell.
    Plan {
        size: 8,
        punches: 3,
        optimum: 9,
        stages: &[Stage {
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
    // The sheet may be folded anew between punches.
    Plan {
        size: 7,
        punches: 2,
        optimum: 11,
        stages: &[
            Stage {
                folds: &[Along, Across],
                punches: &[Full],
            },
            Stage {
                folds: &[Across, Along],
                punches: &[Full],
            },
        ],
        fixed: "
            oo.....
            .....oo
            .......
            oo.....
            .......
            .......
            .....oo
        ",
    },
    // A plate spares what lies below it: the order of the folds decides.
    Plan {
        size: 8,
        punches: 2,
        optimum: 12,
        stages: &[Stage {
            folds: &[Along, Across, Along],
            punches: &[Plate; 2],
        }],
        fixed: "
            ........
            ..o..#..
            ........
            .oo..oo.
            .#o..o..
            ........
            ..o..o..
            ........
        ",
    },
    // All of it.
    Plan {
        size: 8,
        punches: 2,
        optimum: 20,
        stages: &[
            Stage {
                folds: &[Along, Across, Along],
                punches: &[Gap],
            },
            Stage {
                folds: &[Along, Across, Along],
                punches: &[Plate],
            },
        ],
        fixed: "
            o..o#..o
            ....oo_o
            ........
            o......o
            ........
            ........
            ....oooo
            ........
        ",
    },
];
