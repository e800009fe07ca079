//! `rhae-sandboxed`: the launcher as a separate program, for tests and for programs other than
//! `rhae` that host games.

use std::process::ExitCode;

fn main() -> ExitCode {
    rhae_sandbox::launch(std::env::args_os().skip(1))
}
