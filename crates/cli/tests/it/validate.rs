//! `rhae validate` as people use it, on built-in environments and on broken Python games in the real sandbox.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::outside::fixtures;
use crate::rhae::{Outcome, interrupted, rhae};
use crate::serve::official::python;

fn verdict<'a>(found: &'a Value, game: usize, rule: &str) -> &'a Value {
    let rules = found["environments"][game]["rules"].as_array().unwrap();
    rules
        .iter()
        .find(|one| one["rule"] == rule)
        .unwrap_or_else(|| panic!("no rule `{rule}`"))
}

#[test]
fn a_sound_environment_passes_with_page_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "validate",
        "ny40",
        "--steps",
        "5000",
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
        (&found["passes"], &found["environments"][0]["game_id"]),
        (&true.into(), &"ny40-v1".into())
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
            verdict(&found, 0, rule)["verdict"],
            "pass",
            "{rule}: {}",
            verdict(&found, 0, rule)["summary"]
        );
    }
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(
        page.contains("ny40-v1 · passes")
            && page.contains("data:image/png")
            && page.contains("luck-proved")
    );
    // The first level is won by accident, and the recording shows it.
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
fn the_same_seed_gives_the_same_verdict_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let run = |jobs: &str| {
        let flags = [
            "validate", "ny40", "--steps", "2000", "--nodes", "5000", "--json", "--jobs", jobs,
            "--seed", "4",
        ];
        let mut found = rhae(folder.path(), &flags).succeeded().json();
        let rules = found["environments"][0]["rules"].as_array_mut().unwrap();
        rules.retain(|rule| rule["rule"] != "speed" && rule["rule"] != "memory");
        found["environments"][0]["rules"].take()
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn who_interrupts_is_told_what_was_found() {
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
    for game in 0..2 {
        let environment = &found["environments"][game];
        assert_eq!(environment["passes"], false);
        assert!(
            environment["checks_not_done"].as_u64() > Some(0),
            "{environment}"
        );
        // A billion steps take longer than anybody waits; what random play on later levels has not seen is open.
        let levels = verdict(&found, game, "luck-levels");
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
    assert!(page.contains("2 of 2 environments not decided") && page.contains("checks not done"));
}

#[test]
fn strict_is_the_papers_reading() {
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
        .failed_with("name environments, or --all, or a folder with --games-dir");
    rhae(folder.path(), &["validate", "zz99"]).failed_with("games of your own need --games-dir");
}

/// The text names the recordings that show what it says.
#[test]
fn every_finding_that_can_be_shown_says_how() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["validate", "ny40", "--steps", "5000", "--nodes", "5000"];
    assert!(
        rhae(folder.path(), &flags)
            .succeeded()
            .out
            .contains("--evidence DIR writes recordings")
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

/// The broken Python games, checked in little time.
fn broken(at: &Path, id: &str) -> Option<Outcome> {
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

/// What is wrong with the machine is no fault of a game.
#[test]
fn a_python_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let games = fixtures("games");
    for (python, reason) in [
        ("cat", "`cat` is not a Python that answers"),
        ("./nowhere", "`./nowhere` is not a Python that answers"),
    ] {
        rhae(
            folder.path(),
            &["validate", "--games-dir", &games, "--python", python],
        )
        .failed_with(reason);
    }
}

/// Random play finds what a search of two states does not; a level that nothing leads to is said to be unchecked.
#[test]
fn levels_behind_one_that_nobody_won_are_said_to_be_unchecked() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    // A Python in a folder is meant from here.
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
    let out = rhae(
        folder.path(),
        &[&["validate", "--games-dir", &games], &flags[..]].concat(),
    )
    .succeeded()
    .out;
    assert!(
        out.contains("wk31-v1 passes, levels 2 to 3 not checked: "),
        "{out}"
    );
    assert!(
        out.contains("no solution of level 1 is stored or was found, so no later level is checked"),
        "{out}"
    );
    assert!(out.contains("tl32-v1 passes: "), "{out}");
}

#[test]
fn a_search_that_does_not_come_to_a_level_tells_of_those_before() {
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
    outcome.failed_with("level 2 cannot be come to");
}

#[test]
fn broken_python_games_are_caught_by_their_rules() {
    let folder = tempfile::tempdir().unwrap();
    for (id, rule, expected) in [
        ("hd01", "keys", "warn"),
        ("rd02", "same-twice", "fail"),
        ("cr03", "failures", "fail"),
    ] {
        let Some(outcome) = broken(folder.path(), id) else {
            return;
        };
        let found = outcome.json();
        let report = verdict(&found, 0, rule);
        assert_eq!(report["verdict"], expected, "{id}: {report}");
        let shown = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| !one["evidence"].as_array().unwrap().is_empty());
        assert!(shown, "{id} shows nothing: {report}");
        assert_eq!(
            outcome.code,
            Some(i32::from(found["passes"] == false)),
            "{id}"
        );
    }
}
