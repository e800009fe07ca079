//! Random chains, on which exact probabilities, bounds, time-limited bounds and simulated play must
//! agree.

use proptest::prelude::*;
use rhae_engine::{Outcome, Rng};
use rhae_explore::{
    Components, Explorable, Policy, SearchOptions, exact_chance, explore, path_to, win_within,
};

use crate::chains::{LOSS, Table, WIN, chance};

fn tables() -> impl Strategy<Value = Table> {
    (2_usize..14).prop_flat_map(|states| {
        let target = prop_oneof![8 => 0..states, 1 => Just(WIN), 1 => Just(LOSS)];
        let row = proptest::collection::vec(target, 1..=4);
        (proptest::collection::vec(row, states), any::<bool>())
            .prop_map(|(next, packs)| Table { next, packs })
    })
}

/// Simulates `plays` plays of at most `actions` actions and returns the share that wins.
fn simulate(table: &Table, actions: u32, plays: u32, rng: &mut Rng) -> f64 {
    let mut wins = 0;
    let mut choices = Vec::new();
    for _ in 0..plays {
        let mut state = table.start();
        for _ in 0..actions {
            choices.clear();
            table.actions(&state, &mut choices);
            let Ok(outcome) = table.step(
                &mut state,
                *rng.choose(&choices).expect("a state has actions"),
            );
            match outcome {
                Outcome::Continue => continue,
                Outcome::LevelWon => wins += 1,
                Outcome::GameOver => {}
            }
            break;
        }
    }
    f64::from(wins) / f64::from(plays)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn bounds_enclose_the_exact_fraction_and_simulated_play(table in tables(), seed: u64) {
        let graph = table.graph();
        let found = chance(&graph);
        prop_assert!(found.width() < 1e-12, "{:?}", found);
        let (above, below) = exact_chance(&graph, &Components::of(&graph), Policy::Valid).expect("a small graph has a fraction");
        let exact = above.parse::<f64>().unwrap() / below.parse::<f64>().unwrap();
        prop_assert!(found.lower() <= exact * (1.0 + 1e-15) && exact * (1.0 - 1e-15) <= found.upper(), "{:?}, {}", found, exact);
        // Within 3,000 actions nearly every play is decided. The result for 12 actions must agree
        // with the simulation.
        let long = win_within(&graph, Policy::Valid, 3000, |_| true);
        prop_assert!(long.low <= found.high, "{:?} {:?}", long, found);
        let short = win_within(&graph, Policy::Valid, 12, |_| true);
        prop_assert!(short.width() < 1e-12 && short.low <= long.high);
        let plays = 4000;
        let share = simulate(&table, 12, plays, &mut Rng::new(seed, 0));
        // By Bernstein's inequality, this fails by chance in at most one of thirty million cases,
        // even if nearly every play is won.
        let deviation = 6.0 * (short.middle() * (1.0 - short.middle()) / f64::from(plays)).sqrt() + 12.0 / f64::from(plays);
        prop_assert!((share - short.middle()).abs() <= deviation, "{} simulated, {:?}", share, short);
    }

    #[test]
    fn graph_is_independent_of_threads_and_keys(table in tables(), nodes in 1_usize..20) {
        let search = |threads: usize, nodes: usize| SearchOptions { threads, limits: rhae_explore::Limits { nodes, ..Default::default() }, ..Default::default() };
        for nodes in [nodes, 1000] {
            let Ok(one) = explore(&table, &search(1, nodes), |_| true);
            prop_assert!((0..one.nodes() as u32).all(|node| path_to(&one, node).len() == one.depth_of(node) + 1));
            let Ok(three) = explore(&table, &search(3, nodes), |_| true);
            let Ok(four) = explore(&table, &search(4, nodes), |_| true);
            let Ok(hashed) = explore(&Table { packs: !table.packs, ..table.clone() }, &search(1, nodes), |_| true);
            for other in [&three, &four, &hashed] {
                prop_assert_eq!((one.nodes(), one.edges(), one.depth(), one.stop()), (other.nodes(), other.edges(), other.depth(), other.stop()));
                prop_assert!((0..one.nodes() as u32).all(|node| one.targets(node) == other.targets(node) && one.outcome(node) == other.outcome(node)));
            }
        }
    }
}
