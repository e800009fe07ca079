//! [`Validation`] of built-in environments.

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rhae_games::Builtin;
use rhae_inspect::{InspectError, Validation, ValidationOptions, ValidationProgress, find_each};
use rhae_protocol::{EnvironmentVerdict, Recording};
use rhae_session::replay;
use rhae_validate::Rule;

fn options() -> ValidationOptions {
    ValidationOptions {
        steps: Some(2_000),
        nodes: Some(5_000),
        jobs: 2,
        ..ValidationOptions::default()
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn steps_of_a_validation_add_up_and_evidence_replays() {
    let selected = find_each(&Builtin, &names(&["ny40"])).unwrap();
    let steps = Mutex::new((0, 0));
    let options = ValidationOptions {
        strict: true,
        ..options()
    };
    let interrupt = Arc::default();
    let validation = Validation::run(&Builtin, &selected, options, &interrupt, &|progress| {
        let mut steps = steps.lock().unwrap();
        match progress {
            ValidationProgress::Started { total_steps } => steps.1 = total_steps,
            ValidationProgress::Steps(more) => steps.0 += more,
            ValidationProgress::Check { .. } => {}
        }
    })
    .unwrap();
    let (done, total) = *steps.lock().unwrap();
    assert!(total > 0 && done == total, "{done} of {total}");
    assert!(!validation.is_interrupted());
    // Random play wins the first level, which a strict validation does not allow.
    assert!(!validation.passes());
    let report = validation.report(Some(Path::new("folder")));
    let evidence: Vec<_> = validation.evidence().map(Result::unwrap).collect();
    assert!(!evidence.is_empty());
    for file in &evidence {
        let text = String::from_utf8(file.bytes.clone()).unwrap();
        let replayed = replay(&Builtin, &Recording::parse(&text).unwrap()).unwrap();
        assert!(replayed.mismatch.is_none(), "{}", file.name);
        let path = format!("folder/{}", file.name);
        let is_named = report.environments[0]
            .rules
            .iter()
            .flat_map(|rule| &rule.findings)
            .flat_map(|finding| &finding.evidence)
            .any(|piece| piece.recording.as_ref() == Some(&path));
        assert!(is_named, "{path}");
    }
}

#[test]
fn selected_rules_are_checked_alone_and_leave_the_validation_incomplete() {
    let selected = find_each(&Builtin, &names(&["bx20"])).unwrap();
    let options = ValidationOptions {
        rules: [Rule::Undo, Rule::Wins].into_iter().collect(),
        ..options()
    };
    let interrupt = Arc::default();
    let validation = Validation::run(&Builtin, &selected, options, &interrupt, &|_| ()).unwrap();
    let environment = &validation.report(None).environments[0];
    let checked: Vec<&str> = environment.rules.iter().map(|rule| rule.rule).collect();
    assert_eq!(checked, ["undo", "wins"]);
    assert_eq!(environment.rules_not_selected, Rule::ALL.len() - 2);
    assert_eq!(environment.verdict, EnvironmentVerdict::Incomplete);
    // The laws and the state graph of each level.
    assert_eq!(
        environment.checks,
        2 * usize::from(selected[0].levels.unwrap())
    );
}

#[test]
fn interrupted_validation_is_undecided() {
    let selected = find_each(&Builtin, &names(&["bx20"])).unwrap();
    let interrupt = Arc::new(AtomicBool::new(true));
    let validation = Validation::run(&Builtin, &selected, options(), &interrupt, &|_| ()).unwrap();
    assert!(interrupt.load(Ordering::Relaxed) && validation.is_interrupted());
    let report = validation.report(None);
    assert!(report.interrupted && !report.passes);
    assert_eq!(report.verdict, EnvironmentVerdict::Incomplete);
    assert_eq!(
        report.environments[0].checks,
        report.environments[0].checks_not_done
    );
}

#[test]
fn duplicates_and_an_empty_selection_are_rejected() {
    let error = find_each(&Builtin, &names(&["kq19", "kq19-v1"])).unwrap_err();
    assert_eq!(error.to_string(), "`kq19-v1` is named twice");
    let empty = Validation::run(&Builtin, &[], options(), &Arc::default(), &|_| ());
    assert!(matches!(empty.err(), Some(InspectError::NothingSelected)));
}
