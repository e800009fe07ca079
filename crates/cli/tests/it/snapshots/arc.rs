//! JSON documents about static tasks: all of `rhae arc` except `eval`.

use super::{Bench, with_input};
use crate::arc_fetch::{TASK, archive, server};
use crate::hosted_games::fixtures;

#[test]
fn arc_data_documents() {
    let bench = Bench::new();
    let (tasks, kaggle) = (fixtures("arc/tasks"), fixtures("arc/kaggle"));
    let perfect = fixtures("arc/submissions/perfect.json");
    bench.document("arc validate", "data", &["--data", &kaggle]);
    bench.document("arc validate", "", &[&perfect, "--data", &tasks]);
    bench.write("bad.json", BAD_SUBMISSION);
    bench.document("arc validate", "invalid", &["bad.json", "--data", &tasks]);
    bench.document("arc show", "", &["flip0001", "--data", &tasks]);
    let sample = [
        "--data",
        &tasks,
        "--samples",
        "2",
        "--reference",
        &perfect,
        "--out",
        "sample.json",
    ];
    bench.document("arc sample", "", &sample);
    bench.json_file("arc_sample_manifest", "sample.json");
    let manifest = [
        perfect.as_str(),
        "--data",
        &tasks,
        "--manifest",
        "sample.json",
    ];
    bench.document("arc score", "manifest", &manifest);
}

/// A submission with a wrong answer, an answer without a grid, and a task that the data do not
/// contain.
const BAD_SUBMISSION: &str = r#"{"flip0001":[{"attempt_1":[[1]],"attempt_2":[[1]]}],"fill0002":[{"attempt_1":"no grid"}],"zzzz9999":[{"attempt_1":[[1]],"attempt_2":[[2]]}]}"#;

#[test]
fn arc_score_documents() {
    let bench = Bench::new();
    let tasks = fixtures("arc/tasks");
    let good = fixtures("arc/submissions/good.json");
    let perfect = fixtures("arc/submissions/perfect.json");
    let official = fixtures("arc/submissions/official");
    bench.write("bad.json", BAD_SUBMISSION);
    bench.document("arc score", "", &[&good, "--data", &tasks]);
    bench.document("arc score", "warnings", &["bad.json", "--data", &tasks]);
    let plan = [official.as_str(), "--data", &tasks, "--protocol", "plan"];
    bench.document("arc score", "plan", &plan);
    let (first, second) = (format!("one={tasks}"), format!("two={tasks}"));
    let several = [
        good.as_str(),
        &perfect,
        "--data",
        &first,
        "--data",
        &second,
        "--set",
        "one",
        "--set",
        "two",
    ];
    bench.document("arc score", "several", &several);
    bench.document("arc compare", "", &[&good, &perfect, "--data", &tasks]);
    for (form, out) in [("kaggle", "kaggle.json"), ("official", "official")] {
        let convert = [good.as_str(), "--to", form, "--out", out, "--data", &tasks];
        bench.document("arc convert", form, &convert);
    }
    bench.json_file("arc_submission_kaggle", "kaggle.json");
    bench.json_file("arc_submission_official", "official/flip0001.json");
}

#[test]
fn arc_parse_documents() {
    let bench = Bench::new();
    let parse = |variant: &str, flags: &[&str], input: &str| {
        bench.document_of("arc parse", variant, flags, |command| {
            with_input(command, input)
        });
    };
    parse("", &[], "It is [[1,2],[3,4]] (see example [0])");
    parse("two_tests", &["--tests", "2"], "[[[1]], [[2]]]");
    parse("nothing", &[], "I do not know.");
    parse("ragged", &["--parser", "official"], "[[1,2],[3]]");
}

#[test]
fn arc_solve_documents() {
    let bench = Bench::new();
    let task = fixtures("arc/solve/recolor.json");
    bench.document("arc solve", "", &[&task, "--work", "5"]);
    let layered = fixtures("arc/solve/both.json");
    bench.document("arc solve", "layers", &[&layered, "--work", "5"]);
}

#[test]
fn arc_fetch_document() {
    let mut bench = Bench::new();
    let files = [
        ("ARC-AGI-2-x/data/training/aa.json", TASK),
        ("ARC-AGI-2-x/data/evaluation/cc.json", TASK),
    ];
    let server = server(
        "/arcprize/ARC-AGI-2/archive/f3283f7.tar.gz",
        archive(&files),
    );
    bench.redactor.add_text(&server, "[server]");
    // The hash covers compressed bytes, which depend on the version of the compression library.
    bench.redactor.add_field("source_sha256", "hash");
    let fetch = ["data", "--only", "arc-agi-2", "--server", &server];
    bench.document("arc fetch", "", &fetch);
    bench.listing("arc_fetch_listing", "data");
    bench.json_file("arc_fetch_record", "data/fetched.json");
}
