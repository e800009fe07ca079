//! The exact search behind the generator: how many actions a sheet takes at least.
//!
//! What a punch on a given place of a given folding makes does not depend on the holes made before, as long as all of them
//! are wanted. So a solution is a set of at most so many punches that together make all wanted holes, and a shortest walk
//! through the foldings that offers them. Only punches that are part of some such set are followed, which keeps the walk small.

use rhae_engine::Direction;

use std::cmp::Reverse;

use super::paper::{Cells, Folds, LONGEST, MOST_FOLDS, cells_of};
use super::sheet::Sheet;

/// The foldings of a sheet of one size, and where each key leads from each of them.
pub(super) struct Foldings {
    /// In the order of their distance from the flat sheet.
    all: Vec<Folds>,
    /// By the arrow keys and the further key, as indices; a refused key leads nowhere.
    next: Vec<[Option<u16>; KEYS]>,
    distance: Vec<u32>,
    index: Vec<Option<u16>>,
}

/// The arrow keys and, last, the further key.
const KEYS: usize = 5;
/// Depths go up to half the longest side; 0 stands for no fold.
const FOLD_CODES: usize = 4 * (LONGEST as usize / 2) + 1;
const CODES: usize = FOLD_CODES.pow(MOST_FOLDS as u32) * 2;

fn code(folds: &Folds) -> usize {
    let of_fold = |code: usize, index: usize| {
        let fold = folds.list().get(index);
        code * FOLD_CODES
            + fold.map_or(0, |fold| usize::from(fold.depth) * 4 - fold.toward as usize)
    };
    (0..MOST_FOLDS).fold(0, of_fold) * 2 + usize::from(folds.is_live())
}

impl Foldings {
    pub(super) fn new(size: u8) -> Self {
        let mut this = Self {
            all: vec![Folds::NONE],
            next: Vec::new(),
            distance: vec![0],
            index: vec![None; CODES],
        };
        this.index[code(&Folds::NONE)] = Some(0);
        while this.next.len() < this.all.len() {
            let (folds, distance) = (this.all[this.next.len()], this.distance[this.next.len()]);
            let mut next = [None; KEYS];
            for (key, next) in next.iter_mut().enumerate() {
                let led_to = match Direction::ALL.get(key) {
                    Some(&toward) => folds.rolled(toward, size).ok(),
                    None => folds.pressed_or_opened(),
                };
                *next = led_to.map(|folds| this.enter(folds, distance + 1));
            }
            this.next.push(next);
        }
        this
    }

    fn enter(&mut self, folds: Folds, distance: u32) -> u16 {
        *self.index[code(&folds)].get_or_insert_with(|| {
            self.all.push(folds);
            self.distance.push(distance);
            u16::try_from(self.all.len() - 1).expect("there are fewer than 2^16 foldings")
        })
    }

    /// How many keys lead from the flat sheet to a folding.
    pub(super) fn distance(&self, folds: &Folds) -> u32 {
        let index = self.index[code(folds)].expect("every folding that keys can make was found");
        self.distance[usize::from(index)]
    }

    /// The fewest actions that finish a sheet, if at most `limit` do.
    pub(super) fn optimum(&self, sheet: &Sheet, limit: u32) -> Option<u32> {
        let punches = Punches::new(self, sheet, |_| true);
        Walk::new(self, sheet, &punches).run(limit)
    }

    /// Whether a sheet can be finished in any number of actions, punching only in some foldings.
    pub(super) fn is_possible(&self, sheet: &Sheet, allowed: impl Fn(&Folds) -> bool) -> bool {
        Punches::new(self, sheet, allowed).can_finish(0, sheet.punches)
    }

    /// Whether a sheet can be finished in one folding, with no refolding between punches.
    pub(super) fn one_folding_is_enough(&self, sheet: &Sheet) -> bool {
        let punches = Punches::new(self, sheet, |_| true);
        (0..self.all.len()).any(|folding| {
            let offered = punches.at(folding);
            let made = offered
                .iter()
                .fold(0, |made, &punch| made | punches.holes[usize::from(punch)]);
            made == sheet.wanted && offered.len() <= usize::from(sheet.punches)
        })
    }
}

/// All punches that make only wanted holes.
struct Punches {
    wanted: Cells,
    /// The different sets of holes, ascending.
    holes: Vec<Cells>,
    /// Those that are part of no other, beginning with the one of most holes: no others are needed to tell what can be
    /// finished.
    largest: Vec<Cells>,
    /// Which of them each folding offers, one folding after the other.
    offered: Vec<u16>,
    /// Where its own begin and end there.
    ranges: Vec<(u32, u32)>,
}

impl Punches {
    fn new(foldings: &Foldings, sheet: &Sheet, allowed: impl Fn(&Folds) -> bool) -> Self {
        let mut offered_holes = Vec::new();
        let mut ranges: Vec<(u32, u32)> = Vec::with_capacity(foldings.all.len());
        let end = |offered: &[Cells]| {
            u32::try_from(offered.len()).expect("at most 64 punches for each folding")
        };
        for (folding, folds) in foldings.all.iter().enumerate() {
            let begin = end(&offered_holes);
            // A live fold lies just as a pressed one: what is known of the one holds for the other.
            if let Some(twin) =
                foldings.index[code(folds) ^ 1].filter(|&twin| usize::from(twin) < folding)
            {
                ranges.push(ranges[usize::from(twin)]);
                continue;
            }
            if allowed(folds) {
                let look = sheet.look(folds, sheet.gaps, false);
                let good = cells_of(look.right & !look.wrong);
                offered_holes.extend(good.map(|(x, y)| sheet.punched(folds, x, y) & sheet.wanted));
            }
            ranges.push((begin, end(&offered_holes)));
        }
        let mut holes = offered_holes.clone();
        holes.sort_unstable();
        holes.dedup();
        let place = |made: &Cells| {
            holes
                .binary_search(made)
                .expect("it is in the list it was copied to") as u16
        };
        let offered = offered_holes.iter().map(place).collect();
        let mut by_size = holes.clone();
        by_size.sort_unstable_by_key(|made| (Reverse(made.count_ones()), *made));
        let mut largest: Vec<Cells> = Vec::new();
        for made in by_size {
            if largest.iter().all(|larger| made & !larger != 0) {
                largest.push(made);
            }
        }
        Self {
            wanted: sheet.wanted,
            holes,
            largest,
            offered,
            ranges,
        }
    }

    fn at(&self, folding: usize) -> &[u16] {
        let (begin, end) = self.ranges[folding];
        &self.offered[begin as usize..end as usize]
    }

    /// Whether so many punches, in whatever folding, can make what is still missing.
    fn can_finish(&self, made: Cells, left: u8) -> bool {
        let missing = self.wanted & !made;
        if missing == 0 {
            return true;
        }
        let most_holes = self.largest.first().map_or(0, |made| made.count_ones());
        if missing.count_ones() > u32::from(left) * most_holes {
            return false;
        }
        let first = missing & missing.wrapping_neg();
        self.largest
            .iter()
            .any(|holes| holes & first != 0 && self.can_finish(made | holes, left - 1))
    }
}

/// A breadth-first walk over foldings and what has been punched.
struct Walk<'a> {
    foldings: &'a Foldings,
    punches: &'a Punches,
    wanted: Cells,
    /// The stages of the work that can still be finished: holes made, punches left.
    stages: Vec<Stage>,
}

struct Stage {
    made: Cells,
    left: u8,
    /// The stage that each punch leads to, once it was tried; the inner `None` if it cannot be finished from there.
    after: Vec<Option<Option<usize>>>,
    seen: Vec<bool>,
}

impl<'a> Walk<'a> {
    fn new(foldings: &'a Foldings, sheet: &Sheet, punches: &'a Punches) -> Self {
        let mut walk = Self {
            foldings,
            punches,
            wanted: sheet.wanted,
            stages: Vec::new(),
        };
        if punches.can_finish(0, sheet.punches) {
            walk.stage(0, sheet.punches);
        }
        walk
    }

    fn stage(&mut self, made: Cells, left: u8) -> usize {
        let known = self
            .stages
            .iter()
            .position(|stage| stage.made == made && stage.left == left);
        known.unwrap_or_else(|| {
            let after = vec![None; self.punches.holes.len()];
            self.stages.push(Stage {
                made,
                left,
                after,
                seen: vec![false; self.foldings.all.len()],
            });
            self.stages.len() - 1
        })
    }

    fn run(mut self, limit: u32) -> Option<u32> {
        if self.stages.is_empty() {
            return None;
        }
        self.stages[0].seen[0] = true;
        let mut places = vec![(0, 0)];
        for actions in 1..=limit {
            let mut reached = Vec::new();
            for &(stage, folding) in &places {
                for next in self.foldings.next[folding].into_iter().flatten() {
                    self.reach(stage, usize::from(next), &mut reached);
                }
                for &punch in self.punches.at(folding) {
                    if let Some(after) = self.after(stage, usize::from(punch)) {
                        if self.stages[after].made == self.wanted {
                            return Some(actions);
                        }
                        self.reach(after, folding, &mut reached);
                    }
                }
            }
            places = reached;
        }
        None
    }

    fn reach(&mut self, stage: usize, folding: usize, reached: &mut Vec<(usize, usize)>) {
        let seen = &mut self.stages[stage].seen[folding];
        if !*seen {
            *seen = true;
            reached.push((stage, folding));
        }
    }

    fn after(&mut self, stage: usize, punch: usize) -> Option<usize> {
        if let Some(known) = self.stages[stage].after[punch] {
            return known;
        }
        let Stage { made, left, .. } = self.stages[stage];
        let more = made | self.punches.holes[punch];
        let leads_on = more != made && left > 0 && self.punches.can_finish(more, left - 1);
        let after = leads_on.then(|| self.stage(more, left - 1));
        self.stages[stage].after[punch] = Some(after);
        after
    }
}
