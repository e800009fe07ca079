//! The tests of single rules compare a small tower before and after some keys. The other tests
//! check that levels cannot be won without the rules that they teach.

use std::convert::Infallible;

use rhae_engine::{
    Action, ActionSet, Game, LevelIndex, NoFrames, Outcome, StateKey, StateOf, key_of,
};
use rhae_explore::{Explorable, shortest_win};

use super::tower::{Joint, Places};
use super::{LIVES, Level, Xd08, levels};

const UP: Action = Action::Action1;
const LEFT: Action = Action::Action3;
const RIGHT: Action = Action::Action4;

/// Plays the keys on a tower over a table of six units in the middle, and returns the left ends of
/// its slabs with the outcome of the last key and the lives left.
fn after(layers: &[&str], keys: &[Action]) -> (Vec<u8>, Outcome, u8) {
    let mut rows: Vec<String> = layers
        .iter()
        .map(|row| {
            let length = row.chars().filter(|&sign| sign != '.').count();
            // No slab reaches its wanted place in these tests.
            format!("{row}|{}{}", "o".repeat(length), ".".repeat(10 - length))
        })
        .collect();
    rows.push("..TTTTTT..|..........".to_owned());
    let level = levels::read(&rows.join("\n"));
    let mut state = Xd08::start(&level);
    let mut outcome = Outcome::Continue;
    for &key in keys {
        outcome = Xd08::step(&level, &mut state, key, &mut NoFrames);
    }
    let places = state.board.places[..layers.len()].to_vec();
    (places, outcome, state.spent)
}

fn places_after(layers: &[&str], keys: &[Action]) -> Vec<u8> {
    let (places, outcome, lives) = after(layers, keys);
    assert_eq!((outcome, lives), (Outcome::Continue, LIVES), "{layers:?}");
    places
}

#[test]
fn push_carries_everything_above() {
    let tower = ["...==.....", "..====....", ".====....."];
    assert_eq!(places_after(&tower, &[RIGHT]), [2, 3, 4]);
    assert_eq!(places_after(&tower, &[UP, RIGHT]), [1, 3, 4]);
    assert_eq!(places_after(&tower, &[UP, UP, RIGHT]), [1, 2, 4]);
}

#[test]
fn wall_stops_a_carried_slab_and_everything_above_it() {
    let tower = ["......==..", ".....=====", "...=====.."];
    assert_eq!(places_after(&tower, &[RIGHT]), [4, 5, 6]);
    // The chosen slab itself cannot enter the wall, and nothing moves.
    assert_eq!(places_after(&tower, &[UP, RIGHT]), [3, 5, 6]);
}

#[test]
fn slippery_slab_is_not_carried() {
    let tower = ["...===....", "..~~~~....", "..====...."];
    assert_eq!(places_after(&tower, &[RIGHT]), [3, 2, 3]);
}

#[test]
fn glued_slabs_move_as_one() {
    let tower = ["....++++..", "...===....", "..=====..."];
    assert_eq!(places_after(&tower, &[UP, UP, LEFT]), [2, 2, 3]);
    assert_eq!(places_after(&tower, &[UP, LEFT]), [2, 2, 3]);
    // The piece as a whole is stopped if one of its slabs touches the wall.
    let wide = [".....+++++", "...===....", "..=====..."];
    assert_eq!(places_after(&wide, &[UP, RIGHT]), [2, 3, 5]);
}

#[test]
fn overhang_topples_and_costs_a_life() {
    let tower = ["....====..", "..====...."];
    // The weight acts exactly on the end of the lower slab, which still holds.
    assert_eq!(after(&tower, &[UP]), (vec![2, 4], Outcome::Continue, 3));
    assert_eq!(
        after(&tower, &[UP, RIGHT]),
        (vec![2, 4], Outcome::Continue, 2)
    );
    let all = [UP, RIGHT, UP, RIGHT, UP, RIGHT];
    assert_eq!(after(&tower, &all), (vec![2, 5], Outcome::GameOver, 0));
}

#[test]
fn heavy_slab_holds_an_overhang() {
    let light = ["......=...", "......===."];
    assert_eq!(after(&light, &[RIGHT]), (vec![6, 6], Outcome::Continue, 2));
    let heavy = ["......H...", "......===."];
    assert_eq!(places_after(&heavy, &[RIGHT]), [7, 7]);
}

fn level(number: u8) -> Level {
    levels::level(LevelIndex(number - 1))
}

/// Asserts that a level cannot be won, or that its tower topples at the start.
fn assert_impossible(number: u8, level: &Level) {
    if level.tower.fall(&level.start).is_some() {
        return;
    }
    let search = shortest_win(&Towers(level), 100_000);
    assert!(
        search.complete && search.win.is_none(),
        "level {number} does not need the rule that it teaches"
    );
}

/// The level as a state space.
struct Towers<'a>(&'a Level);

impl Explorable for Towers<'_> {
    type State = StateOf<Xd08>;
    type Error = Infallible;

    fn start(&self) -> Self::State {
        Xd08::start(self.0)
    }

    fn offered(&self, _state: &Self::State) -> ActionSet {
        Xd08::FACTS.actions
    }

    fn step(&self, state: &mut Self::State, action: Action) -> Result<Outcome, Self::Error> {
        Ok(Xd08::step(self.0, state, action, &mut NoFrames))
    }

    fn key(&self, state: &Self::State) -> StateKey {
        key_of(state)
    }
}

#[test]
fn levels_need_the_rules_that_they_teach() {
    for number in [4, 7, 8] {
        let mut level = level(number);
        level
            .tower
            .slabs
            .iter_mut()
            .for_each(|slab| slab.is_heavy = false);
        assert_impossible(number, &level);
    }
    for (number, joint) in [(5, Joint::Slippery), (6, Joint::Glued), (8, Joint::Glued)] {
        let mut level = level(number);
        for slab in &mut level.tower.slabs {
            if slab.joint == joint {
                slab.joint = Joint::Rough;
            }
        }
        assert_impossible(number, &level);
    }
}

/// Pushes slabs to their places one after the other. Returns whether the tower stands after every
/// push.
fn stands(level: &Level, order: &[usize]) -> bool {
    let mut places: Places = level.start;
    for &slab in order {
        while places[slab] != level.wanted[slab] {
            let to_right = places[slab] < level.wanted[slab];
            match level.tower.push(&places, slab, to_right) {
                Ok(push) if level.tower.fall(&push.places).is_none() => places = push.places,
                _ => return false,
            }
        }
    }
    true
}

#[test]
fn order_of_pushes_matters() {
    assert!(stands(&level(2), &[0, 1, 2, 3, 4]));
    assert!(!stands(&level(2), &[4, 3, 2, 1, 0]));
    // On level 3, no order works, even if a slab is allowed to carry others away from their places.
    let mut orders = vec![vec![]];
    for _ in 0..5 {
        let longer = |order: Vec<usize>| {
            (0..5)
                .filter(|slab| !order.contains(slab))
                .map(|slab| [&order[..], &[slab]].concat())
                .collect::<Vec<_>>()
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 120);
    assert!(!orders.iter().any(|order| stands(&level(3), order)));
}
