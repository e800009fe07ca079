//! Tests of the generator, which compare it with the independent search of `rhae_explore`, and of
//! the geometry, which compare it with a simple model.

use rhae_engine::{Direction, LevelIndex, Rng};
use rhae_explore::{NativeLevel, shortest_win};

use super::Pz19;
use super::levels::{LEVELS, sheet};
use super::paper::{Cells, Folds, Hull, cell, cells_of};
use super::search::Foldings;
use super::sheet::Sheet;

fn levels() -> impl Iterator<Item = (LevelIndex, u32)> {
    LEVELS
        .iter()
        .enumerate()
        .map(|(index, spec)| (LevelIndex(index as u8), spec.optimum))
}

#[test]
fn every_seed_has_the_declared_optimum() {
    for (index, optimum) in levels() {
        // Levels with more than 100,000 boards are tested with fewer seeds to keep the suite fast.
        let seeds = if [4, 7].contains(&index.0) { 15 } else { 50 };
        for seed in 0..seeds {
            let search = shortest_win(&NativeLevel::<Pz19>::new(seed, index), 3_000_000);
            assert_eq!(
                search.win.map(|win| win.len()),
                Some(optimum as usize),
                "level {index}, seed {seed}"
            );
        }
    }
}

/// The search of the generator is fast enough to check many more seeds.
#[test]
fn generator_search_agrees_for_many_seeds() {
    for (index, optimum) in levels() {
        for seed in (50..150).chain([u64::MAX, 1 << 40]) {
            let sheet = sheet(index, seed);
            let foldings = Foldings::new(sheet.size);
            assert_eq!(
                foldings.optimum(&sheet, optimum + 5),
                Some(optimum),
                "level {index}, seed {seed}"
            );
        }
    }
}

#[test]
fn stored_sheets_meet_the_specification() {
    for (index, optimum) in levels() {
        for seed in 0..8 {
            let sheet = LEVELS[index.get()].fallback(seed);
            let foldings = Foldings::new(sheet.size);
            assert_eq!(
                foldings.optimum(&sheet, optimum + 5),
                Some(optimum),
                "level {index}, position {seed}"
            );
            assert!(
                LEVELS[index.get()].accepts(&sheet, &foldings),
                "level {index}, position {seed}"
            );
        }
    }
}

#[test]
fn different_seeds_generate_different_sheets() {
    // The first level has few possible pairs of marks; later levels rarely repeat.
    for (index, _) in levels() {
        let mut sheets: Vec<Sheet> = (0..30).map(|seed| sheet(index, seed)).collect();
        sheets.sort_unstable_by_key(|sheet| (sheet.wanted, sheet.gaps, sheet.plates));
        sheets.dedup();
        let different = if index == LevelIndex(0) { 8 } else { 20 };
        assert!(
            sheets.len() >= different,
            "level {index}: only {} different sheets",
            sheets.len()
        );
    }
}

#[test]
fn sets_of_a_sheet_do_not_overlap() {
    for (index, _) in levels() {
        for seed in 0..30 {
            let Sheet {
                size,
                wanted,
                gaps,
                plates,
                ..
            } = sheet(index, seed);
            let together = wanted.count_ones() + gaps.count_ones() + plates.count_ones();
            assert_eq!(
                (wanted | gaps | plates).count_ones(),
                together,
                "level {index}, seed {seed}"
            );
            assert_eq!(
                (wanted | gaps | plates) & !Hull::flat(size).cells(),
                0,
                "level {index}, seed {seed}"
            );
        }
    }
}

/// Returns a random folding that keys can make.
fn any_folds(size: u8, rng: &mut Rng) -> Folds {
    let mut folds = Folds::NONE;
    for _ in 0..12 {
        let after = match Direction::ALL.get(rng.below(5) as usize) {
            Some(&toward) => folds.rolled(toward, size).ok(),
            None => folds.opened(),
        };
        folds = after.unwrap_or(folds);
    }
    folds
}

#[test]
fn every_cell_lies_in_exactly_one_layer() {
    let mut rng = Rng::new(1, 0);
    for size in 6..=8 {
        for _ in 0..300 {
            let folds = any_folds(size, &mut rng);
            let mut found: Cells = 0;
            for (x, y) in cells_of(folds.hull(size).cells()) {
                let before = found;
                for &(x, y) in folds.stack(size, x, y).layers() {
                    assert_eq!(found & cell(x, y), 0, "{folds:?}");
                    found |= cell(x, y);
                }
                assert_eq!(
                    folds.cells_at(size, x, y),
                    found & !before,
                    "{folds:?} {x},{y}"
                );
            }
            assert_eq!(found, Hull::flat(size).cells(), "{folds:?}");
        }
    }
}

#[test]
fn appearance_agrees_with_the_effect_of_a_punch() {
    let mut rng = Rng::new(2, 0);
    for round in 0..240 {
        let printed = sheet(LevelIndex(round % 8), 3);
        let folds = any_folds(printed.size, &mut rng);
        let open = printed.gaps | printed.wanted & rng.next_u64() & rng.next_u64();
        let look = printed.look(&folds, open, false);
        assert_eq!(look.paper, folds.hull(printed.size).cells());
        for (x, y) in cells_of(look.paper) {
            let stack = folds.stack(printed.size, x, y);
            let is = |set: Cells| set & cell(x, y) != 0;
            let holes = printed.punched(&folds, x, y) & !open;
            assert_eq!(
                is(look.right),
                holes & printed.wanted != 0,
                "{folds:?} {x},{y}"
            );
            assert_eq!(
                is(look.wrong),
                holes & !printed.wanted != 0,
                "{folds:?} {x},{y}"
            );
            assert_eq!(
                is(look.double),
                stack.layers().len() > 1,
                "{folds:?} {x},{y}"
            );
            assert_eq!(
                is(look.triple),
                stack.layers().len() > 2,
                "{folds:?} {x},{y}"
            );
            let (top_x, top_y) = stack.layers()[0];
            assert_eq!(
                is(look.open),
                open & cell(top_x, top_y) != 0,
                "{folds:?} {x},{y}"
            );
        }
    }
}

#[test]
fn same_arrow_rolls_and_opening_undoes_a_whole_fold() {
    for toward in Direction::ALL {
        let one = Folds::NONE.rolled(toward, 7).unwrap();
        let three = one.rolled(toward, 7).unwrap().rolled(toward, 7).unwrap();
        assert_eq!((one.list().len(), three.list().len()), (1, 1));
        assert!(
            three.rolled(toward, 7).is_err(),
            "at most half of the sheet can be turned over"
        );
        assert_eq!(three.opened(), Some(Folds::NONE));
        let opposite = one.rolled(toward.opposite(), 7).unwrap();
        assert_eq!(opposite.list().len(), 2, "an opposite arrow starts a fold");
        assert_eq!(opposite.opened(), Some(one));
    }
    assert_eq!(Folds::NONE.opened(), None);
}
