//! The tests of single rules apply one breath to two pieces. The other tests check that levels
//! cannot be won without the rules that they teach.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionKind, ActionSet, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::breath::{Breath, Cell, CellSet, Fate, NOWHERE, breathe};
use super::{Fm36, Level, levels};

const fn at(x: i8, y: i8) -> Cell {
    Cell { x, y }
}

/// Returns the fates of two pieces in a breath about (4, 4).
fn fates(breath: Breath, rocks: CellSet, first: Cell, second: Cell) -> [Fate; 2] {
    let fates = breathe(rocks, &[first, second, NOWHERE], 2, breath, at(4, 4));
    [fates[0], fates[1]]
}

#[test]
fn breath_out_doubles_distances() {
    assert_eq!(
        fates(Breath::Out, 0, at(5, 4), at(3, 6)),
        [Fate::Moves(at(6, 4)), Fate::Moves(at(2, 8))]
    );
    assert_eq!(
        fates(Breath::Out, 0, at(7, 4), at(4, 4)),
        [Fate::Rim, Fate::Centre]
    );
}

#[test]
fn breath_in_halves_even_distances() {
    assert_eq!(
        fates(Breath::In, 0, at(8, 4), at(2, 6)),
        [Fate::Moves(at(6, 4)), Fate::Moves(at(3, 5))]
    );
    assert_eq!(
        fates(Breath::In, 0, at(7, 4), at(6, 5)),
        [Fate::Half, Fate::Half]
    );
}

#[test]
fn rocks_and_staying_pieces_stop_a_piece() {
    let rock = at(6, 4);
    assert_eq!(
        fates(Breath::Out, rock.set(), at(5, 4), at(3, 4))[0],
        Fate::Rock(rock)
    );
    // The second piece would leave the board and stays in the way of the first.
    assert_eq!(
        fates(Breath::Out, 0, at(5, 6), at(6, 8)),
        [Fate::Piece(at(6, 8)), Fate::Rim]
    );
    // A piece that moves away makes room.
    assert_eq!(
        fates(Breath::Out, 0, at(5, 4), at(6, 4)),
        [Fate::Moves(at(6, 4)), Fate::Moves(at(8, 4))]
    );
}

/// A level that must be won within its optimum. A click counts as a loss if it gives any piece a
/// forbidden fate.
struct Without {
    level: Level,
    optimum: usize,
    forbidden: fn(Fate) -> bool,
}

impl Explorable for Without {
    /// The state, and the number of clicks so far.
    type State = (StateOf<Fm36>, usize);
    type Error = Infallible;

    fn start(&self) -> Self::State {
        (Fm36::start(&self.level), 0)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        ActionSet::of(&[ActionKind::Action6])
    }

    fn clicks(&self, state: &Self::State, actions: &mut Vec<Action>) {
        actions
            .extend(Fm36::clicks(&self.level, &state.0).filter_map(|(x, y)| Action::click(x, y)));
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        let level = &self.level;
        if let Action::Action6 { x, y } = action {
            let centre = super::draw::cell_at(x, y).unwrap();
            let board = state.0.board;
            let fates = breathe(
                level.rocks,
                &board.pieces,
                level.count,
                board.breath,
                centre,
            );
            if fates[..level.count]
                .iter()
                .any(|&fate| (self.forbidden)(fate))
            {
                return Ok(Outcome::GameOver);
            }
        }
        state.1 += 1;
        Ok(
            match Fm36::step(level, &mut state.0, action, &mut NoFrames) {
                Outcome::Continue if state.1 == self.optimum => Outcome::GameOver,
                outcome => outcome,
            },
        )
    }

    fn key(&self, state: &Self::State) -> StateKey {
        // The search reaches every state first with the fewest clicks, so the key omits their
        // number.
        key_of(&state.0)
    }
}

fn level(number: u8) -> Level {
    levels::level(LevelIndex(number - 1))
}

/// Returns whether a level can be won within its optimum.
fn is_possible(number: u8, level: Level, forbidden: fn(Fate) -> bool) -> bool {
    let optimum = Fm36::FACTS.solution(LevelIndex(number - 1)).len();
    let search = shortest_win(
        &Without {
            level,
            optimum,
            forbidden,
        },
        2_000_000,
    );
    assert!(search.complete || search.win.is_some(), "level {number}");
    search.win.is_some()
}

const fn is_blocked(fate: Fate) -> bool {
    matches!(fate, Fate::Rim | Fate::Rock(_) | Fate::Piece(_))
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    let odd = |fate: Fate| fate == Fate::Half;
    assert!(is_possible(3, level(3), odd));
    for number in 3..=8 {
        assert!(
            !is_possible(number, level(number), is_blocked),
            "level {number}"
        );
        if number > 3 {
            assert!(!is_possible(number, level(number), odd), "level {number}");
        }
    }
    for number in [5, 8] {
        let mut open = level(number);
        open.rocks = 0;
        assert!(!is_possible(number, open, |_| false), "level {number}");
    }
}
