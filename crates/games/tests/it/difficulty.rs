//! Tests that search confirms the declared optima, and that random play hardly ever wins.

use rhae_engine::{BaselineSource, Game, LevelIndex, Levels, Rng};
use rhae_explore::{NativeLevel, random_play, shortest_win};
use rhae_games::Visitor;
use rhae_testkit::full;

/// Checks that every baseline is twice the optimum of its level. Levels that need a long search are
/// only checked in the long form of the test.
struct OptimaHold;

impl Visitor for OptimaHold {
    type Output = ();

    fn visit<G: Game>(self) {
        let full = full("searches of 400,000 instead of 50,000,000 states");
        let places = if full { 50_000_000 } else { 400_000 };
        for (index, baseline) in G::FACTS.baselines.iter().enumerate() {
            let search = shortest_win(&NativeLevel::<G>::new(0, LevelIndex(index as u8)), places);
            let at = format!("{} level {}", G::FACTS.id, index + 1);
            match search.win {
                Some(win) => {
                    assert_eq!(
                        Some(win.len() as u32),
                        baseline.solution_length(),
                        "{at}: the optimum differs from the declared one"
                    );
                }
                None if search.complete => panic!("{at}: the search is complete and found no win"),
                None => {
                    let proved = baseline.source == BaselineSource::Solver;
                    assert!(
                        !(full && proved),
                        "{at}: the optimum is declared as proved, but the search does not finish"
                    );
                }
            }
        }
    }
}

#[test]
fn declared_optima_agree_with_search() {
    for entry in rhae_games::ALL {
        rhae_games::visit(entry.facts.id, OptimaHold).expect("the registry lists it");
    }
}

/// Checks that, on every level after the first, uniform random play wins at most one in ten
/// thousand attempts. An attempt has five times as many actions as the baseline.
struct BlindPlayFails;

impl Visitor for BlindPlayFails {
    type Output = ();

    fn visit<G: Game>(self) {
        let full = full("1,000,000 instead of 50,000,000 steps of random play");
        let steps = if full { 50_000_000 } else { 1_000_000 };
        for seed in 0..if G::FACTS.seeded { 3 } else { 1 } {
            let levels = Levels::<G>::new(seed);
            for level in (1..levels.count()).map(LevelIndex) {
                let attempt = 5 * G::FACTS.baselines[level.get()].actions;
                let play = random_play(&levels, level, attempt, steps, &mut Rng::new(17, seed));
                // A million steps are only enough to refute the limit of one in ten thousand. The
                // long form of the test plays enough steps to confirm it.
                let bound = if full {
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
fn random_play_does_not_win() {
    for entry in rhae_games::ALL {
        rhae_games::visit(entry.facts.id, BlindPlayFails).expect("the registry lists it");
    }
}
