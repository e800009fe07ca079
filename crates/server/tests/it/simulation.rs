//! Deterministic simulation of servers, their shared store and their clients.
//!
//! Two servers with the real command path work on one simulated disk. Three clients, two of which
//! share a play, send commands with idempotency keys and repeat them until they get a definite
//! response. The time is simulated, everything runs on one thread, and one seed determines all
//! latencies, faults and crashes. A failing seed is reproduced with
//! `RHAE_SIMULATION_SEED=N cargo nextest run --release -p rhae-server simulation`.
//!
//! After each simulation the disk is compared with what the clients were told: every acknowledged
//! command is in its log exactly once and in the client's order, every refused one is not, every
//! response shows the frames of its log entry, and the logs replay.

mod check;
mod client;
mod disk;
mod store;
mod world;

use std::sync::Arc;

use client::{Client, Told};
use world::{Flaw, World};

/// Seeds of a short run and of a long one.
const SEEDS: std::ops::Range<u64> = 0..200;
const SEEDS_FULL: std::ops::Range<u64> = 0..10_000;
/// Selects a single seed.
const SEED_VARIABLE: &str = "RHAE_SIMULATION_SEED";

/// Runs one simulation. Returns its trace, and the first broken promise if there is one.
fn simulate(seed: u64, flaw: Option<Flaw>) -> (Vec<String>, Result<(), String>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let world = World::new(seed, flaw);
    let told = runtime.block_on(run(&world));
    let result = told.and_then(|told| check::check(&world, &told));
    (world.trace(), result)
}

/// Lets the clients finish their work while faults occur, and returns what they were told.
async fn run(world: &Arc<World>) -> Result<Vec<Told>, String> {
    let chaos = tokio::spawn(Arc::clone(world).crash_servers());
    let first = Client::new(world, "first", "key-a");
    let other = Client::new(world, "other", "key-b");
    let first_play = tokio::spawn(first.open_play());
    let other = tokio::spawn(async move {
        let opened = other.open_play().await?;
        opened.send_commands().await
    });
    let joined = |error: tokio::task::JoinError| error.to_string();
    let first = first_play.await.map_err(joined)??;
    let second = first.shared_by("second");
    let first = tokio::spawn(first.send_commands());
    let second = tokio::spawn(second.send_commands());
    let mut told = Vec::new();
    for client in [first, second, other] {
        told.push(client.await.map_err(joined)??);
    }
    chaos.abort();
    Ok(told)
}

fn assert_seed(seed: u64) {
    let (trace, result) = simulate(seed, None);
    if let Err(broken) = result {
        panic!(
            "seed {seed}: {broken}\nreproduce with {SEED_VARIABLE}={seed}\n{}",
            trace.join("\n")
        );
    }
}

#[test]
fn acknowledged_commands_are_executed_exactly_once_under_faults() {
    if let Ok(seed) = std::env::var(SEED_VARIABLE) {
        return assert_seed(seed.parse().expect("the seed is a number"));
    }
    let seeds = if rhae_testkit::full("200 of 10,000 seeds") {
        SEEDS_FULL
    } else {
        SEEDS
    };
    seeds.for_each(assert_seed);
}

#[test]
fn simulation_depends_only_on_its_seed() {
    for seed in 0..10 {
        let (first, _) = simulate(seed, None);
        let (second, _) = simulate(seed, None);
        assert_eq!(first, second, "seed {seed}");
        assert!(first.len() > 50, "{first:?}");
    }
}

#[test]
fn simulation_meets_every_kind_of_fault() {
    let mut missing = vec![
        "crash of server",
        "the disk is full",
        "connection lost",
        "commit unknown",
        "client timeout",
        "-> 503 SERVICE_UNAVAILABLE",
        "-> 503 OUTCOME_UNKNOWN",
        "-> 200 after",
    ];
    for seed in SEEDS {
        let (trace, _) = simulate(seed, None);
        missing.retain(|event| !trace.iter().any(|line| line.contains(event)));
        if missing.is_empty() {
            return;
        }
    }
    panic!("no seed has the events {missing:?}");
}

/// Each flaw breaks a promise of the store, which the checks must notice.
#[test]
fn simulation_detects_flawed_stores() {
    for flaw in [Flaw::ForgetsKeys, Flaw::IgnoresIndex, Flaw::LosesCommits] {
        let detected = SEEDS
            .clone()
            .any(|seed| simulate(seed, Some(flaw)).1.is_err());
        assert!(detected, "{flaw:?} was not detected");
    }
}
