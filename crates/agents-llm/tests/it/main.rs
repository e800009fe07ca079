//! Agents against real parts: models behind HTTP, built-in games, and Python in the sandbox.

#![cfg(feature = "hosting")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod containment;
mod duck;
mod injection;
mod interpreter;
mod javascript;
mod orchestrator;
mod rgb;
mod rlm;
mod setup;
mod task_solver;
mod world_model;
