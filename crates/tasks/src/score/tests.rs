use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::load::{SourceFile, load};

/// Returns two tasks, one of them with two tests. The solution of a test is its input.
fn set() -> TaskSet {
    let pair = |cell: u8| json!({"input": [[cell]], "output": [[cell]]});
    let text = json!({"aa": {"train": [pair(0)], "test": [pair(1)]}, "bb": {"train": [pair(0)], "test": [pair(2), pair(3)]}});
    let file = SourceFile {
        name: "own_challenges.json".to_owned(),
        text: text.to_string(),
    };
    load(&[file]).unwrap().sets.remove(0)
}

fn scored(submission: &Value, attempts: usize) -> Score {
    let file = SourceFile {
        name: "submission.json".to_owned(),
        text: submission.to_string(),
    };
    let submission = Submission::read(&[file]).unwrap();
    let set = set();
    score(
        &set,
        &set.all_tests(),
        &submission,
        Rules {
            attempts,
            ..Rules::default()
        },
    )
    .unwrap()
}

fn kinds(score: &Score) -> Vec<&'static str> {
    score.warnings.iter().map(|warning| warning.kind).collect()
}

fn numbers(score: &Score) -> (f64, usize, usize, f64) {
    let count = |measure: Measure| measure.count.unwrap();
    (
        score.mean_task_score.value,
        count(score.tasks_solved),
        count(score.test_inputs_solved),
        score.pass_at_1.value,
    )
}

#[test]
fn score_reports_all_four_measures() {
    let score = scored(
        &json!({"aa": [{"attempt_1": [[1]], "attempt_2": [[5]]}], "bb": [{"attempt_1": [[9]], "attempt_2": [[2]]}, {"attempt_1": [[4]], "attempt_2": [[4, 4]]}]}),
        2,
    );
    assert_eq!(numbers(&score), (0.75, 1, 2, 0.5));
    assert_eq!((score.tasks, score.test_inputs), (2, 3));
    assert_eq!(
        score.failures,
        [FailureShare {
            reason: "wrong-cells",
            count: 1,
            share: 1.0 / 3.0
        }]
    );
    assert_eq!(kinds(&score), [""; 0]);
    assert_eq!(
        score.results[1].tests[0].outcome,
        TestOutcome::Solved { attempt: 2 }
    );
}

#[test]
fn duplicate_answer_counts_once() {
    let answer = json!({"attempt_1": {"answer": [[1]], "metadata": {"pair_index": 0}}});
    let score = scored(&json!({"aa": [answer, answer], "bb": []}), 2);
    assert_eq!(numbers(&score).0, 0.5);
    assert!(kinds(&score).contains(&"duplicate-answer"));
    // Two answers to the first test are not an answer to the second.
    let answer = json!({"attempt_1": {"answer": [[2]], "metadata": {"pair_index": 0}}});
    let score = scored(
        &json!({"aa": [{"attempt_1": [[1]]}], "bb": [answer, answer]}),
        2,
    );
    assert_eq!(numbers(&score), (0.75, 1, 2, 0.75));
    // Without an index the position of an answer decides, and the task `aa` has no second test.
    let score = scored(
        &json!({"aa": [{"attempt_1": [[1]]}, {"attempt_1": [[1]]}], "bb": [{}, {}]}),
        2,
    );
    assert_eq!(numbers(&score).0, 0.5);
    assert!(kinds(&score).contains(&"extra-answers") && kinds(&score).contains(&"other-revision"));
}

#[test]
fn missing_task_stays_in_the_denominator() {
    let score = scored(&json!({"aa": [{"attempt_1": [[1]], "attempt_2": null}]}), 2);
    assert_eq!(numbers(&score), (0.5, 1, 1, 0.5));
    assert_eq!(kinds(&score), ["missing-task"]);
    assert_eq!(score.failures[0].reason, "missing-task");
}

#[test]
fn attempts_beyond_the_limit_do_not_count() {
    let mut attempts = serde_json::Map::new();
    for number in 1..=12 {
        attempts.insert(
            format!("attempt_{number}"),
            if number == 12 {
                json!([[1]])
            } else {
                json!([[0]])
            },
        );
    }
    let submission = json!({"aa": [attempts], "bb": [{}, {}]});
    let score = scored(&submission, 2);
    assert_eq!(numbers(&score).0, 0.0);
    assert!(kinds(&score).contains(&"too-many-attempts"));
    assert_eq!(numbers(&scored(&submission, 12)), (0.5, 1, 1, 0.0));
}

#[test]
fn reordered_answers_are_assigned_to_the_tests_they_name() {
    let answer = |index: u8, cell: u8| json!({"attempt_1": {"answer": [[cell]], "metadata": {"pair_index": index}}});
    let score = scored(
        &json!({"aa": [answer(0, 1)], "bb": [answer(1, 3), answer(0, 2)]}),
        2,
    );
    assert_eq!(numbers(&score).0, 1.0);
    assert_eq!(kinds(&score), ["order"]);
}

#[test]
fn text_answers_are_parsed() {
    let score = scored(
        &json!({"arc-aa": "The answer: [[1]] (as in [0])", "arc-bb": "[[[2]],[[3]]]"}),
        1,
    );
    assert_eq!(numbers(&score), (1.0, 2, 3, 1.0));
    let score = scored(
        &json!({"aa": [{"attempt_1": "\\boxed{[[1]]}", "attempt_2": "none"}], "bb": "[[2]]"}),
        2,
    );
    assert_eq!(numbers(&score).0, 0.5);
    assert_eq!(
        score.failures,
        [FailureShare {
            reason: "wrong-count",
            count: 2,
            share: 2.0 / 3.0
        }]
    );
}

#[test]
fn missing_solution_is_an_error() {
    let mut set = set();
    for task in set.tasks.values_mut() {
        task.test[0].output = None;
    }
    let file = SourceFile {
        name: "s.json".to_owned(),
        text: r#"{"aa":[{"attempt_1":[[1]]}]}"#.to_owned(),
    };
    let error = score(
        &set,
        &set.all_tests(),
        &Submission::read(&[file]).unwrap(),
        Rules::default(),
    )
    .unwrap_err();
    assert!(matches!(error, TasksError::NoSolution { .. }), "{error}");
}

#[test]
fn written_submission_has_the_same_score() {
    let text = json!({"aa": "[[1]]", "bb": [{"attempt_1": [[9]], "attempt_2": "so: [[2]]"}, {"attempt_1": [[0, 3]]}]}).to_string();
    let (set, rules) = (set(), Rules::default());
    let submission = Submission::read(&[SourceFile {
        name: "s.json".to_owned(),
        text,
    }])
    .unwrap();
    let before = score(&set, &set.all_tests(), &submission, rules).unwrap();
    let kaggle = SourceFile {
        name: "submission.json".to_owned(),
        text: submission.to_kaggle(&set, rules).to_string(),
    };
    let official: Vec<SourceFile> = submission
        .to_official(&set, rules)
        .unwrap()
        .into_iter()
        .map(|(id, value)| SourceFile {
            name: format!("out/{id}.json"),
            text: value.to_string(),
        })
        .collect();
    assert_eq!(official[1].text.matches("\"correct\":true").count(), 1);
    for files in [vec![kaggle], official] {
        let after = score(
            &set,
            &set.all_tests(),
            &Submission::read(&files).unwrap(),
            rules,
        )
        .unwrap();
        assert_eq!(numbers(&after), numbers(&before));
        assert_eq!(kinds(&after), [""; 0]);
    }
}

/// Generates JSON values, including those that occur in submissions.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u8..4).prop_map(|cell| json!([[cell]])),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("attempt_1"),
        Just("attempt_2"),
        Just("attempt_77"),
        Just("answer"),
        Just("metadata"),
        Just("pair_index")
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..4).prop_map(
                |entries| Value::Object(
                    entries
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect()
                )
            ),
        ]
    })
}

proptest! {
    #[test]
    fn scores_of_arbitrary_submissions_are_in_range(aa in any_value(), bb in any_value()) {
        let text = json!({"aa": aa, "bb": bb}).to_string();
        let file = SourceFile { name: "s.json".to_owned(), text };
        let set = set();
        if let Ok(submission) = Submission::read(&[file]) {
            let score = score(&set, &set.all_tests(), &submission, Rules::default()).unwrap();
            prop_assert_eq!((score.tasks, score.test_inputs), (2, 3));
            for measure in [score.mean_task_score, score.tasks_solved, score.test_inputs_solved, score.pass_at_1] {
                prop_assert!((0.0..=1.0).contains(&measure.value));
                prop_assert!(measure.interval.low <= measure.value && measure.value <= measure.interval.high);
            }
            let failed: usize = score.failures.iter().map(|failure| failure.count).sum();
            prop_assert_eq!(failed + score.test_inputs_solved.count.unwrap(), 3);
        }
    }
}
