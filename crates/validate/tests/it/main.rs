//! Tests with deliberately faulty environments, one for each rule, and with the sound environment
//! they are derived from.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests may panic, and read the memory of their process"
)]

mod faulty;
mod incomplete;
mod interrupted;
mod lock;
mod shipped;
mod violations;

use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::Action;
use rhae_validate::{
    Finding, GraphLimits, Monitor, Options, RuleReport, Subject, check, parts, reports,
};

/// A monitor with a fake clock, which advances at every reading, and with the memory of this
/// process.
#[derive(Default)]
struct Measured {
    readings: AtomicU64,
    seconds_per_reading: f64,
    replay_error: Option<String>,
}

impl Monitor for Measured {
    fn seconds(&self) -> Option<f64> {
        Some(self.readings.fetch_add(1, Ordering::Relaxed) as f64 * self.seconds_per_reading)
    }

    fn memory_bytes(&self) -> Option<u64> {
        let pages: u64 = std::fs::read_to_string("/proc/self/statm")
            .ok()?
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()?;
        Some(pages * 4096)
    }

    fn replay_in_fresh_process(
        &self,
        _subject: &dyn Subject,
        _actions: &[Action],
    ) -> Option<Result<(), String>> {
        self.replay_error.clone().map(Err)
    }
}

fn options() -> Options {
    let limits = GraphLimits {
        nodes: 20_000,
        checks: 1_000,
        boards: 20_000,
        ..GraphLimits::default()
    };
    Options {
        steps: 20_000,
        limits,
        ..Options::default()
    }
}

/// Runs all parts in sequence.
fn validate(subject: &dyn Subject, options: &Options, watch: &dyn Monitor) -> Vec<RuleReport> {
    let findings: Vec<Finding> = parts(subject, options)
        .into_iter()
        .flat_map(|(part, _)| check(subject, part, options, watch))
        .collect();
    reports(&findings)
}
