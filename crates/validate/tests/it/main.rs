//! Deliberately broken environments, one for each rule, and a sound one that they are made of.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and reads what its process uses"
)]

mod broken;
mod cut_short;
mod faulty;
mod lock;
mod shipped;

use std::sync::atomic::{AtomicU64, Ordering};

use rhae_engine::Action;
use rhae_validate::{
    Finding, GraphLimits, Options, RuleReport, Subject, Watch, check, parts, reports,
};

/// What these tests measure: a clock that goes on at each look, and the memory of this process.
#[derive(Default)]
struct Measured {
    looks: AtomicU64,
    seconds_a_look: f64,
    fresh: Option<String>,
}

impl Watch for Measured {
    fn seconds(&self) -> Option<f64> {
        Some(self.looks.fetch_add(1, Ordering::Relaxed) as f64 * self.seconds_a_look)
    }

    fn memory(&self) -> Option<u64> {
        let pages: u64 = std::fs::read_to_string("/proc/self/statm")
            .ok()?
            .split_whitespace()
            .nth(1)?
            .parse()
            .ok()?;
        Some(pages * 4096)
    }

    fn fresh(&self, _subject: &dyn Subject, _actions: &[Action]) -> Option<Result<(), String>> {
        self.fresh.clone().map(Err)
    }
}

fn options() -> Options {
    let limits = GraphLimits {
        nodes: 20_000,
        checks: 1_000,
        places: 20_000,
        ..GraphLimits::default()
    };
    Options {
        steps: 20_000,
        limits,
        ..Options::default()
    }
}

/// All parts, one after the other.
fn validated(subject: &dyn Subject, options: &Options, watch: &dyn Watch) -> Vec<RuleReport> {
    let findings: Vec<Finding> = parts(subject, options)
        .into_iter()
        .flat_map(|(part, _)| check(subject, part, options, watch))
        .collect();
    reports(&findings)
}
