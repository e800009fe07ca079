//! Tests of `rhae run` with built-in agents.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::rhae::{command, rhae};

/// Removes times, paths and ids, which differ from run to run, from a summary.
fn comparable(mut summary: Value) -> Value {
    for field in [
        "seconds",
        "started_ms",
        "ended_ms",
        "folder",
        "report",
        "run_id",
    ] {
        assert!(
            summary.as_object_mut().unwrap().remove(field).is_some(),
            "{field}"
        );
    }
    summary
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(
        &fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
    .unwrap()
}

#[test]
fn default_run_prints_a_table_and_writes_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let shown = rhae(folder.path(), &["run", "--out", "r"]).succeeded();
    for entry in rhae_games::ALL {
        assert!(shown.out.contains(entry.facts.id), "{}", shown.out);
    }
    assert!(
        shown.out.contains("provisional") && shown.out.trim_end().ends_with("r/report.html"),
        "{}",
        shown.out
    );
    let page = fs::read_to_string(folder.path().join("r/report.html")).unwrap();
    assert!(
        page.contains("rhae-player")
            && !page.contains("src=\"http")
            && !page.contains("href=\"http")
    );
    let card = read_json(&folder.path().join("r/scorecard.json"));
    for environment in card["environments"].as_array().unwrap() {
        assert!(!environment["runs"].as_array().unwrap().is_empty());
        assert!(
            environment["baseline_source"]
                .as_array()
                .unwrap()
                .iter()
                .all(|source| source == "solver" || source == "solver-upper-bound")
        );
    }
    assert!(
        card["score"].as_f64().unwrap() > 0.0,
        "the explorer completes at least one level"
    );
}

#[test]
fn identical_runs_have_identical_results() {
    let folder = tempfile::tempdir().unwrap();
    let run = |out: &str, jobs: &str| {
        rhae(
            folder.path(),
            &[
                "run", "--agent", "random", "--seed", "7", "--repeat", "2", "--jobs", jobs,
                "--out", out, "--json",
            ],
        )
        .succeeded()
    };
    let (one, two) = (run("one", "1"), run("two", "4"));
    assert_eq!(comparable(one.json()), comparable(two.json()));
    for entry in fs::read_dir(folder.path().join("one/recordings")).unwrap() {
        let name = entry.unwrap().file_name();
        let of = |out: &str| {
            let text =
                fs::read_to_string(folder.path().join(out).join("recordings").join(&name)).unwrap();
            text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(of("one"), of("two"), "{name:?}");
    }
}

#[test]
fn score_is_the_mean_over_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let summary = rhae(
        folder.path(),
        &[
            "run", "--games", "ym39", "--repeat", "3", "--out", "r", "--json",
        ],
    )
    .succeeded()
    .json();
    let scores: Vec<f64> = summary["card_scores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|score| score.as_f64().unwrap())
        .collect();
    assert_eq!(scores.len(), 3);
    assert!((summary["score"].as_f64().unwrap() - scores.iter().sum::<f64>() / 3.0).abs() < 1e-9);
    assert!(summary["score_half_width"].is_number());
    for repeat in 1..=3 {
        assert!(
            folder
                .path()
                .join(format!("r/scorecard-{repeat}.json"))
                .is_file()
        );
    }
}

#[test]
fn budget_ends_the_play_at_five_times_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    rhae(
        folder.path(),
        &["run", "--agent", "random", "--games", "kq19", "--out", "r"],
    )
    .succeeded();
    let card = read_json(&folder.path().join("r/scorecard.json"));
    let run = &card["environments"][0]["runs"][0];
    let level = usize::try_from(run["levels_completed"].as_u64().unwrap()).unwrap();
    let (actions, baseline) = (
        run["level_actions"][level].as_u64().unwrap(),
        run["level_baseline_actions"][level].as_u64().unwrap(),
    );
    assert_eq!(actions, 5 * baseline);
    assert_eq!(run["ending"], "budget");
    let short = rhae(
        folder.path(),
        &[
            "run", "--agent", "random", "--games", "kq19", "--budget", "12", "--out", "s", "--json",
        ],
    )
    .json();
    assert_eq!(short["environments"][0]["actions"], 12.0);
}

#[test]
fn replay_agent_reproduces_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let first = rhae(
        folder.path(),
        &["run", "--games", "ny40", "--out", "first", "--json"],
    )
    .succeeded()
    .json();
    let agent = "replay:first/recordings/1-ny40-v1.jsonl";
    let second = rhae(
        folder.path(),
        &[
            "run", "--agent", agent, "--games", "ny40", "--out", "second", "--json",
        ],
    )
    .succeeded()
    .json();
    assert_eq!(first["score"], second["score"]);
}

#[test]
fn killed_run_resumes_to_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run", "--agent", "random", "--seed", "3", "--repeat", "40", "--jobs", "2", "--budget",
        "400",
    ];
    let complete = rhae(
        folder.path(),
        &[&arguments, ["--out", "complete", "--json"].as_slice()].concat(),
    )
    .succeeded();
    let mut killed = 0;
    for pause_ms in [5, 15, 30, 50, 80, 120] {
        let out = format!("killed-{pause_ms}");
        let mut child = command(
            folder.path(),
            &[&arguments, ["--out", &out, "--json"].as_slice()].concat(),
        );
        let mut child = child
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(pause_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        if !folder.path().join(&out).join("config.json").is_file() {
            continue;
        }
        let journal =
            fs::read_to_string(folder.path().join(&out).join("journal.jsonl")).unwrap_or_default();
        killed += usize::from(!journal.contains("\"finished\""));
        let resumed = rhae(folder.path(), &["run", "--resume", &out, "--json"]).succeeded();
        assert_eq!(
            comparable(resumed.json()),
            comparable(complete.json()),
            "killed after {pause_ms} ms"
        );
        for repeat in [1, 20, 40] {
            let scores = |out: &str| {
                let card = read_json(
                    &folder
                        .path()
                        .join(out)
                        .join(format!("scorecard-{repeat}.json")),
                );
                (
                    card["score"].clone(),
                    card["total_actions"].clone(),
                    card["total_levels_completed"].clone(),
                )
            };
            assert_eq!(scores(&out), scores("complete"));
        }
    }
    assert!(killed > 0, "no run was killed while it was in progress");
}

#[test]
fn interrupt_writes_partial_results_and_exits_with_130() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run", "--agent", "random", "--games", "kq19", "--budget", "none", "--out", "r", "--json",
    ];
    let mut child = command(folder.path(), &arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let recording = folder.path().join("r/recordings/1-kq19-v1.jsonl");
    // The play has no end, so it is interrupted after some progress.
    for _ in 0..600 {
        if fs::metadata(&recording).is_ok_and(|file| file.len() > 20_000) {
            break;
        }
        assert!(
            child.try_wait().unwrap().is_none(),
            "the run ended by itself"
        );
        sleep(Duration::from_millis(20));
    }
    let interrupted = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupted.success());
    let outcome: crate::rhae::Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(outcome.code, Some(130), "{}", outcome.err);
    assert!(outcome.err.contains("--resume r"), "{}", outcome.err);
    assert_eq!(outcome.json()["finished"], false);
    assert_eq!(
        outcome.json()["environments"][0]["endings"][0],
        "interrupted"
    );
    assert!(
        folder.path().join("r/report.html").is_file()
            && folder.path().join("r/scorecard.json").is_file()
    );
}
