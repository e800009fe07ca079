//! Compares the number of new states per second with stateright on the same levels: `cargo run
//! --release --manifest-path bench-stateright/Cargo.toml`.
//!
//! Runs are interleaved and measured in CPU time of the process, so that load on the machine slows
//! all contenders equally. A level with few states is searched several times per run. Ratios are
//! medians of the ratios within a round. The game rules alone, which all contenders share, are
//! measured as well: they limit what a search can gain. A search with two threads is compared with
//! two independent searches in parallel, by wall-clock time.
//!
//! Options after `--`: `--json` prints JSON, `--states N` sets the number of states, `--rounds N`
//! the number of rounds, and `--only ID` selects one game. `--profile ID LEVEL SIDE` runs only one
//! contender (`peer`, `hashed`, `packed`, `rules`, `two` or `apart`) without reading a clock, for
//! use with a profiler.

mod model;
mod work;

use rhae_engine::{Game, LevelIndex};
use rhae_explore::{Explorable, NativeLevel, explore};
use rhae_games::{Visitor, visit};
use rustix::time::ClockId;
use serde_json::{Value, json};

use crate::work::{Side, Work, limited, now};

/// The environments and levels. A level with fewer states than the requested number is searched
/// completely.
const LEVELS: [(&str, u8); 6] = [
    ("kq19-v1", 8),
    ("ny40-v1", 7),
    ("ym39-v1", 8),
    ("hk26-v1", 8),
    ("pz19-v1", 8),
    ("bx20-v1", 8),
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1))
            .and_then(|value| value.parse().ok())
            .unwrap_or(default)
    };
    let (states, rounds) = (number("--states", 1_000_000), number("--rounds", 5));
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--profile")
    {
        let [id, level, side] = &arguments[at + 1..at + 4] else {
            unreachable!("the slice has three elements")
        };
        let level = LevelIndex(
            level
                .parse::<u8>()
                .expect("LEVEL must be the number of a level")
                - 1,
        );
        let side = Side::named(side).expect("SIDE must be the name of a contender");
        let found = visit(
            id,
            Profile {
                level,
                states,
                rounds,
                side,
            },
        )
        .expect("ID must be the id of a game");
        println!("{found} states");
        return;
    }
    let mut levels = Vec::new();
    let only = arguments
        .iter()
        .position(|argument| argument == "--only")
        .and_then(|at| arguments.get(at + 1));
    for (id, level) in LEVELS
        .into_iter()
        .filter(|(id, _)| only.is_none_or(|only| only == id))
    {
        levels.push(
            visit(
                id,
                Compare {
                    level: LevelIndex(level - 1),
                    states,
                    rounds,
                },
            )
            .expect("the game is registered"),
        );
    }
    let growth: Vec<Value> = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000]
        .into_iter()
        .filter(|&size| size <= 10 * states && only.is_none())
        .map(|size| {
            let grow = Grow {
                level: LevelIndex(LEVELS[0].1 - 1),
                states: size,
                rounds,
            };
            visit(LEVELS[0].0, grow).expect("the game is registered")
        })
        .collect();
    if arguments.iter().any(|argument| argument == "--json") {
        println!("{}", json!({ "levels": levels, "growth": growth }));
        return;
    }
    print_tables(&levels, &growth, rounds);
}

fn print_tables(levels: &[Value], growth: &[Value], rounds: usize) {
    println!("new states per second of CPU time, medians of {rounds} rounds or more\n");
    println!(
        "level      states    hashed/s    packed/s  stateright/s  hashed  packed  rules alone  two threads"
    );
    for one in levels {
        let number = |name: &str| one[name].as_f64().unwrap_or(f64::NAN);
        let times = |name: &str| {
            one[name]
                .as_f64()
                .map_or("-".to_owned(), |times| format!("{times:.1}x"))
        };
        println!(
            "{:<9} {:>8} {:>11.0} {:>11} {:>13.0} {:>7} {:>7} {:>12} {:>10.0} %",
            one["level"].as_str().unwrap_or_default(),
            number("states"),
            number("hashed_per_s"),
            one["packed_per_s"]
                .as_f64()
                .map_or("-".to_owned(), |rate| format!("{rate:.0}")),
            number("stateright_per_s"),
            times("hashed_times"),
            times("packed_times"),
            times("rules_times"),
            100.0 * number("two_threads")
        );
    }
    println!("\n   states     edges    CPU s    ns/state  ns/edge  bytes/state");
    for one in growth {
        let number = |name: &str| one[name].as_f64().unwrap_or(f64::NAN);
        println!(
            "{:>9} {:>9} {:>8.2} {:>11.0} {:>8.0} {:>12.1}",
            number("states"),
            number("edges"),
            number("cpu_s"),
            number("ns_per_state"),
            number("ns_per_edge"),
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
        let Self {
            level,
            states,
            rounds,
        } = self;
        let work = Work::<G>::new(level, states);
        let mut sides = Sides::default();
        // Short runs get more rounds, because the speed of the machine rarely changes between two
        // of them.
        let rounds = rounds * (LONG_RUN_STATES / (work.found * work.searches)).max(1);
        for round in 0..=rounds {
            // Measured before and after the peer, because the speed of the machine varies.
            let own = || [Side::Hashed, Side::Packed, Side::Rules].map(|side| work.rate(side));
            let (before, peer, after) = (own(), work.rate(Side::Peer), own());
            let [hash, pack, rules] =
                [0, 1, 2].map(|side| 2.0 / (1.0 / before[side] + 1.0 / after[side]));
            let pairs = [(); PAIRS].map(|()| work.rate(Side::Two) / work.rate(Side::Apart));
            // The first round is a warm-up.
            if round > 0 {
                sides.hashed.push(hash);
                sides.packed.push(pack);
                sides.peer.push(peer);
                sides.hashed_times.push(hash / peer);
                sides.packed_times.push(pack / peer);
                sides.rules_times.push(rules / peer);
                sides.two_threads.extend(pairs);
            }
        }
        let packs = work.packed.pack(&work.packed.start()).is_some();
        let if_packs = |value: f64| if packs { json!(value) } else { Value::Null };
        json!({
            "level": format!("{} {level}", &G::FACTS.id[..4]),
            "states": work.found,
            "hashed_per_s": median(sides.hashed),
            "packed_per_s": if_packs(median(sides.packed)),
            "stateright_per_s": median(sides.peer),
            "hashed_times": median(sides.hashed_times),
            "packed_times": if_packs(median(sides.packed_times)),
            "rules_times": median(sides.rules_times),
            "two_threads": median(sides.two_threads),
        })
    }
}

/// The number of comparisons of two threads per round: wall-clock time is noisier than CPU time.
const PAIRS: usize = 3;

/// The number of states from which a run counts as long.
const LONG_RUN_STATES: usize = 200_000;

/// The measurements of all rounds.
#[derive(Default)]
struct Sides {
    hashed: Vec<f64>,
    packed: Vec<f64>,
    peer: Vec<f64>,
    hashed_times: Vec<f64>,
    packed_times: Vec<f64>,
    rules_times: Vec<f64>,
    two_threads: Vec<f64>,
}

/// Runs a single contender.
struct Profile {
    level: LevelIndex,
    states: usize,
    rounds: usize,
    side: Side,
}

impl Visitor for Profile {
    type Output = usize;

    fn visit<G: Game>(self) -> usize {
        let work = Work::<G>::new(self.level, self.states);
        (0..self.rounds).map(|_| work.run(self.side)).sum()
    }
}

/// Measures how the cost grows with the number of states.
struct Grow {
    level: LevelIndex,
    states: usize,
    rounds: usize,
}

impl Visitor for Grow {
    type Output = Value;

    fn visit<G: Game>(self) -> Value {
        let level = NativeLevel::<G>::new(0, self.level);
        let mut spent = Vec::new();
        let mut found = (0, 0, 0);
        for _ in 0..self.rounds {
            let before = now(ClockId::ProcessCPUTime);
            let Ok(graph) = explore(&level, &limited(self.states, 1), |_| true);
            spent.push((now(ClockId::ProcessCPUTime) - before).as_secs_f64());
            found = (graph.nodes(), graph.edges(), graph.peak_bytes());
        }
        let (spent, (nodes, edges, bytes)) = (median(spent), found);
        json!({
            "states": nodes,
            "edges": edges,
            "cpu_s": spent,
            "ns_per_state": 1e9 * spent / nodes as f64,
            "ns_per_edge": 1e9 * spent / edges as f64,
            "bytes_per_state": bytes as f64 / nodes as f64,
        })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
