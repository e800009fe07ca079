//! Tests of calls against a local server that injects faults.

mod environment;
mod faults;
mod limits;
mod recorded;
mod setup;
