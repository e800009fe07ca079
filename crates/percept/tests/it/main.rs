//! Perception on plays of the built-in environments.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod allocation;
