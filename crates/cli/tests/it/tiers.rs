//! `rhae board tiers` and `rhae run --tiers`.

use std::fs;

use serde_json::{Value, json};

use crate::rhae::rhae;

/// Writes the order of four environments with their chances.
fn write_tiers(folder: &std::path::Path, chances: [f64; 4]) {
    let games = ["hk26-v1", "kq19-v1", "pz19-v1", "ny40-v1"];
    let environments: Vec<Value> = games
        .iter()
        .zip(chances)
        .map(|(id, chance)| json!({"id": id, "chance": chance}))
        .collect();
    let file = json!({"version": 1, "budget": "5x", "environments": environments});
    fs::write(folder.join("tiers.json"), file.to_string()).unwrap();
}

#[test]
fn stopped_run_is_finished_and_scored_by_its_lower_bound() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_tiers(at, [1.0; 4]);
    let games = "kq19,ny40,hk26,pz19";
    let run = |out: &str, more: &[&str]| {
        let usual = ["run", "--agent", "random", "--games", games, "--out", out];
        rhae(at, &[&usual[..], &["--tiers", "tiers.json"], more].concat())
    };
    // What random play completes for certain is no progress.
    let stopped = run("stopped", &[]).succeeded();
    let said = "3 of 4 environments played: the score of all of them is at least";
    assert!(stopped.out.contains(said), "{}", stopped.out);
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(at.join("stopped/summary.json")).unwrap())
            .unwrap();
    let order: Vec<&str> = summary["environments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["game_id"].as_str().unwrap())
        .collect();
    assert_eq!(order, ["hk26-v1", "kq19-v1", "pz19-v1", "ny40-v1"]);
    assert_eq!(summary["finished"], true);
    assert_eq!(summary["tiers"]["played"], 3);
    assert_eq!(summary["tiers"]["lower"], summary["score"]);
    assert_eq!(summary["environments"][3]["endings"], json!(["not played"]));
    // A finished run is not continued.
    let again = rhae(at, &["run", "--resume", "stopped"]).succeeded();
    assert!(
        again.out.contains("3 of 4 environments played"),
        "{}",
        again.out
    );

    let all = run("all", &["--all"]).succeeded();
    assert!(
        all.out.contains("4 of 4 environments played\n"),
        "{}",
        all.out
    );
    run("other", &["--budget", "80"]).failed_with("the chances are those of the budget `5x`");
    rhae(at, &["run", "--all"]).failed_with("--tiers");
}

#[test]
fn environments_of_a_board_are_ordered_by_proved_chances() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    rhae(at, &["board", "init", "main", "--games", "kq19,ny40"]).succeeded();
    let tiers = ["board", "tiers", "main", "--out", "tiers.json"];
    let shown = rhae(at, &tiers).succeeded();
    assert!(shown.out.contains("kq19-v1"), "{}", shown.out);
    let file: Value =
        serde_json::from_str(&fs::read_to_string(at.join("tiers.json")).unwrap()).unwrap();
    let environments = file["environments"].as_array().unwrap();
    let chance = |index: usize| environments[index]["chance"].as_f64().unwrap();
    assert!(
        chance(0) >= chance(1) && chance(1) > 0.0 && chance(0) < 1.0,
        "{file}"
    );
    // A board can freeze this order, and then says it without a search.
    let init = ["board", "init", "frozen", "--games", "ny40,kq19", "--tiers"];
    rhae(at, &init).succeeded();
    let frozen = rhae(at, &["board", "tiers", "frozen", "--json"])
        .succeeded()
        .json();
    for index in [0, 1] {
        let (one, other) = (&frozen["environments"][index], &environments[index]);
        assert_eq!(one["id"], other["id"]);
        let difference = one["chance"].as_f64().unwrap() - chance(index);
        assert!((0.0..1e-8).contains(&difference), "{frozen} {file}");
    }
    let run = [
        "run",
        "--agent",
        "random",
        "--games",
        "kq19,ny40",
        "--tiers",
        "tiers.json",
    ];
    rhae(at, &[&run[..], &["--dry-run", "--json"]].concat()).succeeded();
}
