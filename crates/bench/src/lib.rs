//! Benchmarks of speed and of agent strength.
//!
//! | type | measures |
//! | --- | --- |
//! | [`EngineBench`] | actions and frames per second of every environment |
//! | [`AgentsBench`] | levels completed by the built-in agents and by external ones |
//! | [`ServerBench`] | CPU time, commits and latency of an action on the server |
//! | [`ValidateBench`] | the cost of validating the built-in environments |
//! | [`WorkBench`] | the cost of distributing plays over processes and machines |
//! | [`PythonBench`] | the Python package compared with the official engine |
//! | [`VectorBench`] | vector environments compared with copying their observations |
//! | [`HostedBench`] | searches of hosted games compared with a bare loop in Python |
//!
//! Every result has a serialised form and, through [`Display`](std::fmt::Display), a table for
//! people. Where a reference implementation exists, speed is a ratio to that reference, measured in
//! the same run.
//!
//! The crate starts servers and Python as child processes. It does not depend on the crate `server`,
//! so a caller may measure any program that behaves like `rhae serve`.

mod agents;
mod engine;
mod error;
mod hosted;
mod python;
mod server;
mod validate;
mod vector;
mod work;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

pub use agents::{AgentBench, AgentsBench, LevelsBench, ReferenceComparison};
pub use engine::{EngineBench, EnvironmentBench};
pub use error::BenchError;
pub use hosted::{HostedBench, HostedOptions};
pub use python::{PythonBench, PythonOptions};
pub use server::{Measurement, ServerBench, ServerOptions, peer_python};
pub use validate::{ValidateBench, ValidateRow};
pub use vector::{VectorBench, VectorOptions};
pub use work::{WorkBench, WorkOptions, WorkRow};

/// Returns the median, or NaN if there are no values.
fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => f64::midpoint(sorted[even / 2 - 1], sorted[even / 2]),
    }
}

/// Returns the CPU time of this thread.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or(0),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_an_even_number_of_values_is_their_midpoint() {
        assert!(median([]).is_nan());
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), 2.5);
    }
}
