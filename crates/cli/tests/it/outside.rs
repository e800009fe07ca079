//! Games from outside through every command: real Python games in the real sandbox, the official client, a real server.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rhae_engine::Action;
use serde_json::{Value, json};

use crate::play::tmux::Terminal;
use crate::rhae::{Outcome, command, rhae};
use crate::serve::official::python;
use crate::serve::process::{Failure, Serving};

/// One of the repository's folders of games.
pub(crate) fn fixtures(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    root.join("fixtures").join(name).display().to_string()
}

/// A command with the flags that lead to a folder of games.
fn with_games(at: &Path, folder: &str, python: &Path, arguments: &[&str]) -> Outcome {
    let python = python.display().to_string();
    let flags = [
        "--games-dir",
        folder,
        "--python",
        &python,
        "--host-seconds",
        "60",
    ];
    rhae(
        at,
        &arguments.iter().copied().chain(flags).collect::<Vec<_>>(),
    )
}

fn recordings(run: &Path) -> Vec<String> {
    let files = fs::read_dir(run.join("recordings"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .map(|path| path.display().to_string())
        .collect()
}

#[test]
fn a_folder_is_listed_and_its_faults_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let list = rhae(
        folder.path(),
        &["games", "list", "--json", "--games-dir", &fixtures("games")],
    )
    .succeeded()
    .json();
    let game = list
        .as_array()
        .unwrap()
        .iter()
        .find(|game| game["game_id"] == "wk31-v1")
        .unwrap();
    assert_eq!(
        (&game["baseline_actions"], &game["baseline_source"][0]),
        (&json!([6, 9, 12]), &json!("metadata"))
    );
    let shown = rhae(
        folder.path(),
        &["games", "info", "wk31", "--games-dir", &fixtures("games")],
    )
    .succeeded();
    assert!(
        shown.out.contains("sandbox: ") && shown.out.contains("seccomp"),
        "{}",
        shown.out
    );
    // The same folder twice has every game twice.
    let twice = [
        "games",
        "list",
        "--games-dir",
        &fixtures("games"),
        "--games-dir",
        &fixtures("games"),
    ];
    let refused =
        rhae(folder.path(), &twice).failed_with("there are two environments with the id `tl32-v1`");
    assert_eq!(
        refused.err.matches("tl32/v1`").count(),
        2,
        "{}",
        refused.err
    );
    fs::write(
        folder.path().join("metadata.json"),
        r#"{"game_id": "kq19-v1", "command": ["./x"]}"#,
    )
    .unwrap();
    rhae(folder.path(), &["games", "list", "--games-dir", "."])
        .failed_with("the built-in one and `");
    fs::write(
        folder.path().join("metadata.json"),
        r#"{"game_id": "ab12-v1", "baseline_actions": ["x"]}"#,
    )
    .unwrap();
    rhae(folder.path(), &["run", "--games-dir", "."])
        .failed_with("metadata.json`: `baseline_actions[0]` must be a whole number");
    assert!(!folder.path().join("runs").exists());
}

#[test]
fn python_games_are_run_verified_scored_and_drawn() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = [
        "run",
        "--games",
        "wk31,tl32,kq19",
        "--agent",
        "random",
        "--budget",
        "60",
        "--out",
        "run",
        "--json",
    ];
    let summary = with_games(folder.path(), &fixtures("games"), &python, &run)
        .succeeded()
        .json();
    assert_eq!(
        (
            &summary["failed_plays"],
            &summary["environments"][0]["game_id"]
        ),
        (&json!(0), &json!("wk31-v1"))
    );
    assert_eq!(
        summary["environments"][1]["baseline_actions"],
        json!([4, 6])
    );
    let files = recordings(&folder.path().join("run"));
    assert_eq!(files.len(), 3);
    let verify: Vec<&str> = ["replay", "verify"]
        .into_iter()
        .chain(files.iter().map(String::as_str))
        .collect();
    let verified = with_games(folder.path(), &fixtures("games"), &python, &verify).succeeded();
    assert!(
        verified.out.contains("3 of 3 recordings verified"),
        "{}",
        verified.out
    );
    // What the run was made with is written down.
    rhae(folder.path(), &["score", "run", "run"]).succeeded();
    let report = fs::read_to_string(folder.path().join("run/report.html")).unwrap();
    assert!(report.contains("wk31-v1"));
    let file = files.iter().find(|file| file.contains("tl32")).unwrap();
    with_games(
        folder.path(),
        &fixtures("games"),
        &python,
        &["replay", "render", file, "--format", "gif"],
    )
    .succeeded();
    rhae(folder.path(), &["replay", "verify", file])
        .failed_with("there is no environment `tl32-v1`");
}

#[test]
fn a_run_survives_its_games() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let games = fixtures("games-hostile");
    let python_name = python.display().to_string();
    let arguments = [
        "run",
        "--games",
        "init,loop,exit,rais,prnt,kq19",
        "--agent-cmd",
        "while read line; do echo '{\"action\": 1}'; done",
        "--budget",
        "5",
        "--out",
        "run",
        "--games-dir",
        &games,
        "--python",
        &python_name,
        "--host-seconds",
        "8",
        "--step-timeout",
        "60",
    ];
    let outcome = rhae(folder.path(), &arguments).succeeded();
    for reason in [
        "`init-v1`: the game gave no answer within 8 s (1 play)",
        "`loop-v1`: the game gave no answer within 8 s",
        "`exit-v1`: the game's process ended (exit status: 3)",
        "`rais-v1`: the game raised ZeroDivisionError",
    ] {
        assert!(
            outcome.err.contains(reason),
            "expected `{reason}` in: {}",
            outcome.err
        );
    }
    assert!(
        !outcome.err.contains("prnt") && !outcome.err.contains("kq19"),
        "{}",
        outcome.err
    );
}

#[test]
fn a_game_that_differs_from_itself_is_called_so() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let agent = "while read line; do echo '{\"action\": 1}'; done";
    let run = [
        "run",
        "--games",
        "rand",
        "--agent-cmd",
        agent,
        "--budget",
        "8",
        "--out",
        "run",
    ];
    with_games(folder.path(), &fixtures("games-hostile"), &python, &run).succeeded();
    let file = recordings(&folder.path().join("run")).remove(0);
    with_games(
        folder.path(),
        &fixtures("games-hostile"),
        &python,
        &["replay", "verify", &file],
    )
    .failed_with("`rand-v1` is not deterministic: two new plays of these actions differ at entry");
}

/// A server of a folder of games.
fn serving(at: &Path, folder: &str, python: &Path, seconds: &str) -> Serving {
    let python = python.display().to_string();
    Serving::start(
        at,
        "127.0.0.1:0",
        &[
            "--games-dir",
            folder,
            "--python",
            &python,
            "--host-seconds",
            seconds,
        ],
    )
}

/// Plays wk31 with the official client: a detour, a level reset, then the whole game.
fn official(python: &Path, serving: &Serving, mode: &str, folder: &Path) -> Value {
    let levels: [&[u8]; 3] = [
        &[4; 5],
        &[2, 2, 2, 2, 2, 4, 4, 4, 4, 4],
        &[2, 2, 2, 4, 4, 4, 1, 1, 1, 4, 4],
    ];
    let actions: Vec<u8> = [&[2, 0][..]]
        .iter()
        .chain(&levels)
        .copied()
        .flatten()
        .copied()
        .collect();
    let order = json!({"url": serving.url, "mode": mode, "folder": folder, "game": "wk31", "actions": actions});
    let mut command = Command::new(python);
    command
        .args(["-c", include_str!("outside/client.py")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .current_dir(folder);
    for variable in ["ARC_API_KEY", "ARC_BASE_URL", "OPERATION_MODE"] {
        command.env_remove(variable);
    }
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(order.to_string().as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "the official client failed in mode {mode}"
    );
    serde_json::from_str(
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .last()
            .unwrap(),
    )
    .unwrap()
}

/// What two cards of the same play must agree on.
fn essence(seen: &Value) -> Value {
    let environment = &seen["card"]["environments"][0];
    let run = &environment["runs"][0];
    let fields = [
        "score",
        "levels_completed",
        "actions",
        "resets",
        "state",
        "level_scores",
        "level_actions",
        "level_baseline_actions",
    ];
    json!([
        seen["state"],
        seen["card"]["score"],
        environment["id"],
        fields.map(|field| run[field].clone())
    ])
}

#[test]
fn the_official_client_plays_here_or_at_home_with_equal_scorecards() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = serving(folder.path(), &fixtures("games"), &python, "60");
    let homes = ["online", "normal"].map(|name| folder.path().join(name));
    homes.iter().for_each(|home| fs::create_dir(home).unwrap());
    let online = official(&python, &serving, "ONLINE", &homes[0]);
    let normal = official(&python, &serving, "NORMAL", &homes[1]);
    assert!(
        homes[1].join("wk31/v1/wk31.py").is_file(),
        "the client runs the source that it downloaded"
    );
    assert_eq!(essence(&online), essence(&normal));
    assert_eq!(
        (
            &online["state"],
            &online["card"]["environments"][0]["runs"][0]["actions"]
        ),
        (&json!("WIN"), &json!(28))
    );
    assert!(matches!(
        serving.remote().get("/api/games/kq19/source"),
        Err(Failure::Refused(404, _))
    ));
}

#[test]
fn fetched_games_are_the_user_s_to_change() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = serving(folder.path(), &fixtures("games"), &python, "60");
    let fetch = |more: &[&str]| {
        let arguments = [
            "games",
            "fetch",
            "mine",
            "--server",
            &serving.url,
            "--key",
            "k",
        ];
        rhae(
            folder.path(),
            &arguments.iter().chain(more).copied().collect::<Vec<_>>(),
        )
    };
    let first = fetch(&[]).succeeded();
    assert!(
        first.out.contains("2 environments in mine") && first.out.contains("no source  kq19-v1"),
        "{}",
        first.out
    );
    let source = folder.path().join("mine/wk31/v1/wk31.py");
    assert_eq!(
        fs::read_to_string(&source).unwrap(),
        fs::read_to_string(format!("{}/wk31/v1/wk31.py", fixtures("games"))).unwrap()
    );
    let list = rhae(folder.path(), &["games", "list", "--games-dir", "mine"]).succeeded();
    assert!(
        list.out.contains("wk31-v1") && list.err.is_empty(),
        "{}",
        list.err
    );
    fs::write(&source, "# mine\n").unwrap();
    let again = fetch(&["--games", "wk31"]).succeeded();
    assert!(
        again
            .err
            .contains("1 files were changed here and left alone"),
        "{}",
        again.err
    );
    assert_eq!(fs::read_to_string(&source).unwrap(), "# mine\n");
    let list = rhae(folder.path(), &["games", "list", "--games-dir", "mine"]).succeeded();
    assert!(
        list.err
            .contains("wk31.py` was changed since it was fetched from http://127.0.0.1"),
        "{}",
        list.err
    );
    fetch(&["--games", "zz99"]).failed_with("the server has no environment `zz99`");
    rhae(
        folder.path(),
        &[
            "games",
            "fetch",
            "x",
            "--server",
            "http://example.org",
            "--key",
            "k",
        ],
    )
    .failed_with("without encryption");
}

#[test]
fn a_game_that_hangs_holds_up_nobody_else() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = serving(folder.path(), &fixtures("games-hostile"), &python, "6");
    let hanging: Vec<_> = (0..4).map(|_| serving.remote().begin("loop").1).collect();
    let (_, guid) = serving.remote().begin("kq19");
    std::thread::scope(|scope| {
        let hung: Vec<_> = hanging
            .iter()
            .map(|guid| {
                let remote = serving.remote();
                scope.spawn(move || remote.act("loop", guid, Action::Action1))
            })
            .collect();
        serving
            .remote()
            .act("kq19", &guid, Action::Action4)
            .unwrap();
        assert!(
            hung.iter().any(|thread| !thread.is_finished()),
            "the native play did not wait for the others"
        );
        for thread in hung {
            match thread.join().unwrap() {
                Err(Failure::Refused(500, body)) => {
                    assert!(
                        body["message"]
                            .as_str()
                            .unwrap()
                            .contains("the game gave no answer within 6 s"),
                        "{body}"
                    );
                }
                other => panic!("{other:?}"),
            }
        }
    });
    // The play is as it was before the action that it did not survive.
    serving
        .remote()
        .act("loop", &hanging[0], Action::Action2)
        .unwrap();
}

#[test]
fn a_hosted_play_survives_the_server_s_death_and_is_checked() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let play = |serving: &Serving, guid: &str, turns: std::ops::Range<usize>| {
        let mut over = false;
        let mut answer = Value::Null;
        for turn in turns {
            let action = if over {
                Action::Reset
            } else {
                [Action::Action2, Action::Action4, Action::Action1][turn % 3]
            };
            answer = serving.remote().act("wk31", guid, action).unwrap();
            over = answer["state"] == "GAME_OVER";
        }
        answer
    };
    let mut first = serving(folder.path(), &fixtures("games"), &python, "60");
    let (_, guid) = first.remote().begin("wk31");
    play(&first, &guid, 0..56);
    first.kill();
    let second = serving(folder.path(), &fixtures("games"), &python, "60");
    let after = play(&second, &guid, 56..60);
    let (_, other) = second.remote().begin("wk31");
    let whole = play(&second, &other, 0..60);
    assert_eq!(
        (&after["frame"], &after["levels_completed"]),
        (&whole["frame"], &whole["levels_completed"])
    );
    let report = with_games(
        folder.path(),
        &fixtures("games"),
        &python,
        &["db", "check", "--json"],
    )
    .succeeded()
    .json();
    assert_eq!(
        (&report["plays"], &report["entries"], &report["findings"]),
        (&json!(2), &json!(122), &json!([]))
    );
    assert!(report["snapshots"].as_u64() >= Some(1), "{report}");
}

#[test]
fn hosted_games_are_in_sets_and_their_sources_need_a_scope() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(
        at.join("sets.toml"),
        "public = ['kq19', 'wk31']\nprivate = ['tl32-v1']",
    )
    .unwrap();
    let key = |more: &[&str]| {
        let arguments: Vec<&str> = ["keys", "create", "--json", "--name", "k"]
            .into_iter()
            .chain(more.iter().copied())
            .collect();
        rhae(at, &arguments).succeeded().json()["key"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let (plain, trusted) = (key(&[]), key(&["--sources", "--sets", "public,private"]));
    let mut server = command(
        at,
        &[
            "serve",
            "--addr",
            "127.0.0.1:0",
            "--auth",
            "keys",
            "--sets",
            "sets.toml",
        ],
    );
    server.env("RHAE_GAMES_DIR", fixtures("games"));
    let serving = Serving::run(server);
    assert!(serving.line.contains("3 environments"), "{}", serving.line);
    let get = |key: &str, path: &str| {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let mut answer = agent
            .get(format!("{}{path}", serving.url))
            .header("X-API-Key", key)
            .call()
            .unwrap();
        (
            answer.status().as_u16(),
            answer.body_mut().read_to_string().unwrap(),
        )
    };
    assert_eq!(get(&plain, "/api/games/wk31/source").0, 403);
    assert_eq!(
        get(&plain, "/api/games/tl32/source").0,
        404,
        "what may not be seen does not exist"
    );
    let (status, source) = get(&trusted, "/api/games/tl32/source");
    assert!(status == 200 && source.contains("class Tl32"), "{source}");
    assert_eq!(get(&trusted, "/api/games/kq19/source").0, 404);
}

#[test]
fn a_run_is_here_or_on_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        "--server",
        "http://127.0.0.1:1",
        "--games-dir",
        &fixtures("games"),
    ];
    rhae(folder.path(), &arguments).failed_with(
        "this run is played on the server at http://127.0.0.1:1: give one or the other",
    );
}

#[test]
fn a_person_plays_a_python_game() {
    let Some(python) = python() else { return };
    let Some(terminal) = Terminal::open(80, 40) else {
        return;
    };
    let rhae = PathBuf::from(env!("CARGO_BIN_EXE_rhae"));
    let flags = format!(
        "--games-dir {} --python {} --host-seconds 60",
        fixtures("games"),
        python.display()
    );
    terminal.type_line(&format!(
        "{} play wk31 {flags}; echo code=$?",
        rhae.display()
    ));
    terminal.wait_for("level 1 of 3");
    for actions in 1..=4 {
        terminal.send("Right");
        terminal.wait_for(&format!("actions {actions}"));
    }
    terminal.send("Right");
    terminal.wait_for("Level 1 completed with 5 actions");
    terminal.send("Space");
    terminal.wait_for("level 2 of 3");
    terminal.send("q");
    terminal.wait_for("code=0");
}
