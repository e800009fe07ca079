//! Each test of a rule clicks one cell of a small picture. Further tests check that levels cannot be
//! won without the rules that they teach, and that their variants are equally long.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionKind, ActionSet, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, NativeLevel, shortest_win};

use super::crystal::{Cell, CellSet, Click, Effect, cells};
use super::{Level, Xe92, draw, levels};

/// Returns the cells of a picture that have a sign. Its upper left corner is at (3, 3).
fn set(picture: &[&str], wanted: char) -> CellSet {
    let mut set = 0;
    for (y, row) in (3..).zip(picture) {
        for (x, _) in (3..).zip(row.chars()).filter(|&(_, sign)| sign == wanted) {
            set |= Cell { x, y }.set();
        }
    }
    set
}

/// Clicks a cell of a picture with crystals `*` and rocks `#`: the empty cell `o` or the crystal
/// cell `O`.
fn clicked(picture: &[&str]) -> Click {
    let (empty, melting) = (set(picture, 'o'), set(picture, 'O'));
    let cell = cells(empty | melting).next().unwrap();
    Click::new(set(picture, '*') | melting, set(picture, '#'), cell)
}

fn assert_becomes(picture: &[&str], after: &[&str]) {
    let click = clicked(picture);
    assert_ne!(click.effect, Effect::Refused, "{picture:?}");
    assert_eq!(click.after, set(after, '*'), "{picture:?}");
}

#[test]
fn cell_grows_at_all_images() {
    // A plus has all eight symmetries, an S only the half turn, and a T only one mirror.
    assert_becomes(&["o*.", "***", ".*."], &["***", "***", "***"]);
    assert_becomes(&["..**o", ".**.."], &["..***", "***.."]);
    assert_becomes(&[".***o", "..*.."], &["*****", "..*.."]);
}

#[test]
fn nothing_grows_on_rock() {
    assert_becomes(&["o*#", "***", ".*."], &["**.", "***", "***"]);
}

#[test]
fn melting_removes_all_images() {
    assert_becomes(&["O**", "***", "***"], &[".*.", "***", ".*."]);
}

#[test]
fn crystal_must_stay_whole() {
    assert_eq!(clicked(&["*O*"]).effect, Effect::Refused);
    assert_eq!(clicked(&["O"]).effect, Effect::Refused);
    // All four corner cells are images of each other, so nothing would be left.
    assert_eq!(clicked(&["O*", "**"]).effect, Effect::Refused);
}

#[test]
fn both_crystals_answer_a_click_between_them() {
    assert_becomes(&[".....", ".*o*.", "....."], &[".*.*.", "*****", ".*.*."]);
}

/// A level in which some clicks are forbidden. States that are too far from the outline for the
/// pips left are pruned.
struct Without {
    level: Level,
    allows_melting: bool,
}

impl Explorable for Without {
    type State = StateOf<Xe92>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Xe92::start(&self.level)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        ActionSet::of(&[ActionKind::Action6])
    }

    fn clicks(&self, state: &Self::State, actions: &mut Vec<Action>) {
        actions.extend(Xe92::clicks(&self.level, state).filter_map(|(x, y)| Action::click(x, y)));
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        let before = state.board.ice;
        let outcome = Xe92::step(&self.level, state, action, &mut NoFrames);
        let has_melted = state.board.ice.count_ones() < before.count_ones();
        // A click on a single crystal changes at most eight cells.
        let missing = (state.board.ice ^ self.level.wanted).count_ones();
        let is_hopeless = missing > 8 * u32::from(state.board.pips);
        Ok(match outcome {
            Outcome::Continue if is_hopeless => Outcome::GameOver,
            _ if has_melted && !self.allows_melting => Outcome::GameOver,
            _ => outcome,
        })
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }
}

fn level(number: u8, seed: u64) -> Level {
    levels::level(LevelIndex(number - 1), seed)
}

fn assert_impossible(number: u8, level: Level, allows_melting: bool) {
    let search = shortest_win(
        &Without {
            level,
            allows_melting,
        },
        1_000_000,
    );
    assert!(
        search.complete && search.win.is_none(),
        "level {number} does not need the rule that it teaches"
    );
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    for number in 1..=8 {
        let level = level(number, 0);
        let changes = (level.start ^ level.wanted).count_ones();
        assert!(
            changes > u32::from(level.pips),
            "level {number} can be won cell by cell"
        );
    }
    for number in [3, 4, 6] {
        let mut level = level(number, 0);
        level.rocks = 0;
        assert_impossible(number, level, true);
    }
    for number in [2, 4, 5, 6] {
        assert_impossible(number, level(number, 0), false);
    }
}

#[test]
fn maps_stay_on_the_board_in_every_variant() {
    for number in 1..=8 {
        let authored = level(number, 0);
        for seed in 1..200 {
            let variant = level(number, seed);
            let counts =
                |level: &Level| [level.rocks, level.start, level.wanted].map(CellSet::count_ones);
            assert_eq!(counts(&variant), counts(&authored), "{number} {seed}");
        }
    }
}

#[test]
fn variants_have_the_declared_optimum() {
    for index in [0, 4] {
        for seed in 1..5 {
            let search = shortest_win(
                &NativeLevel::<Xe92>::new(seed, LevelIndex(index)),
                1_000_000,
            );
            let length = search.win.map(|win| win.len());
            let declared = levels::LEVELS[usize::from(index)].optimum;
            assert_eq!(length, Some(usize::from(declared)), "{index} {seed}");
        }
    }
}

#[test]
fn every_pixel_of_a_cell_belongs_to_it() {
    for cell in cells((1 << super::CELLS) - 1) {
        let (x, y) = draw::middle_of(cell);
        for (x, y) in [(x - 2, y - 2), (x + 1, y + 1), (x, y)] {
            assert_eq!(draw::cell_at(x, y), Some(cell));
        }
    }
}
