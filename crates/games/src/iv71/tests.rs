//! The tests of single rules play some keys on a small field. The other tests check that levels
//! cannot be won without the rules that they teach.

use std::convert::Infallible;

use rhae_engine::Direction::{self, Down, Left, Right, Up};
use rhae_engine::{
    Action, ActionKind, ActionSet, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::habit::{Step, turn};
use super::levels::{self, LevelSpec};
use super::{Iv71, Level};

/// Steers `a` on a field whose first three rows are given, and returns these rows afterwards.
fn after(
    rows: [&str; 3],
    habits: &'static [(Direction, Direction)],
    keys: &[Direction],
) -> [String; 3] {
    let (level, state) = played(rows, habits, keys);
    let sign = |x: usize, y: usize| {
        let cell = (y * 7 + x) as u8;
        let creature = level.creature_at(&state.board.creatures, cell);
        match creature {
            Some(creature) => char::from(b'a' + creature as u8),
            None => match rows[y].as_bytes()[x] {
                sign @ (b'#' | b'~') => char::from(sign),
                _ => '.',
            },
        }
    };
    std::array::from_fn(|y| (0..7).map(|x| sign(x, y)).collect())
}

fn played(
    rows: [&str; 3],
    habits: &'static [(Direction, Direction)],
    keys: &[Direction],
) -> (Level, StateOf<Iv71>) {
    // The nests are far from the creatures, so that no key wins.
    let text = format!("{}\n#######\n#######\n####ABC\n", rows.join("\n"));
    let level = levels::read(&LevelSpec {
        habits,
        tame: 2,
        map: text.leak(),
    });
    let mut state = Iv71::start(&level);
    for &key in keys {
        let action = match key {
            Up => Action::Action1,
            Down => Action::Action2,
            Left => Action::Action3,
            Right => Action::Action4,
        };
        let outcome = Iv71::step(&level, &mut state, action, &mut NoFrames);
        assert_eq!(outcome, Outcome::Continue);
    }
    (level, state)
}

#[test]
fn unselected_creature_repeats_two_moves() {
    let rows = ["a......", ".......", "..b...."];
    let habits = &[(Up, Up), (Right, Up)];
    assert_eq!(
        after(rows, habits, &[Right]),
        [".a.....", ".......", "...b..."]
    );
    assert_eq!(
        after(rows, habits, &[Right, Right, Right]),
        ["...a...", "....b..", "......."]
    );
}

#[test]
fn steered_creature_remembers_the_last_two_keys() {
    let (_, state) = played(
        ["a......", ".......", "......b"],
        &[(Up, Up), (Down, Down)],
        &[Right, Down],
    );
    let habit = state.board.creatures.habits[0];
    assert_eq!((habit.next, habit.then), (Right, Down));
}

#[test]
fn walls_and_the_rim_stop_creatures_without_a_change_of_habit() {
    let rows = ["a#.....", ".......", "......b"];
    let habits = &[(Up, Up), (Right, Right)];
    assert_eq!(after(rows, habits, &[Right]), rows);
    let (_, state) = played(rows, habits, &[Right]);
    assert_eq!(state.board.creatures.habits[1].next, Right);
}

#[test]
fn two_creatures_that_want_the_same_cell_both_stay() {
    let rows = ["a.b....", ".......", "......."];
    assert_eq!(after(rows, &[(Up, Up), (Left, Down)], &[Right]), rows);
    // Their habits stay different: `b` steps down next.
    assert_eq!(
        after(rows, &[(Up, Up), (Left, Down)], &[Right, Up]),
        ["a......", "..b....", "......."]
    );
}

#[test]
fn creatures_follow_each_other_without_a_gap() {
    let rows = ["ab.....", ".......", "......."];
    assert_eq!(
        after(rows, &[(Up, Up), (Right, Right)], &[Right]),
        [".ab....", ".......", "......."]
    );
}

#[test]
fn creature_takes_over_the_habit_of_the_creature_it_runs_into() {
    // `b` runs into `a`, which the rim stops. From then on, `a` alternates between up and down.
    let (_, state) = played(
        [".......", ".......", "ab....."],
        &[(Up, Up), (Left, Left)],
        &[Down],
    );
    let [model, copier, _] = state.board.creatures.habits;
    assert_eq!(copier, model);
}

#[test]
fn head_on_collision_exchanges_habits() {
    let (_, state) = played(
        ["ab.....", ".......", "......."],
        &[(Up, Down), (Left, Up)],
        &[Right],
    );
    let [first, second, _] = state.board.creatures.habits;
    assert_eq!((first.next, first.then), (Up, Left));
    assert_eq!((second.next, second.then), (Down, Right));
}

#[test]
fn order_of_creatures_does_not_matter() {
    let (level, state) = played(
        ["ab.c...", "...#...", "......."],
        &[(Right, Down), (Right, Left), (Left, Up)],
        &[],
    );
    let creatures = state.board.creatures;
    let forwards = turn(level.walls, 3, &creatures);
    let mut reversed = creatures;
    reversed.cells.reverse();
    reversed.habits.reverse();
    let backwards = turn(level.walls, 3, &reversed);
    let mut cells = backwards.after.cells;
    cells.reverse();
    assert_eq!(cells, forwards.after.cells);
    let mut habits = backwards.after.habits;
    habits.reverse();
    assert_eq!(habits, forwards.after.habits);
    assert_eq!(forwards.steps[0], Step::Creature(1));
}

#[test]
fn pit_restarts_the_level() {
    let rows = [".a~....", ".......", "b......"];
    assert_eq!(after(rows, &[(Up, Up), (Right, Right)], &[Right]), rows);
}

/// A level in which the actions that `forbidden` selects count as losses.
struct Without {
    level: Level,
    forbidden: fn(&Level, &StateOf<Iv71>, &StateOf<Iv71>) -> bool,
}

impl Explorable for Without {
    type State = StateOf<Iv71>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Iv71::start(&self.level)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        ActionSet::ARROWS.with(ActionKind::Action6)
    }

    fn clicks(&self, state: &Self::State, actions: &mut Vec<Action>) {
        actions.extend(Iv71::clicks(&self.level, state).filter_map(|(x, y)| Action::click(x, y)));
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        let before = state.clone();
        let outcome = Iv71::step(&self.level, state, action, &mut NoFrames);
        if (self.forbidden)(&self.level, &before, state) {
            return Ok(Outcome::GameOver);
        }
        Ok(outcome)
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }
}

/// Returns whether an action gives a creature a habit that only a collision explains.
fn copies(_level: &Level, before: &StateOf<Iv71>, after: &StateOf<Iv71>) -> bool {
    let (old, new) = (&before.board.creatures, &after.board.creatures);
    (0..3).any(|creature| {
        let is_steered = creature == usize::from(before.board.selected);
        let (old, new) = (old.habits[creature], new.habits[creature]);
        new.next != old.then || !is_steered && new.then != old.next
    }) && before.board.selected == after.board.selected
}

fn selects(_level: &Level, before: &StateOf<Iv71>, after: &StateOf<Iv71>) -> bool {
    before.board.selected != after.board.selected
}

fn is_possible(number: u8, forbidden: fn(&Level, &StateOf<Iv71>, &StateOf<Iv71>) -> bool) -> bool {
    let level = levels::level(LevelIndex(number - 1));
    let search = shortest_win(&Without { level, forbidden }, 3_000_000);
    assert!(search.complete || search.win.is_some(), "level {number}");
    search.win.is_some()
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    for number in [5, 6, 7, 8] {
        assert!(!is_possible(number, copies), "level {number}");
    }
    assert!(!is_possible(6, selects));
}

/// Levels 2 to 4 and 7 can be won without selecting another creature, but this takes many
/// collisions and more actions.
#[test]
fn selecting_saves_actions() {
    for (number, with_one) in [(2, Some(13)), (3, None), (4, Some(15)), (7, Some(51))] {
        let level = levels::level(LevelIndex(number - 1));
        let search = shortest_win(
            &Without {
                level,
                forbidden: selects,
            },
            3_000_000,
        );
        assert!(search.complete || search.win.is_some());
        let length = search.win.map(|win| win.len());
        assert_eq!(length, with_one, "level {number}");
    }
}
