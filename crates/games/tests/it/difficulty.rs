//! Optima are proved by search, and blind play fails.

use rhae_engine::{BaselineSource, Game, LevelIndex, Levels, Rng};
use rhae_explore::{NativeLevel, random_play, shortest_win};
use rhae_games::Visitor;

use crate::full;

/// Every level's baseline is twice its optimum. Levels whose search is long are left to the long form.
struct OptimaHold;

impl Visitor for OptimaHold {
    type Output = ();

    fn visit<G: Game>(self) {
        let places = if full() { 50_000_000 } else { 400_000 };
        for (index, baseline) in G::FACTS.baselines.iter().enumerate() {
            let search = shortest_win(&NativeLevel::<G>::new(0, LevelIndex(index as u8)), places);
            let at = format!("{} level {}", G::FACTS.id, index + 1);
            match search.win {
                Some(win) => {
                    assert_eq!(
                        Some(win.len() as u32),
                        baseline.solution_length(),
                        "{at}: the optimum is not the declared one"
                    );
                }
                None if search.complete => panic!("{at}: search shows that it cannot be won"),
                None => {
                    let proved = baseline.source == BaselineSource::Solver;
                    assert!(
                        !(full() && proved),
                        "{at}: the optimum is declared as proved, but search does not finish"
                    );
                }
            }
        }
    }
}

#[test]
fn optima_are_what_search_finds() {
    for entry in rhae_games::ALL {
        rhae_games::visit(entry.facts.id, OptimaHold).expect("the registry lists it");
    }
}

/// On no level after the first does uniform random play win more often than once in ten thousand attempts of five times the
/// baseline.
struct BlindPlayFails;

impl Visitor for BlindPlayFails {
    type Output = ();

    fn visit<G: Game>(self) {
        let steps = if full() { 50_000_000 } else { 1_000_000 };
        for seed in 0..if G::FACTS.seeded { 3 } else { 1 } {
            let levels = Levels::<G>::new(seed);
            for level in (1..levels.count()).map(LevelIndex) {
                let attempt = 5 * G::FACTS.baselines[level.get()].actions;
                let play = random_play(&levels, level, attempt, steps, &mut Rng::new(17, seed));
                // A million steps can only refute the limit; the long form is long enough to prove it.
                let bound = if full() {
                    play.upper_bound()
                } else {
                    play.lower_bound()
                };
                let (wins, attempts) = (play.wins, play.attempts);
                assert!(
                    bound <= 1e-4,
                    "{} level {level} seed {seed}: {wins} of {attempts} random attempts win",
                    G::FACTS.id
                );
            }
        }
    }
}

#[test]
fn blind_play_fails() {
    for entry in rhae_games::ALL {
        rhae_games::visit(entry.facts.id, BlindPlayFails).expect("the registry lists it");
    }
}
