//! `rhae-code-sandboxed`: the launcher of the sandbox and the JavaScript engine as a separate
//! program, for tests.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    match arguments.next_if(|first| first == rhae_agents_llm::JAVASCRIPT) {
        Some(_) => rhae_agents_llm::javascript_engine(arguments),
        None => rhae_sandbox::launch(arguments),
    }
}
