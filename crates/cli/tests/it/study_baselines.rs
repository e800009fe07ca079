//! Published baselines of people in runs, scores and servers.

use std::fs;

use rhae_engine::LevelIndex;
use serde_json::Value;

use crate::rhae::rhae;
use crate::serve::process::ServerProcess;
use crate::study_fixture;

/// Returns the source of each baseline of an environment.
fn sources(environment: &Value) -> Vec<&str> {
    let sources = environment["baseline_source"].as_array().unwrap();
    sources.iter().map(|one| one.as_str().unwrap()).collect()
}

/// Three people completed the first level, and two the seven others.
fn expected() -> Vec<&'static str> {
    let mut expected = vec!["people, n = 2"; 8];
    expected[0] = "people, n = 3";
    expected
}

#[test]
fn published_baselines_replace_those_of_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    study_fixture::create(at);
    rhae(at, &["study", "baselines", "lab", "--publish", "b.json"]).succeeded();
    let run = ["run", "--agent", "random", "--games", "kq19", "--json"];
    let short = ["--budget", "30", "--out"];
    rhae(
        at,
        &[&run[..], &short, &["r0", "--baselines", "none.json"]].concat(),
    )
    .failed_with("cannot read `none.json`");
    let people = ["people", "--baselines", "b.json"];
    let summary = rhae(at, &[&run[..], &short, &people].concat())
        .succeeded()
        .json();
    let environment = &summary["environments"][0];
    assert_eq!(sources(environment), expected());
    // The upper median of the three people is the one with the shorter detour.
    let facts = rhae_games::find("kq19-v1").unwrap().facts;
    let shortest = facts.solution(LevelIndex(0)).len();
    assert_eq!(environment["baseline_actions"][0], shortest + 13);
    assert_eq!(summary["provisional_baselines"], false);
    let report = fs::read_to_string(at.join("people/report.html")).unwrap();
    assert!(!report.contains("Baselines are provisional"));
    let config: Value =
        serde_json::from_str(&fs::read_to_string(at.join("people/config.json")).unwrap()).unwrap();
    assert_eq!(
        (
            &config["baselines"]["study"],
            &config["baselines"]["revision"]
        ),
        (&"lab".into(), &1.into())
    );

    // A run that used the file is scored without it; another one is scored with it.
    let plain = rhae(at, &[&run[..], &short, &["plain"]].concat()).succeeded();
    assert_eq!(sources(&plain.json()["environments"][0])[0], "solver");
    for again in [
        vec!["score", "run", "people", "--json"],
        vec!["score", "run", "plain", "--baselines", "b.json", "--json"],
    ] {
        let scored = rhae(at, &again).succeeded().json();
        assert_eq!(sources(&scored["summary"]["environments"][0]), expected());
        assert_eq!(sources(&scored["cards"][0]["environments"][0]), expected());
    }
    let recording = fs::read_dir(at.join("plain/recordings")).unwrap().next();
    let recording = recording.unwrap().unwrap().path();
    let recording = recording.to_str().unwrap();
    let of_file = ["score", "recording", recording, "--baselines", "b.json"];
    let card = rhae(at, &[&of_file[..], &["--json"]].concat()).succeeded();
    assert_eq!(sources(&card.json()["environments"][0]), expected());

    let server = ServerProcess::start(at, "127.0.0.1:0", &["--baselines", "b.json"]);
    let games = server.remote().get("/api/games").unwrap();
    let games = games.as_array().unwrap();
    let listed = games
        .iter()
        .find(|one| one["game_id"] == "kq19-v1")
        .unwrap();
    assert_eq!(sources(listed), expected());
    assert!(server.terminate().success());
}
