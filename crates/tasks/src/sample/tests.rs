use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::load::{SourceFile, load};
use crate::score::{Rules, score};
use crate::submission::Submission;

/// Returns forty tasks of various sizes, each with two tests. The solution of a test is its input.
fn set() -> TaskSet {
    let task = |number: usize| {
        let grid = vec![vec![1; number % 30 + 1]; 10];
        let test = |cell: usize| json!({"input": [[cell]], "output": [[cell]]});
        (
            format!("t{number:02}"),
            json!({"train": [{"input": grid, "output": grid}], "test": [test(1), test(2)]}),
        )
    };
    let text = Value::Object((0..40).map(task).collect()).to_string();
    load(&[SourceFile {
        name: "own.json".to_owned(),
        text,
    }])
    .unwrap()
    .sets
    .remove(0)
}

/// Returns the score of a run that solves the second test of every fourth task.
fn reference(set: &TaskSet) -> Score {
    let answer = |index: usize| {
        if index.is_multiple_of(4) {
            json!([{"attempt_1": [[9]]}, {"attempt_1": [[2]]}])
        } else {
            json!([{}, {}])
        }
    };
    let text = Value::Object(
        set.tasks
            .keys()
            .enumerate()
            .map(|(index, id)| (id.to_string(), answer(index)))
            .collect(),
    )
    .to_string();
    let submission = Submission::read(&[SourceFile {
        name: "s.json".to_owned(),
        text,
    }])
    .unwrap();
    score(set, &set.all_tests(), &submission, Rules::default()).unwrap()
}

#[test]
fn sample_keeps_the_proportion_of_the_reference() {
    let (set, rule) = (
        set(),
        NejumiRule {
            samples: 20,
            seed: 42,
            max_cells: 400,
        },
    );
    let reference = reference(&set);
    let manifest = sample(&set, rule, Some(("ours", &reference))).unwrap();
    // Tasks 0 to 19 and 30 to 39 are small enough. The reference solved one of the two tests in 5
    // tasks of the first range and in 2 of the second.
    assert_eq!(manifest.candidates, 30);
    let total = 7.0 * 0.5 / 30.0;
    assert!((manifest.reference.as_ref().unwrap().score - total).abs() < 1e-12);
    let right: Vec<&SampledTest> = manifest
        .chosen
        .iter()
        .filter(|chosen| chosen.reference_correct == Some(true))
        .collect();
    assert_eq!(
        (right.len(), manifest.chosen.len()),
        ((20.0 * total).round() as usize, 20)
    );
    assert!(right.iter().all(|chosen| chosen.test == 1));
    let different: BTreeSet<&TaskId> = manifest.chosen.iter().map(|chosen| &chosen.task).collect();
    assert_eq!(different.len(), 20);
    assert_eq!(
        sample(&set, rule, Some(("ours", &reference))).unwrap(),
        manifest
    );
    assert_ne!(
        sample(
            &set,
            NejumiRule { seed: 43, ..rule },
            Some(("ours", &reference))
        )
        .unwrap()
        .chosen,
        manifest.chosen
    );
}

#[test]
fn sampled_tests_are_pinned() {
    // If this result changes, existing samples can no longer be reproduced. In that case, give
    // `ORDER`, the name of the order in which candidates are drawn, a new value.
    let manifest = sample(
        &set(),
        NejumiRule {
            samples: 4,
            ..NejumiRule::default()
        },
        None,
    )
    .unwrap();
    let chosen: Vec<(&str, usize)> = manifest
        .chosen
        .iter()
        .map(|chosen| (chosen.task.as_str(), chosen.test))
        .collect();
    assert_eq!(chosen, PINNED);
}

const PINNED: [(&str, usize); 4] = [("t14", 0), ("t27", 1), ("t33", 0), ("t38", 0)];

#[test]
fn impossible_sample_is_rejected_with_a_reason() {
    let set = set();
    let error = sample(
        &set,
        NejumiRule {
            samples: 41,
            ..NejumiRule::default()
        },
        None,
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot draw the sample: the sample needs 41 tasks, but only 40 are small enough"
    );
    let error = sample(
        &set,
        NejumiRule {
            samples: 40,
            ..NejumiRule::default()
        },
        Some(("ours", &reference(&set))),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot draw the sample: the sample needs 35 tasks that the reference did not solve, but there are only 30"
    );
}

#[test]
fn manifest_round_trips_and_applies_only_to_its_data() {
    let mut set = set();
    let manifest = sample(
        &set,
        NejumiRule {
            samples: 5,
            ..NejumiRule::default()
        },
        None,
    )
    .unwrap();
    let again = Manifest::parse("m.json", &serde_json::to_string(&manifest).unwrap()).unwrap();
    assert_eq!(again, manifest);
    let selection = again.selection(&set).unwrap();
    assert_eq!(selection.values().map(Vec::len).sum::<usize>(), 5);
    assert!(
        set.select(&selection)
            .unwrap()
            .tasks
            .values()
            .all(|task| task.test.len() == 1)
    );
    set.tasks.pop_first();
    assert!(matches!(
        again.selection(&set),
        Err(TasksError::Revision { .. })
    ));
    for text in [
        "",
        "{}",
        "[]",
        &serde_json::to_string(&Manifest {
            version: 2,
            ..manifest
        })
        .unwrap(),
    ] {
        assert!(Manifest::parse("m.json", text).is_err());
    }
}
