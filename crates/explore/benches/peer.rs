//! `cargo bench -p rhae-explore`: how many new states a second a search finds, beside stateright on the same levels.
//!
//! Runs are interleaved and measured in the process's CPU time, so that a busy machine slows all sides alike; medians of
//! rounds. Two threads are compared with two searches that run side by side, by the clock on the wall.
//! `-- --json` prints the figures as JSON, `-- --states N` changes the size, `-- --rounds N` the number of rounds.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rhae_engine::{Action, Game, LevelIndex, Outcome};
use rhae_explore::{Explorable, Limits, NativeLevel, Search, explore};
use rhae_games::{Visitor, visit};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use stateright::{Checker, Model, Property};

/// The environments and levels. One with fewer states than a round looks at is searched to its end.
const LEVELS: [(&str, u8); 5] = [("kq19-v1", 8), ("ny40-v1", 7), ("ym39-v1", 8), ("hk26-v1", 8), ("bx20-v1", 8)];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)).and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (states, rounds) = (number("--states", 1_000_000), number("--rounds", 5));
    let mut levels = Vec::new();
    for (id, level) in LEVELS {
        levels.push(visit(id, Compare { level: LevelIndex(level - 1), states, rounds }).expect("it is registered"));
    }
    let growth: Vec<Value> = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
        .into_iter()
        .filter(|&size| size <= 10 * states)
        .map(|size| visit(LEVELS[0].0, Grow { level: LevelIndex(LEVELS[0].1 - 1), states: size }).expect("it is registered"))
        .collect();
    if arguments.iter().any(|argument| argument == "--json") {
        println!("{}", json!({ "levels": levels, "growth": growth }));
        return;
    }
    println!("new states a second of CPU time, medians of {rounds} rounds\n");
    println!("level      states    hashed/s    packed/s  stateright/s  hashed  packed  two threads");
    for one in &levels {
        let number = |name: &str| one[name].as_f64().unwrap_or(f64::NAN);
        println!(
            "{:<9} {:>8} {:>11.0} {:>11.0} {:>13.0} {:>6.1}x {:>6.1}x {:>10.0} %",
            one["level"].as_str().unwrap_or_default(),
            number("states"),
            number("hashed_per_s"),
            number("packed_per_s"),
            number("stateright_per_s"),
            number("hashed_per_s") / number("stateright_per_s"),
            number("packed_per_s") / number("stateright_per_s"),
            100.0 * number("two_threads")
        );
    }
    println!("\nstates      CPU s    ns/state  bytes/state");
    for one in &growth {
        let number = |name: &str| one[name].as_f64().unwrap_or(f64::NAN);
        println!(
            "{:>9} {:>8.2} {:>9.0} {:>12.1}",
            number("states"),
            number("cpu_s"),
            number("ns_per_state"),
            number("bytes_per_state")
        );
    }
}

struct Compare {
    level: LevelIndex,
    states: usize,
    rounds: usize,
}

impl Visitor for Compare {
    type Output = Value;

    fn visit<G: Game>(self) -> Value {
        let Self { level, states, rounds } = self;
        let packed = NativeLevel::<G>::new(0, level);
        let hashed = NativeLevel::<G>::new(0, level).hashed();
        // The peer counts what it generates, not what is new.
        let Ok(graph) = explore(&packed, &limited(states, 1), |_| true);
        let generated = graph.edges() + 1;
        let found = graph.nodes();
        drop(graph);
        let packs = packed.pack(&packed.start()).is_some();
        let (mut by_hash, mut by_pack, mut by_peer, mut ratios) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for round in 0..=rounds {
            let hash = rate(ClockId::ProcessCPUTime, || search(&hashed, states, 1));
            let pack = rate(ClockId::ProcessCPUTime, || search(&packed, states, 1));
            let peer = rate(ClockId::ProcessCPUTime, || check::<G>(level, generated));
            let two = rate(ClockId::Monotonic, || search(&packed, states, 2));
            let apart = rate(ClockId::Monotonic, || {
                std::thread::scope(|scope| {
                    let other = scope.spawn(|| search(&packed, states, 1));
                    search(&packed, states, 1) + other.join().expect("a search does not panic")
                })
            });
            // The first round warms up.
            if round > 0 {
                by_hash.push(hash);
                by_pack.push(pack);
                by_peer.push(peer);
                ratios.push(two / apart);
            }
        }
        json!({
            "level": format!("{} {level}", &G::FACTS.id[..4]),
            "states": found,
            "hashed_per_s": median(by_hash),
            "packed_per_s": if packs { json!(median(by_pack)) } else { Value::Null },
            "stateright_per_s": median(by_peer),
            "two_threads": median(ratios),
        })
    }
}

/// How cost grows with the number of states.
struct Grow {
    level: LevelIndex,
    states: usize,
}

impl Visitor for Grow {
    type Output = Value;

    fn visit<G: Game>(self) -> Value {
        let level = NativeLevel::<G>::new(0, self.level);
        let before = now(ClockId::ProcessCPUTime);
        let Ok(graph) = explore(&level, &limited(self.states, 1), |_| true);
        let spent = (now(ClockId::ProcessCPUTime) - before).as_secs_f64();
        let nodes = graph.nodes() as f64;
        json!({
            "states": graph.nodes(),
            "cpu_s": spent,
            "ns_per_state": 1e9 * spent / nodes,
            "bytes_per_state": graph.peak_bytes() as f64 / nodes,
        })
    }
}

fn limited(states: usize, threads: usize) -> Search {
    Search { threads, limits: Limits { nodes: states, bytes: usize::MAX, ..Limits::default() }, all_clicks: false }
}

fn search<E: Explorable<Error = Infallible>>(level: &E, states: usize, threads: usize) -> usize {
    let Ok(graph) = explore(level, &limited(states, threads), |_| true);
    graph.nodes()
}

fn check<G: Game>(level: LevelIndex, generated: usize) -> usize {
    let model = Peer::<G>(Arc::new(NativeLevel::new(0, level)));
    model.checker().threads(1).target_state_count(generated).spawn_bfs().join().unique_state_count()
}

/// The same level as a model of stateright.
struct Peer<G: Game>(Arc<NativeLevel<G>>);

type StateOf<G> = <NativeLevel<G> as Explorable>::State;

#[derive(Clone, PartialEq, Eq, Hash)]
struct PeerState<S> {
    state: S,
    outcome: Outcome,
}

impl<S> fmt::Debug for PeerState<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome.fmt(f)
    }
}

impl<G: Game> Model for Peer<G> {
    type State = PeerState<StateOf<G>>;
    type Action = Action;

    fn init_states(&self) -> Vec<Self::State> {
        vec![PeerState { state: self.0.start(), outcome: Outcome::Going }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Action>) {
        if state.outcome == Outcome::Going {
            self.0.actions(&state.state, actions);
        }
    }

    fn next_state(&self, last: &Self::State, action: Action) -> Option<Self::State> {
        let mut state = last.state.clone();
        let Ok(outcome) = self.0.step(&mut state, action);
        Some(PeerState { state, outcome })
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Without a property that is still open the checker has nothing to do.
        vec![Property::always("open", |_, _| true)]
    }
}

fn rate(clock: ClockId, work: impl FnOnce() -> usize) -> f64 {
    let before = now(clock);
    let states = work();
    states as f64 / (now(clock) - before).as_secs_f64()
}

fn now(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or(0), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
