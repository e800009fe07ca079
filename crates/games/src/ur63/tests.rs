//! The tests of single rules play some keys on a small field. The other tests check that levels
//! cannot be won without the rules that they teach.

use std::convert::Infallible;

use rhae_engine::Direction::{self, Down, Left, Right, Up};
use rhae_engine::{
    Action, ActionSet, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::beat::{Interval, advanced};
use super::levels::{self, LevelSpec};
use super::{Level, Ur63};

/// Plays keys on a field of two rows; `None` is ACTION5. Returns the field with the intervals of
/// the creatures.
fn after(rows: [&str; 2], keys: &[Option<Direction>]) -> [String; 2] {
    let width = rows[0].len();
    // The nest is for a creature that no row contains, so that no key wins.
    let nest = format!("C{}", ".".repeat(width - 1));
    let level = levels::read(&LevelSpec {
        beats: 0,
        map: [rows[0], rows[1], &nest].join("\n").leak(),
    });
    let mut state = Ur63::start(&level);
    for key in keys {
        let action = match key {
            None => Action::Action5,
            Some(Up) => Action::Action1,
            Some(Down) => Action::Action2,
            Some(Left) => Action::Action3,
            Some(Right) => Action::Action4,
        };
        let outcome = Ur63::step(&level, &mut state, action, &mut NoFrames);
        assert_eq!(outcome, Outcome::Continue);
    }
    let creatures = state.board.creatures;
    let sign = |x: usize, y: usize| {
        let cell = (y * super::beat::WIDTH + x) as u8;
        let creature = (0..level.field.count).find(|&index| creatures.cells[index] == cell);
        match creature.map(|creature| creatures.intervals[creature]) {
            Some(Interval::Silence) => 's',
            Some(Interval::One) => '1',
            Some(Interval::Two) => '2',
            Some(Interval::Three) => '3',
            None if rows[y].as_bytes()[x] == b'#' => '#',
            None => '.',
        }
    };
    std::array::from_fn(|y| (0..width).map(|x| sign(x, y)).collect())
}

#[test]
fn lights_move_outwards_and_go_out() {
    let mut lights = [0; 4];
    for expected in [1, 2, 3, 0] {
        lights = advanced(&lights, (expected == 1).then_some(Left));
        assert_eq!(lights, [0, 0, expected, 0]);
    }
    assert_eq!(advanced(&[0, 0, 3, 1], Some(Left)), [0, 0, 1, 2]);
}

#[test]
fn repeated_key_calls_interval_one() {
    let rows = ["1.....", "2....."];
    assert_eq!(after(rows, &[Some(Right)]), rows);
    assert_eq!(
        after(rows, &[Some(Right), Some(Right)]),
        [".1....", "2....."]
    );
}

#[test]
fn intervals_of_two_and_three_beats_call_their_creatures() {
    let rows = ["2.....", "3....."];
    let right = Some(Right);
    assert_eq!(after(rows, &[right, None, right]), [".2....", "3....."]);
    assert_eq!(
        after(rows, &[right, None, None, right]),
        ["2.....", ".3...."]
    );
    // After three beats, the key calls silence.
    assert_eq!(after(rows, &[right, None, None, None, right]), rows);
}

#[test]
fn key_without_a_recent_press_calls_silence() {
    assert_eq!(
        after(["s.....", "1....."], &[Some(Right)]),
        [".s....", "1....."]
    );
    let late = [Some(Right), None, None, None, Some(Right)];
    assert_eq!(after(["s.....", "1....."], &late), ["..s...", "1....."]);
}

#[test]
fn walls_and_creatures_that_stay_stop_a_creature() {
    let twice = [Some(Right), Some(Right)];
    assert_eq!(after(["1#....", "12...."], &twice), ["1#....", "12...."]);
    assert_eq!(after(["11....", "......"], &twice), [".11...", "......"]);
}

#[test]
fn tuner_changes_the_interval() {
    let map = ["1b....", "......"];
    assert_eq!(
        after(map, &[Some(Right), Some(Right)]),
        [".2....", "......"]
    );
}

#[test]
fn pit_and_last_beat_restart_the_level() {
    let rows = ["1~....", "......"];
    assert_eq!(
        after(rows, &[Some(Right), Some(Right)]),
        ["1.....", "......"]
    );
    let level = levels::level(LevelIndex(1));
    let mut state = Ur63::start(&level);
    for _ in 1..level.start.beats {
        Ur63::step(&level, &mut state, Action::Action5, &mut NoFrames);
    }
    assert_eq!(state.board.beats, 1);
    Ur63::step(&level, &mut state, Action::Action5, &mut NoFrames);
    assert_eq!(state, Ur63::start(&level));
}

/// A level that is played with or without ACTION5.
struct Variant {
    level: Level,
    can_wait: bool,
}

impl Explorable for Variant {
    type State = StateOf<Ur63>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Ur63::start(&self.level)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        if self.can_wait {
            Ur63::FACTS.actions
        } else {
            ActionSet::ARROWS
        }
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        let outcome = Ur63::step(&self.level, state, action, &mut NoFrames);
        // The beats left are reset: they would multiply the states, and they limit no shortest win.
        state.board.beats = self.level.start.beats;
        Ok(outcome)
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }
}

fn level(number: u8) -> Level {
    levels::level(LevelIndex(number - 1))
}

/// Returns the length of the shortest win.
fn optimum(level: Level, can_wait: bool) -> Option<usize> {
    let search = shortest_win(&Variant { level, can_wait }, 1_000_000);
    assert!(search.complete || search.win.is_some());
    search.win.map(|win| win.len())
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    assert_eq!(optimum(level(4), false), Some(14));
    for number in [6, 8] {
        let mut untuned = level(number);
        untuned.field.tuners = [None; 64];
        assert_eq!(optimum(untuned, true), None, "level {number}");
    }
    // The two creatures of level 5 listen to the same interval, so only a wall changes their
    // relative position.
    let mut open = level(5);
    open.field.walls = 0;
    assert_eq!(optimum(open, true), None);
}
