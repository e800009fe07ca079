//! A game explored in every way there is gives the same graph.

use rhae_engine::{Episode, Game, LevelIndex, Levels, Native};
use rhae_explore::{
    EnvironmentLevel, Explorable, Graph, Identity, Limits, NativeLevel, Search, explore,
};
use rhae_games::{Visitor, visit};

fn search(threads: usize, nodes: usize, all_clicks: bool) -> Search {
    Search {
        threads,
        all_clicks,
        limits: Limits {
            nodes,
            ..Limits::default()
        },
    }
}

fn searched<E: Explorable>(level: &E, search: &Search) -> Graph {
    explore(level, search, |_| true)
        .ok()
        .expect("native games do not fail")
}

fn assert_alike(one: &Graph, other: &Graph, what: &str) {
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
    assert_eq!(summary(one), summary(other), "{what}");
    assert!(
        (0..one.nodes() as u32).all(|node| one.targets(node) == other.targets(node)),
        "{what}"
    );
}

struct Ways(u8);

impl Visitor for Ways {
    type Output = ();

    fn visit<G: Game>(self) {
        let index = LevelIndex(self.0);
        let id = G::FACTS.id;
        let one = searched(&NativeLevel::<G>::new(0, index), &search(1, 60_000, false));
        let hashed = searched(
            &NativeLevel::<G>::new(0, index).hashed(),
            &search(1, 60_000, false),
        );
        assert!(!hashed.is_packed());
        assert_alike(&one, &hashed, &format!("{id}: hashed"));
        let packed = (NativeLevel::<G>::new(0, index), one.is_packed());
        for (level, packs) in [packed, (NativeLevel::<G>::new(0, index).hashed(), false)] {
            // Five are more than some machines have processors, so that they wait asleep.
            for threads in [2, 5] {
                let shared = searched(&level, &search(threads, 60_000, false));
                assert_alike(&one, &shared, &format!("{id}: {threads} threads"));
                assert_eq!(shared.is_packed(), packs);
            }
        }
        if self.0 == 0 {
            let native = searched(&NativeLevel::<G>::new(0, index), &search(1, 40, true));
            let play = Native::from_episode(Episode::<G>::at(Levels::new(0), index));
            let level = EnvironmentLevel::new(Box::new(play), Identity::FrameAndHidden)
                .expect("native games can be forked");
            assert_alike(
                &native,
                &searched(&level, &search(1, 40, true)),
                &format!("{id}: behind the interface"),
            );
        }
    }
}

#[test]
fn a_level_has_one_graph() {
    for entry in rhae_games::ALL {
        for level in [0, 2] {
            visit(entry.facts.id, Ways(level)).expect("it is registered");
        }
    }
}
