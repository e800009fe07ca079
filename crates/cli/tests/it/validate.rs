//! `rhae validate` on native games and on broken Python games in the real sandbox.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::hosted_games::fixtures;
use crate::rhae::{Outcome, interrupted, rhae};
use crate::serve::official::python;

/// Returns the report of a rule.
fn rule_report<'a>(found: &'a Value, game: usize, rule: &str) -> &'a Value {
    let rules = found["environments"][game]["rules"].as_array().unwrap();
    rules
        .iter()
        .find(|one| one["rule"] == rule)
        .unwrap_or_else(|| panic!("no rule `{rule}`"))
}

#[test]
fn valid_environment_passes_with_page_and_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "validate",
        "ny40",
        "--steps",
        "20000",
        "--nodes",
        "20000",
        "--json",
        "--html",
        "report.html",
        "--evidence",
        "evidence",
    ];
    let found = rhae(folder.path(), &flags).succeeded().json();
    assert_eq!(
        (&found["passes"], &found["verdict"]),
        (&true.into(), &"pass".into())
    );
    let environment = &found["environments"][0];
    assert_eq!(
        (&environment["game_id"], &environment["verdict"]),
        (&"ny40-v1".into(), &"pass".into())
    );
    for rule in [
        "loads",
        "recordings",
        "same-twice",
        "undo",
        "luck-proved",
        "failures",
        "memory",
        "wins",
        "shortcuts",
    ] {
        assert_eq!(
            rule_report(&found, 0, rule)["verdict"],
            "pass",
            "{rule}: {}",
            rule_report(&found, 0, rule)["summary"]
        );
    }
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(
        page.contains("ny40-v1 · passes")
            && page.contains("data:image/png")
            && page.contains("luck-proved")
    );
    // Random play wins the first level, and a recording demonstrates it.
    let evidence: Vec<String> = fs::read_dir(folder.path().join("evidence"))
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string())
        .collect();
    assert!(
        evidence
            .iter()
            .any(|file| file.ends_with("ny40-v1-luck-start-level1.jsonl")),
        "{evidence:?}"
    );
    for file in &evidence {
        rhae(folder.path(), &["replay", "verify", file]).succeeded();
    }
}

#[test]
fn verdicts_do_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let run = |jobs: &str| {
        let flags = [
            "validate", "ny40", "--steps", "2000", "--nodes", "5000", "--json", "--jobs", jobs,
            "--seed", "4",
        ];
        let mut found = rhae(folder.path(), &flags).json();
        let rules = found["environments"][0]["rules"].as_array_mut().unwrap();
        rules.retain(|rule| rule["rule"] != "speed" && rule["rule"] != "memory");
        found["environments"][0]["rules"].take()
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn interrupted_validation_reports_partial_results() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "validate",
        "ny40",
        "bx20",
        "--steps",
        "1000000000",
        "--json",
        "--html",
        "report.html",
    ];
    let outcome = interrupted(folder.path(), &flags);
    assert_eq!(outcome.code, Some(130), "{}{}", outcome.out, outcome.err);
    let found = outcome.json();
    assert_eq!(
        (&found["interrupted"], &found["passes"]),
        (&true.into(), &false.into())
    );
    assert_eq!(found["verdict"], "incomplete");
    for game in 0..2 {
        let environment = &found["environments"][game];
        assert_eq!(environment["passes"], false);
        assert!(
            environment["checks_not_done"].as_u64() > Some(0),
            "{environment}"
        );
        // A billion steps cannot finish before the interrupt, so the rule stays open on the 7
        // levels after the first.
        let levels = rule_report(&found, game, "luck-levels");
        let open = levels["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["text"] == "not checked: interrupted");
        assert_eq!(open.count(), 7, "{levels}");
        let rules = environment["rules"].as_array().unwrap();
        assert!(
            rules.iter().all(|rule| rule["verdict"] != "fail"),
            "{environment}"
        );
    }
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(
        page.contains("2 of 2 environments incomplete") && page.contains("checks not finished")
    );
}

#[test]
fn strict_fails_any_random_win() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "validate", "ny40", "--steps", "5000", "--nodes", "5000", "--strict",
    ];
    let found = rhae(folder.path(), &flags);
    assert_eq!(found.code, Some(1), "{}", found.out);
    assert!(found.out.contains("fail luck-start"), "{}", found.out);
    assert!(
        found
            .out
            .contains("open clicks       clicks are not offered"),
        "{}",
        found.out
    );
    rhae(folder.path(), &["validate"])
        .failed_with("no environment is selected; name some, or use --all");
    rhae(folder.path(), &["validate", "zz99"]).failed_with("games of your own need --games-dir");
}

/// The text report prints the command that shows a finding's recording.
#[test]
fn findings_with_evidence_print_the_replay_command() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["validate", "ny40", "--steps", "20000", "--nodes", "5000"];
    assert!(
        rhae(folder.path(), &flags)
            .succeeded()
            .out
            .contains("use --evidence DIR to write recordings")
    );
    let shown = rhae(
        folder.path(),
        &[&flags[..], &["--evidence", "my evidence"]].concat(),
    )
    .succeeded()
    .out;
    let command = shown
        .lines()
        .find_map(|line| line.trim().strip_prefix("rhae replay show "))
        .expect(&shown);
    assert_eq!(command, "'my evidence/ny40-v1-luck-start-level1.jsonl'");
    rhae(
        folder.path(),
        &["replay", "verify", command.trim_matches('\'')],
    )
    .succeeded();
}

/// Validates a broken Python game with small limits. Returns `None` if Python is missing and
/// skipping is allowed.
fn validate_broken(at: &Path, id: &str) -> Option<Outcome> {
    let python = python()?.display().to_string();
    let games = fixtures("games-broken");
    let flags = [
        "--steps",
        "300",
        "--nodes",
        "60",
        "--json",
        "--games-dir",
        &games,
        "--python",
        &python,
        "--host-seconds",
        "60",
    ];
    Some(rhae(
        at,
        &["validate", id]
            .into_iter()
            .chain(flags)
            .collect::<Vec<_>>(),
    ))
}

/// A broken Python installation is an error of the command, not a finding about the games.
#[test]
fn invalid_python_interpreter_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixtures("games");
    for (python, reason) in [
        ("cat", "`cat` is not a working Python interpreter"),
        (
            "./missing",
            "`./missing` is not a working Python interpreter",
        ),
    ] {
        rhae(
            folder.path(),
            &["validate", "--games-dir", &games, "--python", python],
        )
        .failed_with(reason);
    }
}

/// The search is limited to two states. Random play wins the first level of tl32 but not of wk31.
#[test]
fn levels_after_an_unsolved_level_are_reported_as_unchecked() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    // A relative path of --python is resolved against the working directory.
    std::os::unix::fs::symlink(
        python.ancestors().nth(2).unwrap(),
        folder.path().join("venv"),
    )
    .unwrap();
    let flags = [
        "--steps",
        "100",
        "--nodes",
        "2",
        "--python",
        "venv/bin/python",
        "--host-seconds",
        "60",
    ];
    let games = fixtures("games");
    let outcome = rhae(
        folder.path(),
        &[&["validate", "--games-dir", &games], &flags[..]].concat(),
    );
    let out = outcome.out;
    assert_eq!(outcome.code, Some(3), "{out}");
    assert!(
        out.contains("wk31-v1 is INCOMPLETE (levels 2 to 3 not checked; undecided: "),
        "{out}"
    );
    assert!(out.contains("2 of 2 environments are incomplete"), "{out}");
    assert!(
        out.contains(
            "no solution of level 1 is stored or was found, so later levels are not checked"
        ),
        "{out}"
    );
    // All levels of tl32 are reached, but 100 steps are too few attempts, and no win of level 2 is
    // found.
    assert!(
        out.contains("tl32-v1 is INCOMPLETE (undecided: recordings, luck-levels, wins): "),
        "{out}"
    );
}

#[test]
fn explore_reports_earlier_levels_before_an_unreachable_one() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let games = fixtures("games");
    let flags = [
        "explore",
        "wk31",
        "--level",
        "all",
        "--nodes",
        "2",
        "--games-dir",
        &games,
        "--host-seconds",
        "60",
        "--python",
    ];
    let outcome = rhae(
        folder.path(),
        &[&flags[..], &[python.to_str().unwrap()]].concat(),
    );
    assert!(outcome.out.contains("no: nodes"), "{}", outcome.out);
    outcome.failed_with("level 2 is unreachable");
}

#[test]
fn broken_python_games_violate_their_rules() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, expected) in [
        ("hd01", "keys", "warn"),
        ("rd02", "same-twice", "fail"),
        ("cr03", "failures", "fail"),
    ] {
        let Some(outcome) = validate_broken(folder.path(), id) else {
            return;
        };
        let found = outcome.json();
        let report = rule_report(&found, 0, rule);
        assert_eq!(report["verdict"], expected, "{id}: {report}");
        let shown = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| !one["evidence"].as_array().unwrap().is_empty());
        assert!(shown, "{id} has no evidence: {report}");
        assert_eq!(
            outcome.code,
            Some(i32::from(found["passes"] == false)),
            "{id}"
        );
    }
}
