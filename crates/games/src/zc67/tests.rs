//! The tests of single rules move a raft on a small sea. The other tests check that levels cannot
//! be won without the rules that they teach.

use std::convert::Infallible;

use rhae_engine::Direction::{self, Down, Left, Up};
use rhae_engine::{
    Action, ActionKind, ActionSet, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::crew::Kind::{self, Big, Contrarian, Echo, Plain};
use super::crew::{Board, Run, all_pulls, run};
use super::levels::{self, LevelSpec};
use super::{Level, Zc67};

/// Reads a sea of three rows and nine columns.
fn sea(rows: [&str; 3], kinds: &'static [Kind]) -> Level {
    let wall = "#".repeat(11);
    let mut map = vec![wall.clone()];
    map.extend(rows.iter().map(|row| format!("#{row}#")));
    map.extend(std::iter::repeat_n(wall, 5));
    levels::read(&LevelSpec {
        kinds,
        map: map.join("\n").leak(),
    })
}

/// Moves the raft with one vote. Returns how the run ends, and the column and row of the raft.
fn voted(level: &Level, board: &mut Board, vote: Option<Direction>) -> (Run, usize, usize) {
    let end = run(&level.sea, board, vote, |_| {});
    let cell = usize::from(board.raft);
    (end, cell % 11 - 1, cell / 11 - 1)
}

#[test]
fn passengers_pull_horizontally_and_vertically() {
    let level = sea(
        ["a........", "....@....", "....b...c"],
        &[Plain, Plain, Plain],
    );
    let pulls = |vote| all_pulls(&level.sea, &level.start, vote);
    // Up, down, left, right: `a` pulls up and left, `b` down, `c` down and right.
    assert_eq!(pulls(None), [1, 2, 1, 1]);
    assert_eq!(pulls(Some(Left)), [1, 2, 2, 1]);
}

#[test]
fn vote_decides_a_tie_and_an_abstention_does_not() {
    let level = sea(["b........", "@........", "a........"], &[Plain, Plain]);
    let mut board = level.start;
    assert_eq!(voted(&level, &mut board, None), (Run::Tie, 0, 1));
    assert_eq!(voted(&level, &mut board, Some(Down)), (Run::Ended, 0, 2));
    assert_eq!(board.aboard, 0b10);
}

#[test]
fn run_ends_when_the_majority_changes() {
    let level = sea(["....a....", "@.......b", "........."], &[Plain, Plain]);
    let mut board = level.start;
    // In column 4, `a` no longer pulls to the right, so up and right are tied.
    assert_eq!(voted(&level, &mut board, None), (Run::Ended, 4, 1));
    assert_eq!(voted(&level, &mut board, None), (Run::Tie, 4, 1));
}

#[test]
fn rock_ends_a_run_and_blocks_the_next_one() {
    let level = sea(["@..#....a", ".........", "........."], &[Plain]);
    let mut board = level.start;
    assert_eq!(voted(&level, &mut board, None), (Run::Ended, 2, 0));
    let (end, x, _) = voted(&level, &mut board, None);
    assert!(matches!(end, Run::Blocked(_)) && x == 2);
}

#[test]
fn blindfolded_passenger_neither_pulls_nor_gets_off() {
    let level = sea(["@.a.....b", ".........", "........."], &[Plain, Plain]);
    let mut board = level.start;
    board.blindfolded = 0;
    assert_eq!(all_pulls(&level.sea, &board, None), [0, 0, 0, 1]);
    assert_eq!(voted(&level, &mut board, None), (Run::Ended, 8, 0));
    assert_eq!(board.aboard, 0b01);
}

#[test]
fn pulls_depend_on_the_kind_of_passenger() {
    let pulls = |kind: &'static [Kind], vote| {
        let level = sea(["@.......a", ".........", "........."], kind);
        all_pulls(&level.sea, &level.start, vote)
    };
    assert_eq!(pulls(&[Big], None), [0, 0, 0, 2]);
    assert_eq!(pulls(&[Echo], Some(Down)), [0, 2, 0, 0]);
    assert_eq!(pulls(&[Contrarian], Some(Down)), [2, 1, 0, 0]);
    assert_eq!(pulls(&[Echo], None), [0; 4]);
    assert_eq!(pulls(&[Contrarian], None), [0; 4]);
    assert_eq!(pulls(&[Contrarian], Some(Up)), [1, 2, 0, 0]);
}

#[test]
fn hole_loses_the_level() {
    let level = sea(["@.~.....a", ".........", "........."], &[Plain]);
    let mut state = Zc67::start(&level);
    let outcome = Zc67::step(&level, &mut state, Action::Action5, &mut NoFrames);
    assert_eq!(outcome, Outcome::GameOver);
}

/// A level that is played with or without the blindfold.
struct Variant {
    level: Level,
    has_blindfold: bool,
}

impl Explorable for Variant {
    type State = StateOf<Zc67>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Zc67::start(&self.level)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        let keys = ActionSet::ARROWS.with(ActionKind::Action5);
        if self.has_blindfold {
            keys.with(ActionKind::Action6)
        } else {
            keys
        }
    }

    fn clicks(&self, state: &Self::State, actions: &mut Vec<Action>) {
        actions.extend(Zc67::clicks(&self.level, state).filter_map(|(x, y)| Action::click(x, y)));
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        Ok(Zc67::step(&self.level, state, action, &mut NoFrames))
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }
}

/// Returns the length of the shortest win.
fn optimum(level: Level, has_blindfold: bool) -> Option<usize> {
    let variant = Variant {
        level,
        has_blindfold,
    };
    let search = shortest_win(&variant, 100_000);
    assert!(search.complete || search.win.is_some());
    search.win.map(|win| win.len())
}

fn level(number: u8) -> Level {
    levels::level(LevelIndex(number - 1))
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    for number in 2..=8 {
        assert_eq!(optimum(level(number), false), None, "level {number}");
    }
    for number in 4..=8 {
        let mut plain = level(number);
        for passenger in &mut plain.sea.passengers {
            passenger.kind = Plain;
        }
        assert_eq!(optimum(plain, true), None, "level {number}");
    }
}

#[test]
fn holes_make_levels_harder() {
    for number in 2..=8 {
        let mut calm = level(number);
        calm.sea.holes = 0;
        let with_holes = Zc67::FACTS.solution(LevelIndex(number - 1)).len();
        assert!(optimum(calm, true) < Some(with_holes), "level {number}");
    }
}
