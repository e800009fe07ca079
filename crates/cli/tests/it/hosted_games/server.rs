//! Hosted games on a server: the official client, fetched sources, games that hang, restarts and
//! access to sources.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use rhae_engine::Action;
use serde_json::{Value, json};

use super::{fixtures, with_games};
use crate::rhae::{command, rhae};
use crate::serve::official::python;
use crate::serve::process::{RequestError, ServerProcess};

/// Starts a server with a folder of games.
fn start_server(at: &Path, folder: &str, python: &Path, seconds: &str) -> ServerProcess {
    start_server_with(at, folder, python, seconds, &[])
}

/// Starts a server with a folder of games and more flags.
pub(super) fn start_server_with(
    at: &Path,
    folder: &str,
    python: &Path,
    seconds: &str,
    more: &[&str],
) -> ServerProcess {
    let python = python.display().to_string();
    let flags = [
        "--games-dir",
        folder,
        "--python",
        &python,
        "--host-seconds",
        seconds,
    ];
    let flags: Vec<&str> = flags.iter().chain(more).copied().collect();
    ServerProcess::start(at, "127.0.0.1:0", &flags)
}

/// Plays wk31 with the official client: a detour, a level reset, then the complete game.
fn play_with_official_client(
    python: &Path,
    serving: &ServerProcess,
    mode: &str,
    folder: &Path,
) -> Value {
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
    let config = json!({"url": serving.url, "mode": mode, "folder": folder, "game": "wk31", "actions": actions});
    let mut command = Command::new(python);
    command
        .args(["-c", include_str!("official_client.py")])
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
        .write_all(config.to_string().as_bytes())
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

/// Returns a value in which numbers have 12 decimal places. The toolkit caps a level at 115 and the
/// server at 1.15, and one hundred times the binary fraction nearest to 1.15 is not exactly 115.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(rounded).collect(),
        Value::Number(number) => json!(format!("{:.12}", number.as_f64().unwrap())),
        other => other.clone(),
    }
}

/// Returns the parts in which two cards of the same play must agree.
fn comparable(seen: &Value) -> Value {
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
    rounded(&json!([
        seen["state"],
        seen["card"]["score"],
        environment["id"],
        fields.map(|field| run[field].clone())
    ]))
}

#[test]
fn official_client_has_equal_scorecards_online_and_locally() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = start_server(folder.path(), &fixtures("games"), &python, "60");
    let folders = ["online", "normal"].map(|name| folder.path().join(name));
    folders
        .iter()
        .for_each(|folder| fs::create_dir(folder).unwrap());
    let online = play_with_official_client(&python, &serving, "ONLINE", &folders[0]);
    let normal = play_with_official_client(&python, &serving, "NORMAL", &folders[1]);
    assert!(
        folders[1].join("wk31/v1/wk31.py").is_file(),
        "the client did not download the source"
    );
    assert_eq!(comparable(&online), comparable(&normal));
    assert_eq!(
        (
            &online["state"],
            &online["card"]["environments"][0]["runs"][0]["actions"]
        ),
        (&json!("WIN"), &json!(28))
    );
    assert!(matches!(
        serving.remote().get("/api/games/kq19/source"),
        Err(RequestError::Status(404, _))
    ));
}

#[test]
fn fetch_does_not_overwrite_local_changes() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = start_server(folder.path(), &fixtures("games"), &python, "60");
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
            .contains("files changed locally and not overwritten: 1"),
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
fn hanging_game_does_not_block_other_plays() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let serving = start_server(folder.path(), &fixtures("games-hostile"), &python, "6");
    let hanging: Vec<_> = (0..4)
        .map(|_| serving.remote().start_play("loop").1)
        .collect();
    let (_, guid) = serving.remote().start_play("kq19");
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
            "the native play waited for the hanging ones"
        );
        for thread in hung {
            match thread.join().unwrap() {
                Err(RequestError::Status(500, body)) => {
                    assert!(
                        body["message"]
                            .as_str()
                            .unwrap()
                            .contains("the game did not respond within 6 s"),
                        "{body}"
                    );
                }
                other => panic!("{other:?}"),
            }
        }
    });
    // The play continues from the state before the failed action.
    serving
        .remote()
        .act("loop", &hanging[0], Action::Action2)
        .unwrap();
}

#[test]
fn hosted_play_continues_after_a_server_crash() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let play = |serving: &ServerProcess, guid: &str, turns: std::ops::Range<usize>| {
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
    let mut first = start_server(folder.path(), &fixtures("games"), &python, "60");
    let (_, guid) = first.remote().start_play("wk31");
    play(&first, &guid, 0..56);
    first.kill();
    let second = start_server(folder.path(), &fixtures("games"), &python, "60");
    let after = play(&second, &guid, 56..60);
    let (_, other) = second.remote().start_play("wk31");
    let uninterrupted = play(&second, &other, 0..60);
    assert_eq!(
        (&after["frame"], &after["levels_completed"]),
        (&uninterrupted["frame"], &uninterrupted["levels_completed"])
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
fn sources_of_hosted_games_need_set_and_scope() {
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
    let serving = ServerProcess::run(server);
    assert!(
        serving.greeting.contains("3 environments"),
        "{}",
        serving.greeting
    );
    let get = |key: &str, path: &str| {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let mut response = agent
            .get(format!("{}{path}", serving.url))
            .header("X-API-Key", key)
            .call()
            .unwrap();
        (
            response.status().as_u16(),
            response.body_mut().read_to_string().unwrap(),
        )
    };
    assert_eq!(get(&plain, "/api/games/wk31/source").0, 403);
    assert_eq!(
        get(&plain, "/api/games/tl32/source").0,
        404,
        "a game outside the key's sets must look missing"
    );
    let (status, source) = get(&trusted, "/api/games/tl32/source");
    assert!(status == 200 && source.contains("class Tl32"), "{source}");
    assert_eq!(get(&trusted, "/api/games/kq19/source").0, 404);
}
