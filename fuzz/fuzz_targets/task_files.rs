//! No text makes the readers of data sets, submissions and samples panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rhae_tasks::{Manifest, SourceFile, Submission, load};

fuzz_target!(|text: &str| {
    let file = SourceFile {
        name: "fuzz.json".to_owned(),
        text: text.to_owned(),
    };
    let _ = load(std::slice::from_ref(&file));
    let _ = Submission::read(std::slice::from_ref(&file));
    let _ = Manifest::parse("fuzz.json", text);
});
