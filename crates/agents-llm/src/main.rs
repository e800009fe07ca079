//! `rhae-code-sandboxed`: the launcher of the sandbox as a separate program, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    rhae_sandbox::launch(std::env::args_os().skip(1))
}
