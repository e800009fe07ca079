//! Each test of a rule compares a small room before and after some keys. Further tests check that
//! levels cannot be won without the rules that they teach.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionSet, Direction, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::settle::{Cell, Drops, Lean, MAX_DROPS, NOWHERE, Phase, Points, Room, WIDTH, settle};
use super::{Board, LIVES, Level, Mf73, levels};

/// Settles the drops of a room of five rows once. Its first and last rows are rock, `=` is a grate,
/// and `s`, `l` and `g` are a solid, a liquid and a gaseous drop.
fn settled(rows: [&str; 3], lean: Lean) -> Vec<String> {
    let wall = "#".repeat(WIDTH);
    let text = [&wall, rows[0], rows[1], rows[2], &wall].concat();
    let set = |wanted: char| {
        let signs = text.chars().enumerate();
        signs
            .filter(|&(_, sign)| sign == wanted)
            .fold(0, |set: u128, (cell, _)| set | 1 << cell)
    };
    let kinds = ['s', 'l', 'g'];
    let mut room = Room {
        rocks: set('#'),
        grates: set('='),
        vents: 0,
        drop_count: 0,
        substances: [0; MAX_DROPS],
        points: [(9, 9), (0, 9), (0, 0)].map(|(melts, boils)| Points { melts, boils }),
    };
    let mut drops = [NOWHERE; MAX_DROPS];
    for (cell, sign) in text.chars().enumerate() {
        if let Some(kind) = kinds.iter().position(|&kind| kind == sign) {
            drops[room.drop_count] = cell as Cell;
            room.substances[room.drop_count] = kind;
            room.drop_count += 1;
        }
    }
    settle(&room, &mut drops, 5, lean, |_| {});
    let mut after: Vec<char> = text
        .chars()
        .map(|sign| if "#=".contains(sign) { sign } else { '.' })
        .collect();
    for drop in 0..room.drop_count {
        after[usize::from(drops[drop])] = kinds[room.substances[drop]];
    }
    let row = |y: usize| after[y * WIDTH..][..WIDTH].iter().collect();
    vec![row(1), row(2), row(3)]
}

#[test]
fn liquids_fall_and_flow_to_the_low_side() {
    assert_eq!(
        settled(["#.l.......#", "#.........#", "#.........#"], Lean::None),
        ["#.........#", "#.........#", "#.l.......#"]
    );
    assert_eq!(
        settled(["#.l.......#", "####......#", "#.........#"], Lean::Right),
        ["#.........#", "####......#", "#........l#"]
    );
}

#[test]
fn gases_rise_and_flow_along_ceilings() {
    assert_eq!(
        settled(["#...###...#", "#.........#", "#....g....#"], Lean::Left),
        ["#g..###...#", "#.........#", "#.........#"]
    );
}

#[test]
fn frozen_drops_stay_in_mid_air_and_stop_others() {
    assert_eq!(
        settled(["#....l....#", "#....s....#", "#.........#"], Lean::None),
        ["#....l....#", "#....s....#", "#.........#"]
    );
}

#[test]
fn liquid_and_gas_below_it_change_places() {
    assert_eq!(
        settled(["####l######", "####g######", "####.######"], Lean::None),
        ["####g######", "####.######", "####l######"]
    );
}

#[test]
fn grates_stop_liquids_only() {
    assert_eq!(
        settled(["#...l......", "####=######", "#.........#"], Lean::None)[0],
        "#...l......"
    );
    assert_eq!(
        settled(["#.........#", "####=######", "#...g.....#"], Lean::None)[0],
        "#...g.....#"
    );
}

fn level(number: u8) -> Level {
    levels::level(LevelIndex(number - 1))
}

#[test]
fn lost_drop_costs_a_life_and_restarts_the_level() {
    let level = level(3);
    let mut state = Mf73::start(&level);
    let mut outcome = Outcome::Continue;
    // The lower drop boils under the upper one, passes it and rises through the vent.
    for action in [Action::Action1, Action::Action1] {
        assert_eq!(outcome, Outcome::Continue);
        outcome = Mf73::step(&level, &mut state, action, &mut NoFrames);
    }
    assert_eq!((outcome, state.spent), (Outcome::Continue, LIVES - 1));
    assert_eq!(state.board, Mf73::start(&level).board);
}

#[test]
fn last_block_of_fuel_costs_a_life() {
    let level = level(6);
    let mut state = Mf73::start(&level);
    for life in (0..LIVES).rev() {
        let mut outcome = Outcome::Continue;
        for block in 0..level.fuel {
            assert_eq!(
                (outcome, state.spent),
                (Outcome::Continue, life + 1),
                "{block}"
            );
            outcome = Mf73::step(&level, &mut state, Action::Action1, &mut NoFrames);
            if block + 1 < level.fuel {
                Mf73::step(&level, &mut state, Action::Action2, &mut NoFrames);
            }
        }
        let expected = if life == 0 {
            Outcome::GameOver
        } else {
            Outcome::Continue
        };
        assert_eq!((outcome, state.spent), (expected, life));
    }
}

/// A level in which some moves count as losses.
struct Without {
    level: Level,
    forbidden: fn(&Level, Action, &Board) -> bool,
}

impl Explorable for Without {
    type State = StateOf<Mf73>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Mf73::start(&self.level)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        ActionSet::ARROWS
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        if (self.forbidden)(&self.level, action, &state.board) {
            return Ok(Outcome::GameOver);
        }
        Ok(Mf73::step(&self.level, state, action, &mut NoFrames))
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }

    fn board_key(&self, state: &Self::State) -> StateKey {
        key_of(&state.board)
    }
}

/// Returns whether a liquid changes places with a gas during the action.
fn exchanges(level: &Level, action: Action, board: &Board) -> bool {
    let (temperature, lean) = match Direction::of(action) {
        Some(Direction::Up) => ((board.temperature + 1).min(level.hottest), Lean::None),
        Some(Direction::Down) => (board.temperature.saturating_sub(1), Lean::None),
        Some(Direction::Left) => (board.temperature, Lean::Left),
        _ => (board.temperature, Lean::Right),
    };
    let phase = |drop: usize| level.room.phase(drop, temperature);
    let mut found = false;
    let mut last: Option<Drops> = None;
    let mut drops = board.drops;
    let mut compare = |now: &Drops| {
        if let Some(last) = last {
            found |= (0..level.room.drop_count).any(|liquid| {
                (0..level.room.drop_count).any(|gas| {
                    (phase(liquid), phase(gas)) == (Phase::Liquid, Phase::Gas)
                        && now[liquid] == last[gas]
                        && now[liquid] == last[liquid] + WIDTH as Cell
                })
            });
        }
        last = Some(*now);
    };
    settle(&level.room, &mut drops, temperature, lean, &mut compare);
    compare(&drops);
    found
}

fn assert_impossible(number: u8, level: Level, forbidden: fn(&Level, Action, &Board) -> bool) {
    let search = shortest_win(&Without { level, forbidden }, 1_000_000);
    assert!(
        search.complete && search.win.is_none(),
        "level {number} does not need the rule that it teaches"
    );
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    const ANYTHING: fn(&Level, Action, &Board) -> bool = |_, _, _| false;
    for number in [2, 3, 4, 7, 8] {
        let mut level = level(number);
        for points in &mut level.room.points {
            points.boils = 9;
        }
        assert_impossible(number, level, ANYTHING);
    }
    for number in [3, 4, 7] {
        for model in 0..level(number).substance_count {
            let mut level = level(number);
            level.room.points = [level.room.points[model]; MAX_DROPS];
            assert_impossible(number, level, ANYTHING);
        }
    }
    for number in [5, 7, 8] {
        assert_impossible(number, level(number), exchanges);
    }
    for number in [6, 8] {
        let mut with_rock = level(number);
        with_rock.room.rocks |= with_rock.room.grates;
        assert_impossible(number, with_rock, ANYTHING);
        let mut with_air = level(number);
        with_air.room.grates = 0;
        assert_impossible(number, with_air, ANYTHING);
    }
}
