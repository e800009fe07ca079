//! Runs on scripted environments: plays that cannot continue, environments that fail, agents that
//! write much, and run folders that others can change.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod consent;
mod environment_failures;
mod process_agents;
mod scripted;
mod stuck_plays;
