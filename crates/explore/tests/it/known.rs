//! What is known of chains: the chance, the fraction, the shortest win, the number of ways, dead ends, components.

use rhae_engine::{Action, Rng};
use rhae_explore::{
    Chances, Check, Components, Doubt, Policy, Search, Stop, check, count_shortest, explore,
    first_win, fraction, way_to, win_within,
};

use crate::chains::{LOSS, Table, WIN, chance, lock, maze, ruin};

fn assert_chance(table: &Table, numerator: f64, denominator: f64, text: Option<(&str, &str)>) {
    let graph = table.graph();
    let found = chance(&graph);
    let expected = numerator / denominator;
    assert!(found.width() < 1e-12, "{found:?}");
    assert!(
        (found.lower() - expected).abs() < 1e-15 && (found.upper() - expected).abs() < 1e-15,
        "{found:?}, not {expected}"
    );
    let exact = fraction(&graph, &Components::of(&graph), Policy::Valid);
    assert_eq!(
        exact
            .as_ref()
            .map(|(above, below)| (above.as_str(), below.as_str())),
        text
    );
}

#[test]
fn a_gambler_wins_with_the_share_of_coins_held() {
    assert_chance(&ruin(3, 10), 3.0, 10.0, Some(("3", "10")));
    assert_chance(&ruin(1, 48), 1.0, 48.0, Some(("1", "48")));
    // Too many for a fraction: solved by elimination, then by iteration. The expected time is in the tens of thousands.
    assert_chance(&ruin(7, 200), 7.0, 200.0, None);
    assert_chance(&ruin(100, 3000), 100.0, 3000.0, None);
}

#[test]
fn a_lock_that_starts_over_opens_for_certain() {
    for table in [lock(4, 5, None), lock(12, 3, None)] {
        assert_chance(&table, 1.0, 1.0, Some(("1", "1")));
    }
}

#[test]
fn a_lock_with_lives_opens_with_one_try_in_keys_to_the_digits() {
    assert_chance(&lock(3, 4, Some(1)), 1.0, 64.0, Some(("1", "64")));
    // Of three tries: 1 - (1 - 1/64)³.
    assert_chance(
        &lock(3, 4, Some(3)),
        12097.0,
        262_144.0,
        Some(("12097", "262144")),
    );
}

#[test]
fn a_maze_with_three_lives_is_three_games_of_ruin() {
    // From the first of n cells a walk reaches the goal before the pit with 1/(n + 1), and there are three lives.
    let n = 9.0_f64;
    let misses = n.powi(3);
    assert_chance(
        &maze(9),
        (n + 1.0).powi(3) - misses,
        (n + 1.0).powi(3),
        Some(("271", "1000")),
    );
    let graph = maze(9).graph();
    let components = Components::of(&graph);
    assert_eq!((graph.nodes(), graph.edges()), (3 * 9 + 2, 3 * 9 * 4));
    assert_eq!(components.sizes(), [9, 9, 9]);
    let win = first_win(&graph).unwrap();
    assert_eq!((graph.depth_of(win), count_shortest(&graph, win)), (9, 1));
    assert_eq!(graph.terminals(), (1, 1));
}

#[test]
fn a_chance_within_few_actions_is_counted_out() {
    let graph = lock(3, 4, None).graph();
    let within = |actions: u32| win_within(&graph, Policy::Valid, actions, |_| true);
    assert_eq!(within(2).upper(), 0.0);
    assert_eq!(
        (within(3).lower(), within(3).upper()),
        (1.0 / 64.0, 1.0 / 64.0)
    );
    // A fourth action wins only after one wrong key and three right ones: 3/4 · 1/64.
    assert_eq!(within(4).lower(), 1.0 / 64.0 + 3.0 / 256.0);
    assert!(within(5000).lower() > 1.0 - 1e-15 && within(5000).width() < 1e-12);
    let early = win_within(&graph, Policy::Valid, 10, |taken| taken < 3);
    assert_eq!((early.lower(), early.upper()), (1.0 / 64.0, 1.0));
}

#[test]
fn dead_ends_are_states_that_go_on_in_vain() {
    // 0 leads to a win, a loss, and a pair of states that lead to each other for ever.
    let table = Table {
        next: vec![vec![WIN, LOSS, 1], vec![2, 2], vec![1, 2]],
        packs: true,
    };
    let graph = table.graph();
    let chances = Chances::of(&graph, &Components::of(&graph), Policy::Valid, 1 << 20);
    let depths: Vec<usize> = chances
        .dead_ends(&graph)
        .map(|node| graph.depth_of(node))
        .collect();
    assert_eq!(depths, [1, 2]);
    assert_chance(&table, 1.0, 3.0, Some(("1", "3")));
}

#[test]
fn each_limit_says_that_it_stopped_the_search_and_leaves_true_bounds() {
    let table = ruin(5, 40);
    let limited = |change: fn(&mut Search)| {
        let mut search = Search::default();
        change(&mut search);
        let Ok(graph) = explore(&table, &search, |_| true);
        graph
    };
    let graphs = [
        (Stop::Nodes, limited(|search| search.limits.nodes = 20)),
        (Stop::Edges, limited(|search| search.limits.edges = 31)),
        (Stop::Depth, limited(|search| search.limits.depth = 6)),
        (Stop::Memory, limited(|search| search.limits.bytes = 1000)),
    ];
    for (stop, graph) in graphs {
        assert_eq!(graph.stop(), Some(stop));
        let found = chance(&graph);
        assert!(
            found.lower() <= 5.0 / 40.0 && 5.0 / 40.0 <= found.upper(),
            "{stop:?}: {found:?}"
        );
        assert_eq!(found.lower(), 0.0, "{stop:?}: no win was seen");
        assert!(
            graph.edges().is_multiple_of(2),
            "{stop:?}: of a state all actions are there or none"
        );
        assert_eq!(
            fraction(&graph, &Components::of(&graph), Policy::Valid),
            None
        );
    }
    let long = ruin(5, 40_000);
    let Ok(graph) = explore(&long, &Search::default(), |progress| progress.nodes < 100);
    assert_eq!(graph.stop(), Some(Stop::Time));
    assert!(graph.nodes() < 20_000);
    // The gambler is ruined before the frontier with 1 - 5/n or so: the upper bound knows.
    let found = chance(&graph);
    assert!(
        found.lower() == 0.0 && found.upper() < 0.01 && found.upper() >= 5.0 / 40_000.0,
        "{found:?}"
    );
}

#[test]
fn ways_lead_from_the_start_along_edges() {
    let graph = lock(5, 3, Some(2)).graph();
    let way = way_to(&graph, first_win(&graph).unwrap());
    assert_eq!((way[0], way.len()), (0, 6));
    assert!(
        way.windows(2)
            .all(|pair| graph.targets(pair[0]).contains(&pair[1]))
    );
}

#[test]
fn a_key_that_leaves_something_out_is_doubted() {
    use std::convert::Infallible;

    use rhae_engine::{ActionKind, ActionSet, Outcome};
    use rhae_explore::Explorable;

    /// Whether a door opens depends on a switch that the key does not know of.
    struct Forgetful;

    impl Explorable for Forgetful {
        type State = (u8, bool);
        type Error = Infallible;

        fn start(&self) -> (u8, bool) {
            (0, false)
        }

        fn offered(&self, _state: &(u8, bool)) -> ActionSet {
            ActionSet::of(&ActionKind::ALL[1..=3])
        }

        fn step(&self, state: &mut (u8, bool), action: Action) -> Result<Outcome, Infallible> {
            match action {
                Action::Action1 => state.0 = (state.0 + 1) % 5,
                Action::Action2 => state.1 = true,
                _ if state.1 && state.0 == 3 => return Ok(Outcome::LevelWon),
                _ => {}
            }
            Ok(Outcome::Going)
        }

        fn key(&self, state: &(u8, bool)) -> u128 {
            u128::from(state.0)
        }
    }

    let Ok(graph) = explore(&Forgetful, &Search::default(), |_| true);
    let Ok(found) = check(&Forgetful, &graph, 2000, &mut Rng::new(1, 0), || true);
    let [Doubt::SameKey { actions }] = &found.doubts[..] else {
        panic!("{found:?}")
    };
    assert_eq!(actions.last(), Some(&Action::Action3));
    let sound = maze(4);
    let Ok(none) = check(&sound, &sound.graph(), 2000, &mut Rng::new(1, 0), || true);
    assert_eq!(
        none,
        Check {
            actions: 2000,
            doubts: Vec::new()
        }
    );
    let mut left = 10;
    let Ok(some) = check(&sound, &sound.graph(), 2000, &mut Rng::new(1, 0), || {
        left -= 1;
        left >= 0
    });
    assert_eq!(some.actions, 10);
}
