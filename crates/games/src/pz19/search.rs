//! The exact search of the level generator: the minimum number of actions that a sheet needs.
//!
//! The marked holes that a punch at a given place of a given folding makes do not depend on earlier
//! holes, as long as all of them are marked. A shortest solution therefore consists of a set of
//! punches that together make all marked holes, and a shortest path through the foldings that offer
//! them. The search follows only punches after which the remaining punches can still make all
//! missing holes, which keeps it small.

use rhae_engine::Direction;

use std::cmp::Reverse;

use super::paper::{Cells, Folds, MAX_FOLDS, MAX_SIDE, cells_of};
use super::sheet::Sheet;

/// The foldings of a sheet of one size, and the transitions between them.
pub(super) struct Foldings {
    /// All foldings, ordered by their distance from the flat sheet.
    all: Vec<Folds>,
    /// The successor of each folding for each key, as an index; `None` if the key has no effect.
    next: Vec<[Option<u16>; KEYS]>,
    distance: Vec<u32>,
    index: Vec<Option<u16>>,
}

/// The arrow keys and, last, ACTION5.
const KEYS: usize = 5;
/// The number of codes for one fold: four directions with depths up to half of the maximum side,
/// and 0 for no fold.
const FOLD_CODES: usize = 4 * (MAX_SIDE as usize / 2) + 1;
const CODES: usize = FOLD_CODES.pow(MAX_FOLDS as u32);

fn code(folds: &Folds) -> usize {
    let of_fold = |code: usize, index: usize| {
        let fold = folds.list().get(index);
        code * FOLD_CODES
            + fold.map_or(0, |fold| usize::from(fold.depth) * 4 - fold.toward as usize)
    };
    (0..MAX_FOLDS).fold(0, of_fold)
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
                    None => folds.opened(),
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

    /// Returns the number of keys from the flat sheet to a folding.
    pub(super) fn distance(&self, folds: &Folds) -> u32 {
        let index = self.index[code(folds)].expect("every folding that keys can make was found");
        self.distance[usize::from(index)]
    }

    /// Returns the minimum number of actions that finish a sheet, or `None` if it exceeds `limit`.
    pub(super) fn optimum(&self, sheet: &Sheet, limit: u32) -> Option<u32> {
        let punches = Punches::new(self, sheet, |_| true);
        Walk::new(self, sheet, &punches).run(limit)
    }

    /// Returns whether a sheet can be finished in any number of actions if punches are allowed only
    /// in some foldings.
    pub(super) fn is_possible(&self, sheet: &Sheet, allowed: impl Fn(&Folds) -> bool) -> bool {
        Punches::new(self, sheet, allowed).can_finish(0, sheet.punches)
    }

    /// Returns whether a sheet can be finished in a single folding, without refolding between
    /// punches.
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

/// All punches that make only marked holes.
struct Punches {
    wanted: Cells,
    /// The distinct sets of holes, in ascending order.
    holes: Vec<Cells>,
    /// The sets that are not contained in another set, those with the most holes first. They
    /// suffice to decide whether a sheet can be finished.
    largest: Vec<Cells>,
    /// The indices of the sets that each folding offers, one folding after the other.
    offered: Vec<u16>,
    /// The range of each folding in `offered`.
    ranges: Vec<(u32, u32)>,
}

impl Punches {
    fn new(foldings: &Foldings, sheet: &Sheet, allowed: impl Fn(&Folds) -> bool) -> Self {
        let mut offered_holes = Vec::new();
        let mut ranges: Vec<(u32, u32)> = Vec::with_capacity(foldings.all.len());
        let end = |offered: &[Cells]| {
            u32::try_from(offered.len()).expect("at most 64 punches for each folding")
        };
        for folds in &foldings.all {
            let begin = end(&offered_holes);
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
                .expect("`holes` contains every offered set") as u16
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

    /// Returns whether `left` punches, in any of the allowed foldings, can make the missing holes.
    fn can_finish(&self, made: Cells, left: u8) -> bool {
        let missing = self.wanted & !made;
        if missing == 0 {
            return true;
        }
        let max_holes = self.largest.first().map_or(0, |made| made.count_ones());
        if missing.count_ones() > u32::from(left) * max_holes {
            return false;
        }
        let first = missing & missing.wrapping_neg();
        self.largest
            .iter()
            .any(|holes| holes & first != 0 && self.can_finish(made | holes, left - 1))
    }
}

/// A breadth-first search over foldings and punched holes.
struct Walk<'a> {
    foldings: &'a Foldings,
    punches: &'a Punches,
    wanted: Cells,
    /// The reachable combinations of holes and remaining punches from which the sheet can be
    /// finished.
    progress: Vec<Progress>,
}

struct Progress {
    made: Cells,
    left: u8,
    /// The successor for each punch: `None` if not computed yet, `Some(None)` if the sheet cannot
    /// be finished after it.
    after: Vec<Option<Option<usize>>>,
    seen: Vec<bool>,
}

impl<'a> Walk<'a> {
    fn new(foldings: &'a Foldings, sheet: &Sheet, punches: &'a Punches) -> Self {
        let mut walk = Self {
            foldings,
            punches,
            wanted: sheet.wanted,
            progress: Vec::new(),
        };
        if punches.can_finish(0, sheet.punches) {
            walk.enter(0, sheet.punches);
        }
        walk
    }

    fn enter(&mut self, made: Cells, left: u8) -> usize {
        let known = self
            .progress
            .iter()
            .position(|progress| progress.made == made && progress.left == left);
        known.unwrap_or_else(|| {
            let after = vec![None; self.punches.holes.len()];
            self.progress.push(Progress {
                made,
                left,
                after,
                seen: vec![false; self.foldings.all.len()],
            });
            self.progress.len() - 1
        })
    }

    fn run(mut self, limit: u32) -> Option<u32> {
        if self.progress.is_empty() {
            return None;
        }
        self.progress[0].seen[0] = true;
        let mut places = vec![(0, 0)];
        for actions in 1..=limit {
            let mut reached = Vec::new();
            for &(progress, folding) in &places {
                for next in self.foldings.next[folding].into_iter().flatten() {
                    self.reach(progress, usize::from(next), &mut reached);
                }
                for &punch in self.punches.at(folding) {
                    if let Some(after) = self.after(progress, usize::from(punch)) {
                        if self.progress[after].made == self.wanted {
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

    fn reach(&mut self, progress: usize, folding: usize, reached: &mut Vec<(usize, usize)>) {
        let seen = &mut self.progress[progress].seen[folding];
        if !*seen {
            *seen = true;
            reached.push((progress, folding));
        }
    }

    fn after(&mut self, progress: usize, punch: usize) -> Option<usize> {
        if let Some(known) = self.progress[progress].after[punch] {
            return known;
        }
        let Progress { made, left, .. } = self.progress[progress];
        let more = made | self.punches.holes[punch];
        let can_continue = more != made && left > 0 && self.punches.can_finish(more, left - 1);
        let after = can_continue.then(|| self.enter(more, left - 1));
        self.progress[progress].after[punch] = Some(after);
        after
    }
}
