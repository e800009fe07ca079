//! `rhae explore` on native games: reports, output files, limits and interruption.

use std::fs;

use crate::rhae::{interrupted, rhae};

#[test]
fn small_level_is_explored_completely() {
    let folder = tempfile::tempdir().unwrap();
    let found = rhae(
        folder.path(),
        &["explore", "ny40", "--level", "1", "--json"],
    )
    .succeeded()
    .json();
    assert_eq!(found["complete"], true);
    assert_eq!(found["shortest_win"]["length"], 5);
    assert_eq!(found["identity"], "packed");
    let (lower, upper) = (
        found["p_win"]["lower"].as_f64().unwrap(),
        found["p_win"]["upper"].as_f64().unwrap(),
    );
    assert!(upper - lower < 1e-12 && lower > 0.0);
    for name in ["nodes", "edges", "dead_ends", "max_depth", "states_per_s"] {
        assert!(found[name].is_number(), "{name}");
    }
    assert!(found["p_win"]["fraction"].is_string());
    assert!(found["p_win_within"]["one_in"].is_number());
    assert!(found["sccs"]["count"].is_number());
    assert_eq!(found["warnings"].as_array().unwrap().len(), 0);
}

#[test]
fn files_are_written_and_the_shortest_win_replays() {
    let folder = tempfile::tempdir().unwrap();
    for extension in ["json", "graphml", "dot"] {
        let name = format!("graph.{extension}");
        rhae(folder.path(), &["explore", "ny40", "--export", &name]).succeeded();
        assert!(fs::read_to_string(folder.path().join(name)).unwrap().len() > 100);
    }
    rhae(
        folder.path(),
        &[
            "explore",
            "ny40",
            "--level",
            "2",
            "--recording",
            "win.jsonl",
            "--picture",
            "graph.svg",
        ],
    )
    .succeeded();
    rhae(folder.path(), &["replay", "verify", "win.jsonl"]).succeeded();
    let svg = fs::read_to_string(folder.path().join("graph.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("data:image/png"));
    rhae(
        folder.path(),
        &["explore", "ny40", "--level", "1-3", "--picture", "all.html"],
    )
    .succeeded();
    let page = fs::read_to_string(folder.path().join("all.html")).unwrap();
    assert!(page.contains("Level 3") && page.contains("Growth by level"));
}

#[test]
fn limited_search_reports_its_limit_and_wide_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let found = rhae(
        folder.path(),
        &[
            "explore", "kq19", "--level", "3", "--nodes", "5000", "--json",
        ],
    )
    .succeeded()
    .json();
    assert_eq!(
        (&found["complete"], &found["stopped_by"]),
        (&false.into(), &"nodes".into())
    );
    assert!((4990..=5000).contains(&found["nodes"].as_u64().unwrap()));
    assert!(found["p_win"]["lower"].as_f64().unwrap() < found["p_win"]["upper"].as_f64().unwrap());
}

#[test]
fn blind_win_probability_needs_all_clicks() {
    let folder = tempfile::tempdir().unwrap();
    let listed = rhae(
        folder.path(),
        &["explore", "ym39", "--nodes", "300", "--json"],
    )
    .succeeded()
    .json();
    assert_eq!(
        (&listed["clicks"], &listed["p_win_blind"]),
        (&"listed".into(), &().into())
    );
    let all = rhae(
        folder.path(),
        &[
            "explore",
            "ym39",
            "--nodes",
            "300",
            "--all-clicks",
            "--json",
        ],
    )
    .succeeded()
    .json();
    assert_eq!(all["clicks"], "all");
    assert!(all["p_win_blind"]["upper"].is_number());
    // Without clicks, the blind policy and the uniform policy choose the same actions.
    let keys = rhae(folder.path(), &["explore", "kq19", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&keys["clicks"], &keys["p_win_blind"]),
        (&"none".into(), &keys["p_win"])
    );
}

#[test]
fn exported_graph_has_metadata_and_cell_counts() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "explore",
        "ym39",
        "--all-clicks",
        "--checks",
        "10",
        "--seed",
        "3",
        "--export",
    ];
    let export = |file: &str| {
        rhae(folder.path(), &[&flags[..], &[file]].concat()).succeeded();
        fs::read_to_string(folder.path().join(file)).unwrap()
    };
    let graph: serde_json::Value = serde_json::from_str(&export("graph.json")).unwrap();
    assert_eq!(
        (&graph["game_id"], &graph["level"], &graph["seed"]),
        (&"ym39-v1".into(), &1.into(), &3.into())
    );
    let edges = graph["edges"].as_array().unwrap();
    let cells = |from: u64| {
        edges
            .iter()
            .filter(|edge| edge[0] == from)
            .map(|edge| edge[3].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!((cells(0), cells(1)), (4096, 4096));
    assert!(export("graph.graphml").contains("<data key=\"cells\">"));
    let dot = export("graph.dot");
    assert!(
        dot.contains("ym39-v1, level 1, seed 3") && dot.contains("weight="),
        "{dot}"
    );
}

#[test]
fn win_probability_within_too_few_actions_is_zero() {
    let folder = tempfile::tempdir().unwrap();
    let within = |actions: &str| {
        let found = rhae(
            folder.path(),
            &["explore", "kq19", "--within", actions, "--json"],
        )
        .succeeded()
        .json();
        assert_eq!(found["shortest_win"]["length"], 7);
        (
            found["p_win_within"]["lower"].as_f64().unwrap(),
            found["p_win_within"]["upper"].as_f64().unwrap(),
        )
    };
    assert_eq!(within("6"), (0.0, 0.0));
    assert!(within("7").0 > 0.0);
}

#[test]
fn invalid_flags_are_rejected_before_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], reason: &str| {
        rhae(folder.path(), &[&["explore", "ny40"], arguments].concat()).failed_with(reason);
    };
    refused(&["--level", "9"], "expected a number from 1 to 8");
    refused(&["--export", "graph.txt"], ".graphml");
    refused(&["--picture", "graph.png"], ".svg or .html");
    refused(
        &["--level", "all", "--recording", "win.jsonl"],
        "hold one level",
    );
    refused(&["--seconds", "0"], "more than 0");
    refused(&["--seconds", "-1"], "more than 0");
    refused(&["--memory", "0"], "1..");
    refused(
        &["--picture", "missing/graph.svg"],
        "the folder `missing` does not exist",
    );
    refused(&["--recording", "."], "is a folder");
}

#[test]
fn interrupted_search_reports_partial_results() {
    let folder = tempfile::tempdir().unwrap();
    let flags = [
        "explore",
        "kq19",
        "--level",
        "2-4",
        "--seconds",
        "1000",
        "--memory",
        "8000",
        "--json",
    ];
    let outcome = interrupted(folder.path(), &flags);
    assert_eq!(outcome.code, Some(130), "{}{}", outcome.out, outcome.err);
    assert!(
        outcome
            .err
            .contains("interrupted: 1 of 3 levels were explored"),
        "{}",
        outcome.err
    );
    let found = outcome.json();
    let levels = found["levels"].as_array().unwrap();
    assert_eq!(levels.len(), 1);
    assert_eq!(
        (&levels[0]["complete"], &levels[0]["stopped_by"]),
        (&false.into(), &"interrupt".into())
    );
    assert!(levels[0]["nodes"].as_u64() > Some(1));
}

#[test]
fn report_is_printed_although_no_win_can_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = rhae(
        folder.path(),
        &[
            "explore",
            "kq19",
            "--nodes",
            "10",
            "--recording",
            "win.jsonl",
        ],
    );
    assert!(outcome.out.contains("stopped by nodes"), "{}", outcome.out);
    outcome.failed_with("no win was found, so `win.jsonl` was not written");
}
