//! JSON documents of `rhae study`.

use super::Bench;
use crate::study_fixture;

#[test]
fn setup_documents() {
    let mut bench = Bench::new();
    for field in ["at_ms", "hash"] {
        bench.redactor.add_field(field, "hidden");
    }
    bench.write("consent.txt", "You play games.");
    let new = [
        "two",
        "--title",
        "Two environments",
        "--games",
        "kq19,ny40",
        "--consent",
        "en=consent.txt",
        "--site",
        "room:20",
        "--seed",
        "3",
    ];
    bench.document("study new", "", &new);
    bench.document("study check", "", &["two"]);
    bench.document("study freeze", "", &["two"]);
    bench.document("study open", "", &["two"]);
    let withdraw = ["two", "--withdraw", "ny40-v1", "--reason", "too long"];
    bench.document("study assign", "", &withdraw);
    bench.document("study status", "list", &[]);
    bench.document("study close", "", &["two"]);
    let empty = ["empty", "--title", "No consent text", "--games", "kq19"];
    bench
        .run(&[&["study", "new"], &empty[..]].concat())
        .succeeded();
    bench.document("study check", "invalid", &["empty"]);
}

#[test]
fn result_documents() {
    let mut bench = Bench::new();
    for field in ["at_ms", "file"] {
        bench.redactor.add_field(field, "hidden");
    }
    study_fixture::create(bench.folder.path());
    bench.document("study status", "", &["lab"]);
    bench.document("study report", "", &["lab", "--all"]);
    bench.document("study export", "", &["lab", "data"]);
    bench.document("study export", "public", &["lab", "open", "--public"]);
    bench.document("study pay", "", &["lab", "--send", "monday"]);
    let exclude = [
        "lab",
        "--sitting",
        "s3",
        "--by",
        "ada",
        "--reason",
        "a fire alarm",
    ];
    bench.document("study exclude", "", &exclude);
    bench.document("study baselines", "", &["lab", "--publish", "b.json"]);
    bench.document("study verify", "", &["lab"]);
    bench.document("study erase", "", &["lab", "--participant", "p3"]);
}

#[test]
fn simulation_document() {
    let mut bench = Bench::new();
    bench.redactor.add_field("wall_seconds", "hidden");
    let size = ["--people", "2", "--environments", "12"];
    bench.document("study simulate", "", &size);
}
