//! The speed of perception per frame, as ratios to copying and to hashing a frame in the same run.
//!
//! `cargo bench -p rhae-percept` prints the table of `docs/percept.md`. The peers are measured
//! between the other samples, so that a change of the processor's clock affects both.
#![expect(
    clippy::disallowed_types,
    reason = "a benchmark measures time; the library has no clock"
)]

use std::hint::black_box;
use std::time::Instant;

use rhae_engine::{Action, Frame, LevelIndex, Rng};
use rhae_percept::{Matching, Scene, StatusBars};
use xxhash_rust::xxh3::xxh3_64;

/// The number of samples, each of which is one pass over all frames.
const SAMPLES: usize = 60;

fn main() {
    println!("| frames | measured | µs per frame | copies of a frame | hashes of a frame |");
    println!("| --- | --- | --- | --- | --- |");
    for entry in rhae_games::ALL {
        measure(&entry.facts.id[..4], &played_frames(entry));
    }
    measure("noise of 4 colours", &noise(4));
    measure("noise of 16 colours", &noise(16));
}

/// Prints one line for each part of perception.
fn measure(name: &str, frames: &[Frame]) {
    let mut target = Frame::filled(0);
    let mut scene = Scene::default();
    let scenes: Vec<Scene> = frames.iter().map(Scene::of).collect();
    let mut matching = Matching::default();
    let mut bars = StatusBars::default();
    let mut samples = [const { Vec::new() }; 5];
    for _ in 0..SAMPLES {
        samples[0].push(seconds(|| {
            for frame in frames {
                black_box(&mut target).copy_from(black_box(frame));
            }
        }));
        samples[1].push(seconds(|| {
            for frame in frames {
                black_box(xxh3_64(black_box(frame.cells())));
            }
        }));
        samples[2].push(seconds(|| {
            for frame in frames {
                scene.read(black_box(frame));
            }
        }));
        samples[3].push(seconds(|| {
            for pair in scenes.windows(2) {
                matching.update(black_box(&pair[0]), black_box(&pair[1]));
            }
        }));
        bars.start_attempt();
        samples[4].push(seconds(|| {
            for (pair, action) in frames.windows(2).zip(KEYS.iter().cycle()) {
                bars.observe(action.kind(), black_box(&pair[0]), black_box(&pair[1]));
            }
        }));
    }
    let [copy, hash, parts @ ..] = samples.map(|mut samples| {
        samples.sort_unstable_by(f64::total_cmp);
        samples[SAMPLES / 2] / frames.len() as f64
    });
    let names = ["Scene::read", "Matching::update", "StatusBars::observe"];
    for (part, time) in names.iter().zip(parts) {
        println!(
            "| {name} | `{part}` | {:.1} | {:.0} | {:.0} |",
            time * 1e6,
            time / copy,
            time / hash
        );
    }
}

const KEYS: [Action; 2] = [Action::Action1, Action::Action4];

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Returns the settled frames of the stored solutions.
fn played_frames(entry: &rhae_games::Entry) -> Vec<Frame> {
    let mut play = entry.open(0);
    let mut frames = vec![play.observation().settled().clone()];
    for level in 0..entry.facts.level_count() {
        for action in entry.facts.solution(LevelIndex(level as u8)) {
            play.act(action).expect("a native game accepts all actions");
            frames.push(play.observation().settled().clone());
        }
    }
    frames
}

fn noise(colors: u32) -> Vec<Frame> {
    let mut rng = Rng::new(0, 0);
    let frame = |_| {
        let mut frame = Frame::filled(0);
        let cells = frame.cells_mut();
        cells.fill_with(|| rng.below(colors) as u8);
        frame
    };
    (0..40).map(frame).collect()
}
