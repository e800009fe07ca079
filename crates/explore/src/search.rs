//! Breadth-first search for a shortest win, without building a graph.

use std::convert::Infallible;
use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashSet;
use rhae_engine::{Action, Outcome, StateKey};

use crate::Explorable;

/// The result of [`shortest_win`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WinSearch {
    /// A shortest sequence of actions that wins, if one was found.
    pub win: Option<Vec<Action>>,
    /// The number of different boards visited.
    pub boards: usize,
    /// Whether the search was not cut short by `max_boards`: it either found a win, which then is a
    /// shortest one, or visited every reachable board.
    pub complete: bool,
}

/// Searches for a shortest win from the start of a level, visiting at most `max_boards` different
/// boards.
///
/// The search keeps complete states only for the boards of the current and the next depth. For
/// every visited board it keeps the key, the preceding board and the action that reached it, about
/// 40 bytes in total. See [`Explorable::board_key`] for when the result is optimal.
///
/// # Examples
///
/// ```
/// use rhae_engine::{Game, LevelIndex};
/// use rhae_explore::{NativeLevel, shortest_win};
///
/// struct Optimum;
///
/// impl rhae_games::Visitor for Optimum {
///     type Output = Option<usize>;
///
///     fn visit<G: Game>(self) -> Option<usize> {
///         let search = shortest_win(&NativeLevel::<G>::new(0, LevelIndex(0)), 100_000);
///         assert!(search.complete);
///         // The stored solution is never shorter than the optimum.
///         let optimum = search.win?.len();
///         assert!(optimum <= G::FACTS.solution(LevelIndex(0)).len());
///         Some(optimum)
///     }
/// }
///
/// let optimum = rhae_games::visit("kq19-v1", Optimum).expect("the game is registered");
/// assert!(optimum.is_some());
/// ```
pub fn shortest_win<E: Explorable<Error = Infallible>>(level: &E, max_boards: usize) -> WinSearch {
    let start = level.start();
    let mut seen = KeySet::default();
    seen.insert(level.board_key(&start));
    // For each board, in the order of discovery: the index of the board from which it was reached,
    // and the action.
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
                        let win = Some(backtrack(&reached, *from, action));
                        return WinSearch {
                            win,
                            boards: reached.len(),
                            complete: true,
                        };
                    }
                    Outcome::Continue => {
                        if seen.insert(level.board_key(&after)) {
                            if reached.len() >= max_boards {
                                return WinSearch {
                                    win: None,
                                    boards: reached.len(),
                                    complete: false,
                                };
                            }
                            let index = u32::try_from(reached.len())
                                .expect("a search visits fewer than 2^32 boards");
                            reached.push((*from, action));
                            next.push((index, after));
                        }
                    }
                }
            }
        }
        frontier = next;
    }
    WinSearch {
        win: None,
        boards: reached.len(),
        complete: true,
    }
}

fn backtrack(reached: &[(u32, Action)], mut board: u32, last: Action) -> Vec<Action> {
    let mut path = vec![last];
    while board != 0 {
        let (from, action) = reached[board as usize];
        path.push(action);
        board = from;
    }
    path.reverse();
    path
}

type KeySet = HashSet<StateKey, BuildHasherDefault<KeyBits>>;

/// Uses the low half of a key as its hash, because keys are already hashes.
#[derive(Default)]
struct KeyBits(u64);

impl Hasher for KeyBits {
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("the table holds only 128-bit keys")
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
