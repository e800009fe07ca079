//! The contenders and the measurement of their speed on one level.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::Duration;

use rhae_engine::{Game, LevelIndex, Outcome};
use rhae_explore::{Explorable, Limits, NativeLevel, SearchOptions, explore};
use rustix::time::{ClockId, clock_gettime};

use crate::model::{StateOf, check};

/// The minimum number of states of a run.
const MIN_RUN_STATES: usize = 20_000;

/// The work of each contender on one level.
pub(crate) struct Work<G: Game> {
    pub(crate) packed: NativeLevel<G>,
    hashed: NativeLevel<G>,
    level: LevelIndex,
    /// The maximum number of states of a search, and the number that it actually finds.
    states: usize,
    pub(crate) found: usize,
    /// The number of states that the peer generates, duplicates included: its limit counts those.
    generated: usize,
    /// The states that a search expands.
    walked: Vec<StateOf<G>>,
    /// The number of searches per run.
    pub(crate) searches: usize,
}

impl<G: Game> Work<G> {
    pub(crate) fn new(level: LevelIndex, states: usize) -> Self {
        let packed = NativeLevel::<G>::new(0, level);
        let hashed = NativeLevel::<G>::new(0, level).hashed();
        let Ok(graph) = explore(&packed, &limited(states, 1), |_| true);
        let (generated, found) = (graph.edges() + 1, graph.nodes());
        drop(graph);
        let walked = walk(&packed, found);
        Self {
            packed,
            hashed,
            level,
            states,
            found,
            generated,
            walked,
            searches: (MIN_RUN_STATES / found).max(1),
        }
    }

    /// Measures the states per second of a contender.
    pub(crate) fn rate(&self, side: Side) -> f64 {
        let clock = if matches!(side, Side::Two | Side::Apart) {
            ClockId::Monotonic
        } else {
            ClockId::ProcessCPUTime
        };
        let before = now(clock);
        let states = self.run(side);
        states as f64 / (now(clock) - before).as_secs_f64()
    }

    /// Runs a contender and returns the number of states found.
    pub(crate) fn run(&self, side: Side) -> usize {
        match side {
            Side::Peer => self.repeat(|| check::<G>(self.level, self.generated)),
            Side::Hashed => self.repeat(|| search(&self.hashed, self.states, 1)),
            Side::Packed => self.repeat(|| search(&self.packed, self.states, 1)),
            Side::Rules => self.repeat(|| {
                act(&self.packed, &self.walked);
                self.found
            }),
            Side::Two => self.repeat(|| search(&self.packed, self.states, 2)),
            Side::Apart => std::thread::scope(|scope| {
                let other = scope.spawn(|| self.run(Side::Packed));
                self.run(Side::Packed) + other.join().expect("a search does not panic")
            }),
        }
    }

    fn repeat(&self, once: impl Fn() -> usize) -> usize {
        (0..self.searches).map(|_| once()).sum()
    }
}

/// A contender.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Peer,
    Hashed,
    Packed,
    /// Only the rules, applied to the states that a search expands. The rate counts the states that
    /// the search finds.
    Rules,
    Two,
    Apart,
}

impl Side {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "peer" => Self::Peer,
            "hashed" => Self::Hashed,
            "packed" => Self::Packed,
            "rules" => Self::Rules,
            "two" => Self::Two,
            "apart" => Self::Apart,
            _ => return None,
        })
    }
}

/// Returns the states that a search for `states` states expands.
fn walk<E: Explorable<Error = Infallible>>(level: &E, states: usize) -> Vec<E::State> {
    let mut seen = BTreeSet::from([level.key(&level.start())]);
    let mut all = vec![level.start()];
    let (mut at, mut actions) = (0, Vec::new());
    while at < all.len() && seen.len() < states {
        actions.clear();
        level.actions(&all[at], &mut actions);
        for &action in &actions {
            let mut after = all[at].clone();
            let Ok(outcome) = level.step(&mut after, action);
            if seen.insert(level.key(&after)) && outcome == Outcome::Continue {
                all.push(after);
            }
        }
        at += 1;
    }
    all.truncate(at);
    all
}

/// Applies every action to every given state and discards the results.
fn act<E: Explorable<Error = Infallible>>(level: &E, states: &[E::State]) {
    let mut actions = Vec::new();
    for state in states {
        actions.clear();
        level.actions(state, &mut actions);
        for &action in &actions {
            let mut after = state.clone();
            let Ok(outcome) = level.step(&mut after, action);
            black_box((&after, outcome));
        }
    }
}

pub(crate) fn limited(states: usize, threads: usize) -> SearchOptions {
    SearchOptions {
        threads,
        limits: Limits {
            nodes: states,
            bytes: usize::MAX,
            ..Limits::default()
        },
        all_clicks: false,
    }
}

fn search<E: Explorable<Error = Infallible>>(level: &E, states: usize, threads: usize) -> usize {
    let Ok(graph) = explore(level, &limited(states, threads), |_| true);
    graph.nodes()
}

pub(crate) fn now(clock: ClockId) -> Duration {
    let now = clock_gettime(clock);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}
