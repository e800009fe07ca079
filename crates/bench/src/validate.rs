//! The cost of validating the built-in environments, which should grow linearly with the number of
//! steps.
//!
//! All checks run on this thread and are measured in its CPU time. Checks that need a new process
//! are not run.

use std::fmt;
use std::time::Duration;

use rhae_engine::Game;
use rhae_games::Visitor;
use rhae_protocol::SOFTWARE;
use rhae_validate::{NativeSubject, Options, Part, Subject, check, parts};
use serde::Serialize;

use crate::cpu_time;

/// The cost of validation for an increasing number of random steps.
#[derive(Serialize)]
pub struct ValidateBench {
    pub software: &'static str,
    pub rows: Vec<ValidateRow>,
}

/// The cost of validating all environments with `steps` steps per regime.
#[derive(Serialize)]
pub struct ValidateRow {
    pub steps: u64,
    /// Random steps in total, over all regimes, levels and environments.
    pub random_steps: u64,
    pub random_cpu_s: f64,
    pub ns_per_step: f64,
    /// CPU time of the other checks: structure, laws, state graphs, design and memory. Of these,
    /// only the memory check depends on the number of steps.
    pub rest_cpu_s: f64,
}

impl ValidateBench {
    /// Validates all built-in environments with 1/25, 1/5 and all of `steps` steps per regime of
    /// random play. Before each check, `progress` gets its name, the work done so far and the work
    /// in total.
    pub fn measure(steps: u64, mut progress: impl FnMut(&str, u64, u64)) -> Self {
        let subjects: Vec<Box<dyn Subject>> = rhae_games::ALL
            .iter()
            .map(|entry| {
                rhae_games::visit(entry.facts.id, OpenSubject)
                    .expect("the registry lists the environment")
            })
            .collect();
        let options = [25, 5, 1].map(|part| Options {
            steps: steps / part,
            ..Options::default()
        });
        let work = |options: &Options| {
            subjects
                .iter()
                .flat_map(|subject| parts(&**subject, options))
                .map(|(_, weight)| weight.0)
                .sum::<u64>()
        };
        let total = options.iter().map(work).sum();
        let mut done = 0;
        let mut next = |name: &str, weight: u64| {
            progress(name, done, total);
            done += weight;
        };
        let rows = options
            .iter()
            .map(|options| row(&subjects, options, &mut next))
            .collect();
        Self {
            software: SOFTWARE,
            rows,
        }
    }
}

impl fmt::Display for ValidateBench {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "steps/regime  random steps   CPU s  ns/step      other CPU s"
        )?;
        for row in &self.rows {
            writeln!(
                out,
                "{:>12} {:>13} {:>7.1} {:>8.0} {:>16.1}",
                row.steps, row.random_steps, row.random_cpu_s, row.ns_per_step, row.rest_cpu_s
            )?;
        }
        Ok(())
    }
}

struct OpenSubject;

impl Visitor for OpenSubject {
    type Output = Box<dyn Subject>;

    fn visit<G: Game>(self) -> Box<dyn Subject> {
        Box::new(NativeSubject::<G>::new(0, Vec::new()))
    }
}

fn row(
    subjects: &[Box<dyn Subject>],
    options: &Options,
    next: &mut impl FnMut(&str, u64),
) -> ValidateRow {
    let (mut random_steps, mut random, mut rest) = (0, Duration::ZERO, Duration::ZERO);
    for subject in subjects {
        for (part, weight) in parts(&**subject, options) {
            next(&format!("{} {}", subject.info().id, part.name()), weight.0);
            let started = cpu_time();
            check(&**subject, part, options, &());
            let spent = cpu_time() - started;
            if matches!(part, Part::Start | Part::Luck(_) | Part::Fuzz(_)) {
                random_steps += weight.0;
                random += spent;
            } else {
                rest += spent;
            }
        }
    }
    ValidateRow {
        steps: options.steps,
        random_steps,
        random_cpu_s: random.as_secs_f64(),
        ns_per_step: 1e9 * random.as_secs_f64() / random_steps as f64,
        rest_cpu_s: rest.as_secs_f64(),
    }
}
