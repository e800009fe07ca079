//! JSON documents of `rhae board`.

use super::Bench;

const SYSTEM: &str = r#"{"name": "Walker", "version": "1",
    "authors": [{"name": "Ada", "link": "https://example.org/ada"}],
    "description": "It walks at random.", "code_url": "https://example.org/walker",
    "models": ["none"], "exposure": "none"}"#;

const SUBMISSION: &str = r#"
name: "Planner"
authors:
  - name: "Bo"
    url: "https://example.org/bo"
description: "It plans."
code_url: "https://example.org/planner"
versions:
  - version: "1.0"
    date: 2026-01-01
    models:
      - name: "none"
    scores:
      - benchmark: "arc-agi-3"
        scorecard_url: "https://example.org/card"
        set: "public"
"#;

#[test]
fn documents() {
    let mut bench = Bench::new();
    // Hashes and names of files depend on the times and the id of the run.
    for field in ["date", "head", "path", "sha256"] {
        bench.redactor.add_field(field, "hidden");
    }
    bench.write("system.json", SYSTEM);
    bench.write("submission.yaml", SUBMISSION);
    bench.document("board init", "", &["main", "--games", "kq19,ym39"]);
    bench.document("board show", "list", &[]);
    let system = ["--system", "system.json"];
    let register = [&["main", "--registration", "r1"], &system[..]].concat();
    bench.document("board register", "", &register);
    let run = ["run", "--agent", "random", "--games", "kq19,ym39"];
    bench.run(&[&run[..], &["--out", "a"]].concat()).succeeded();
    bench
        .run(&[&run[..], &["--out", "b", "--seed", "7"]].concat())
        .succeeded();
    let submit = [
        "main",
        "--entry",
        "walker",
        "--registration",
        "r1",
        "--run",
        "a",
    ];
    bench.document("board submit", "", &[&submit[..], &system[..]].concat());
    bench.document("board show", "", &["main"]);
    let import = ["submission.yaml", "--board", "main", "--entry", "planner"];
    bench.document("board import", "submission", &import);
    bench.document(
        "board verify",
        "",
        &["main", "--entry", "planner", "--run", "b"],
    );
    bench.document("board compare", "", &["main", "walker", "planner"]);
    let contest = [
        "main",
        "--entry",
        "planner",
        "--by",
        "Ada",
        "--text",
        "It walks.",
    ];
    bench.document("board contest", "", &contest);
    let retract = [
        "main",
        "--entry",
        "planner",
        "--by",
        "Bo",
        "--note",
        "It walks.",
    ];
    bench.document("board retract", "", &retract);
    let erase = ["main", "--entry", "planner"];
    bench.document("board erase", "", &erase);
    bench
        .run(&["board", "init", "keys", "--games", "kq19,ny40"])
        .succeeded();
    bench.document("board tiers", "", &["keys"]);
    bench.document("board release", "", &["main"]);
    bench.document("board export", "", &["main", "public"]);
    bench.document("board check", "", &["public"]);
    bench.document("board import", "", &["public", "--db", "copy.db"]);
}
