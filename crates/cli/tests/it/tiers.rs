//! `rhae board tiers` and `rhae run --tiers`.

use std::fs;

use rhae_testkit::{Faults, ModelServer};
use serde_json::{Value, json};

use crate::agents_with_tools::folder;
use crate::rhae::rhae;
use crate::study_fixture;

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

#[test]
fn stopped_run_reports_the_money_that_it_saved() {
    let server = ModelServer::start(Faults::none(), |_| "ACTION1".to_owned());
    let folder = folder(&server);
    let at = folder.path();
    write_tiers(at, [1.0; 4]);
    // A short budget keeps the number of requests small.
    let tiers = fs::read_to_string(at.join("tiers.json")).unwrap();
    fs::write(at.join("tiers.json"), tiers.replace("5x", "12")).unwrap();
    let run = |out: &str, more: &[&str]| {
        let usual = [
            "run",
            "--agent",
            "model:big",
            "--games",
            "kq19,ny40,hk26,pz19",
        ];
        let tiers = ["--tiers", "tiers.json", "--budget", "12", "--out", out];
        let done = rhae(at, &[&usual[..], &tiers, more].concat()).succeeded();
        let text = fs::read_to_string(at.join(out).join("summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&text).unwrap();
        (done.out, summary)
    };
    let (shown, stopped) = run("stopped", &[]);
    let costs: Vec<f64> = stopped["environments"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["spent"]["cost_usd"].as_f64())
        .collect();
    // Three environments were paid for, and the fourth would have cost as much as their mean.
    assert!(
        costs.len() == 3 && costs.iter().all(|&cost| cost > 0.0),
        "{costs:?}"
    );
    let saved = stopped["tiers"]["saved_usd"].as_f64().unwrap();
    assert!((saved - costs.iter().sum::<f64>() / 3.0).abs() < 1e-9);
    let said = format!("about {saved:.2} USD saved by the environments that were not played");
    assert!(shown.contains(&said), "{shown}");

    let (shown, all) = run("all", &["--all"]);
    assert_eq!(all["tiers"]["saved_usd"], 0.0);
    assert!(!shown.contains("saved"), "{shown}");
}

/// Publishes the baselines of a study of kq19, which all people completed, and adds an environment that
/// fewer people completed.
fn write_baselines(at: &std::path::Path) {
    study_fixture::create(at);
    rhae(at, &["study", "baselines", "lab", "--publish", "lab.json"]).succeeded();
    let mut file: Value =
        serde_json::from_str(&fs::read_to_string(at.join("lab.json")).unwrap()).unwrap();
    let first = &mut file["environments"][0];
    let mut second = first.clone();
    second["environment"] = "ny40-v1".into();
    let levels = first["levels"].as_array_mut().unwrap();
    let last = levels.last_mut().unwrap();
    assert!(
        last["completed"].as_u64() < last["people"].as_u64(),
        "{last}"
    );
    last["completed"] = last["people"].clone();
    file["environments"].as_array_mut().unwrap().push(second);
    fs::write(at.join("people.json"), file.to_string()).unwrap();
}

#[test]
fn people_of_a_study_order_the_environments_before_random_play() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_baselines(at);
    let board = ["--games", "kq19,ny40", "--tiers", "--baselines"];
    let init =
        |id: &str, study: &str| rhae(at, &[&["board", "init", id], &board[..], &[study]].concat());
    init("people", "people.json").succeeded();
    let tiers = ["board", "tiers", "people", "--json", "--out", "tiers.json"];
    let order = rhae(at, &tiers).succeeded().json();
    let one = |index: usize| &order["environments"][index];
    // Random play completes ny40 more often, but more people completed kq19.
    assert_eq!(
        (&one(0)["id"], &one(1)["id"]),
        (&"kq19-v1".into(), &"ny40-v1".into())
    );
    assert!(
        one(0)["chance"].as_f64() < one(1)["chance"].as_f64(),
        "{order}"
    );
    assert_eq!(one(0)["people"]["completed"], one(0)["people"]["tested"]);
    // The board has the baselines of the people too.
    let definition = ["board", "init", "x", "--write-definition", "x.json"];
    rhae(at, &[&definition[..], &board, &["people.json"]].concat()).succeeded();
    let text = fs::read_to_string(at.join("x.json")).unwrap();
    let definition: Value = serde_json::from_str(&text).unwrap();
    let level = &definition["set"]["environments"][0]["levels"][0];
    assert_eq!(level["source"], "people, n = 3");
    assert_eq!(level["provisional"], false);
    let run = ["run", "--agent", "random", "--games", "kq19,ny40"];
    let more = ["--tiers", "tiers.json", "--dry-run", "--json"];
    rhae(at, &[&run[..], &more].concat()).succeeded();
    // A study of one environment cannot order two.
    init("other", "lab.json").failed_with("has no people for `ny40-v1`");
}
