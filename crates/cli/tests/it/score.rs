//! `rhae score`: level counts, human tables, runs and recordings.

use std::fs;

use serde_json::json;

use crate::rhae::rhae;

fn levels(arguments: &[&str]) -> crate::rhae::Outcome {
    let folder = tempfile::tempdir().unwrap();
    rhae(folder.path(), &[&["score", "levels"], arguments].concat())
}

#[test]
fn published_examples_have_their_published_scores() {
    // The draft: with a baseline of 10 actions, 1,000 actions score 1 %. A level scores at most 100
    // %.
    let draft = levels(&[
        "--method",
        "draft-2025",
        "--baselines",
        "10,20",
        "--actions",
        "1000,2",
        "--json",
    ])
    .succeeded()
    .json();
    assert_eq!(draft["levels"][0]["score"], json!(1.0));
    assert_eq!(draft["levels"][1]["score"], json!(100.0));
    assert_eq!(draft["score"], json!(50.5));
    // The paper: with a baseline of 10 actions, 100 actions score 1 %. The fifth of five levels has
    // a weight of 1/3.
    let paper = levels(&[
        "--method",
        "paper-2026-03",
        "--baselines",
        "10,10,10,10,10",
        "--actions",
        "-,-,-,-,10",
        "--json",
    ])
    .json();
    assert!((paper["score"].as_f64().unwrap() - 100.0 / 3.0).abs() < 1e-9);
    let paper = levels(&[
        "--method",
        "paper-2026-03",
        "--baselines",
        "10",
        "--actions",
        "100",
        "--json",
    ])
    .json();
    assert!((paper["score"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    // The documentation: four of five levels score at most 66.7 %, and one level scores at most 115
    // %.
    let docs = levels(&[
        "--baselines",
        "10,10,10,10,10",
        "--actions",
        "1,1,1,1,-",
        "--json",
    ])
    .succeeded()
    .json();
    assert_eq!(docs["method"], "docs-2026-04");
    // Exactly, and not 114.99999999999999.
    assert_eq!(docs["levels"][0]["score"], json!(115.0));
    assert!((docs["score"].as_f64().unwrap() - 200.0 / 3.0).abs() < 1e-9);
    assert_eq!(docs["score"], docs["cap"]);
}

#[test]
fn table_of_level_scores() {
    let shown = levels(&["--baselines", "10,20,30", "--actions", "10,40,-"]).succeeded();
    insta::assert_snapshot!(shown.out, @r"
    method docs-2026-04

    level  baseline  actions  score %
        1        10       10   100.00
        2        20       40    25.00
        3        30        -     0.00

    game 25.00 %, at most 50.00 % possible with the completed levels
    ");
}

#[test]
fn invalid_counts_are_rejected() {
    levels(&["--baselines", "10", "--actions", "0"]).failed_with("`0` is not a valid action count");
    levels(&["--baselines", "-5", "--actions", "10"]).failed_with("`-5` is not a valid baseline");
    levels(&["--baselines", "10", "--actions", "99999999999"]).failed_with("too large");
    levels(&["--baselines", "10", "--actions", "ten"])
        .failed_with("`ten` is not a valid action count");
    levels(&["--baselines", "10,20", "--actions", "10"])
        .failed_with("2 baselines and 1 action counts");
    levels(&["--method", "docs", "--baselines", "10", "--actions", "10"])
        .failed_with("expected `draft-2025`");
}

#[test]
fn baselines_are_computed_from_human_plays() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("participant,environment,level,actions,completed\n");
    for (player, actions) in [("a", 40), ("b", 10), ("c", 30), ("d", 20)] {
        table += &format!("{player},ab12-v1,1,{actions},true\n");
    }
    fs::write(folder.path().join("four.csv"), &table).unwrap();
    let four = rhae(folder.path(), &["score", "humans", "four.csv", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        four[0]["methods"],
        json!({"draft-2025": 20, "paper-2026-03": 20, "docs-2026-04": 30})
    );
    fs::write(
        folder.path().join("one.csv"),
        "participant,environment,level,actions,completed\na,ab12-v1,1,9,true\n",
    )
    .unwrap();
    let one = rhae(folder.path(), &["score", "humans", "one.csv"]);
    one.failed_with(
        "the second best needs 2 first-time players who completed the level, and there are 1",
    );
    rhae(folder.path(), &["score", "humans", "none.csv"]).failed_with("cannot read `none.csv`");
}

#[test]
fn run_and_its_recordings_have_equal_scores() {
    let folder = tempfile::tempdir().unwrap();
    let run = rhae(
        folder.path(),
        &["run", "--games", "ym39,ny40", "--out", "r", "--json"],
    )
    .succeeded()
    .json();
    let again = rhae(folder.path(), &["score", "run", "r", "--json"])
        .succeeded()
        .json();
    assert_eq!(again["summary"]["score"], run["score"]);
    for method in ["draft-2025", "paper-2026-03", "docs-2026-04"] {
        let of_run = rhae(
            folder.path(),
            &["score", "run", "r", "--method", method, "--json"],
        )
        .succeeded()
        .json();
        let files = [
            "r/recordings/1-ym39-v1.jsonl",
            "r/recordings/1-ny40-v1.jsonl",
        ];
        let arguments = [
            &["score", "recording", "--method", method, "--json"],
            files.as_slice(),
        ]
        .concat();
        let of_files = rhae(folder.path(), &arguments).succeeded().json();
        assert_eq!(of_run["summary"]["score"], of_files["score"], "{method}");
        assert_eq!(of_files["method"], method);
    }
    rhae(folder.path(), &["score", "run", "missing"]).failed_with("`missing` is not a run folder");
}
