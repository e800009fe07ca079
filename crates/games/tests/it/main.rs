//! The generic test suite, run on every registered game.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests may panic and read files"
)]

mod allocation;
mod difficulty;
mod registry;
mod suite;
