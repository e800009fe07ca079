//! Folders as they are found in the wild: games in unusual forms, and games that cannot be loaded.

use std::fs;
use std::path::{Path, PathBuf};

use rhae_engine::Action;
use serde_json::{Value, json};

use super::{fixtures, recordings, with_games};
use crate::rhae::{command, rhae};
use crate::serve::official::python;
use crate::serve::process::{Remote, RequestError, ServerProcess};

const SECRET: &str = "the content of a private file";

/// Writes a game into a folder.
fn add(folder: &Path, metadata: &str, file: &str, source: &str) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("metadata.json"), metadata).unwrap();
    fs::write(folder.join(file), source).unwrap();
}

fn fixture_source(game: &str) -> String {
    fs::read_to_string(format!("{}/{game}/v1/{game}.py", fixtures("games"))).unwrap()
}

/// Creates a folder with three ordinary games (wk31, tl32, nm33), two unusual ones (mt01, mt02) and
/// two broken ones (bd01, bd02). Returns its path.
fn collection(at: &Path) -> PathBuf {
    let folder = at.join("collection");
    for game in ["wk31", "tl32"] {
        let source = Path::new(&fixtures("games")).join(game).join("v1");
        let metadata = fs::read_to_string(source.join("metadata.json")).unwrap();
        let to = folder.join(game).join("v1");
        add(&to, &metadata, &format!("{game}.py"), &fixture_source(game));
    }
    let program = Path::new(&fixtures("games")).join("../../examples/protocol-game/nm33/v1");
    let read = |name: &str| fs::read_to_string(program.join(name)).unwrap();
    add(
        &folder.join("nm33/v1"),
        &read("metadata.json"),
        "game.py",
        &read("game.py"),
    );
    // The id has no version, there are no baselines, and there are other files.
    let unusual = folder.join("mt01/9F8E-7d6c");
    let source = fixture_source("wk31").replace("class Wk31", "class Mt01");
    add(
        &unusual,
        r#"{"game_id": "mt01", "title": null}"#,
        "mt01.py",
        &source,
    );
    fs::write(unusual.join("README.md"), "A maze.").unwrap();
    fs::write(unusual.join("editor.py"), "import tkinter").unwrap();
    // The id has capitals, and neither the file nor the class has its default name.
    let source = fixture_source("tl32").replace("class Tl32", "class TileGame");
    let metadata = r#"{"game_id": "MT02", "default_fps": "12", "baseline_actions": []}"#;
    add(&folder.join("mt02"), metadata, "game.py", &source);
    add(
        &folder.join("bd01/v1"),
        r#"{"game_id": "bd01-v1","#,
        "bd01.py",
        "",
    );
    // The source is a link to a file of the user.
    fs::write(at.join("secret"), SECRET).unwrap();
    fs::create_dir_all(folder.join("bd02/v1")).unwrap();
    fs::write(
        folder.join("bd02/v1/metadata.json"),
        r#"{"game_id": "bd02-v1"}"#,
    )
    .unwrap();
    std::os::unix::fs::symlink(at.join("secret"), folder.join("bd02/v1/bd02.py")).unwrap();
    folder
}

/// Opens a play on a new card and returns its first observation.
fn opening(remote: &Remote, game: &str) -> Value {
    let card = remote.post("/api/scorecard/open", &json!({})).unwrap();
    let reset = json!({"card_id": card["card_id"], "game_id": game});
    remote.post("/api/cmd/RESET", &reset).unwrap()
}

/// Checks that the broken games, and only they, have a warning that names the error.
fn assert_warnings(err: &str) {
    let warnings: Vec<&str> = err
        .lines()
        .filter(|line| line.starts_with("warning: skipped a game: "))
        .collect();
    assert_eq!(warnings.len(), 2, "{err}");
    assert!(
        warnings[0].contains("bd01/v1/metadata.json`: not JSON"),
        "{err}"
    );
    assert!(
        warnings[1].contains("bd02/v1/bd02.py` is not a regular file"),
        "{err}"
    );
}

const PLAYABLE: [&str; 5] = [
    "mt01-9f8e7d6c",
    "mt02-default",
    "nm33-v1",
    "tl32-v1",
    "wk31-v1",
];

#[test]
fn list_contains_unusual_games_and_warns_about_broken_ones() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = collection(at.path()).display().to_string();
    let list = rhae(
        at.path(),
        &["games", "list", "--json", "--games-dir", &folder],
    )
    .succeeded();
    assert_warnings(&list.err);
    let list = list.json();
    let hosted: Vec<&Value> = list
        .as_array()
        .unwrap()
        .iter()
        .filter(|game| !game["folder"].is_null())
        .collect();
    let ids: Vec<&str> = hosted
        .iter()
        .map(|game| game["game_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, PLAYABLE);
    assert_eq!(
        (&hosted[0]["levels"], &hosted[4]["levels"]),
        (&Value::Null, &json!(3))
    );
    // A single game is opened to count its levels.
    let info = ["games", "info", "mt01", "--json"];
    let info = with_games(at.path(), &folder, &python, &info).succeeded();
    assert_warnings(&info.err);
    assert_eq!(info.json()["levels"], 3);
}

#[test]
fn run_plays_only_the_folder_with_the_levels_of_its_games() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = collection(at.path()).display().to_string();
    let run = [
        "run", "--agent", "random", "--budget", "20", "--out", "run", "--json",
    ];
    let outcome = with_games(at.path(), &folder, &python, &run).succeeded();
    assert_warnings(&outcome.err);
    let summary = outcome.json();
    let environments: Vec<(&str, u64)> = summary["environments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|game| {
            (
                game["game_id"].as_str().unwrap(),
                game["levels"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        environments.iter().map(|game| game.0).collect::<Vec<_>>(),
        PLAYABLE
    );
    assert_eq!(
        environments.iter().map(|game| game.1).collect::<Vec<_>>(),
        [3, 2, 2, 2, 3]
    );
    assert_eq!(summary["failed_plays"], 0);
    // The run folder keeps the number of levels, so that no game must be started again.
    let scored = rhae(at.path(), &["score", "run", "run", "--json"]).succeeded();
    let scored = scored.json();
    assert_eq!(
        scored["summary"]["environments"][0]["levels"], 3,
        "{scored}"
    );
    let files = recordings(&at.path().join("run"));
    let verify: Vec<&str> = ["replay", "verify"]
        .into_iter()
        .chain(files.iter().map(String::as_str))
        .collect();
    let verified = with_games(at.path(), &folder, &python, &verify).succeeded();
    assert!(
        verified.out.contains("5 of 5 recordings verified"),
        "{}",
        verified.out
    );
    // `--games` selects others, also built-in ones.
    let named = [
        "run",
        "--agent",
        "random",
        "--budget",
        "10",
        "--games",
        "kq19,mt02",
        "--json",
    ];
    let named = with_games(at.path(), &folder, &python, &named)
        .succeeded()
        .json();
    let ids = [0, 1].map(|index| named["environments"][index]["game_id"].clone());
    assert_eq!(ids, [json!("kq19-v1"), json!("mt02-default")]);
}

#[test]
fn validate_and_serve_accept_the_folder() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = collection(at.path()).display().to_string();
    let validate = ["validate", "--steps", "100", "--nodes", "1", "--json"];
    let validated = with_games(at.path(), &folder, &python, &validate);
    assert_warnings(&validated.err);
    for id in PLAYABLE {
        assert!(
            validated.out.contains(&format!("\"{id}\"")),
            "{}",
            validated.out
        );
    }
    let log = at.path().join("log");
    let python = python.display().to_string();
    let arguments = [
        "serve",
        "--addr",
        "127.0.0.1:0",
        "--games-dir",
        &folder,
        "--python",
        &python,
    ];
    let mut server = command(at.path(), &arguments);
    server.stderr(fs::File::create(&log).unwrap());
    let serving = ServerProcess::run(server);
    assert_warnings(&fs::read_to_string(&log).unwrap());
    let listed = serving.remote().get("/api/games").unwrap();
    for id in PLAYABLE {
        let named = |game: &Value| game["game_id"] == id;
        assert!(listed.as_array().unwrap().iter().any(named), "{id}");
    }
    let remote = serving.remote();
    let first = opening(&remote, "mt01");
    assert_eq!(
        (&first["game_id"], &first["win_levels"]),
        (&json!("mt01"), &json!(3))
    );
    assert!(matches!(
        remote.get("/api/games/bd02/source"),
        Err(RequestError::Status(404, _))
    ));
}

/// The source of a game is executed only when a play is opened, so these errors appear later than
/// those of a file.
#[test]
fn games_that_cannot_start_are_named_and_the_others_are_played() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("games");
    let metadata = |id: &str| format!(r#"{{"game_id": "{id}-v1", "baseline_actions": [5]}}"#);
    let good = fixture_source("wk31").replace("class Wk31", "class Gd01");
    for (id, source) in [
        ("gd01", good.as_str()),
        (
            "bd03",
            "import arcengine\n\nclass Bd03(arcengine.ARCBaseGame\n",
        ),
        ("bd04", "import arcengine\n"),
    ] {
        let file = format!("{id}.py");
        add(&folder.join(id).join("v1"), &metadata(id), &file, source);
    }
    let games = folder.display().to_string();
    let list = ["games", "list", "--json", "--games-dir", &games];
    let list = rhae(at.path(), &list).succeeded();
    for id in ["bd03-v1", "bd04-v1", "gd01-v1"] {
        assert!(list.out.contains(id), "{}", list.out);
    }
    let reasons = [("bd03-v1", "SyntaxError"), ("bd04-v1", "no class")];

    let run = ["run", "--agent", "random", "--budget", "5", "--json"];
    let run = with_games(at.path(), &games, &python, &run);
    // 3 means that some environments have no result.
    assert_eq!(run.code, Some(3), "{}", run.err);
    let summary = run.json();
    assert_eq!(
        (&summary["failed_environments"], &summary["failed_plays"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(
        (
            &summary["valid_results"]["n"],
            &summary["valid_results"]["of"]
        ),
        (&json!(1), &json!(3))
    );
    let validate = [
        "validate", "--steps", "100", "--nodes", "1", "--rule", "loads",
    ];
    let validated = with_games(at.path(), &games, &python, &validate);
    let flags = ["--games-dir", &games, "--python", python.to_str().unwrap()];
    let serving = ServerProcess::start(at.path(), "127.0.0.1:0", &flags);
    let remote = serving.remote();
    for (id, reason) in reasons {
        assert!(run.err.contains(reason), "{}", run.err);
        assert!(validated.out.contains(reason), "{}", validated.out);
        let card = remote.post("/api/scorecard/open", &json!({})).unwrap();
        let reset = json!({"card_id": card["card_id"], "game_id": id});
        match remote.post("/api/cmd/RESET", &reset) {
            Err(RequestError::Status(500, body)) => {
                assert!(body["message"].as_str().unwrap().contains(reason), "{body}");
            }
            other => panic!("{id}: {other:?}"),
        }
    }
    assert_eq!(opening(&remote, "gd01")["state"], "NOT_FINISHED");
}

#[test]
fn folder_without_a_playable_game_is_an_error_of_a_run() {
    let at = tempfile::tempdir().unwrap();
    add(&at.path().join("games/x"), "{", "x.py", "");
    let outcome = rhae(at.path(), &["run", "--games-dir", "games"]);
    let outcome = outcome.failed_with("there is no game in the folder of --games-dir");
    assert!(
        outcome.err.contains("x/metadata.json`: not JSON"),
        "{}",
        outcome.err
    );
    assert!(!at.path().join("runs").exists());
}

#[test]
fn changed_source_is_reported_for_old_recordings_and_runs() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("games");
    let metadata = r#"{"game_id": "wk31-v1", "baseline_actions": [6, 9, 12]}"#;
    add(&folder, metadata, "wk31.py", &fixture_source("wk31"));
    let games = folder.display().to_string();
    let run = ["run", "--agent", "random", "--budget", "10", "--out", "run"];
    with_games(at.path(), &games, &python, &run).succeeded();
    let file = recordings(&at.path().join("run")).remove(0);
    let header: Value =
        serde_json::from_str(fs::read_to_string(&file).unwrap().lines().next().unwrap()).unwrap();
    let config: Value =
        serde_json::from_slice(&fs::read(at.path().join("run/config.json")).unwrap()).unwrap();
    assert_eq!(header["source_digest"].as_str().unwrap().len(), 64);
    assert_eq!(header["source_digest"], config["source_digests"]["wk31-v1"]);
    let verify = ["replay", "verify", &file];
    with_games(at.path(), &games, &python, &verify).succeeded();
    // The change has no effect on the frames, but the source is another one.
    fs::write(
        folder.join("wk31.py"),
        fixture_source("wk31") + "# changed\n",
    )
    .unwrap();
    with_games(at.path(), &games, &python, &verify)
        .failed_with("the source of `wk31-v1` has changed since this play was recorded");
    with_games(at.path(), &games, &python, &["run", "--resume", "run"])
        .failed_with("the source of `wk31-v1` has changed since this run was started");
}

#[test]
fn server_plays_one_source_although_the_file_changes() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("games");
    let metadata = r#"{"game_id": "wk31-v1", "baseline_actions": [6, 9, 12]}"#;
    add(&folder, metadata, "wk31.py", &fixture_source("wk31"));
    let (games, python_name) = (folder.display().to_string(), python.display().to_string());
    let flags = [
        "--games-dir",
        &games,
        "--python",
        &python_name,
        "--host-seconds",
        "60",
    ];
    let serving = ServerProcess::start(at.path(), "127.0.0.1:0", &flags);
    let remote = serving.remote();
    let before = opening(&remote, "wk31");
    let changed = fixture_source("wk31").replace("(9, \"walker\")", "(12, \"walker\")");
    assert_ne!(changed, fixture_source("wk31"));
    fs::write(folder.join("wk31.py"), changed).unwrap();
    // With several cores the next plays get processes that start after the change.
    for _ in 0..3 {
        assert_eq!(opening(&remote, "wk31")["frame"], before["frame"]);
    }
    let source = ureq::get(format!("{}/api/games/wk31/source", serving.url)).call();
    let source = source.unwrap().body_mut().read_to_string().unwrap();
    assert_eq!(source, fixture_source("wk31"));
}

#[test]
fn changed_source_is_announced_and_cards_name_the_sources_of_their_plays() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("games");
    let metadata = r#"{"game_id": "wk31-v1", "baseline_actions": [6, 9, 12]}"#;
    add(&folder, metadata, "wk31.py", &fixture_source("wk31"));
    let (games, python_name) = (folder.display().to_string(), python.display().to_string());
    let log = at.path().join("log");
    let start = || {
        let arguments = ["serve", "--addr", "127.0.0.1:0", "--games-dir", &games];
        let mut server = command(at.path(), &arguments);
        server.args(["--python", &python_name, "--host-seconds", "60"]);
        server.stderr(fs::File::create(&log).unwrap());
        ServerProcess::run(server)
    };
    let serving = start();
    let remote = serving.remote();
    let (card, guid) = remote.start_play("wk31");
    let listed = remote.get("/api/games/wk31").unwrap();
    let first = listed["source_digest"].as_str().unwrap().to_owned();
    assert_eq!((first.len(), &listed["source_changed"]), (64, &json!(null)));
    let source = folder.join("wk31.py");
    fs::write(&source, fixture_source("wk31") + "# changed\n").unwrap();
    let announced = |expected: Value| {
        while remote.get("/api/games/wk31").unwrap()["source_changed"] != expected {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    announced(json!(true));
    let all = remote.get("/api/games").unwrap();
    let changed = |game: &&Value| game["source_changed"] == true;
    let changed: Vec<&Value> = all.as_array().unwrap().iter().filter(changed).collect();
    assert!(
        changed.len() == 1 && changed[0]["game_id"] == "wk31-v1",
        "{all}"
    );
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches("has changed on disk").count(), 1, "{text}");
    assert!(text.contains("wk31-v1") && text.contains("until it is restarted"));
    // The play continues with the source that it was opened with.
    let play = remote.get(&format!("/api/plays/{guid}")).unwrap();
    assert_eq!(play["source_digest"], json!(first));
    remote.act("wk31", &guid, Action::Action4).unwrap();
    assert!(serving.terminate().success());

    let serving = start();
    let remote = serving.remote();
    let listed = remote.get("/api/games/wk31").unwrap();
    let second = listed["source_digest"].as_str().unwrap().to_owned();
    assert!(second != first && listed["source_changed"] == json!(null));
    let opening = json!({"card_id": card, "game_id": "wk31"});
    remote.post("/api/cmd/RESET", &opening).unwrap();
    let card = remote.get(&format!("/api/scorecard/{card}")).unwrap();
    let digests = &card["environments"][0]["source_digests"];
    assert_eq!(*digests, json!([first, second]), "{card}");
    let (native, _) = remote.start_play("kq19");
    let native = remote.get(&format!("/api/scorecard/{native}")).unwrap();
    assert_eq!(native["environments"][0]["source_digests"], json!(null));
}

#[test]
fn plays_of_a_changed_source_are_refused_with_the_reason_and_new_plays_work() {
    let Some(python) = python() else { return };
    let at = tempfile::tempdir().unwrap();
    let folder = at.path().join("games");
    let metadata = r#"{"game_id": "wk31-v1", "baseline_actions": [6, 9, 12]}"#;
    add(&folder, metadata, "wk31.py", &fixture_source("wk31"));
    let (games, python_name) = (folder.display().to_string(), python.display().to_string());
    let flags = [
        "--games-dir",
        &games,
        "--python",
        &python_name,
        "--host-seconds",
        "60",
    ];
    let mut serving = ServerProcess::start(at.path(), "127.0.0.1:0", &flags);
    let (_, guid) = serving.remote().start_play("wk31");
    serving
        .remote()
        .act("wk31", &guid, Action::Action4)
        .unwrap();
    serving.kill();
    let check = ["db", "check", "--json"];
    let checked = with_games(at.path(), &games, &python, &check).succeeded();
    assert_eq!(checked.json()["findings"], json!([]));
    // This change has an effect only after the actions of the play.
    let changed = fixture_source("wk31").replace("STEPS = 40", "STEPS = 39 + 1");
    fs::write(folder.join("wk31.py"), changed).unwrap();
    let checked = with_games(at.path(), &games, &python, &check).json();
    let findings = checked["findings"].as_array().unwrap();
    let reason = "the source of `wk31-v1` has changed since this play was recorded";
    assert!(
        findings.len() == 1 && findings[0]["what"].as_str().unwrap().contains(reason),
        "{checked}"
    );
    let serving = ServerProcess::start(at.path(), "127.0.0.1:0", &flags);
    match serving.remote().act("wk31", &guid, Action::Action4) {
        Err(RequestError::Status(409, body)) => {
            assert!(body["message"].as_str().unwrap().contains(reason), "{body}");
        }
        other => panic!("{other:?}"),
    }
    let (_, guid) = serving.remote().start_play("wk31");
    serving
        .remote()
        .act("wk31", &guid, Action::Action4)
        .unwrap();
}
