//! No line of an agent makes its reader panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rhae_protocol::AgentReply;

fuzz_target!(|line: &str| {
    let _ = AgentReply::parse(line);
});
