//! Each test of a rule compares a corridor before and after some keys. A corridor is one row of a
//! hall that is wall everywhere else. Further tests check that levels cannot be won without the
//! rules that they teach.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionSet, Direction, FrameBuffer, Game, NoFrames, Outcome, Rng, State, StateKey,
    StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::{Board, Cells, Hall, Ny40, WIDTH, levels, push, shifted};

const ROW: usize = 5;

/// Plays the keys and returns the resulting row with the outcome of the last key.
fn after(row: &str, keys: &str) -> (String, Outcome) {
    let wall = "#".repeat(WIDTH);
    let rows: Vec<&str> = (0..WIDTH)
        .map(|y| if y == ROW { row } else { &wall })
        .collect();
    let hall = levels::read(&rows.join("\n"), 0);
    let mut state = State {
        board: hall.start,
        spent: 0,
    };
    let mut outcome = Outcome::Continue;
    for key in keys.split_whitespace() {
        let action: Action = key.parse().unwrap();
        outcome = Ny40::step(&hall, &mut state, action, &mut NoFrames);
    }
    let sign = |x: usize| {
        let is = |cells: Cells| cells >> (ROW * WIDTH + x) & 1 == 1;
        match (is(state.board.you), is(state.board.stones), is(hall.moss)) {
            (true, _, moss) => {
                if moss {
                    '&'
                } else {
                    '@'
                }
            }
            (_, true, moss) => {
                if moss {
                    '%'
                } else {
                    'o'
                }
            }
            _ if is(hall.walls) => '#',
            _ if is(hall.void) => '~',
            (.., moss) => {
                if moss {
                    ':'
                } else {
                    '.'
                }
            }
        }
    };
    ((0..WIDTH).map(sign).collect(), outcome)
}

fn check(row: &str, keys: &str, expected: &str) {
    assert_eq!(
        after(row, keys),
        (expected.to_owned(), Outcome::Continue),
        "{row} after {keys}"
    );
}

#[test]
fn push_needs_something_to_push_off() {
    check("#@.......##", "4", "#.......@##");
    check("#.......@##", "4", "#.......@##");
    check("#...@....##", "4", "#...@....##");
    check("#...@....##", "3", "#...@....##");
}

#[test]
fn stone_flies_in_the_opposite_direction() {
    check("#..o@....##", "4", "#o......@##");
    check("#o@......##", "4", "#o......@##");
    check("#...o@#####", "4", "#o...@#####");
    check("#.oo@....##", "4", "#.oo....@##");
}

#[test]
fn moss_stops_flight_and_allows_pushes() {
    check("#@..:...o.#", "4", "#...&...o.#");
    check("#@..:...o.#", "4 4", "#...:..@o.#");
    check("#..%@....##", "4", "#..%....@##");
    check("#.:..o@..##", "4", "#.%.....@##");
    check("#@.::....##", "4 4", "#..:&....##");
    check("#@.::....##", "4 4 4", "#..::...@##");
}

#[test]
fn held_stones_move_with_you() {
    check("#@o......##", "5 4", "#......@o##");
    check("#@o......##", "5 4 5 3", "#@......o##");
    check("#..o@o...##", "5 4", "#..o@o...##");
    check("#.oo@....##", "5 4", "#o.....o@##");
    check("#..o@:...##", "5 4", "#..o@:...##");
}

#[test]
fn objects_over_the_void_fall() {
    check("~..o@....##", "4", "~.......@##");
    check("#@.......~#", "4", "#........@#");
    check("#@.......~#", "4 3 5", "#........@#");
    check("~..o@.O..##", "4", "~.......@##");
    check("#@o..~#####", "5", "#@o..~#####");
}

#[test]
fn everything_on_its_ring_wins() {
    assert_eq!(after("#O.o@...Y##", "4").1, Outcome::LevelWon);
    assert_eq!(after("#O.o@..Y.##", "4").1, Outcome::Continue);
}

/// A level in which some moves count as losses.
struct Without {
    hall: Hall,
    forbidden: fn(Action, &Board, &Board) -> bool,
}

impl Explorable for Without {
    type State = StateOf<Ny40>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Ny40::start(&self.hall)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        Ny40::FACTS.actions
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Infallible> {
        let before = state.board;
        let outcome = Ny40::step(&self.hall, state, action, &mut NoFrames);
        Ok(if (self.forbidden)(action, &before, &state.board) {
            Outcome::GameOver
        } else {
            outcome
        })
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }

    fn board_key(&self, state: &Self::State) -> StateKey {
        key_of(&state.board)
    }
}

fn without_recoil(action: Action, before: &Board, after: &Board) -> bool {
    action != Action::Action5 && before.loose() != after.loose()
}

fn without_grip(action: Action, _before: &Board, _after: &Board) -> bool {
    action == Action::Action5
}

fn without_sacrifice(_action: Action, before: &Board, after: &Board) -> bool {
    after.stones.count_ones() < before.stones.count_ones()
}

fn assert_impossible(number: usize, hall: Hall, forbidden: fn(Action, &Board, &Board) -> bool) {
    let search = shortest_win(
        &Without {
            hall: Hall { budget: 0, ..hall },
            forbidden,
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
    let hall = |number: usize| levels::hall(number - 1);
    for number in 2..=8 {
        assert_impossible(number, hall(number), without_recoil);
    }
    for number in [4, 7, 8] {
        assert_impossible(number, hall(number), without_grip);
    }
    for number in [5, 8] {
        assert_impossible(number, hall(number), without_sacrifice);
    }
    for number in [6, 7, 8] {
        assert_impossible(
            number,
            Hall {
                moss: 0,
                ..hall(number)
            },
            |_, _, _| false,
        );
    }
}

/// Uses random halls with all kinds of cells, in which you hold some of the stones next to you.
#[test]
fn drawn_and_undrawn_flights_agree() {
    let mut rng = Rng::new(40, 0);
    let mut fell = 0;
    for _ in 0..20_000 {
        let you = (
            1 + rng.below(WIDTH as u32 - 2),
            1 + rng.below(WIDTH as u32 - 2),
        );
        let sign = |x: u32, y: u32, rng: &mut Rng| match (x, y) {
            _ if (x, y) == you => '@',
            (0 | 10, _) | (_, 0 | 10) => ['#', '~'][rng.below(2) as usize],
            _ => [
                '.', '.', '.', '.', '.', '.', 'o', 'o', 'o', '%', ':', '~', '#',
            ][rng.below(13) as usize],
        };
        let rows: Vec<String> = (0..WIDTH as u32)
            .map(|y| (0..WIDTH as u32).map(|x| sign(x, y, &mut rng)).collect())
            .collect();
        let hall = levels::read(&rows.join("\n"), 0);
        let mut state: StateOf<Ny40> = State {
            board: hall.start,
            spent: 0,
        };
        for side in Direction::ALL {
            state.board.held |= if rng.below(2) == 0 {
                shifted(state.board.you, side) & state.board.stones
            } else {
                0
            };
        }
        for toward in Direction::ALL {
            let (mut drawn, mut undrawn) = (state.clone(), state.clone());
            let (mut frames, fallen) = (
                FrameBuffer::default(),
                push(&hall, &mut undrawn, toward, &mut NoFrames),
            );
            assert_eq!(
                push(&hall, &mut drawn, toward, &mut frames),
                fallen,
                "{}",
                rows.join("\n")
            );
            assert_eq!(
                drawn,
                undrawn,
                "{}\n{:?} {toward:?}",
                rows.join("\n"),
                state.board
            );
            assert!(!frames.frames().is_empty());
            fell += fallen.count_ones();
        }
    }
    assert!(fell > 1_000, "{fell}");
}
