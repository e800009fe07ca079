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

/// Returns whether the long forms of the tests are requested (`cargo xtask test --full`).
fn full() -> bool {
    std::env::var_os("RHAE_FULL").is_some()
}
