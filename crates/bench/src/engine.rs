//! Actions and frames per second of every environment, compared with the rate of copying a frame.
//!
//! Environments and the copy loop run in interleaved slices on one thread and are measured in its
//! CPU time, so that other load on the machine affects both sides of a ratio about equally.

use std::fmt;
use std::hint::black_box;
use std::time::Duration;

use rhae_engine::{Episode, Frame, FrameBuffer, Game, LevelIndex, Levels, Rng, StateOf};
use rhae_explore::random_action;
use rhae_games::Visitor;
use serde::Serialize;

use crate::{cpu_time, median};

/// Actions per slice.
const SLICE_ACTIONS: u64 = 5_000;
/// Actions that the runner takes on a level before it switches to the next one, so that all levels
/// have equal weight.
const ACTIONS_PER_LEVEL: u64 = 500;

/// The speed of the engine.
#[derive(Serialize)]
pub struct EngineBench {
    pub software: &'static str,
    /// Copies of a frame, 4,096 bytes, per second.
    pub memcpy_per_s: f64,
    pub environments: Vec<EnvironmentBench>,
    /// Frames per second divided by copies per second.
    pub median_ratio: f64,
    pub min_ratio: f64,
    pub median_clone_ns: f64,
}

/// The speed of one environment.
#[derive(Serialize)]
pub struct EnvironmentBench {
    pub game_id: String,
    pub actions_per_s: f64,
    pub frames_per_s: f64,
    /// Frames per second divided by copies of a frame per second.
    pub ratio: f64,
    pub clone_ns: f64,
}

impl EngineBench {
    /// Measures every built-in environment with `slices` slices of 5,000 random actions each.
    pub fn measure(slices: u32) -> Self {
        measure(slices)
    }
}

impl fmt::Display for EngineBench {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "copying a frame: {:.1} million times per second\n",
            self.memcpy_per_s / 1e6
        )?;
        writeln!(
            out,
            "environment   actions/s    frames/s   ns/frame   share of copying   ns/clone"
        )?;
        for one in &self.environments {
            writeln!(
                out,
                "{:<11} {:>11.0} {:>11.0} {:>10.0} {:>16.1} % {:>10.1}",
                one.game_id,
                one.actions_per_s,
                one.frames_per_s,
                1e9 / one.frames_per_s,
                100.0 * one.ratio,
                one.clone_ns
            )?;
        }
        let (median, min) = (100.0 * self.median_ratio, 100.0 * self.min_ratio);
        writeln!(
            out,
            "\nmedian {median:.1} %, slowest {min:.1} %, median clone {:.1} ns",
            self.median_clone_ns
        )
    }
}

fn measure(slices: u32) -> EngineBench {
    let mut runners: Vec<Box<dyn Runner>> = Vec::new();
    for entry in rhae_games::ALL {
        runners.push(
            rhae_games::visit(entry.facts.id, MakeRunner)
                .expect("the registry lists the environment"),
        );
    }
    let mut totals = vec![Totals::default(); runners.len()];
    let (mut copies, mut copying) = (0_u64, Duration::ZERO);
    let (source, mut target) = (Frame::filled(1), Frame::filled(0));
    // The first round warms up caches and buffers and is not counted.
    for round in 0..=slices {
        for (runner, total) in runners.iter_mut().zip(&mut totals) {
            let slice = runner.slice();
            if round > 0 {
                total.add(&slice);
            }
        }
        let started = cpu_time();
        for _ in 0..20 * SLICE_ACTIONS {
            black_box(&mut target).copy_from(black_box(&source));
        }
        if round > 0 {
            copies += 20 * SLICE_ACTIONS;
            copying += cpu_time() - started;
        }
    }
    let memcpy_per_s = copies as f64 / copying.as_secs_f64();
    let environments: Vec<EnvironmentBench> = rhae_games::ALL
        .iter()
        .zip(&totals)
        .map(|(entry, total)| {
            let frames_per_s = total.frames as f64 / total.time.as_secs_f64();
            EnvironmentBench {
                game_id: entry.facts.id.to_owned(),
                actions_per_s: total.actions as f64 / total.time.as_secs_f64(),
                frames_per_s,
                ratio: frames_per_s / memcpy_per_s,
                clone_ns: total.cloning.as_nanos() as f64 / total.clones as f64,
            }
        })
        .collect();
    EngineBench {
        software: rhae_protocol::SOFTWARE,
        memcpy_per_s,
        median_ratio: median(environments.iter().map(|one| one.ratio)),
        min_ratio: environments
            .iter()
            .map(|one| one.ratio)
            .fold(f64::INFINITY, f64::min),
        median_clone_ns: median(environments.iter().map(|one| one.clone_ns)),
        environments,
    }
}

#[derive(Clone, Copy, Default)]
struct Totals {
    actions: u64,
    frames: u64,
    time: Duration,
    clones: u64,
    cloning: Duration,
}

impl Totals {
    fn add(&mut self, other: &Self) {
        self.actions += other.actions;
        self.frames += other.frames;
        self.time += other.time;
        self.clones += other.clones;
        self.cloning += other.cloning;
    }
}

/// One environment played with random actions.
trait Runner {
    /// Plays one slice and returns its measurements.
    fn slice(&mut self) -> Totals;
}

struct MakeRunner;

impl Visitor for MakeRunner {
    type Output = Box<dyn Runner>;

    fn visit<G: Game>(self) -> Box<dyn Runner> {
        let levels = Levels::<G>::new(0);
        Box::new(RandomRunner {
            episodes: (0..levels.count())
                .map(|level| Episode::at(levels.clone(), LevelIndex(level)))
                .collect(),
            next_level: 0,
            rng: Rng::new(1, 0),
            frames: FrameBuffer::with_capacity(64),
        })
    }
}

struct RandomRunner<G: Game> {
    /// One episode per level.
    episodes: Vec<Episode<G>>,
    next_level: usize,
    rng: Rng,
    frames: FrameBuffer,
}

impl<G: Game> Runner for RandomRunner<G> {
    fn slice(&mut self) -> Totals {
        let mut totals = Totals::default();
        let mut states: Vec<StateOf<G>> = Vec::new();
        while totals.actions < SLICE_ACTIONS {
            let level = self.next_level;
            self.next_level = (level + 1) % self.episodes.len();
            let fresh = Episode::at(
                self.episodes[level].levels().clone(),
                LevelIndex(level as u8),
            );
            let episode = &mut self.episodes[level];
            let started = cpu_time();
            for _ in 0..ACTIONS_PER_LEVEL {
                let action = random_action(episode, &mut self.rng);
                self.frames.clear();
                episode.act(action, &mut self.frames);
                totals.frames += black_box(self.frames.frames()).len() as u64;
            }
            totals.time += cpu_time() - started;
            totals.actions += ACTIONS_PER_LEVEL;
            states.push(episode.state().clone());
            if episode.level().get() != level {
                *episode = fresh;
            }
        }
        let started = cpu_time();
        for state in &states {
            for _ in 0..200 {
                drop(black_box(black_box(state).clone()));
            }
        }
        totals.cloning = cpu_time() - started;
        totals.clones = states.len() as u64 * 200;
        totals
    }
}
