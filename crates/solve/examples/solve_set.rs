//! Solves the tasks of a file with several threads and writes a submission for `rhae arc score`.
//!
//! ```text
//! cargo run --release -p rhae-solve --example solve_set -- CHALLENGES SUBMISSION [THREADS] [FIRST] [STEP]
//! ```
//!
//! The example solves every STEP-th task, starting with FIRST. For each task it prints whether the
//! task is solved (if the solutions file is next to the challenges file), the CPU seconds of the
//! thread (on Linux) and the programs that produced the answers.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rhae_solve::{Budget, Candidate, Solution, solve_test};
use rhae_tasks::{Grid, SourceFile, load};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [challenges, submission, numbers @ ..] = args.as_slice() else {
        return Err("expected CHALLENGES and SUBMISSION".into());
    };
    let number = |index: usize, default: usize| {
        numbers
            .get(index)
            .map_or(Ok(default), |text| text.parse::<usize>())
    };
    let (threads, first, step) = (number(0, 2)?, number(1, 0)?, number(2, 1)?.max(1));
    let mut files = vec![SourceFile {
        name: challenges.clone(),
        text: fs::read_to_string(challenges)?,
    }];
    let solutions = challenges.replace("challenges", "solutions");
    if let Ok(text) = fs::read_to_string(&solutions) {
        files.push(SourceFile {
            name: solutions,
            text,
        });
    }
    let set = load(&files)?
        .sets
        .into_iter()
        .next()
        .ok_or("the file has no tasks")?;
    let tasks: Vec<_> = set.tasks.iter().skip(first).step_by(step).collect();
    let next = AtomicUsize::new(0);
    let answers: Mutex<BTreeMap<String, Value>> = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((id, task)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = seconds();
                    let solved: Vec<Solution> = (0..task.test.len())
                        .map(|test| solve_test(task, test, &Budget::default(), &|| false))
                        .collect();
                    let right = task.test.iter().zip(&solved).filter(|(test, solution)| {
                        solution
                            .attempts(2)
                            .iter()
                            .any(|answer| Some(&answer.grid) == test.output.as_ref())
                    });
                    let all = right.count() == task.test.len();
                    let ways: Vec<String> = task
                        .test
                        .iter()
                        .zip(&solved)
                        .flat_map(|(test, solution)| {
                            solution
                                .answers
                                .iter()
                                .map(|answer| describe(answer, test.output.as_ref()))
                        })
                        .collect();
                    let took = seconds() - start;
                    println!(
                        "{id} {} {took:.2} s, {}",
                        if all { "solved" } else { "-" },
                        ways.join(" || ")
                    );
                    let entry = solved.iter().map(attempts).collect::<Value>();
                    answers
                        .lock()
                        .expect("no thread panics")
                        .insert(id.to_string(), entry);
                }
            });
        }
    });
    fs::write(submission, serde_json::to_string(&answers.into_inner()?)?)?;
    Ok(())
}

fn describe(answer: &Candidate, truth: Option<&Grid>) -> String {
    let right = if Some(&answer.grid) == truth {
        "right "
    } else {
        ""
    };
    format!(
        "{right}{} {}/{} {:.2} {}",
        answer.method.name(),
        answer.fits,
        answer.pairs,
        answer.cost,
        answer.program
    )
}

fn attempts(solution: &Solution) -> Value {
    let grid = |index: usize| {
        solution
            .answers
            .get(index)
            .map_or(Value::Null, |answer| answer.grid.to_json())
    };
    json!({"attempt_1": grid(0), "attempt_2": grid(1)})
}

/// Returns the CPU seconds of this thread; 0 if the system does not report them.
fn seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|nanoseconds| nanoseconds.parse::<f64>().ok())
        .map_or(0.0, |nanoseconds| nanoseconds / 1e9)
}
