//! Small Markov chains as levels, whose graphs and winning probabilities are known.

use std::convert::Infallible;

use rhae_engine::{Action, ActionKind, ActionSet, Outcome, key_of};
use rhae_explore::{
    Chance, Chances, Components, Explorable, Graph, Policy, SearchOptions, explore,
};

/// A level given by a table of successors for each state and action.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The next state of each action, or `WIN` or `LOSS`.
    pub(crate) next: Vec<Vec<usize>>,
    /// Whether states pack into their keys.
    pub(crate) packs: bool,
}

pub(crate) const WIN: usize = usize::MAX;
pub(crate) const LOSS: usize = usize::MAX - 1;

impl Explorable for Table {
    type State = usize;
    type Error = Infallible;

    fn start(&self) -> usize {
        0
    }

    fn offered(&self, state: &usize) -> ActionSet {
        ActionSet::of(&ActionKind::ALL[1..=self.next[*state].len()])
    }

    fn step(&self, state: &mut usize, action: Action) -> Result<Outcome, Infallible> {
        *state = self.next[*state][usize::from(action.kind().id()) - 1];
        Ok(match *state {
            WIN => Outcome::LevelWon,
            LOSS => Outcome::GameOver,
            _ => Outcome::Continue,
        })
    }

    fn key(&self, state: &usize) -> u128 {
        key_of(state)
    }

    fn pack(&self, state: &usize) -> Option<u128> {
        self.packs.then_some(*state as u128)
    }

    fn unpack(&self, packed: u128) -> Option<usize> {
        Some(packed as usize)
    }
}

impl Table {
    pub(crate) fn graph(&self) -> Graph {
        let Ok(graph) = explore(self, &SearchOptions::default(), |_| true);
        graph
    }
}

/// Gambler's ruin: a player with `start` coins wins or loses one coin at a time, until they hold
/// all `all` coins or none.
pub(crate) fn ruin(start: usize, all: usize) -> Table {
    // State 0 is the start. The other states follow in the order of coins.
    let state = |coins: usize| match coins {
        0 => LOSS,
        _ if coins == all => WIN,
        _ if coins == start => 0,
        _ if coins < start => coins,
        _ => coins - 1,
    };
    let mut next = vec![vec![]; all - 1];
    for coins in 1..all {
        next[state(coins)] = vec![state(coins - 1), state(coins + 1)];
    }
    Table { next, packs: true }
}

/// A lock with `digits` digits and `keys` keys. A wrong key starts over and costs one of `lives`,
/// if there are any.
pub(crate) fn lock(digits: usize, keys: usize, lives: Option<usize>) -> Table {
    let state = |life: usize, digit: usize| life * digits + digit;
    let mut next = Vec::new();
    for life in 0..lives.unwrap_or(1) {
        for digit in 0..digits {
            let right = if digit + 1 == digits {
                WIN
            } else {
                state(life, digit + 1)
            };
            let wrong = match lives {
                None => 0,
                Some(lives) if life + 1 == lives => LOSS,
                Some(_) => state(life + 1, 0),
            };
            next.push(
                (0..keys)
                    .map(|key| if key == digit % keys { right } else { wrong })
                    .collect(),
            );
        }
    }
    Table { next, packs: true }
}

/// A corridor of `cells` cells with walls along it, a pit before the first cell, a goal behind the
/// last one, and three lives.
pub(crate) fn maze(cells: usize) -> Table {
    let state = |life: usize, cell: usize| life * cells + cell;
    let mut next = Vec::new();
    for life in 0..3 {
        for cell in 0..cells {
            let ahead = if cell + 1 == cells {
                WIN
            } else {
                state(life, cell + 1)
            };
            let back = match cell {
                0 if life == 2 => LOSS,
                0 => state(life + 1, 0),
                _ => state(life, cell - 1),
            };
            let here = state(life, cell);
            next.push(vec![ahead, back, here, here]);
        }
    }
    Table { next, packs: true }
}

pub(crate) fn chance(graph: &Graph) -> Chance {
    Chances::of(graph, &Components::of(graph), Policy::Valid, 1 << 30).at(0)
}
