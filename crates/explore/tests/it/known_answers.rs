//! Properties of chains that are known in closed form: probabilities, fractions, shortest wins,
//! dead ends and components.

use rhae_engine::{Action, Rng};
use rhae_explore::{
    Chances, Components, GraphCheck, GraphWarning, Policy, SearchOptions, StopReason, check_graph,
    count_shortest_wins, exact_chance, explore, first_win, path_to, win_within,
};

use crate::chains::{LOSS, Table, WIN, chance, lock, maze, ruin};

fn assert_chance(table: &Table, numerator: f64, denominator: f64, text: Option<(&str, &str)>) {
    let graph = table.graph();
    let found = chance(&graph);
    let expected = numerator / denominator;
    assert!(found.width() < 1e-12, "{found:?}");
    assert!(
        (found.lower() - expected).abs() < 1e-15 && (found.upper() - expected).abs() < 1e-15,
        "{found:?}, expected {expected}"
    );
    let exact = exact_chance(&graph, &Components::of(&graph), Policy::Valid);
    assert_eq!(
        exact
            .as_ref()
            .map(|(above, below)| (above.as_str(), below.as_str())),
        text
    );
}

#[test]
fn gambler_wins_with_the_share_of_coins_held() {
    assert_chance(&ruin(3, 10), 3.0, 10.0, Some(("3", "10")));
    assert_chance(&ruin(1, 48), 1.0, 48.0, Some(("1", "48")));
    // These chains are too large for an exact fraction. The first is solved by elimination, the
    // second by iteration. The second takes 100 · 2,900 = 290,000 actions on average.
    assert_chance(&ruin(7, 200), 7.0, 200.0, None);
    assert_chance(&ruin(100, 3000), 100.0, 3000.0, None);
}

#[test]
fn lock_without_lives_is_won_with_certainty() {
    for table in [lock(4, 5, None), lock(12, 3, None)] {
        assert_chance(&table, 1.0, 1.0, Some(("1", "1")));
    }
}

#[test]
fn lock_with_lives_is_won_by_lucky_tries_only() {
    assert_chance(&lock(3, 4, Some(1)), 1.0, 64.0, Some(("1", "64")));
    // With three tries the probability is 1 - (1 - 1/64)³.
    assert_chance(
        &lock(3, 4, Some(3)),
        12097.0,
        262_144.0,
        Some(("12097", "262144")),
    );
}

#[test]
fn maze_with_three_lives_matches_three_games_of_ruin() {
    // From the first of n cells a walk reaches the goal before the pit with probability 1/(n + 1),
    // and there are three lives.
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
    assert_eq!(
        (graph.depth_of(win), count_shortest_wins(&graph, win)),
        (9, 1)
    );
    assert_eq!(graph.terminals(), (1, 1));
}

#[test]
fn chance_within_few_actions_is_exact() {
    let graph = lock(3, 4, None).graph();
    let within = |actions: u32| win_within(&graph, Policy::Valid, actions, |_| true);
    assert_eq!(within(2).upper(), 0.0);
    assert_eq!(
        (within(3).lower(), within(3).upper()),
        (1.0 / 64.0, 1.0 / 64.0)
    );
    // A win in four actions is one wrong key and then three right ones: 3/4 · 1/64.
    assert_eq!(within(4).lower(), 1.0 / 64.0 + 3.0 / 256.0);
    assert!(within(5000).lower() > 1.0 - 1e-15 && within(5000).width() < 1e-12);
    let early = win_within(&graph, Policy::Valid, 10, |taken| taken < 3);
    assert_eq!((early.lower(), early.upper()), (1.0 / 64.0, 1.0));
}

#[test]
fn dead_ends_are_states_without_a_reachable_win() {
    // State 0 leads to a win, to a loss, and to two states that only lead to each other.
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
fn each_limit_is_reported_and_bounds_stay_valid() {
    let table = ruin(5, 40);
    let limited = |change: fn(&mut SearchOptions)| {
        let mut search = SearchOptions::default();
        change(&mut search);
        let Ok(graph) = explore(&table, &search, |_| true);
        graph
    };
    let graphs = [
        (
            StopReason::Nodes,
            limited(|search| search.limits.nodes = 20),
        ),
        (
            StopReason::Edges,
            limited(|search| search.limits.edges = 31),
        ),
        (StopReason::Depth, limited(|search| search.limits.depth = 6)),
        (
            StopReason::Memory,
            limited(|search| search.limits.bytes = 1000),
        ),
    ];
    for (stop, graph) in graphs {
        assert_eq!(graph.stop(), Some(stop));
        let found = chance(&graph);
        assert!(
            found.lower() <= 5.0 / 40.0 && 5.0 / 40.0 <= found.upper(),
            "{stop:?}: {found:?}"
        );
        assert_eq!(found.lower(), 0.0, "{stop:?}: the graph contains no win");
        assert!(
            graph.edges().is_multiple_of(2),
            "{stop:?}: a node has all of its edges or none"
        );
        assert_eq!(
            exact_chance(&graph, &Components::of(&graph), Policy::Valid),
            None
        );
    }
    let long = ruin(5, 40_000);
    let Ok(graph) = explore(&long, &SearchOptions::default(), |progress| {
        progress.nodes < 100
    });
    assert_eq!(graph.stop(), Some(StopReason::Time));
    assert!(graph.nodes() < 20_000);
    // If the frontier is at n coins, the gambler is ruined before it with probability 1 - 5/n. The
    // upper bound reflects this.
    let found = chance(&graph);
    assert!(
        found.lower() == 0.0 && found.upper() < 0.01 && found.upper() >= 5.0 / 40_000.0,
        "{found:?}"
    );
}

#[test]
fn paths_follow_edges_from_the_start() {
    let graph = lock(5, 3, Some(2)).graph();
    let way = path_to(&graph, first_win(&graph).unwrap());
    assert_eq!((way[0], way.len()), (0, 6));
    assert!(
        way.windows(2)
            .all(|pair| graph.targets(pair[0]).contains(&pair[1]))
    );
}

#[test]
fn incomplete_key_is_reported() {
    use std::convert::Infallible;

    use rhae_engine::{ActionKind, ActionSet, Outcome};
    use rhae_explore::Explorable;

    /// Whether a door opens depends on a switch that the key omits.
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
            Ok(Outcome::Continue)
        }

        fn key(&self, state: &(u8, bool)) -> u128 {
            u128::from(state.0)
        }
    }

    let Ok(graph) = explore(&Forgetful, &SearchOptions::default(), |_| true);
    let Ok(found) = check_graph(&Forgetful, &graph, 2000, &mut Rng::new(1, 0), || true);
    let [GraphWarning::KeyCollision { actions }] = &found.warnings[..] else {
        panic!("{found:?}")
    };
    assert_eq!(actions.last(), Some(&Action::Action3));
    let sound = maze(4);
    let Ok(none) = check_graph(&sound, &sound.graph(), 2000, &mut Rng::new(1, 0), || true);
    assert_eq!(
        none,
        GraphCheck {
            actions: 2000,
            warnings: Vec::new()
        }
    );
    let mut left = 10;
    let Ok(some) = check_graph(&sound, &sound.graph(), 2000, &mut Rng::new(1, 0), || {
        left -= 1;
        left >= 0
    });
    assert_eq!(some.actions, 10);
}
