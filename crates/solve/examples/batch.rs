//! Solves a whole set and prints a line for each task: `cargo run --release -p rhae-solve --example batch -- CHALLENGES [N] [OFFSET]`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::unwrap_used)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rhae_solve::{Budget, solve_test};
use rhae_tasks::{SourceFile, load};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let path = &args[0];
    let every: usize = args.get(1).map_or(1, |n| n.parse().unwrap());
    let only: Option<&String> = args.get(2);
    let file = |name: String| SourceFile { text: std::fs::read_to_string(&name).unwrap(), name };
    let loaded = load(&[file(path.clone()), file(path.replace("challenges", "solutions"))]).unwrap();
    let tasks: Vec<_> = loaded.sets[0].tasks.iter().enumerate().filter(|(index, (id, _))| index % every == 0 && only.is_none_or(|only| id.as_str() == only)).map(|(_, task)| task).collect();
    let next = AtomicUsize::new(0);
    let lines = Mutex::new(Vec::new());
    let start = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((id, task)) = tasks.get(index) else { break };
                    let begin = cpu();
                    let (mut solved, mut work, mut texts) = (0.0, 0, Vec::new());
                    for (test, truth) in task.test.iter().enumerate() {
                        let solution = solve_test(task, test, &Budget::default(), &|| false);
                        let right = solution.answers.iter().position(|answer| Some(&answer.grid) == truth.output.as_ref());
                        solved += if right.is_some() { 1.0 / task.test.len() as f64 } else { 0.0 };
                        work += solution.work;
                        texts.push(format!("{right:?} {}", solution.answers.iter().map(|a| format!("{} {}/{} {:.2} {}", a.method.name(), a.fits, a.pairs, a.cost, a.program)).collect::<Vec<_>>().join(" || ")));
                    }
                    let ms = u128::from((cpu() - begin) / 1_000_000);
                    lines.lock().unwrap().push((id.to_string(), solved, ms, work, texts.join(" ### ")));
                }
            });
        }
    });
    let mut lines = lines.into_inner().unwrap();
    lines.sort_by(|a, b| a.0.cmp(&b.0));
    for (id, solved, ms, work, text) in &lines {
        println!("{id} {} {ms} ms {} Mw {text}", if *solved > 0.99 { "OK" } else { "--" }, work / 1_000_000);
    }
    let full = lines.iter().filter(|line| line.1 > 0.99).count();
    let mean: f64 = lines.iter().map(|line| line.1).sum::<f64>() / lines.len() as f64;
    let mut times: Vec<u128> = lines.iter().map(|line| line.2).collect();
    times.sort_unstable();
    println!("solved {full} of {} mean {:.2}% wall {:.1} s median {} ms p90 {} ms max {} ms", lines.len(), mean * 100.0, start.elapsed().as_secs_f64(), times[times.len() / 2], times[times.len() * 9 / 10], times[times.len() - 1]);
}

/// Nanoseconds that this thread has been running.
fn cpu() -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse().unwrap()
}
