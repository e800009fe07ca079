//! `rhae-sandboxed`: the launcher alone, for programs other than `rhae` that host games, and for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    rhae_pyhost::launch(std::env::args_os().skip(1))
}
