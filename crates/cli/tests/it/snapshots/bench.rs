//! The structure of the documents of `rhae bench`. All measured numbers are hidden.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::Bench;
use crate::rhae::Outcome;

fn measured() -> Bench {
    let mut bench = Bench::new();
    bench.redactor.hide_measurements();
    bench
}

#[test]
fn bench_engine_document() {
    measured().document("bench engine", "", &["--slices", "1"]);
}

#[test]
fn bench_agents_document() {
    // Only the speed is a measurement. The other numbers are results of seeded plays.
    let mut bench = Bench::new();
    bench.redactor.add_field("decisions_per_s", "speed");
    bench.document("bench agents", "", &["--seeds", "2", "--budget", "20"]);
}

#[test]
fn bench_server_document() {
    let mut bench = measured();
    bench.redactor.add_field("actions", "count");
    bench.document_of("bench server", "", &["--seconds", "1"], |command| {
        // Standard error is the server's log. It contains times and addresses, so it is dropped.
        let mut outcome: Outcome = command.output().unwrap().into();
        outcome.err.clear();
        outcome
    });
}

#[test]
fn bench_work_document() {
    let short = [
        "--short-units",
        "3",
        "--units",
        "2",
        "--unit-seconds",
        "0.1",
        "--on",
        "local:2",
    ];
    measured().document("bench work", "", &short);
}

#[test]
fn bench_python_document() {
    // The command prints the document of the Python package unchanged. In this test, a script that
    // prints such a document replaces the Python interpreter with the package and the official
    // engine.
    let bench = Bench::new();
    bench.write(
        "python",
        "#!/bin/sh\necho '{\"games\": [{\"game\": \"tl32\", \"ratio\": 2.5}], \"vector\": null}'\n",
    );
    fs::set_permissions(bench.path("python"), Permissions::from_mode(0o755)).unwrap();
    bench.document("bench python", "", &["--python", "./python"]);
}

#[test]
fn bench_vector_document() {
    // As for `bench python`, a script prints the document that the command passes on.
    let bench = Bench::new();
    bench.write(
        "python",
        "#!/bin/sh\necho '{\"plays\": 1024, \"environments\": [{\"id\": \"kq19-v1\", \"share\": 0.5}]}'\n",
    );
    fs::set_permissions(bench.path("python"), Permissions::from_mode(0o755)).unwrap();
    bench.document("bench vector", "", &["--python", "./python"]);
}
