//! The tests of single rules use small boards. The other tests check that levels cannot be won
//! without the rules that they teach, and that all variants of a level have the same optimum.

use std::convert::Infallible;

use rhae_engine::Direction::{self, Left, Right};
use rhae_engine::{
    Action, ActionKind, ActionSet, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, NativeLevel, shortest_win};

use super::band::{Band, Cell, CellSet, NOWHERE, Point, Step, bit, steps};
use super::{Level, Zg58, draw, levels};

/// A band with four pegs at the corners of the square of cells (1, 1) to (3, 3), one peg inside the
/// square, and one peg far to the right.
fn band() -> Band {
    let pegs = [(2, 2), (8, 2), (8, 8), (2, 8), (6, 6), (14, 4)];
    Band::new(pegs.map(|(x, y)| Point { x, y }).to_vec())
}

#[test]
fn band_encloses_everything_in_its_hull() {
    let band = band();
    // Three corners of the square enclose the peg on the edge between two of them as well.
    assert_eq!(band.toggled(0b00011, 2), Some(0b10111));
    assert_eq!(band.toggled(0b10111, 3), Some(0b11111));
    assert_eq!(band.toggled(0b11111, 5), Some(0b111111));
    assert_eq!(band.shape(0b11111).corners.len(), 4);
}

#[test]
fn only_corners_can_be_released() {
    let band = band();
    assert_eq!(band.toggled(0b11111, 4), None, "the peg is inside");
    assert_eq!(band.toggled(0b11111, 2), Some(0b11011));
    assert_eq!(band.toggled(0b01011, 3), None, "two pegs are no shape");
}

#[test]
fn cells_are_inside_if_their_middles_are() {
    let inside = |set| band().shape(set).inside.count_ones();
    assert_eq!(inside(0b11111), 9);
    // Half of the square: the middles on the diagonal are not strictly inside.
    assert_eq!(inside(0b00111), 3);
    assert_eq!(inside(0b00011), 0);
}

const fn at(x: usize, y: usize) -> Cell {
    (y * 7 + x) as Cell
}

/// Moves two beads, with the first band around the left four columns and the second one around the
/// right four.
fn moved(beads: [Cell; 2], rocks: CellSet, key: Direction) -> [Step; 2] {
    let columns = |range: std::ops::Range<usize>| {
        range.fold(0, |set: CellSet, x| {
            (0..7).fold(set, |set, y| set | bit(at(x, y)))
        })
    };
    let inside = [columns(0..4), columns(3..7)];
    let [first, second, _] = steps(rocks, inside, &[beads[0], beads[1], NOWHERE], 2, key);
    [first, second]
}

#[test]
fn bands_decide_which_beads_move_and_in_which_direction() {
    assert_eq!(
        moved([at(1, 0), at(5, 0)], 0, Left),
        [Step::Moves(at(0, 0)), Step::Moves(at(6, 0))]
    );
    // Column 3 is inside both bands.
    assert_eq!(moved([at(3, 0), at(1, 5)], 0, Left)[0], Step::Still);
}

#[test]
fn bands_edges_rocks_and_beads_stop_a_bead() {
    assert_eq!(
        moved([at(2, 0), at(4, 0)], 0, Right),
        [Step::Stopped(Right), Step::Stopped(Left)]
    );
    assert_eq!(moved([at(0, 0), at(6, 6)], 0, Left)[0], Step::Stopped(Left));
    let rock = bit(at(1, 0));
    assert_eq!(
        moved([at(0, 0), at(5, 5)], rock, Right)[0],
        Step::Stopped(Right)
    );
    assert_eq!(
        moved([at(1, 0), at(2, 0)], 0, Right),
        [Step::Stopped(Right), Step::Stopped(Right)]
    );
    assert_eq!(
        moved([at(0, 0), at(1, 0)], 0, Right),
        [Step::Moves(at(1, 0)), Step::Moves(at(2, 0))]
    );
}

/// A level that must be won within its optimum. The actions that `forbidden` selects count as
/// losses.
struct Without {
    level: Level,
    optimum: usize,
    forbidden: fn(&Level, &StateOf<Zg58>, Action) -> bool,
}

impl Explorable for Without {
    /// The state, and the number of actions so far.
    type State = (StateOf<Zg58>, usize);
    type Error = Infallible;

    fn start(&self) -> Self::State {
        (Zg58::start(&self.level), 0)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        ActionSet::ARROWS.with(ActionKind::Action6)
    }

    fn clicks(&self, state: &Self::State, actions: &mut Vec<Action>) {
        actions
            .extend(Zg58::clicks(&self.level, &state.0).filter_map(|(x, y)| Action::click(x, y)));
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        if (self.forbidden)(&self.level, &state.0, action) {
            return Ok(Outcome::GameOver);
        }
        state.1 += 1;
        Ok(
            match Zg58::step(&self.level, &mut state.0, action, &mut NoFrames) {
                Outcome::Continue if state.1 == self.optimum => Outcome::GameOver,
                outcome => outcome,
            },
        )
    }

    fn key(&self, state: &Self::State) -> StateKey {
        // The search reaches every state first with the fewest actions, so the key omits their
        // number.
        key_of(&state.0)
    }
}

fn level(number: u8) -> Level {
    levels::level(LevelIndex(number - 1), 0)
}

/// Returns whether a level can be won within its optimum.
fn is_possible(
    number: u8,
    level: Level,
    forbidden: fn(&Level, &StateOf<Zg58>, Action) -> bool,
) -> bool {
    let optimum = Zg58::FACTS.solution(LevelIndex(number - 1)).len();
    let search = shortest_win(
        &Without {
            level,
            optimum,
            forbidden,
        },
        1_000_000,
    );
    assert!(search.complete || search.win.is_some(), "level {number}");
    search.win.is_some()
}

/// Returns whether a key moves one bead while another one is stopped.
fn holds_one_back(level: &Level, state: &StateOf<Zg58>, action: Action) -> bool {
    let Some(key) = Direction::of(action) else {
        return false;
    };
    let board = &state.board;
    let steps = steps(
        level.rocks,
        level.inside(board),
        &board.beads,
        level.count,
        key,
    );
    steps.iter().any(|step| matches!(step, Step::Moves(_)))
        && steps.iter().any(|step| matches!(step, Step::Stopped(_)))
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    for number in [2, 4, 8] {
        assert!(
            !is_possible(number, level(number), holds_one_back),
            "level {number}"
        );
    }
    let mut open = level(4);
    open.rocks = 0;
    assert!(!is_possible(4, open, |_, _, _| false));
    // `uses_second` selects keys while a bead is only in the second band, and `parks` selects keys
    // while a bead is in both bands.
    let uses_second = |level: &Level, state: &StateOf<Zg58>, action: Action| {
        let [first, second] = level.inside(&state.board);
        let mut beads = state.board.beads[..level.count].iter();
        Direction::of(action).is_some() && beads.any(|&bead| second & !first & bit(bead) != 0)
    };
    let parks = |level: &Level, state: &StateOf<Zg58>, action: Action| {
        let [first, second] = level.inside(&state.board);
        let mut beads = state.board.beads[..level.count].iter();
        Direction::of(action).is_some() && beads.any(|&bead| second & first & bit(bead) != 0)
    };
    for number in [5, 6, 7, 8] {
        assert!(
            !is_possible(number, level(number), uses_second),
            "level {number}"
        );
    }
    assert!(!is_possible(7, level(7), parks));
}

#[test]
fn variants_have_the_same_optimum() {
    for index in [1, 6] {
        let optimum = Zg58::FACTS.solution(LevelIndex(index)).len();
        for seed in 1..4 {
            let search = shortest_win(
                &NativeLevel::<Zg58>::new(seed, LevelIndex(index)),
                1_000_000,
            );
            assert_eq!(
                search.win.map(|win| win.len()),
                Some(optimum),
                "{index} {seed}"
            );
        }
    }
}

#[test]
fn clicks_next_to_a_peg_hit_it() {
    let level = level(1);
    for (peg, &point) in level.bands[0].pegs.iter().enumerate() {
        let (x, y) = draw::pixel(point);
        for (x, y) in [(x, y), (x - 2, y + 2), (x + 2, y - 2)] {
            assert_eq!(draw::peg_at(&level, x, y), Some((0, peg)));
        }
        assert_eq!(draw::peg_at(&level, x + 3, y), None);
    }
}
