//! Tests that all ways of exploring a game (packed, hashed, threaded, as an environment) give the
//! same graph.

use rhae_engine::{Episode, Game, LevelIndex, Levels, NativeEnvironment};
use rhae_explore::{
    EnvironmentLevel, Explorable, Graph, Identity, Limits, NativeLevel, SearchOptions, explore,
};
use rhae_games::{Visitor, visit};

fn search(threads: usize, nodes: usize, all_clicks: bool) -> SearchOptions {
    SearchOptions {
        threads,
        all_clicks,
        limits: Limits {
            nodes,
            ..Limits::default()
        },
    }
}

fn explored<E: Explorable>(level: &E, search: &SearchOptions) -> Graph {
    explore(level, search, |_| true)
        .ok()
        .expect("native games never fail")
}

fn assert_same_graph(one: &Graph, other: &Graph, mode: &str) {
    let summary = |graph: &Graph| {
        (
            graph.nodes(),
            graph.edges(),
            graph.depth(),
            graph.stop(),
            graph.terminals(),
            graph.has_clicks(),
        )
    };
    assert_eq!(summary(one), summary(other), "{mode}");
    assert!(
        (0..one.nodes() as u32).all(|node| one.targets(node) == other.targets(node)),
        "{mode}"
    );
}

struct CompareModes(u8);

impl Visitor for CompareModes {
    type Output = ();

    fn visit<G: Game>(self) {
        let index = LevelIndex(self.0);
        let id = G::FACTS.id;
        let one = explored(&NativeLevel::<G>::new(0, index), &search(1, 60_000, false));
        let hashed = explored(
            &NativeLevel::<G>::new(0, index).hashed(),
            &search(1, 60_000, false),
        );
        assert!(!hashed.is_packed());
        assert_same_graph(&one, &hashed, &format!("{id}: hashed"));
        let packed = (NativeLevel::<G>::new(0, index), one.is_packed());
        for (level, packs) in [packed, (NativeLevel::<G>::new(0, index).hashed(), false)] {
            // Five threads exceed the cores of some machines, so this also covers threads that
            // sleep.
            for threads in [2, 5] {
                let shared = explored(&level, &search(threads, 60_000, false));
                assert_same_graph(&one, &shared, &format!("{id}: {threads} threads"));
                assert_eq!(shared.is_packed(), packs);
            }
        }
        if self.0 == 0 {
            let native = explored(&NativeLevel::<G>::new(0, index), &search(1, 40, true));
            let play = NativeEnvironment::from_episode(Episode::<G>::at(Levels::new(0), index));
            let level = EnvironmentLevel::new(Box::new(play), Identity::FrameAndHidden)
                .expect("native games can be forked");
            let environment = explored(&level, &search(1, 40, true));
            let mode = format!("{id}: as an environment");
            let (wins, losses) = native.terminals();
            if wins <= 1 {
                assert_same_graph(&native, &environment, &mode);
            } else {
                // After a win, an environment shows the next level, so all wins are one state.
                assert_eq!(environment.nodes(), native.nodes() - (wins - 1), "{mode}");
                assert_eq!(environment.edges(), native.edges(), "{mode}");
                assert_eq!(environment.terminals(), (1, losses), "{mode}");
            }
        }
    }
}

#[test]
fn level_has_the_same_graph_in_every_mode() {
    for entry in rhae_games::ALL {
        for level in [0, 2] {
            visit(entry.facts.id, CompareModes(level)).expect("the game is registered");
        }
    }
}
