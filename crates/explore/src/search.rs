//! Breadth-first search for the shortest win.

use std::convert::Infallible;
use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashSet;
use rhae_engine::{Action, Outcome, StateKey};

use crate::Explorable;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstWin {
    /// A shortest winning line, if one was found.
    pub win: Option<Vec<Action>>,
    /// How many different places were seen.
    pub places: usize,
    /// Whether the search ended by itself: with a win, which then is a shortest one, or with nothing left to try.
    pub complete: bool,
}

/// Looks for the shortest win from the level's start, seeing at most `most_places` different places.
///
/// The places on one depth are kept as states, all others as a key and the way they were reached, so memory is about
/// 40 bytes a place.
pub fn shortest_win<E: Explorable<Error = Infallible>>(level: &E, most_places: usize) -> FirstWin {
    let start = level.start();
    let mut seen = PlaceSet::default();
    seen.insert(level.place(&start));
    // For every place in the order of discovery: the place it was reached from, and by which action.
    let mut reached: Vec<(u32, Action)> = vec![(0, Action::Reset)];
    let mut frontier = vec![(0_u32, start)];
    let mut actions = Vec::new();
    while !frontier.is_empty() {
        let mut next = Vec::new();
        for (from, state) in &frontier {
            actions.clear();
            level.actions(state, &mut actions);
            for &action in &actions {
                let mut after = state.clone();
                let Ok(outcome) = level.step(&mut after, action);
                match outcome {
                    Outcome::GameOver => {}
                    Outcome::LevelWon => {
                        let win = Some(way_to(&reached, *from, action));
                        return FirstWin {
                            win,
                            places: reached.len(),
                            complete: true,
                        };
                    }
                    Outcome::Going => {
                        if seen.insert(level.place(&after)) {
                            if reached.len() >= most_places {
                                return FirstWin {
                                    win: None,
                                    places: reached.len(),
                                    complete: false,
                                };
                            }
                            let index = u32::try_from(reached.len())
                                .expect("a search sees fewer than 2^32 places");
                            reached.push((*from, action));
                            next.push((index, after));
                        }
                    }
                }
            }
        }
        frontier = next;
    }
    FirstWin {
        win: None,
        places: reached.len(),
        complete: true,
    }
}

fn way_to(reached: &[(u32, Action)], mut place: u32, last: Action) -> Vec<Action> {
    let mut way = vec![last];
    while place != 0 {
        let (from, action) = reached[place as usize];
        way.push(action);
        place = from;
    }
    way.reverse();
    way
}

type PlaceSet = HashSet<StateKey, BuildHasherDefault<KeyBits>>;

/// Keys are hashes already: their low half is all a table needs.
#[derive(Default)]
struct KeyBits(u64);

impl Hasher for KeyBits {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("only 128-bit keys are put into this table")
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
