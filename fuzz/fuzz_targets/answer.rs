//! No text makes a parser of answers panic, and what it finds lies within the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rhae_tasks::{Parser, parse_whole_task};

fuzz_target!(|text: &str| {
    for parser in Parser::ALL {
        for tests in 1..3 {
            if let Ok(answer) = parse_whole_task(parser, text, tests) {
                assert_eq!(answer.grids.len(), tests);
                assert!(text.get(answer.span).is_some());
            }
        }
    }
});
